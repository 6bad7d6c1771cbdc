"""The canary itself: a leak must fail a test, whatever its form."""

from __future__ import annotations

import base64

import pytest

from support.canary import Canary
from tools.local.marks import MARK, find_mark

pytest_plugins = ["pytester"]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"password={MARK}abc", id="as text"),
        pytest.param(base64.b64encode(f"{MARK}abc".encode()).decode(), id="as base64"),
        pytest.param(f"{MARK}abc".encode().hex(), id="as hex"),
    ],
)
def test_a_mark_is_found(text: str) -> None:
    assert find_mark(f"before {text} after")


def test_clean_text_passes() -> None:
    assert find_mark("secret of project p, key DB_PASSWORD") is None


def test_a_watched_outlet_that_leaks_is_named() -> None:
    canary = Canary()
    canary.watch("clean", lambda: "nothing")
    canary.watch("operator log", lambda: f"value is {MARK}xyz")
    assert [line.split(" shows")[0] for line in canary.leaks()] == ["operator log"]


@pytest.mark.shows_secrets
@pytest.mark.parametrize(
    "leak",
    [
        pytest.param(f"print('{MARK}out')", id="through stdout"),
        pytest.param(f"import logging; logging.getLogger('x').warning('{MARK}log')", id="through a log"),
    ],
)
def test_a_passing_test_that_leaks_fails(pytester: pytest.Pytester, leak: str) -> None:
    pytester.makeini("[pytest]\nmarkers =\n    shows_secrets: none here")
    pytester.makeconftest("pytest_plugins = ['support.canary']")
    pytester.makepyfile(f"def test_leaky():\n    {leak}\n")
    result = pytester.runpytest_inprocess("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:asyncio")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*shows a marked value*"])
