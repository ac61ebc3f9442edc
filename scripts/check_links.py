#!/usr/bin/env python3
"""Checks the documents: every link to a file or a heading leads somewhere, and every page of docs is in its summary.

    scripts/check_links.py                   # lists the broken links, and fails if there are any
    scripts/check_links.py --site FOLDER     # those of the site that mdBook made

Links to the network are not followed.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
CODE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(([^()\s]+(?:\([^()\s]*\)[^()\s]*)*)\)")
HEADING = re.compile(r"^#+ +(.*)", re.MULTILINE)


def anchors(page):
    """The headings of a page, as links name them."""
    text = CODE.sub("", page.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in HEADING.findall(text)}


def links(page):
    text = SPAN.sub("", CODE.sub("", page.read_text()))
    return [link for link in LINK.findall(text) if not re.match(r"[a-z]+:", link)]


def broken(page):
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{link}: there is no such heading"


class SitePage(html.parser.HTMLParser):
    """The names of the places of a page of the site, and its links."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), []
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "id":
                self.places.add(value)
            elif name in ("href", "src") and value:
                self.links.append(urllib.parse.urlsplit(value))


def broken_on_site(root):
    # The page for printing repeats the others; that for lost visitors may be shown anywhere.
    pages = {path: SitePage(path) for path in sorted(root.rglob("*.html")) if path.name not in ("print.html", "404.html")}
    for path, page in pages.items():
        for link in page.links:
            if link.scheme or link.netloc:
                continue
            target = (path.parent / urllib.parse.unquote(link.path)).resolve() if link.path else path
            known = target in pages and urllib.parse.unquote(link.fragment) in pages[target].places
            if not target.exists() or link.fragment and target in pages and not known:
                yield f"{path.relative_to(root)}: {link.geturl()} leads nowhere"
    if not pages:
        yield f"{root} holds no pages"


def check_sources():
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    problems = [f"{page.relative_to(ROOT)}: {what}" for page in pages for what in broken(page)]
    summary = ROOT / "docs" / "SUMMARY.md"
    listed = {(summary.parent / link).resolve() for link in links(summary)}
    # Registration texts are templates for other projects, of which the summary lists the pages to read.
    missing = [page for page in pages
               if page.is_relative_to(ROOT / "docs") and page != summary and page not in listed
               and not page.is_relative_to(ROOT / "docs" / "registration" / "zarr")]
    problems += [f"docs/SUMMARY.md: {page.relative_to(ROOT / 'docs')} is not in it" for page in missing]
    return problems


def main():
    site = sys.argv[2:] if sys.argv[1:2] == ["--site"] else None
    problems = list(broken_on_site(pathlib.Path(*site).resolve())) if site else check_sources()
    print("\n".join(problems) or "all links lead somewhere")
    sys.exit(bool(problems))


main()
