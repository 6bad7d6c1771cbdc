"""From a change of a source to its target: what is counted, once, and what isn't."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client import CollectorRegistry

from keybearer.controllers.freshness import Freshness, FreshnessMetrics
from keybearer.controllers.sources.changes import ChangeTimes
from keybearer.controllers.sources.state import SourceReading
from keybearer.controllers.work import WorkKey

_NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
_KEY = WorkKey("SecretSync", "team-a", "web")


class Desk:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.freshness = Freshness(self, FreshnessMetrics(self.registry))

    def now(self) -> datetime:
        return _NOW

    def monotonic(self) -> float:
        return 0.0

    def boottime(self) -> float:
        return 0.0

    def reached(
        self, *changes: tuple[int, float | None], wrote: bool = True, refreshed: float | None = None
    ) -> None:
        """Learn of sources with these numbers of content, changed so many seconds ago."""
        readings = [
            SourceReading((), 0.0, None, content, None if ago is None else _NOW.timestamp() - ago)
            for content, ago in changes
        ]
        at = None if refreshed is None else _NOW - timedelta(seconds=refreshed)
        self.freshness.reached(_KEY, readings, wrote_change=wrote, refreshed_at=at, by_events=True)

    def counted(self) -> tuple[float, float]:
        """How many samples there are, and their sum."""
        values = [
            self.registry.get_sample_value(f"keybearer_freshness_seconds_{part}", {"updates": "events"})
            for part in ("count", "sum")
        ]
        count, total = values
        assert count is not None
        assert total is not None
        return count, total


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.reached((1, 3600), wrote=False)
    assert desk.counted() == (0, 0)
    return desk


def test_a_change_that_reached_its_target_is_counted_once(desk: Desk) -> None:
    desk.reached((2, 1.5))
    desk.reached((2, 1.5))  # a repair
    assert desk.counted() == (1, 1.5)


def test_of_several_sources_the_change_that_waited_for_longest_counts(desk: Desk) -> None:
    desk.reached((2, 1.0), (3, 4.0), (1, 900.0))
    assert desk.counted() == (1, 4.0)


def test_a_change_that_no_key_of_the_target_shows_is_not_counted_later(desk: Desk) -> None:
    desk.reached((2, 1.0), wrote=False)
    desk.reached((2, 60.0))
    assert desk.counted() == (0, 0)


def test_a_change_whose_write_failed_is_counted_with_the_time_until_it_succeeded(desk: Desk) -> None:
    desk.reached((2, 300.0))
    assert desk.counted() == (1, 300.0)


def test_a_change_of_which_nobody_knows_the_time_is_not_counted(desk: Desk) -> None:
    desk.reached((2, None))
    assert desk.counted() == (0, 0)


def test_a_service_whose_clock_is_ahead_makes_it_no_time(desk: Desk) -> None:
    desk.reached((2, -5.0))
    assert desk.counted() == (1, 0.0)


@pytest.mark.parametrize(
    ("refreshed", "counted"),
    [
        pytest.param(60.0, (1, 10.0), id="what changed while no operator looked"),
        pytest.param(5.0, (0, 0.0), id="what was read before already"),
        pytest.param(None, (0, 0.0), id="where no status says when it was read"),
    ],
)
def test_the_first_look_of_a_process_counts(refreshed: float | None, counted: tuple[float, float]) -> None:
    desk = Desk()
    desk.reached((1, 10.0), refreshed=refreshed)
    assert desk.counted() == counted


def test_an_object_that_is_gone_is_forgotten(desk: Desk) -> None:
    desk.freshness.forget(_KEY)
    desk.reached((2, 10.0), refreshed=60.0)
    assert desk.counted() == (1, 10.0)
    assert len(desk.freshness._reached) == 1


class TestTimesOfChanges:
    def read(self, times: ChangeTimes, *updated: str) -> str | None:
        times.read([f"2026-03-01T{text}Z" for text in updated])
        at = times.changed_at
        return None if at is None else datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S.%f")[:12]

    def test_a_first_reading_is_as_old_as_its_newest_secret(self) -> None:
        assert self.read(ChangeTimes(), "10:00:00.250", "09:00:00.000") == "10:00:00.250"

    def test_a_later_one_is_as_old_as_the_oldest_change_that_it_brought(self) -> None:
        times = ChangeTimes()
        self.read(times, "10:00:00.000")
        assert self.read(times, "10:00:00.000", "11:00:02.000", "11:00:01.000") == "11:00:01.000"

    def test_what_leaves_no_instant_is_as_old_as_the_news_of_it(self) -> None:
        times = ChangeTimes()
        self.read(times, "10:00:00.000", "09:00:00.000")
        times.heard(datetime(2026, 3, 1, 11, tzinfo=UTC).timestamp())
        times.heard(datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp())
        assert self.read(times, "09:00:00.000") == "11:00:00.000"

    def test_without_news_nobody_can_tell(self) -> None:
        times = ChangeTimes()
        self.read(times, "10:00:00.000")
        assert self.read(times) is None

    def test_an_instant_that_is_none_is_no_instant(self) -> None:
        times = ChangeTimes()
        times.read(["yesterday"])
        assert times.changed_at is None
