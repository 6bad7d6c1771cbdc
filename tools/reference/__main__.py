"""`python -m tools.reference`: write docs/reference and docs/pictures; with `--check` only say what is out of step."""

from __future__ import annotations

import argparse
import sys

from tools.reference.pages import DOCS, out_of_step, write

__all__ = ["main"]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.reference", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page is out of step")
    if parser.parse_args().check:
        stale = out_of_step(DOCS)
        for path in stale:
            print(f"docs/{path} is out of step; run: make reference", file=sys.stderr)
        return 1 if stale else 0
    write(DOCS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
