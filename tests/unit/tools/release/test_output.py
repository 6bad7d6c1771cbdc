"""dist/ is replaced as a whole, by a finished release, and only where nothing else is in it."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

import pytest

from tools.release.errors import ReleaseError
from tools.release.output import check_replaceable, replaced
from tools.release.sums import SUMS, read_sums, sha256_of, sums_of


def release(into: Path, *names: str) -> Path:
    into.mkdir(exist_ok=True)
    for name in names:
        (into / name).write_text(name)
    (into / SUMS).write_text(sums_of({name: sha256_of(into / name) for name in names}))
    return into


def interrupted(unfinished: Path) -> NoReturn:
    (unfinished / "half.whl").write_text("")
    raise KeyboardInterrupt


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_a_former_release_is_replaced_as_a_whole(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist", "old.whl", "both.yaml")
    with replaced(dist) as unfinished:
        assert names(unfinished) == set()
        assert names(dist) == {"old.whl", "both.yaml", SUMS}
        release(unfinished, "new.whl", "both.yaml")
    assert names(dist) == {"new.whl", "both.yaml", SUMS}
    assert names(tmp_path) == {"dist"}


def test_a_release_that_fails_leaves_the_former(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist", "old.whl")
    with pytest.raises(KeyboardInterrupt), ExitStack() as stack:
        interrupted(stack.enter_context(replaced(dist)))
    assert names(dist) == {"old.whl", SUMS}
    assert names(tmp_path) == {"dist"}


def test_what_a_killed_run_left_is_gone_and_the_former_release_back(tmp_path: Path) -> None:
    release(tmp_path / ".dist.former", "old.whl")
    release(tmp_path / ".dist.unfinished", "half.whl")
    with pytest.raises(ReleaseError), replaced(tmp_path / "dist"):
        raise ReleaseError("not now")
    assert names(tmp_path) == {"dist"}
    assert names(tmp_path / "dist") == {"old.whl", SUMS}


def test_a_file_that_no_release_wrote_is_named_and_kept(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist", "old.whl")
    (dist / "old.whl.sigstore.json").write_text("signed by hand")
    with pytest.raises(ReleaseError, match=r"old\.whl\.sigstore\.json is no part of the release"):
        check_replaceable(dist)


def test_one_that_comes_while_a_release_is_built_is_kept_as_well(tmp_path: Path) -> None:
    dist = release(tmp_path / "dist", "old.whl")
    building = replaced(dist)
    release(building.__enter__(), "new.whl")
    (dist / "notes").write_text("mine")
    with pytest.raises(ReleaseError, match="notes"):
        building.__exit__(None, None, None)
    assert names(dist) == {"old.whl", "notes", SUMS}


def test_what_only_looks_like_a_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "wheel.whl").write_text("of another tool")
    with pytest.raises(ReleaseError, match=r"wheel\.whl is no part"):
        check_replaceable(tmp_path / "other")
    (tmp_path / "other" / SUMS).write_text("no sums\n")
    with pytest.raises(ReleaseError, match="line that is none of sha256sum"):
        check_replaceable(tmp_path / "other")
    (tmp_path / "linked").symlink_to(tmp_path / "other")
    (tmp_path / "file").write_text("")
    for name in ("linked", "file"):
        with pytest.raises(ReleaseError, match="is no directory"):
            check_replaceable(tmp_path / name)


def test_nothing_and_an_empty_directory_may_be_replaced(tmp_path: Path) -> None:
    check_replaceable(tmp_path / "absent")
    (tmp_path / "empty").mkdir()
    check_replaceable(tmp_path / "empty")


def test_sums_are_read_as_they_were_written() -> None:
    digests = {"b": "0" * 64, "a": "f" * 64}
    assert sums_of(digests) == f"{'f' * 64}  a\n{'0' * 64}  b\n"
    assert read_sums(sums_of(digests)) == digests
