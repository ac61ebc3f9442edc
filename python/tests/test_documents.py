"""The Python blocks of the README, the first page and the guide are run, page by page, so that they cannot rot."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PAGES = [
    page
    for page in [ROOT / "README.md", ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
    if BLOCK.search(page.read_text())
]


def test_there_are_pages():
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page, tmp_path):
    script = tmp_path / f"{page.stem}_page.py"
    script.write_text("\n".join(BLOCK.findall(page.read_text())))
    subprocess.run([sys.executable, str(script)], cwd=tmp_path, check=True, timeout=120)
