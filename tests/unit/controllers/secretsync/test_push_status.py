"""What is told of single names at a destination, and when the service tries again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keybearer.controllers.secretsync.destination_names import (
    PlacedName,
    PlacedNames,
    has_news,
    is_shown,
    next_attempt,
    with_names,
)
from keybearer.controllers.secretsync.status import FAILED_MAX, FOREIGN_MAX, PushStatus, RemoteSyncStatus
from keybearer.controllers.target.guard import Removal
from keybearer.controllers.target.status import removals_of, told_removals
from keybearer.domain.syncs.outcomes import Failure

_AT = datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC)


def test_the_next_attempt_is_read_as_the_service_writes_it() -> None:
    message = Failure("the host answers 502", is_retryable=True).before_next_attempt(_AT)
    assert next_attempt(message) == _AT


@pytest.mark.parametrize("message", [None, "", "no such repository", "; the next attempt is at soonZ"])
def test_a_failure_without_a_next_attempt_is_final(message: str | None) -> None:
    assert next_attempt(message) is None


def test_a_push_that_ended_with_something_to_say_is_news_once() -> None:
    failed = RemoteSyncStatus(sync_status="failed", last_sync_job_id="j1", last_sync_message="no")
    assert has_news(None, failed)
    assert not has_news(failed, failed)
    assert has_news(failed, failed.model_copy(update={"last_sync_job_id": "j2"}))
    assert has_news(failed.model_copy(update={"sync_status": "running"}), failed)


@pytest.mark.parametrize("status", ["pending", "running"])
def test_a_push_that_is_under_way_and_one_that_succeeded_in_silence_are_none(status: str) -> None:
    assert not has_news(None, RemoteSyncStatus(sync_status=status, last_sync_message="no"))
    assert not has_news(None, RemoteSyncStatus(sync_status="succeeded"))
    assert has_news(None, RemoteSyncStatus(sync_status="succeeded", last_sync_message="2 of others"))


def test_names_are_listed_bounded_and_counted() -> None:
    names = PlacedNames(
        tuple(PlacedName(f"F{one:04}", None, "foreign") for one in range(FOREIGN_MAX + 7))
        + tuple(PlacedName(f"X{one:04}", f"X{one:04}", "failed", "m" * 999) for one in range(FAILED_MAX + 3))
    )
    push = with_names(PushStatus(content="c"), names)
    assert (len(push.foreign or ()), push.foreign_total) == (FOREIGN_MAX, FOREIGN_MAX + 7)
    assert (len(push.failed or ()), push.failed_total) == (FAILED_MAX, FAILED_MAX + 3)
    assert push.content == "c"
    assert with_names(push, None) == PushStatus(content="c")
    # It is what the API server takes back.
    assert PushStatus.model_validate_json(push.model_dump_json(by_alias=True)) == push


def test_what_is_shown_is_what_there_is_or_it_isn_t() -> None:
    names = PlacedNames((PlacedName("A", None, "foreign"),))
    assert is_shown(with_names(PushStatus(), names), names)
    assert not is_shown(PushStatus(), names)
    more = PlacedNames((*names.names, PlacedName("B", None, "foreign")))
    assert not is_shown(with_names(PushStatus(), names), more)


def test_removals_come_back_as_they_were() -> None:
    past = (Removal(_AT, 10, ("A", "B"), 3),)
    assert removals_of(told_removals(past)) == past
