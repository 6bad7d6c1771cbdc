"""The page as it is built from its source, and as it is committed."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

__all__ = ["PAGE", "SOURCE", "BuildError", "build", "differences"]

_ROOT = Path(__file__).parents[2]
SOURCE = Path(__file__).parent
"""What people edit."""
PAGE = _ROOT / "operator" / "keybearer" / "cli" / "dashboard" / "page"
"""What is built, committed and shipped."""

_RECORD = "built.json"
_INPUTS = ("package.json", "package-lock.json", "tsconfig.json", ".npmrc")
_COPIED = ("index.html", "page.css", "icon.svg")
_PACKAGES = ("preact",)
"""Packages that the page contains; others only build it."""
_NPM_SECONDS = 300.0


class BuildError(Exception):
    """The page can't be built, or isn't what its source says; the text says why."""


def build(into: Path, scratch: Path) -> None:
    """The directory holds the page, the licences of what it contains, and a record of both.

    Args:
        into: exists; other files in it are removed.
        scratch: for packages and the work; what is there is used again.

    Raises:
        BuildError: npm is missing, or a step failed.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise BuildError("npm is not installed: install Node 20 or newer, which brings it")
    scratch.mkdir(parents=True, exist_ok=True)
    for name in _INPUTS:
        shutil.copyfile(SOURCE / name, scratch / name)
    shutil.rmtree(scratch / "source", ignore_errors=True)
    shutil.copytree(SOURCE / "source", scratch / "source")
    _run(scratch, npm, "ci", "--no-audit", "--no-fund")
    _run(scratch, npm, "exec", "--offline", "--", "tsc", "--project", ".")
    for old in into.iterdir():
        old.unlink()
    # Not made small: people can read what is shipped, and a change of it in a review.
    options = ("--bundle", "--format=esm", "--target=es2022", "--charset=utf8", "--jsx=automatic")
    _run(
        scratch,
        *(npm, "exec", "--offline", "--", "esbuild", "source/page.tsx", *options),
        *("--jsx-import-source=preact", f"--outfile={into / 'page.js'}"),
    )
    for name in _COPIED:
        shutil.copyfile(scratch / "source" / name, into / name)
    for name in _PACKAGES:
        shutil.copyfile(scratch / "node_modules" / name / "LICENSE", into / f"{name}.LICENSE")
    record = {"source": _digest_of_source(), "files": _digests(into), "packages": _versions()}
    (into / _RECORD).write_text(f"{json.dumps(record, indent=2, sort_keys=True)}\n", encoding="utf-8")


def differences(page: Path = PAGE) -> list[str]:
    """Return how a page differs from what its record and its source say; nothing where all fits.

    Args:
        page: a directory that `build` has filled.
    """
    try:
        record = json.loads((page / _RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return [f"{page / _RECORD} is missing"]
    found = []
    if record["source"] != _digest_of_source():
        found.append(f"{SOURCE} has changed since the page was built")
    present, recorded = _digests(page), record["files"]
    differing = sorted(
        name for name in present.keys() | recorded.keys() if present.get(name) != recorded.get(name)
    )
    found += [f"{page / name} isn't what was built" for name in differing]
    return found


def _run(directory: Path, *command: str) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_NPM_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise BuildError(f"{' '.join(command[1:4])} did not end within {_NPM_SECONDS:g} s") from error
    if done.returncode != 0:
        raise BuildError(f"{' '.join(command[1:])} failed:\n{done.stdout}{done.stderr}")


def _digest_of_source() -> str:
    digest = hashlib.sha256()
    files = [SOURCE / name for name in _INPUTS]
    files += sorted(path for path in (SOURCE / "source").rglob("*") if path.is_file())
    for path in files:
        content = path.read_bytes()
        name = path.relative_to(SOURCE).as_posix()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def _digests(page: Path) -> Mapping[str, str]:
    files = sorted(path for path in page.iterdir() if path.name != _RECORD)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _versions() -> Mapping[str, str]:
    locked = json.loads((SOURCE / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    return {name: locked[f"node_modules/{name}"]["version"] for name in _PACKAGES}
