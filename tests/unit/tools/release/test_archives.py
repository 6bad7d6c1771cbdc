"""The bytes of an archive follow from its content: not from order, umask, user or the present time."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from tools.release.archives import PLAIN, PROGRAM, dated, gzipped, members_of, tar_of

FILES = {"b/program": (PROGRAM, b"#!"), "a": (PLAIN, b"text"), "é" + "n" * 150: (PLAIN, b"")}


def test_files_are_sorted_and_nobodys_with_one_date() -> None:
    with tarfile.open(fileobj=io.BytesIO(tar_of(FILES, 1_700_000_000))) as opened:
        members = opened.getmembers()
    assert [one.name for one in members] == sorted(FILES)
    assert {(one.uid, one.gid, one.uname, one.gname, one.mtime) for one in members} == {
        (0, 0, "", "", 1_700_000_000)
    }
    assert {one.name: one.mode for one in members} == {name: mode for name, (mode, _) in FILES.items()}


def test_the_order_in_which_they_are_given_has_no_effect() -> None:
    assert tar_of(dict(reversed(FILES.items())), 7) == tar_of(FILES, 7)


def test_compressed_content_has_no_name_and_the_given_date() -> None:
    packed = gzipped(b"content", 1_700_000_000)
    assert packed[:4] == b"\x1f\x8b\x08\x00", "no flags: neither a name nor a comment follows"
    assert int.from_bytes(packed[4:8], "little") == 1_700_000_000


def written(by: Path, mode: int, when: int) -> Path:
    """Return an archive as another program may write it."""
    archive = by / "written.tar.gz"
    with tarfile.open(archive, "w:gz") as opened:
        folder = tarfile.TarInfo("folder")
        folder.type = tarfile.DIRTYPE
        opened.addfile(folder)
        member = tarfile.TarInfo("folder/file")
        member.size, member.mode, member.mtime, member.uid, member.uname = 4, mode, when, 1000, "somebody"
        opened.addfile(member, io.BytesIO(b"text"))
    return archive


def test_what_another_program_wrote_loses_its_user_umask_and_date(tmp_path: Path) -> None:
    one = tar_of(members_of(written(tmp_path, 0o640, 5)), 9)
    other = tar_of(members_of(written(tmp_path, 0o604, 6)), 9)
    assert one == other == tar_of({"folder/file": (PLAIN, b"text")}, 9)


def test_a_link_in_such_an_archive_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "linked.tar"
    with tarfile.open(archive, "w") as opened:
        member = tarfile.TarInfo("link")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(member)
    with pytest.raises(ValueError, match="link is no regular file"):
        members_of(archive)


def test_a_dated_directory_has_one_time_and_plain_modes(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b").chmod(0o700)
    (tmp_path / "a" / "file").write_text("")
    (tmp_path / "a" / "link").symlink_to("nowhere")
    dated(tmp_path / "a", 1_700_000_000)
    found = [tmp_path / "a", *(tmp_path / "a").rglob("*")]
    assert {path.lstat().st_mtime for path in found} == {1_700_000_000}
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == PROGRAM
    assert os.access(tmp_path / "a" / "file", os.R_OK)
