"""What is released are the files of a commit as git keeps them, whatever git is told to make of them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.release.errors import ReleaseError
from tools.release.source import export, head, uncommitted

SECONDS = 1_700_000_000


def git(root: Path, *arguments: str) -> str:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.defpath}
    own |= {
        f"GIT_{who}_{what}": "somebody@example.com"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    own |= {"GIT_AUTHOR_DATE": "@1 +0000", "GIT_COMMITTER_DATE": f"@{SECONDS} +0530"}
    done = subprocess.run(["git", *arguments], cwd=root, env=own, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "folder").mkdir()
    (root / "folder" / "file with a space").write_bytes(b"one\ntwo $Format:%H$\n")
    (root / "program").write_bytes(b"#!/bin/sh\n")
    (root / "program").chmod(0o755)
    (root / "link").symlink_to("folder/file with a space")
    (root / "empty").write_bytes(b"")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=first")
    return root


def test_the_time_of_a_commit_is_that_of_its_committer_whatever_log_shows(checkout: Path) -> None:
    git(checkout, "config", "log.showSignature", "true")
    found = head(checkout)
    assert (found.name, found.seconds) == (git(checkout, "rev-parse", "HEAD"), SECONDS)


def test_files_have_gits_bytes_plain_modes_and_the_commits_time(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "config", "core.autocrlf", "true")
    git(checkout, "config", "tar.umask", "0077")
    (checkout / ".git" / "info" / "attributes").write_text("* export-subst export-ignore\n")
    (checkout / "untracked").write_text("mine")
    (checkout / "program").write_text("changed")
    before = os.umask(0o077)
    try:
        export(checkout, head(checkout), tmp_path / "exported")
    finally:
        os.umask(before)
    exported = tmp_path / "exported"
    assert (exported / "folder" / "file with a space").read_bytes() == b"one\ntwo $Format:%H$\n"
    assert {
        str(path.relative_to(exported)): path.lstat().st_mode & 0o777 for path in exported.rglob("*")
    } == {
        "folder": 0o755,
        "folder/file with a space": 0o644,
        "program": 0o755,
        "link": 0o777,
        "empty": 0o644,
    }
    assert (exported / "link").readlink() == Path("folder/file with a space")
    assert {path.lstat().st_mtime for path in [exported, *exported.rglob("*")]} == {SECONDS}


def test_what_differs_from_the_commit_is_named_whatever_status_is_told_to_show(checkout: Path) -> None:
    assert uncommitted(checkout) == []
    git(checkout, "config", "status.showUntrackedFiles", "no")
    (checkout / "folder" / "new").write_text("")
    (checkout / "program").unlink()
    assert uncommitted(checkout) == ["folder/new", "program"]


def test_a_variable_that_names_another_repository_has_no_effect(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert head(checkout).seconds == SECONDS


def test_without_a_commit_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="no commit to release: clone the repository"):
        head(tmp_path)
