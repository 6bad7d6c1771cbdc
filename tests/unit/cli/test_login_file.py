"""The login is kept in a file that is its owner's alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.cli.login_file import Login, forget_login, login_path, read_login, write_login

LOGIN = Login("https://keybearer.example.com", "user", "ada@example.com", "cnry-token", ca_file="/ca.pem")


@pytest.fixture(autouse=True)
def config_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config"


def test_a_login_is_read_as_it_was_written_and_forgotten_whole() -> None:
    assert read_login() is None
    write_login(LOGIN)
    assert read_login() == LOGIN
    forget_login()
    forget_login()
    assert read_login() is None


def test_neither_file_nor_directory_is_open_to_others(config_home: Path) -> None:
    path = write_login(LOGIN)
    write_login(LOGIN)
    assert path == config_home / "keybearer" / "login.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["login.json"]


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o606])
def test_a_file_that_others_may_read_is_refused_with_the_remedy(mode: int) -> None:
    path = write_login(LOGIN)
    path.chmod(mode)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        read_login()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"access_token": "cnry-token"}', '{"of": "tomorrow"}'])
def test_a_damaged_file_is_refused_without_quoting_it(content: str) -> None:
    path = write_login(LOGIN)
    path.write_text(content)
    with pytest.raises(ConfigurationError, match="damaged") as refused:
        read_login()
    assert refused.value.__context__ is None


def test_a_repr_shows_no_token() -> None:
    assert "cnry-" not in repr(LOGIN)


def test_a_relative_config_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert login_path() == tmp_path / ".config" / "keybearer" / "login.json"
