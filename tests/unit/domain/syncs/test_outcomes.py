from __future__ import annotations

import pytest
from pydantic import JsonValue

from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteMissingError,
    RemoteRefusedError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.domain.errors import ForbiddenError, InvalidError
from keybearer.domain.syncs.outcomes import MESSAGE_MAX, Failure, confidential_texts, failure_of
from keybearer.domain.syncs.plan import PlanRefusedError
from keybearer.store.failures import BusyError, UnavailableError
from keybearer.store.sealing.envelope import AlteredDatabaseError
from support.rows import each_row

pytestmark = pytest.mark.every_database


@each_row(
    ("error", "is_retryable"),
    [
        (RemoteDeniedError("x"), False),
        (RemoteMissingError("x"), False),
        (RemoteRefusedError("x"), False),
        (RemoteThrottledError("x"), True),
        (RemoteUnavailableError("x"), True),
        (PlanRefusedError("x"), False),
        (InvalidError("x"), False),
        (TimeoutError(), True),
        (BusyError("x"), True),
        (UnavailableError("x"), True),
        (ZeroDivisionError("cnry-secret"), True),
    ],
)
def test_another_attempt_is_worth_it_where_the_same_may_work_later(
    error: Exception, *, is_retryable: bool
) -> None:
    failure = failure_of(error, [])
    assert failure.is_retryable is is_retryable
    assert failure.message
    assert "cnry" not in failure.message


def test_an_edited_database_is_told_as_it_is_and_asked_no_more() -> None:
    error = AlteredDatabaseError("Secrets of folder 1 were changed in the database")
    assert failure_of(error, []) == Failure(str(error), is_retryable=False)


def test_an_error_that_nobody_foresaw_is_named_and_not_quoted() -> None:
    failure = failure_of(KeyError("cnry-secret"), [])
    assert not failure.is_foreseen
    assert "KeyError" in failure.message


def test_details_of_a_refusal_are_told_some_of_them() -> None:
    failure = failure_of(ForbiddenError("No.", details=[f"detail {number}" for number in range(9)]), [])
    assert failure.message == "No. detail 0 detail 1 detail 2 detail 3 detail 4"


def test_what_is_confidential_is_redacted_the_longest_first_and_short_words_stay() -> None:
    error = RemoteRefusedError("got cnry-abc and cnry-abcdef, which is true")
    failure = failure_of(error, ["cnry-abc", "cnry-abcdef", "true", ""])
    assert failure.message == "got [redacted] and [redacted], which is true"


def test_a_message_is_cut_after_it_was_redacted() -> None:
    text = "x" * (MESSAGE_MAX - 4)
    failure = failure_of(RemoteRefusedError(f"{text}cnry-value"), ["cnry-value"])
    assert len(failure.message) == MESSAGE_MAX
    assert "cnry" not in failure.message


def test_of_credentials_all_texts_are_confidential_but_those_that_are_shown() -> None:
    given: dict[str, JsonValue] = {
        "url": "https://x",
        "token": "cnry-t",
        "more": {"list": ["cnry-l", 7], "flag": True},
    }
    assert confidential_texts(given, {"url": "https://x"}) == ["cnry-t", "cnry-l"]
