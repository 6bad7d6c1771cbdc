from __future__ import annotations

from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.store.data_directory import DataDirectory


def test_a_fresh_directory_is_its_owners_alone(tmp_path: Path) -> None:
    with DataDirectory(tmp_path / "data"):
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


def test_a_directory_in_use_is_refused_until_it_is_let_go(tmp_path: Path) -> None:
    with (
        DataDirectory(tmp_path / "data"),
        pytest.raises(ConfigurationError, match="in use by another keybearer serve"),
    ):
        DataDirectory(tmp_path / "data")
    with DataDirectory(tmp_path / "data"):
        pass


def test_a_private_file_replaces_the_old_one_as_a_whole(tmp_path: Path) -> None:
    with DataDirectory(tmp_path) as directory:
        directory.write_private("admin.json", b"old")
        written = directory.write_private("admin.json", b"new")
    assert written.read_bytes() == b"new"
    assert written.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["admin.json", "lock"]


def test_a_path_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("")
    with pytest.raises(ConfigurationError, match="can't be used"):
        DataDirectory(tmp_path / "data")
