"""Vale: built from the Go module in this folder, and run with our rules alone."""

from __future__ import annotations

import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from tools.controlplane.binaries import cached_programs
from tools.controlplane.recipes import Recipe, required_version
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["ROOT", "Finding", "ProseError", "findings", "pages", "vale_binary", "vale_recipe"]

ROOT = Path(__file__).parents[2]
_MODULE = Path(__file__).parent
_CONFIGURATION = _MODULE / ".vale.ini"
_SOURCE = "github.com/vale-cli/vale/v3"


class ProseError(Exception):
    """The pages can't be linted; the text says why and what to do."""


class _Alert(BaseModel):
    """A finding in the words of Vale's JSON."""

    check: str = Field(alias="Check")
    message: str = Field(alias="Message")
    line: int = Field(alias="Line")
    span: tuple[int, int] = Field(alias="Span")


_ANSWER = TypeAdapter(dict[str, list[_Alert]])


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A place of a page that breaks a rule.

    Attributes:
        page: The page, as it was given.
        line: The number of the line, from 1.
        column: The number of the first character in the line, from 1.
        rule: The name of the rule, such as `Keybearer.Words`.
        message: What to write instead.
    """

    page: Path
    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}:{self.column}: {self.message} [{self.rule}]"


def vale_binary() -> Path:
    """Path of Vale in the cache, built if need be; BuildError when it can't be."""
    return cached_programs(vale_recipe(), ["vale"])["vale"]


def vale_recipe() -> Recipe:
    """Vale without tree-sitter, which is written in C and reads source code only (`without/`)."""
    version = required_version(_MODULE, _SOURCE)
    return Recipe("vale", _MODULE, version, {"vale": f"{_SOURCE}/cmd/vale"}, {"main.version": version})


def pages() -> list[Path]:
    """The pages of pages.toml, relative to the root of the repository.

    Raises:
        ProseError: An entry names no page.
    """
    found: list[Path] = []
    for pattern in tomllib.loads((_MODULE / "pages.toml").read_text())["pages"]:
        matching = sorted(page.relative_to(ROOT) for page in ROOT.glob(pattern))
        if not matching:
            raise ProseError(
                f"tools/prose/pages.toml: there is no page {pattern}: correct or remove the entry"
            )
        found += matching
    return found


def findings(linted: Sequence[Path], directory: Path) -> list[Finding]:
    """Lint pages, and return what breaks a rule, in the order of pages and lines.

    Args:
        linted: Pages, relative to the directory.
        directory: Where Vale runs.

    Raises:
        ProseError: A page is missing, or Vale can't read a rule.
        BuildError: Vale can't be built.
    """
    if missing := [str(page) for page in linted if not (directory / page).is_file()]:
        raise ProseError(f"there is no page {', '.join(missing)} in {directory}")
    done = subprocess.run(
        [
            *(
                vale_binary(),
                "--no-global",
                f"--config={_CONFIGURATION}",
                "--no-exit",
                "--output=JSON",
            ),
            *(str(page) for page in linted),
        ],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    try:
        answer = _ANSWER.validate_json(done.stdout)
    except ValidationError:
        raise ProseError(f"Vale can't lint the pages: {done.stderr or done.stdout}") from None
    return sorted(
        Finding(Path(page), alert.line, alert.span[0], alert.check, " ".join(alert.message.split()))
        for page, alerts in answer.items()
        for alert in alerts
    )
