from __future__ import annotations

import random
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.backoff import Backoff, jittered

_BACKOFF = Backoff(floor=timedelta(seconds=5), ceiling=timedelta(minutes=5), jitter=0.2)
_SEEDS = st.integers(min_value=0, max_value=2**32)


class _Extreme(random.Random):
    """Always draws the same number."""

    def __init__(self, draw: float) -> None:
        super().__init__()
        self._draw = draw

    def random(self) -> float:
        return self._draw


@pytest.mark.parametrize(
    ("failures", "seconds"),
    [(0, 5), (1, 5), (2, 10), (3, 20), (6, 160), (7, 300), (100, 300), (10**9, 300)],
)
def test_the_wait_doubles_from_floor_to_ceiling(failures: int, seconds: int) -> None:
    assert _BACKOFF.delay(failures, _Extreme(0)) == timedelta(seconds=seconds)


@given(failures=st.integers(min_value=1, max_value=100), seed=_SEEDS)
def test_jitter_only_shortens_and_never_by_more_than_its_share(failures: int, seed: int) -> None:
    whole = _BACKOFF.delay(failures, _Extreme(0))
    wait = _BACKOFF.delay(failures, random.Random(seed))  # noqa: S311 - a drawn seed

    assert whole * 0.8 <= wait <= whole


@given(seed=_SEEDS)
def test_an_interval_is_moved_by_at_most_half_its_share_either_way(seed: int) -> None:
    moved = jittered(timedelta(minutes=5), random.Random(seed))  # noqa: S311 - a drawn seed

    assert timedelta(minutes=5) * 0.95 <= moved <= timedelta(minutes=5) * 1.05


def test_an_interval_stays_the_same_in_the_mean() -> None:
    moved = [jittered(timedelta(minutes=5), _Extreme(draw)) for draw in (0.0, 0.25, 0.75, 1.0)]

    assert sum(moved, timedelta()) / 4 == timedelta(minutes=5)
