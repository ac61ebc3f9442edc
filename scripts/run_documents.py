#!/usr/bin/env python3
"""Runs every block of shell commands (```sh) of the given documents, so that they cannot rot.

Each document runs in a folder of its own, a copy of the tracked files, with the release build of
`ebz` first on the path. A block that fails, fails the run.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def documents(arguments):
    for argument in arguments:
        path = ROOT / argument
        yield from sorted(path.rglob("*.md")) if path.is_dir() else [path]


def run(document):
    blocks = BLOCK.findall(document.read_text())
    if not blocks:
        return 0
    target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
    environment = dict(
        os.environ, CARGO_TARGET_DIR=target, PATH=f"{target}/release:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        files = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT)
        copy(files, folder)
        for block in blocks:
            print(f"-- {document.relative_to(ROOT)}\n{block}", flush=True)
            subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=folder, check=True,
                           env=environment)
    return len(blocks)


def copy(files, folder):
    for name in files.decode().split("\0"):
        if name and (ROOT / name).is_file():
            target = pathlib.Path(folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())


def main():
    count = sum(run(document) for document in documents(sys.argv[1:]))
    print(f"{count} blocks of commands passed")
    sys.exit(0 if count else 1)


main()
