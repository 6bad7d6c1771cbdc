from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from keybearer.base.log_subject import log_subject
from keybearer.base.logs import LogFormat, configure_logging, get_logger
from keybearer.base.origin import Origin, request_from
from tools.local.marks import find_mark

_NOISY = ("kopf", "httpx", "httpcore", "aiohttp.access", "uvicorn.access", "aiosqlite")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    """Leave the process's logging as other tests expect it."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    noisy = {name: logging.getLogger(name).level for name in _NOISY}
    yield
    structlog.reset_defaults()
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in noisy.items():
        logging.getLogger(name).setLevel(before)


def _fail() -> None:
    password = "cnry-in-a-local"  # the local is the point
    raise RuntimeError(f"a failure with {len(password)} characters")


@pytest.mark.parametrize("log_format", ["json", "text"])
@pytest.mark.parametrize("library", ["structlog", "the standard library"])
def test_a_logged_exception_shows_no_locals(log_format: LogFormat, library: str) -> None:
    out = io.StringIO()
    configure_logging(log_format=log_format, level="info", stream=out)
    try:
        _fail()
    except RuntimeError:
        if library == "structlog":
            get_logger("test").exception("it_failed")
        else:
            logging.getLogger("test").exception("it failed")

    written = out.getvalue()
    assert "a failure with 15 characters" in written
    assert find_mark(written.replace('"cnry-in-a-local"', "<the source line>")) is None


def test_json_is_one_object_per_line_for_both_libraries() -> None:
    out = io.StringIO()
    configure_logging(log_format="json", level="INFO", stream=out)
    get_logger("ours").info("condition_changed", name="db", keys=("A", "B"), text="two\nlines")
    logging.getLogger("theirs").warning("something %s", "else")

    ours, theirs = (json.loads(line) for line in out.getvalue().splitlines())
    assert (ours["event"], ours["module"], ours["level"]) == ("condition_changed", "ours", "info")
    assert (ours["name"], ours["keys"], ours["text"]) == ("db", ["A", "B"], "two\nlines")
    assert (theirs["event"], theirs["logger"], theirs["level"]) == ("something else", "theirs", "warning")


def test_below_the_level_nothing_is_written_and_chatty_libraries_begin_at_warning() -> None:
    out = io.StringIO()
    configure_logging(log_format="text", level="info", stream=out)
    get_logger("ours").debug("unheard")
    for name in _NOISY:
        logging.getLogger(name).info("GET https://service/api?token=x")

    assert out.getvalue() == ""


def test_an_unknown_level_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'loud' is unknown; use debug"):
        configure_logging(log_format="json", level="loud")


def _lines(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_line_names_what_the_work_is_about_and_what_it_says_itself_wins() -> None:
    out = io.StringIO()
    configure_logging(log_format="json", level="info", stream=out)
    with log_subject({"kind": "SecretSync", "namespace": "team-a", "name": "web", "reconcile_id": "1"}):
        get_logger("test").info("it_happened", name="other")
        logging.getLogger("library").warning("it happened")
    get_logger("test").info("it_is_over")

    own, of_library, after = _lines(out)
    assert (own["kind"], own["namespace"], own["name"], own["reconcile_id"]) == (
        "SecretSync",
        "team-a",
        "other",
        "1",
    )
    assert of_library["name"] == "web"
    assert "name" not in after


def test_a_line_names_the_request_that_is_answered() -> None:
    out = io.StringIO()
    configure_logging(log_format="json", level="info", stream=out)
    with request_from(Origin("192.0.2.1", "agent", "req-1")):
        get_logger("test").info("it_happened")
    assert [line["request_id"] for line in _lines(out)] == ["req-1"]
