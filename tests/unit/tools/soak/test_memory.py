from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tools.soak.memory import Stretch, judge, theil_sen


def _stretch(mib: Callable[[float], float], seconds: int = 600) -> Stretch:
    return Stretch("service", 1, [(float(at), mib(float(at))) for at in range(0, seconds + 1, 2)])


def test_noise_around_a_level_is_flat() -> None:
    rng = random.Random(1)  # noqa: S311 - repeats itself

    found = judge(_stretch(lambda _: 150 + rng.uniform(-3, 3)), shortest_seconds=120)

    assert found is not None
    assert found.flat
    assert abs(found.growth_mib) < 1


def test_what_grows_while_it_starts_and_rests_then_is_flat() -> None:
    found = judge(_stretch(lambda at: min(80 + at, 180)), shortest_seconds=120)

    assert found is not None
    assert found.flat
    assert found.growth_mib == 0


def test_a_leak_is_not_flat() -> None:
    rng = random.Random(1)  # noqa: S311 - repeats itself

    found = judge(_stretch(lambda at: 100 + at / 30 + rng.uniform(-3, 3)), shortest_seconds=120)

    assert found is not None
    assert not found.flat
    assert found.mib_per_hour == pytest.approx(120, rel=0.1)


def test_a_slow_leak_shows_in_a_long_run() -> None:
    found = judge(_stretch(lambda at: 100 + at * 10 / 3600, seconds=4 * 3600), shortest_seconds=120)

    assert found is not None
    assert found.growth_mib == pytest.approx(20, rel=0.01)
    assert not found.flat


def test_a_peak_of_a_moment_is_no_growth() -> None:
    found = judge(_stretch(lambda at: 300 if 400 <= at < 440 else 150), shortest_seconds=120)

    assert found is not None
    assert found.flat


def test_a_short_stretch_says_nothing() -> None:
    assert judge(_stretch(lambda at: at, seconds=100), shortest_seconds=120) is None


def test_a_slope_needs_two_times() -> None:
    with pytest.raises(ValueError, match="two different x"):
        theil_sen([(1.0, 2.0), (1.0, 3.0)])
