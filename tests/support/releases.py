"""The release of a run of tests: the one that `--release` names, or the checkout as it is, built in a clone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import pytest

from support.system_tools import SystemTool, not_run
from tools.chart.rendering import ROOT
from tools.controlplane.environment import cache_root
from tools.controlplane.scratch import ScratchDirectory
from tools.local.waiting import PATIENCE_SECONDS, TEST_SECONDS
from tools.release.base import DEBIAN
from tools.release.debian import debian_base
from tools.release.errors import ReleaseError
from tools.release.present import present_release
from tools.release.source import Commit, head
from tools.release.version import version_of

__all__ = [
    "RELEASE_SECONDS",
    "Release",
    "base_of_images",
    "build_release",
    "git",
    "pytest_addoption",
    "pytest_configure",
    "released",
    "released_elsewhere",
]

RELEASE_SECONDS = 6 * TEST_SECONDS
"""How long a test may take that waits for a base and a release."""

_BUILD_SECONDS = 9 * PATIENCE_SECONDS
_SOMEBODY = {
    **{f"GIT_{who}_NAME": "Tests" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "tests@example.com" for who in ("AUTHOR", "COMMITTER")},
}
_PLAIN, _PRIVATE = 0o022, 0o077
_NOTHING: Mapping[str, str] = MappingProxyType({})
_SETTINGS_OF_GIT = {"tar.umask": "0077", "log.showSignature": "true", "status.showUntrackedFiles": "no"}
_HABITS = {
    "BUILDAH_FORMAT": "docker",
    "GZIP": "-1",
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "C",
    "PYTHONHASHSEED": "42",
    "SOURCE_DATE_EPOCH": "1",
    "TAR_OPTIONS": "--owner=somebody:1000 --mode=0600",
    "TZ": "Pacific/Chatham",
}


@dataclass(frozen=True, slots=True)
class Release:
    """What was built.

    Attributes:
        dist: the directory.
        commit: of the clone: the checkout's own where nothing is changed in it.
        version: of everything.
    """

    dist: Path
    commit: Commit
    version: str

    @property
    def image(self) -> Path:
        """The archive of the image."""
        (archive,) = self.dist.glob("*.oci.tar")
        return archive

    @property
    def bill_of_image(self) -> Path:
        """The bill of materials beside it."""
        return self.image.with_name(self.image.name.removesuffix(".oci.tar") + ".cdx.json")

    @property
    def wheel(self) -> Path:
        """The wheel."""
        (archive,) = self.dist.glob("*.whl")
        return archive

    @property
    def chart(self) -> Path:
        """The package of the chart."""
        return self.dist / f"keybearer-{self.version}.tgz"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take a release that was built already."""
    parser.addoption(
        "--release", type=Path, metavar="DIR", help="test the release in this directory, and build none"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a release that isn't the checkout's before anything is started.

    Raises:
        UsageError: it isn't, or is no release.
    """
    if config.option.release is not None:
        try:
            present_release(config.option.release.absolute(), ROOT)
        except ReleaseError as error:
            raise pytest.UsageError(str(error)) from error


@pytest.fixture(scope="session")
def base_of_images(request: pytest.FixtureRequest, system_tool: SystemTool) -> Path:
    """Return the archive that images are built on here: a test needs no registry."""
    if subprocess.run([system_tool("unshare"), "--mount", "true"], check=False).returncode != 0:
        not_run(request.config, "the image", "building it here takes root that may mount")
    return debian_base(system_tool("debootstrap")).archive


@pytest.fixture(scope="session")
def released(request: pytest.FixtureRequest, system_tool: SystemTool) -> Iterator[Release]:
    """Yield the release that all tests share: the one that was named, or else one that is built now."""
    named: Path | None = request.config.option.release
    if named is not None:
        found = present_release(named.absolute(), ROOT)
        yield Release(found.dist, found.commit, found.version)
        return
    system_tool("buildah")
    # Asked for only now: a release that was built already needs no base.
    assert request.getfixturevalue("base_of_images").exists()
    with closing(ScratchDirectory()) as scratch:
        clone = scratch.path / "here"
        _clone(ROOT, clone, _PLAIN)
        _commit_changes(clone)
        yield build_release(clone)


@pytest.fixture(scope="session")
def released_elsewhere(released: Release) -> Iterator[Release]:
    """Yield one of the same commit: another path, later, of somebody with other habits."""
    with closing(ScratchDirectory()) as scratch:
        clone = scratch.path / "another" / "place with a space"
        _clone(released.dist.parent, clone, _PRIVATE)
        for name, value in _SETTINGS_OF_GIT.items():
            git(clone, "config", name, value)
        yield build_release(clone, _HABITS, _PRIVATE)


def build_release(clone: Path, variables: Mapping[str, str] = _NOTHING, umask: int = _PLAIN) -> Release:
    """Build one of what is checked out in a clone.

    Args:
        clone: whose `dist` it is.
        variables: of the environment, besides.
        umask: of the commands.
    """
    # The environment of these tests is that of the clone: nothing is installed a second time.
    environment = Path(sys.executable).parents[1]
    done = subprocess.run(
        [
            *("make", "--no-print-directory", f"--old-file={environment}/.ready", "release"),
            f"VENV={environment}",
            f"PYTHON={sys.executable}",
        ],
        cwd=clone,
        env={
            **_machine(),
            "RELEASE_BASE": DEBIAN,
            "XDG_CACHE_HOME": str(cache_root().parent),
            **variables,
        },
        umask=umask,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Nothing is signed or published yet" in done.stdout
    return Release(clone / "dist", head(clone), version_of(clone))


def _machine() -> dict[str, str]:
    """Return the machine's own variables, which lead to mirrors and proxies, but none of a make that runs us."""
    variables = dict(os.environ)  # noqa: TID251 - another program's
    return {name: value for name, value in variables.items() if not name.startswith(("MAKE", "MFLAGS"))}


def _clone(source: Path, clone: Path, umask: int) -> None:
    """Clone what is committed in a repository."""
    clone.parent.mkdir(parents=True, exist_ok=True)
    git(source, "clone", "--quiet", "--depth=1", source.as_uri(), str(clone), umask=umask)


def _commit_changes(clone: Path) -> None:
    """Commit in the clone what is not committed in the checkout."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        source, target = ROOT / name, clone / name
        if os.path.lexists(source):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, target, follow_symlinks=False)
        else:
            target.unlink(missing_ok=True)
    git(clone, "add", "--all")
    if git(clone, "status", "--porcelain"):
        git(clone, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--message=changes")


def git(root: Path, *arguments: str, umask: int = -1) -> str:
    """Return what git printed; CalledProcessError where it failed."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=root,
        env={**os.environ, **_SOMEBODY},  # noqa: TID251 - the user's git, for the user's checkout
        umask=umask,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return done.stdout
