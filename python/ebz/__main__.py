"""The command `ebz`, also as `python -m ebz`."""

from __future__ import annotations

import sys

from . import _core


def main() -> int:
    """Run the command with the arguments of this process; returns the exit code."""
    return _core.command(["ebz", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
