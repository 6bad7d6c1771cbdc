"""keybearer.base.runs."""

import pytest

from keybearer.base.runs import in_chunks, in_runs


@pytest.mark.parametrize(
    ("weights", "runs"),
    [
        ([], []),
        ([1, 1, 1, 1], [[1, 1, 1], [1]]),
        ([4, 1, 1], [[4, 1], [1]]),
        ([9, 1], [[9], [1]]),
        ([1, 9, 1], [[1], [9], [1]]),
        ([2, 3, 3, 2], [[2, 3], [3, 2]]),
    ],
)
def test_runs_are_bounded_in_number_and_weight(weights: list[int], runs: list[list[int]]) -> None:
    assert list(in_runs(weights, lambda weight: weight, count_max=3, weight_max=5)) == runs


@pytest.mark.parametrize(
    ("items", "chunks"),
    [([], []), ([1, 2], [[1, 2]]), ([1, 2, 3], [[1, 2, 3]]), ([1, 2, 3, 4], [[1, 2, 3], [4]])],
)
def test_chunks_are_bounded_in_number(items: list[int], chunks: list[list[int]]) -> None:
    assert list(in_chunks(iter(items), 3)) == chunks
