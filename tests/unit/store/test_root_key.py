from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.store.sealing.root_key import (
    add_root_key,
    create_root_key_file,
    parse_root_keys,
    read_root_key_file,
)

FIRST = base64.b64encode(b"1" * 32).decode()
SECOND = base64.b64encode(b"2" * 32).decode()


def test_a_created_key_file_is_private_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    created = create_root_key_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    read = read_root_key_file(path)
    assert read is not None
    assert read.first.material == created.first.material


def test_a_key_file_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    create_root_key_file(path)
    with pytest.raises(ConfigurationError, match="can't be created"):
        create_root_key_file(path)


def test_a_missing_key_file_is_none(tmp_path: Path) -> None:
    assert read_root_key_file(tmp_path / "root.key") is None


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610], ids=lambda mode: f"mode {mode:04o}")
def test_a_key_file_that_others_can_reach_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "root.key"
    create_root_key_file(path)
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        read_root_key_file(path)


@pytest.mark.parametrize(
    ("mode", "accepted"),
    [
        pytest.param(0o440, True, id="its group reads it"),
        pytest.param(0o460, False, id="its group writes it"),
        pytest.param(0o444, False, id="everybody reads it"),
    ],
)
def test_a_key_that_another_user_owns_may_be_read_through_its_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int, *, accepted: bool
) -> None:
    # So a pod reads a mounted Secret: it is root's, and the pod is in its group.
    path = tmp_path / "root.key"
    create_root_key_file(path)
    path.chmod(mode)
    monkeypatch.setattr("os.geteuid", lambda: path.stat().st_uid + 1)
    if accepted:
        assert read_root_key_file(path) is not None
    else:
        with pytest.raises(ConfigurationError, match="chmod 600"):
            read_root_key_file(path)


def test_the_first_line_is_active_and_the_others_only_unwrap() -> None:
    keys = parse_root_keys(f"# new\n{FIRST}\n\n{SECOND} # old\n", "here")
    assert keys.first.material == b"1" * 32
    assert [key.material for key in keys.others] == [b"2" * 32]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("", "holds no root key", id="nothing"),
        pytest.param("# only a comment", "holds no root key", id="only a comment"),
        pytest.param("not base64!", "no base64", id="no base64"),
        pytest.param(base64.b64encode(b"cnry-short").decode(), "a key of 10 bytes", id="too short"),
    ],
)
def test_a_text_without_a_key_is_refused_without_repeating_it(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as refused:
        parse_root_keys(text, "the file")
    if text:
        assert text not in str(refused.value)


def test_the_name_of_a_root_key_depends_on_the_key_alone() -> None:
    once, again, other = (parse_root_keys(text, "here") for text in (FIRST, FIRST, SECOND))
    assert once.first.name == again.first.name
    assert once.first.name != other.first.name


def test_an_added_key_stands_in_front_of_the_former_ones(tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    former = create_root_key_file(path)
    added = add_root_key(path)
    assert [root.material for root in added.others] == [former.first.material]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_key_file_stays_with_its_owner_and_group_whoever_adds_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "root.key"
    create_root_key_file(path)
    owned: list[tuple[int, int]] = []
    true_stat = Path.stat

    def of_the_service(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        status = list(true_stat(self, follow_symlinks=follow_symlinks))
        status[4:6] = (4711, 4712)
        return os.stat_result(status)

    monkeypatch.setattr(Path, "stat", of_the_service)
    monkeypatch.setattr("os.fchown", lambda _, user, group: owned.append((user, group)))
    add_root_key(path)
    assert owned == [(4711, 4712)]


def test_who_may_not_hand_the_file_over_leaves_it_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "root.key"
    create_root_key_file(path)
    before = path.read_bytes()

    def not_permitted(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("keybearer.store.sealing.root_key._hand_over", not_permitted)
    with pytest.raises(ConfigurationError, match="can't be replaced: Operation not permitted"):
        add_root_key(path)
    assert path.read_bytes() == before


def test_no_key_is_added_that_the_next_start_could_not_read(tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    create_root_key_file(path)
    with path.open("a") as file:
        file.write(f"{FIRST}\n" * (64 * 1024 // len(f"{FIRST}\n") - 2))
    add_root_key(path)  # the last that fits
    full = path.read_bytes()
    with pytest.raises(ConfigurationError, match="no room for one more key"):
        add_root_key(path)
    assert path.read_bytes() == full
    assert read_root_key_file(path) is not None


def test_an_over_long_key_file_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "root.key"
    create_root_key_file(path)
    with path.open("a") as file:
        file.write("#" * 64 * 1024)
    with pytest.raises(ConfigurationError, match="longer than 65536 bytes"):
        read_root_key_file(path)
