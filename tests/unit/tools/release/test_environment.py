"""Programs that write bytes of a release get no variable of the user but those that lead to the network."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.release.environment import Settings, build_environment, git_environment, read_settings

_OF_THE_USER = {
    "BUILDAH_FORMAT": "docker",
    "GIT_DIR": "/elsewhere",
    "HOME": "/home/somebody",
    "LANG": "tr_TR.UTF-8",
    "LC_ALL": "tr_TR.UTF-8",
    "MAKEFLAGS": "-n",
    "PIP_INDEX_URL": "https://user:password@packages.example.com",
    "PYTHONPATH": "/elsewhere",
    "SOURCE_DATE_EPOCH": "1",
    "TAR_OPTIONS": "--mode=0600",
    "TZ": "Pacific/Chatham",
    "HTTPS_PROXY": "http://proxy.example.com",
}


@pytest.fixture(autouse=True)
def _user(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in _OF_THE_USER.items():
        monkeypatch.setenv(name, value)
    for name in ("RELEASE_BASE", "RELEASE_DEBIAN_MIRROR"):
        monkeypatch.delenv(name, raising=False)


def test_what_a_user_has_set_stays_outside() -> None:
    given = build_environment(Path("/scratch"), 7, {"TMPDIR": "/scratch"})
    assert {name: value for name, value in given.items() if _OF_THE_USER.get(name) == value} == {
        "HTTPS_PROXY": "http://proxy.example.com"
    }
    assert {"GIT_DIR", "MAKEFLAGS", "PIP_INDEX_URL", "PYTHONPATH", "TAR_OPTIONS"}.isdisjoint(given)
    assert (given["HOME"], given["TZ"], given["SOURCE_DATE_EPOCH"], given["TMPDIR"]) == (
        "/scratch",
        "UTC",
        "7",
        "/scratch",
    )


def test_a_program_that_is_told_the_date_by_its_arguments_gets_no_variable_for_it() -> None:
    assert "SOURCE_DATE_EPOCH" not in build_environment(Path("/scratch"), None)


def test_git_keeps_the_users_settings_but_not_another_repository() -> None:
    given = git_environment()
    assert given["HOME"] == "/home/somebody"
    assert "GIT_DIR" not in given


def test_settings_that_are_empty_count_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_settings() == Settings()
    monkeypatch.setenv("RELEASE_BASE", "")
    monkeypatch.setenv("RELEASE_DEBIAN_MIRROR", "https://debian.example.com")
    assert read_settings() == Settings(None, "https://debian.example.com")
