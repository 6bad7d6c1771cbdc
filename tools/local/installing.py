"""Installs published programs from lock files, once per lock, outside of the project's environment."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tools.controlplane.cache import exclusive
from tools.controlplane.environment import cache_root
from tools.controlplane.errors import BuildError
from tools.controlplane.progress import report

__all__ = ["installed_once", "pip_install", "python_environment", "run"]


def python_environment(kind: str, lock: Path) -> Path:
    """Return the Python of an environment that has what the lock file says.

    Raises:
        BuildError: it can't be installed.
    """

    def install(home: Path) -> None:
        run([sys.executable, "-m", "venv", "--without-pip", home], home.parent)
        pip_install(lock, into=(), by=("--python", home / "bin" / "python"))

    return installed_once(kind, [lock], install) / "bin" / "python"


def installed_once(kind: str, locks: Sequence[Path], install: Callable[[Path], None]) -> Path:
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


def pip_install(lock: Path, *, into: Sequence[str | Path], by: Sequence[str | Path] = ()) -> None:
    """Install what the lock says: `by` are options of pip itself, `into` those of its command install."""
    run(
        [
            *(sys.executable, "-m", "pip", *by, "install", *into),
            *("--quiet", "--no-input", "--no-deps", "--disable-pip-version-check"),
            *("--only-binary", ":all:", "--require-hashes", "--requirement", lock),
        ],
        lock.parent,
    )


def run(command: Sequence[str | Path], folder: Path) -> None:
    """The command has ended with status 0 in this folder; BuildError where it ended otherwise."""
    done = subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise BuildError(f"what is needed can't be installed: {command[0]} ended with {done.returncode}")
