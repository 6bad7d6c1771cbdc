"""The release that a directory holds: whole, unchanged, and of the commit that is checked out."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tools.release.errors import ReleaseError
from tools.release.source import Commit, head
from tools.release.sums import SUMS, read_sums, sha256_of

__all__ = ["PresentRelease", "present_release"]

_REMEDY = "run `make release`"
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class PresentRelease:
    """What is there.

    Attributes:
        dist: the directory.
        commit: what it was built from.
        version: of everything in it.
    """

    dist: Path
    commit: Commit
    version: str


def present_release(dist: Path, root: Path | None = None) -> PresentRelease:
    """The release in the directory.

    Args:
        dist: where `make release` puts a release.
        root: of a checkout, whose commit it must be of; None: of any.

    Raises:
        ReleaseError: there is none, it is of another commit, or a file of it is not as it was built.
    """
    sums = dist / SUMS
    if not sums.is_file():
        raise ReleaseError(f"{dist} holds no release: {_REMEDY}")
    found = _described(dist)
    if root is not None and found.commit.name != (checked_out := head(root).name):
        raise ReleaseError(
            f"{dist} holds a release of commit {found.commit.name[:_SHOWN]}, and {checked_out[:_SHOWN]} is checked "
            f"out: {_REMEDY}"
        )
    changed = [name for name, digest in read_sums(sums.read_text()).items() if _digest(dist / name) != digest]
    if changed:
        raise ReleaseError(f"{dist} isn't as it was built, see {', '.join(changed)}: {_REMEDY}")
    return found


def _described(dist: Path) -> PresentRelease:
    """What the provenance says."""
    statements = sorted(dist.glob("*-provenance.json"))
    if len(statements) != 1:
        raise ReleaseError(f"{dist} holds {len(statements)} provenance statements in place of one: {_REMEDY}")
    try:
        definition = json.loads(statements[0].read_text())["predicate"]["buildDefinition"]
        name = str(definition["resolvedDependencies"][0]["digest"]["gitCommit"])
        seconds = int(definition["internalParameters"]["sourceDateEpoch"])
        return PresentRelease(dist, Commit(name, seconds), str(definition["externalParameters"]["version"]))
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ReleaseError(f"{statements[0]} names no commit and version: {_REMEDY}") from error


def _digest(file: Path) -> str | None:
    return sha256_of(file) if file.is_file() else None
