"""The source distribution, and the wheel that is built from it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tools.release.archives import dated, gzipped, members_of, tar_of
from tools.release.environment import build_environment
from tools.release.running import run
from tools.release.source import Commit

__all__ = ["build_distributions"]

_BUILD_SDIST = "import sys, setuptools.build_meta as backend; backend.build_sdist(sys.argv[1])"


def build_distributions(source: Path, commit: Commit, scratch: Path, into: Path) -> tuple[Path, Path]:
    """Write both into a directory with the setuptools of our own environment, and return them: wheel and source.

    Args:
        source: files of the commit; they stay as they are.
        commit: gives the date of all that is in them.
        scratch: an empty directory.
        into: where they go.

    Raises:
        ReleaseError: setuptools refused; the text ends with what it said.
    """
    copy, made, home = scratch / "source", scratch / "made", scratch / "home"
    made.mkdir()
    home.mkdir()
    shutil.copytree(source, copy, symlinks=True)
    environment = build_environment(home, commit.seconds)
    # Without the directory and the user's packages on the module search path: only what the lock installed is there.
    python = [sys.executable, "-P", "-s"]
    run([*python, "-c", _BUILD_SDIST, str(made)], environment, copy)
    (written,) = made.glob("*.tar.gz")
    sdist = into / written.name
    # setuptools has the user's name, the umask and the present time in it.
    sdist.write_bytes(gzipped(tar_of(members_of(written), commit.seconds), commit.seconds))
    unpacked = _unpacked(sdist, scratch / "unpacked", commit)
    options = ("--quiet", "--isolated", "--no-index", "--no-deps", "--no-build-isolation", "--no-cache-dir")
    run([*python, "-m", "pip", "wheel", *options, f"--wheel-dir={into}", str(unpacked)], environment, home)
    (wheel,) = into.glob("*.whl")
    return wheel, sdist


def _unpacked(sdist: Path, into: Path, commit: Commit) -> Path:
    """The one directory of a source distribution."""
    for name, (mode, content) in members_of(sdist).items():
        place = into / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        place.chmod(mode)
    dated(into, commit.seconds)
    (directory,) = into.iterdir()
    return directory
