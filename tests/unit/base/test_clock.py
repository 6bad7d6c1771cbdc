from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.clock import SystemClock, format_instant, parse_instant

_EAST = timezone(timedelta(hours=14))


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        pytest.param(
            "2026-01-02T03:04:05Z", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), id="as Kubernetes writes"
        ),
        pytest.param(
            "2026-01-02T03:04:05.678Z",
            datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC),
            id="as the service writes",
        ),
        pytest.param(
            "2026-01-02T03:04:05+01:00", datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC), id="with an offset"
        ),
    ],
)
def test_an_instant_is_read_in_utc(text: str, instant: datetime) -> None:
    read = parse_instant(text)

    assert read == instant
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("2026-01-02T03:04:05", id="no offset"),
        pytest.param("yesterday", id="no instant"),
        pytest.param("", id="nothing"),
        pytest.param("2026-13-02T03:04:05Z", id="no such month"),
        pytest.param("0001-01-01T00:00:00+14:00", id="before the year 1 of UTC"),
        pytest.param("9999-12-31T23:59:59-12:00", id="after the year 9999 of UTC"),
    ],
)
def test_what_is_no_instant_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - half of the texts are the standard library's
        parse_instant(text)


@given(st.datetimes(min_value=datetime(1000, 1, 2), max_value=datetime(9999, 12, 30)))  # noqa: DTZ001 - made aware
def test_what_is_written_reads_back_to_the_second(naive: datetime) -> None:
    instant = naive.replace(tzinfo=_EAST)

    assert parse_instant(format_instant(instant)) == instant.replace(microsecond=0)


def test_the_systems_clocks_are_aware_and_never_run_backwards() -> None:
    clock = SystemClock()

    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()
    assert clock.boottime() <= clock.boottime()
