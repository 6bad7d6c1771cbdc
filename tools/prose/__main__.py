"""`python -m tools.prose` lints the pages of pages.toml; `... build` only builds Vale."""

from __future__ import annotations

import argparse
import sys

from tools.controlplane.errors import BuildError
from tools.prose.vale import ROOT, ProseError, findings, pages, vale_binary

__all__ = ["main"]

_HOW_TO_READ = """\

{count}. Each line is PAGE:LINE:COLUMN, what to write, and the [rule].
- "How we write" in CONTRIBUTING.md explains the rules; tools/prose/styles has them.
- If a rule is wrong about a whole class of sentences, correct the rule, and add a case to its test.
- If it is wrong about one sentence, put <!-- vale Keybearer.RULE = NO --> before the paragraph, and
  <!-- vale Keybearer.RULE = YES --> after it.
"""


def main() -> int:
    """Exit status: 0; 1 for findings, on standard output, or with the reason on standard error."""
    parser = argparse.ArgumentParser(prog="python -m tools.prose", description=__doc__)
    parser.add_argument("action", nargs="?", choices=["lint", "build"], default="lint")
    arguments = parser.parse_args()
    try:
        if arguments.action == "build":
            vale_binary()
            return 0
        found = findings(pages(), ROOT)
    except (BuildError, ProseError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    for finding in found:
        sys.stdout.write(f"{finding}\n")
    if not found:
        return 0
    sys.stdout.flush()
    sys.stderr.write(_HOW_TO_READ.format(count=f"{len(found)} finding{'s' if len(found) > 1 else ''}"))
    return 1


if __name__ == "__main__":
    sys.exit(main())
