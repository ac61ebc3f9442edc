#!/usr/bin/env python3
"""Checks the documents: every link to a file or a heading leads somewhere, and every page of docs is in its summary.

    scripts/check_links.py            # fails on the first page with a broken link, after listing all of them

Links to the network are not followed.
"""

import pathlib
import re
import sys

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


def main():
    pages = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
    problems = [f"{page.relative_to(ROOT)}: {what}" for page in pages for what in broken(page)]
    summary = ROOT / "docs" / "SUMMARY.md"
    listed = {(summary.parent / link).resolve() for link in links(summary)}
    # Registration texts are templates for other projects, of which the summary lists the pages to read.
    missing = [page for page in pages
               if page.is_relative_to(ROOT / "docs") and page != summary and page not in listed
               and not page.is_relative_to(ROOT / "docs" / "registration" / "zarr")]
    problems += [f"docs/SUMMARY.md: {page.relative_to(ROOT / 'docs')} is not in it" for page in missing]
    print("\n".join(problems) or f"{len(pages)} pages, all links lead somewhere")
    sys.exit(bool(problems))


main()
