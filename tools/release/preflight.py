"""What a release needs, looked for before minutes of building: every fault at once, each with what to do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tools.release.base import DEBIAN
from tools.release.environment import Settings
from tools.release.errors import ReleaseError
from tools.release.output import check_replaceable
from tools.release.source import head, uncommitted
from tools.release.version import out_of_step

__all__ = ["Machine", "check"]

_ALWAYS = ("buildah", "make")
_FOR_DEBIAN = ("debootstrap", "unshare", "tar", "dpkg", "apt-get")
_SCRATCH_GIB, _OUTPUT_GIB = 4, 1
_NAMED_MAX = 5


@dataclass(frozen=True, slots=True)
class Machine:
    """How to look at this one; tests look at another."""

    which: Callable[[str], str | None] = shutil.which
    free_bytes: Callable[[Path], int] = lambda path: shutil.disk_usage(path).free
    user: Callable[[], int] = os.geteuid


def check(
    root: Path, output: Path, scratch: Path, settings: Settings, machine: Machine | None = None
) -> None:
    """A build may begin.

    Args:
        root: of the checkout.
        output: what is to be replaced.
        scratch: where the build's own files go.
        settings: which base is asked for.
        machine: this one by default.

    Raises:
        ReleaseError: it may not; the text has a line for each reason.
    """
    here = machine or Machine()
    faults = [
        *_of_programs(here, settings),
        *_of_source(root),
        *_of_output(output),
        *_of_space(here, output, scratch),
    ]
    if faults:
        raise ReleaseError("\n".join(faults))


def _of_programs(machine: Machine, settings: Settings) -> list[str]:
    if machine.which("git") is None:
        return ["git is not installed: a release is built from a commit"]
    missing = [name for name in _ALWAYS if machine.which(name) is None]
    if settings.base == DEBIAN:
        missing += [name for name in _FOR_DEBIAN if machine.which(name) is None]
    faults = []
    if missing:
        faults.append(
            f"not installed: {', '.join(missing)}. On Debian: apt-get install --no-install-recommends buildah "
            "debootstrap make"
        )
    if settings.base == DEBIAN and machine.user() != 0:
        faults.append(f"RELEASE_BASE={DEBIAN} needs root, for debootstrap: run as root, or build on an image")
    return faults


def _of_source(root: Path) -> list[str]:
    try:
        head(root)
        changed = uncommitted(root)
    except ReleaseError as error:
        return [str(error)]
    except FileNotFoundError:
        return []  # git itself, which is told of already
    faults = []
    if changed:
        named = ", ".join(changed[:_NAMED_MAX]) + (", ..." if len(changed) > _NAMED_MAX else "")
        faults.append(f"not committed: {named}. Commit, or put them away with git stash --include-untracked")
    old = out_of_step(root)
    if old:
        faults.append(
            f"another version than that of pyproject.toml: {', '.join(old)}. Run make version, and commit"
        )
    return faults


def _of_output(output: Path) -> list[str]:
    try:
        check_replaceable(output)
    except ReleaseError as error:
        return [str(error)]
    return []


def _of_space(machine: Machine, output: Path, scratch: Path) -> list[str]:
    return [
        f"{machine.free_bytes(place) / 2**30:.1f} GiB free in {place}, {needed} are needed: make room{hint}"
        for place, needed, hint in (
            (scratch, _SCRATCH_GIB, ", or name another directory with TMPDIR"),
            (next(parent for parent in output.parents if parent.exists()), _OUTPUT_GIB, ""),
        )
        if machine.free_bytes(place) < needed * 2**30
    ]
