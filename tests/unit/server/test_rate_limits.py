from __future__ import annotations

from datetime import timedelta

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.server.rate_limits import (
    USUAL_RATE_LIMITS,
    RateLimit,
    RateLimits,
    RequestClass,
    class_of,
    parse_rate_limits,
)
from support.rows import each_row

MINUTE = timedelta(minutes=1)


class HandClock(SystemClock):
    """Its seconds go by when a test says so."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def limits(
    clock: HandClock, *, addresses_max: int = 10, window: timedelta = MINUTE, **requests: int
) -> RateLimits:
    given = [RateLimit(RequestClass(kind), number, window) for kind, number in requests.items()]
    return RateLimits(given, clock, addresses_max=addresses_max)


def is_refused(
    counted: RateLimits, kind: RequestClass = RequestClass.READ, address: str = "192.0.2.1"
) -> bool:
    standing = counted.take(kind, address)
    assert standing is not None
    return standing.is_refused


def test_as_many_as_the_limit_pass_and_the_next_is_refused(clock: HandClock) -> None:
    counted = limits(clock, read=3)
    assert [is_refused(counted) for _ in range(5)] == [False, False, False, True, True]


def test_what_is_left_and_when_it_begins_anew_is_told(clock: HandClock) -> None:
    counted = limits(clock, read=2)
    told = []
    for _ in range(3):
        standing = counted.take(RequestClass.READ, "192.0.2.1")
        assert standing is not None
        told.append((standing.limit, standing.remaining, standing.reset))
        clock.seconds += 10.5
    assert told == [(2, 1, 60), (2, 0, 50), (2, 0, 39)]


def test_a_window_ends_to_the_second(clock: HandClock) -> None:
    counted = limits(clock, read=1)
    assert not is_refused(counted)
    clock.seconds += 59.999
    assert is_refused(counted)
    clock.seconds += 0.001
    assert not is_refused(counted)


def test_refused_requests_prolong_nothing(clock: HandClock) -> None:
    counted = limits(clock, read=1)
    is_refused(counted)
    for _ in range(59):
        clock.seconds += 1
        assert is_refused(counted)
    clock.seconds += 1
    assert not is_refused(counted)


def test_classes_and_addresses_are_counted_apart(clock: HandClock) -> None:
    counted = limits(clock, read=1, write=1)
    assert not is_refused(counted)
    assert not is_refused(counted, RequestClass.WRITE)
    assert not is_refused(counted, address="192.0.2.2")
    assert is_refused(counted)


def test_a_class_without_a_limit_is_not_counted(clock: HandClock) -> None:
    assert limits(clock, read=1).take(RequestClass.WRITE, "192.0.2.1") is None


def test_the_ceiling_counts_all_classes_together(clock: HandClock) -> None:
    counted = limits(clock, all=2, read=5)
    assert not is_refused(counted)
    assert not is_refused(counted, RequestClass.AUTH)
    assert is_refused(counted)
    assert is_refused(counted, RequestClass.WRITE)


def test_what_one_limit_refuses_the_other_does_not_count(clock: HandClock) -> None:
    counted = limits(clock, all=2, read=1)
    assert [is_refused(counted) for _ in range(4)] == [False, True, True, True]
    assert not is_refused(counted, RequestClass.WRITE)


def test_the_nearer_limit_is_told(clock: HandClock) -> None:
    standing = limits(clock, all=3, read=9).take(RequestClass.READ, "192.0.2.1")
    assert standing is not None
    assert (standing.limit, standing.remaining) == (3, 2)


def test_no_more_addresses_are_remembered_than_allowed(clock: HandClock) -> None:
    counted = limits(clock, addresses_max=3, read=1)
    for number in range(4):
        assert not is_refused(counted, address=f"192.0.2.{number}")
    assert is_refused(counted, address="192.0.2.3")
    assert not is_refused(counted, address="192.0.2.0"), "the oldest made room"


def test_ended_windows_make_room_before_living_ones(clock: HandClock) -> None:
    counted = limits(clock, addresses_max=2, read=1)
    is_refused(counted, address="192.0.2.1")
    clock.seconds += 30
    is_refused(counted, address="192.0.2.2")
    clock.seconds += 30
    is_refused(counted, address="192.0.2.3")
    assert is_refused(counted, address="192.0.2.2")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("2001:db8::1", "2001:db8::ffff:2", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::1%eth1", True),
        ("192.0.2.1", "192.0.2.2", False),
    ],
)
def test_what_counts_as_one_address(clock: HandClock, one: str, other: str, *, is_same: bool) -> None:
    counted = limits(clock, read=1)
    is_refused(counted, address=one)
    assert is_refused(counted, address=other) == is_same


@each_row(
    ("method", "path", "kind"),
    [
        ("GET", "/api/status", None),
        ("POST", "/api/v1/auth/universal-auth/login", "auth"),
        ("POST", "/api/v3/auth/login", "auth"),
        ("POST", "/api/v1/auth/token/renew", "auth"),
        ("POST", "/api/v1/projects", "creation"),
        ("POST", "/api/v2/workspace", "creation"),
        ("POST", "/api/v1/identities", "creation"),
        ("GET", "/api/v1/projects", "read"),
        ("GET", "/api/v3/secrets/raw", "secrets"),
        ("PATCH", "/api/v4/secrets/KEY", "secrets"),
        ("POST", "/api/v4/secrets/login", "secrets"),
        ("GET", "/api/v2/folders", "read"),
        ("DELETE", "/api/v2/folders/1", "write"),
        ("POST", "/api/v1/events/subscribe/project-events", "read"),
        ("POST", "/api/v1/cert-manager/ocsp/00000000-0000-4000-8000-000000000001", "read"),
        ("GET", "/nowhere", "read"),
    ],
)
def test_what_a_request_is_counted_with(method: str, path: str, kind: str | None) -> None:
    assert class_of(method, path) == kind


def test_limits_are_read_from_their_text() -> None:
    assert parse_rate_limits(["auth=60/60s", "read=1000000/1h"]) == (
        RateLimit(RequestClass.AUTH, 60, MINUTE),
        RateLimit(RequestClass.READ, 1_000_000, timedelta(hours=1)),
        *USUAL_RATE_LIMITS,
    )
    chosen = RateLimit(RequestClass.FAILED_LOGINS, 5, MINUTE)
    assert parse_rate_limits(["failed-logins=5/60s"]) == (chosen,)


@each_row(
    "text",
    [
        *("", "read", "read=60", "read=60/60", "reads=60/60s", "READ=60/60s", "read=-1/60s", "read=6.5/60s"),
        *("read=0/60s", "read=1000001/60s", "read=60/0s", "read=60/61m", "read=60/2h", " read=60/60s"),
    ],
)
def test_a_text_that_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="--rate-limit"):
        parse_rate_limits([text])


def test_a_class_has_one_limit() -> None:
    with pytest.raises(ConfigurationError, match="twice"):
        parse_rate_limits(["read=1/60s", "read=2/60s"])
