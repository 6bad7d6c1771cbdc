"""What a base of Debian consists of is read from the indexes that were checked, and an old base is made anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.release.debian import _described, _is_fresh, _Source
from tools.release.errors import ReleaseError

SOURCE = _Source("http://debian.example.com", "debian", "bookworm", "amd64", is_named=False)
INDEX = "deb.example.com_dists_bookworm_main_binary-amd64_Packages"


def package(name: str, version: str, **fields: str) -> str:
    said = {"Package": name, "Version": version, "Architecture": "amd64", **fields}
    return (
        "".join(f"{field}: {value}\n" for field, value in said.items()) + "Description: text\n that goes on\n"
    )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    lists = tmp_path / "var/lib/apt/lists"
    lists.mkdir(parents=True)
    (lists / INDEX).write_text(
        "\n".join(
            [
                package("libc6", "2.36-9", SHA256="a" * 64),
                package("zlib1g", "1:1.2.13", SHA256="b" * 64),
                package("vim", "2:9.0", SHA256="c" * 64),
            ]
        )
    )
    (lists / "deb.example.com_dists_bookworm_InRelease").write_text(
        "Suite: x\nDate: Sat, 17 May 2025 09:23:09 UTC\n"
    )
    (tmp_path / "var/lib/dpkg").mkdir()
    (tmp_path / "var/lib/dpkg/status").write_text(
        "\n".join([package("zlib1g", "1:1.2.13"), package("libc6", "2.36-9")])
    )
    return tmp_path


def test_each_installed_package_has_the_checksum_of_the_index(root: Path) -> None:
    assert _described(root, SOURCE) == {
        "distribution": "debian",
        "release": "bookworm",
        "dated": "Sat, 17 May 2025 09:23:09 UTC",
        "packages": [
            {"name": "libc6", "version": "2.36-9", "architecture": "amd64", "sha256": "a" * 64},
            {"name": "zlib1g", "version": "1:1.2.13", "architecture": "amd64", "sha256": "b" * 64},
        ],
    }


def test_a_package_of_another_version_than_the_index_has_is_refused(root: Path) -> None:
    (root / "var/lib/dpkg/status").write_text(package("libc6", "2.36-8"))
    with pytest.raises(ReleaseError, match=r"no index of bookworm has libc6 2\.36-8"):
        _described(root, SOURCE)


def test_indexes_without_a_date_are_refused(root: Path) -> None:
    (root / "var/lib/apt/lists/deb.example.com_dists_bookworm_InRelease").unlink()
    with pytest.raises(ReleaseError, match="no file named Release"):
        _described(root, SOURCE)


def test_a_base_is_used_for_a_day_and_that_of_a_named_mirror_for_ever(tmp_path: Path) -> None:
    described = tmp_path / "base.json"
    assert not _is_fresh(described, always=True)
    described.write_text("{}")
    assert _is_fresh(described, always=False)
    an_old_time = described.stat().st_mtime - 25 * 3600
    os.utime(described, (an_old_time, an_old_time))
    assert not _is_fresh(described, always=False)
    assert _is_fresh(described, always=True)


def test_another_mirror_makes_no_other_base_unless_it_was_named() -> None:
    other = _Source("http://other.example.com", "debian", "bookworm", "amd64", is_named=False)
    assert other.key == SOURCE.key
    named = _Source("http://other.example.com", "debian", "bookworm", "amd64", is_named=True)
    assert named.key != SOURCE.key
