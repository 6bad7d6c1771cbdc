"""What is installed is a whole release of the commit that is checked out, or the refusal says what to run."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tools.release.errors import ReleaseError
from tools.release.present import present_release
from tools.release.provenance import Base, provenance_of
from tools.release.source import Commit, head
from tools.release.sums import SUMS, sha256_of, sums_of

_PROVENANCE = "keybearer-1.2.3-provenance.json"
_CHART = "keybearer-1.2.3.tgz"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A checkout with one commit, and `dist/` with a release of it."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "one").write_text("one")
    commit(tmp_path)
    put_release(tmp_path)
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.defpath}
    subprocess.run(["git", *arguments], cwd=root, env=own, check=True)


def commit(root: Path) -> None:
    git(root, "add", "one")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=changed")


def put_release(root: Path) -> None:
    dist = root / "dist"
    dist.mkdir()
    (dist / _CHART).write_bytes(b"a chart")
    base = Base("debian", "debian bookworm", ())
    (dist / _PROVENANCE).write_text(provenance_of({}, head(root), "1.2.3", "linux/amd64", base, {}))
    (dist / SUMS).write_text(sums_of({path.name: sha256_of(path) for path in dist.iterdir()}))


def refusal(root: Path) -> str:
    with pytest.raises(ReleaseError) as raised:
        present_release(root / "dist", root)
    return str(raised.value)


def test_a_release_of_the_present_commit_is_told_by_commit_and_version(root: Path) -> None:
    found = present_release(root / "dist", root)
    assert (found.dist, found.commit, found.version) == (root / "dist", head(root), "1.2.3")


def test_where_nothing_was_built_the_command_is_named(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path / 'dist'} holds no release: run `make release`"


def test_a_release_of_another_commit_is_named_with_both_commits(root: Path) -> None:
    former = head(root).name
    (root / "one").write_text("another")
    commit(root)
    told = refusal(root)
    assert f"commit {former[:12]}, and {head(root).name[:12]} is checked out: run `make release`" in told


def test_of_which_commit_it_is_matters_to_a_checkout_only(root: Path) -> None:
    former = head(root)
    (root / "one").write_text("another")
    commit(root)
    assert present_release(root / "dist").commit == Commit(former.name, former.seconds)


@pytest.mark.parametrize("change", [b"another chart", None], ids=["a changed file", "a missing file"])
def test_a_release_that_is_not_as_it_was_built_is_refused_with_the_file(
    root: Path, change: bytes | None
) -> None:
    file = root / "dist" / _CHART
    file.unlink() if change is None else file.write_bytes(change)
    assert refusal(root) == f"{root / 'dist'} isn't as it was built, see {_CHART}: run `make release`"


def test_a_provenance_that_names_nothing_is_refused(root: Path) -> None:
    (root / "dist" / _PROVENANCE).write_text("{}")
    assert refusal(root).endswith(f"{_PROVENANCE} names no commit and version: run `make release`")


def test_a_second_provenance_is_refused(root: Path) -> None:
    (root / "dist" / "keybearer-1.2.4-provenance.json").write_text("{}")
    assert "holds 2 provenance statements in place of one" in refusal(root)
