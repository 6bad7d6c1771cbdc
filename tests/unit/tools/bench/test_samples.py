from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.bench.samples import percentile, slope, summarize

_FINITE = st.floats(min_value=-1e9, max_value=1e9)


@pytest.mark.parametrize(
    ("samples", "percent", "expected"),
    [
        pytest.param([3.0, 1.0, 2.0], 50, 2.0, id="the middle of three"),
        pytest.param([1.0, 2.0, 3.0, 4.0], 50, 2.0, id="the lower middle of four"),
        pytest.param([5.0], 99, 5.0, id="the only one"),
        pytest.param([float(number) for number in range(1, 101)], 99, 99.0, id="the 99th of a hundred"),
        pytest.param([float(number) for number in range(1, 61)], 99, 60.0, id="the largest of sixty"),
    ],
)
def test_a_percentile_is_the_sample_of_nearest_rank(
    samples: list[float], percent: float, expected: float
) -> None:
    assert percentile(samples, percent) == expected


@given(st.lists(_FINITE, min_size=1), st.floats(min_value=0.1, max_value=100))
def test_a_percentile_is_the_smallest_sample_that_covers_its_share(
    samples: list[float], percent: float
) -> None:
    found = percentile(samples, percent)

    def covered(limit: float) -> int:
        return sum(sample <= limit for sample in samples)

    assert found in samples
    assert covered(found) >= percent * len(samples) / 100
    smaller = [sample for sample in samples if sample < found]
    assert not smaller or covered(max(smaller)) < math.ceil(percent * len(samples) / 100)


@pytest.mark.parametrize("percent", [0, -1, 100.5])
def test_a_share_outside_of_all_samples_is_refused(percent: float) -> None:
    with pytest.raises(ValueError, match="percent"):
        percentile([1.0], percent)


def test_no_samples_are_refused() -> None:
    with pytest.raises(ValueError, match="no samples"):
        percentile([], 50)


def test_a_sample_that_never_came_is_the_worst_and_is_counted() -> None:
    summary = summarize([1.0, math.inf, 2.0])

    assert (summary.p50, summary.unanswered, summary.count) == (2.0, 1, 3)
    assert math.isinf(summary.p99)


@given(st.floats(min_value=-100, max_value=100), st.floats(min_value=-100, max_value=100))
def test_the_slope_of_a_line_is_its_rise(rise: float, offset: float) -> None:
    points = [(float(x), offset + rise * x) for x in range(10)]

    assert slope(points) == pytest.approx(rise, abs=1e-9)


def test_a_slope_of_one_place_is_refused() -> None:
    with pytest.raises(ValueError, match="two different x"):
        slope([(1.0, 2.0), (1.0, 3.0)])
