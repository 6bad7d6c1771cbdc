"""The clock of a service, as the date of its answer says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from keybearer.client.messages import Response
from keybearer.client.operations.status import GetClock
from support.rows import each_row


@each_row(
    ("date", "instant"),
    [
        pytest.param("Thu, 01 Jan 2026 12:00:00 GMT", datetime(2026, 1, 1, 12, tzinfo=UTC), id="UTC"),
        pytest.param("", None, id="no date"),
        pytest.param("yesterday", None, id="a word"),
        pytest.param("Fri, 31 Dec 9999 23:59:59 -0100", None, id="the year 10000"),
    ],
)
def test_the_clock_is_the_date_of_the_answer(date: str, instant: datetime | None) -> None:
    answer = Response(200, {"date": date, "content-type": "application/json"}, b'{"message":"Ok"}')
    assert GetClock().read(answer) == instant
