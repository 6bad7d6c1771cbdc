"""How instants are written on the wire."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from keybearer.wire.base import write_instant

_AHEAD = timezone(timedelta(hours=5, minutes=30))


@pytest.mark.parametrize(
    ("instant", "written"),
    [
        pytest.param(
            datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC), "2026-03-04T05:06:07.000Z", id="a whole second"
        ),
        pytest.param(
            datetime(2026, 3, 4, 5, 6, 7, 999_999, tzinfo=UTC),
            "2026-03-04T05:06:07.999Z",
            id="microseconds are cut off",
        ),
        pytest.param(
            datetime(2026, 3, 4, 1, 6, 7, 40_000, tzinfo=_AHEAD),
            "2026-03-03T19:36:07.040Z",
            id="another time zone",
        ),
    ],
)
def test_instants_are_in_utc_with_milliseconds(instant: datetime, written: str) -> None:
    assert write_instant(instant) == written
