"""Before minutes of building, every reason that would stop a release is named at once, with what to do."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.release.environment import Settings
from tools.release.errors import ReleaseError
from tools.release.preflight import Machine, check

PLENTY = 100 * 2**30


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (root / "Dockerfile").write_text("ARG VERSION=1.2.3\n")
    (root / "charts" / "keybearer").mkdir(parents=True)
    (root / "charts" / "keybearer" / "Chart.yaml").write_text("version: 1.2.3\nappVersion: 1.2.3\n")
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=first")
    return root


def git(root: Path, *arguments: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.defpath}
    subprocess.run(["git", *arguments], cwd=root, env=own, check=True)


def machine(*absent: str, free: int = PLENTY, user: int = 0) -> Machine:
    return Machine(
        which=lambda name: None if name in absent else f"/usr/bin/{name}",
        free_bytes=lambda _: free,
        user=lambda: user,
    )


def refusal(root: Path, here: Machine, base: str | None = None) -> str:
    """Return why a release may not begin; nothing where it may."""
    try:
        check(root, root / "dist", root, Settings(base=base), here)
    except ReleaseError as error:
        return str(error)
    return ""


def test_a_clean_commit_on_a_machine_with_all_tools_may_be_released(checkout: Path) -> None:
    assert refusal(checkout, machine()) == ""


def test_missing_tools_are_named_with_the_command_that_installs_them(checkout: Path) -> None:
    told = refusal(checkout, machine("buildah", "make"))
    assert told.startswith("not installed: buildah, make. On Debian: apt-get install")


def test_debootstrap_and_root_are_asked_for_where_debian_is(checkout: Path) -> None:
    here = machine("debootstrap", user=1000)
    assert refusal(checkout, here) == ""
    told = refusal(checkout, here, base="debian")
    assert "not installed: debootstrap." in told
    assert "needs root" in told


def test_changes_that_are_not_committed_are_named(checkout: Path) -> None:
    for number in range(7):
        (checkout / f"new{number}").write_text("")
    told = refusal(checkout, machine())
    assert told.startswith("not committed: new0, new1, new2, new3, new4, .... Commit, or")


def test_a_copy_with_another_version_is_named(checkout: Path) -> None:
    (checkout / "Dockerfile").write_text("ARG VERSION=1.2.2\n")
    assert "Dockerfile:1: 1.2.2. Run make version" in refusal(checkout, machine())


def test_too_little_room_is_told_with_what_is_needed(checkout: Path) -> None:
    told = refusal(checkout, machine(free=2**31))
    assert (
        told == f"2.0 GiB free in {checkout}, 4 are needed: make room, or name another directory with TMPDIR"
    )


def test_all_reasons_are_told_at_once(checkout: Path) -> None:
    (checkout / "dist").mkdir()
    (checkout / "dist" / "mine").write_text("")
    told = refusal(checkout, machine("buildah", free=0))
    for reason in ("buildah", "not committed", "mine is no part of the release", "0.0 GiB"):
        assert reason in told


def test_a_folder_without_a_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    assert "no commit to release" in refusal(tmp_path, machine())
