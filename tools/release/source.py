"""What is released: the files of one commit, as git keeps them, whatever the checkout made of them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.release.archives import PLAIN, PROGRAM, dated
from tools.release.environment import git_environment
from tools.release.errors import ReleaseError

__all__ = ["Commit", "export", "head", "uncommitted"]

_DEADLINE_SECONDS = 300.0
_SYMLINK = "120000"
_FILES = {"100644": PLAIN, "100755": PROGRAM}


@dataclass(frozen=True, slots=True)
class Commit:
    """The source of a release.

    Attributes:
        name: its full hash.
        seconds: when it was committed, of the Unix epoch. Everything that is released is dated so.
    """

    name: str
    seconds: int


def head(root: Path) -> Commit:
    """The commit that is checked out.

    Args:
        root: of the checkout.

    Raises:
        ReleaseError: there is none.
    """
    try:
        name = _git(root, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()
    except ReleaseError as error:
        raise ReleaseError(
            f"{root} has no commit to release: clone the repository with git, or commit what is here ({error})"
        ) from error
    written = _git(root, "cat-file", "commit", name).decode(errors="replace")
    found = re.search(r"^committer .* (\d+) [-+]\d{4}$", written, re.MULTILINE)
    if found is None:
        raise ReleaseError(f"commit {name} has no time: `git cat-file commit {name}` shows it")
    return Commit(name, int(found[1]))


def uncommitted(root: Path) -> list[str]:
    """Files of the checkout that differ from its commit, or that git doesn't know and isn't told to ignore."""
    said = _git(root, "status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
    return sorted(entry[3:] for entry in said.decode(errors="replace").split("\0") if entry)


def export(root: Path, commit: Commit, into: Path) -> None:
    """The directory, which must not exist, holds the commit's files: plain modes, the commit's time.

    Neither a setting of git, an attribute nor the umask has a say in their bytes, modes and dates.
    """
    into.mkdir()
    entries = list(_entries(root, commit))
    contents = _contents(root, [name for _, name, _ in entries])
    for (mode, _, path), content in zip(entries, contents, strict=True):
        place = into / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if mode == _SYMLINK:
            place.symlink_to(os.fsdecode(content))
        elif mode in _FILES:
            place.write_bytes(content)
            place.chmod(_FILES[mode])
        else:
            raise ReleaseError(f"{path} is neither a file nor a link in commit {commit.name}: remove it")
    dated(into, commit.seconds)


def _entries(root: Path, commit: Commit) -> Iterator[tuple[str, str, str]]:
    """Mode, name of the content and path of each file."""
    listed = _git(root, "ls-tree", "-r", "-z", "--full-tree", commit.name)
    for line in filter(None, os.fsdecode(listed).split("\0")):
        described, _, path = line.partition("\t")
        mode, _, name = described.split(" ")
        yield mode, name, path


def _contents(root: Path, names: list[str]) -> Iterator[bytes]:
    """What git keeps under these names."""
    said = _git(root, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
    start = 0
    for name in names:
        end = said.index(b"\n", start)
        described = said[start:end].split(b" ")
        if described[1:2] != [b"blob"]:
            raise ReleaseError(f"git has no content for {name}: `git fsck` says what is wrong")
        size = int(described[2])
        yield said[end + 1 : end + 1 + size]
        start = end + 1 + size + 1


def _git(root: Path, *arguments: str, given: bytes = b"") -> bytes:
    done = subprocess.run(
        ["git", "--no-replace-objects", *arguments],
        cwd=root,
        input=given,
        capture_output=True,
        env=git_environment(),
        timeout=_DEADLINE_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise ReleaseError(f"git {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
