from __future__ import annotations

from pathlib import Path

import pytest

from tools.local import waiting

pytest_plugins = ["pytester"]

_ROOT = Path(waiting.__file__).parents[2]
_VARIABLE = "KEYBEARER_TEST_PATIENCE"


def _run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> pytest.RunResult:
    """Return how a run in a process of its own ends: the setting is read when the module is loaded."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini(f"[pytest]\npythonpath = {_ROOT}/tests {_ROOT}")
    pytester.makeconftest("pytest_plugins = ['pytest_timeout', 'support.timeout_of_tests']")
    return pytester.runpytest_subprocess(*arguments)


@pytest.mark.parametrize(("patience", "timeout"), [("7", "21.0"), (None, "300.0")], ids=["7 s", "no setting"])
def test_the_timeout_of_a_test_is_three_times_the_patience(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, patience: str | None, timeout: str
) -> None:
    monkeypatch.delenv(_VARIABLE, raising=False)
    if patience is not None:
        monkeypatch.setenv(_VARIABLE, patience)

    _run(pytester, monkeypatch).stdout.fnmatch_lines([f"timeout: {timeout}s"])


def test_a_test_that_hangs_ends_after_its_timeout(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(_VARIABLE, "0.1")
    pytester.makepyfile("import threading\n\ndef test_stuck():\n    threading.Event().wait()\n")

    result = _run(pytester, monkeypatch)

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Timeout (>0.3*s) from pytest-timeout."])


def test_a_timeout_of_the_command_line_goes_before_the_patience(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(_VARIABLE, "7")

    _run(pytester, monkeypatch, "--timeout=5").stdout.fnmatch_lines(["timeout: 5.0s"])


@pytest.mark.parametrize("text", ["soon", "0", "-3", "inf", "nan", ""])
def test_a_patience_that_is_no_time_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(_VARIABLE, text)

    with pytest.raises(ValueError, match=f"^{_VARIABLE}={text} is not a number of seconds above 0"):
        waiting._patience()


def test_a_wait_ends_with_what_never_came() -> None:
    with pytest.raises(
        waiting.NotInTimeError, match=r"within 0\.01 s there was not a bus\. the road is empty"
    ):
        waiting.eventually(lambda: None, awaited="a bus", within=0.01, told=lambda: "the road is empty")
