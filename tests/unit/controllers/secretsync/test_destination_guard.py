"""keybearer.controllers.secretsync.destination_names: which pushes are held back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.secretsync.destination_names import (
    PlacedName,
    PlacedNames,
    judge_counts,
    judge_names,
)
from keybearer.controllers.target.guard import GuardRules, GuardVerdict, Removal

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_RULES = GuardRules(50, timedelta(hours=24))


def keys(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"K{number:03}" for number in range(first, last))


def judged(
    there: tuple[str, ...],
    wanted: tuple[str, ...],
    *past: Removal,
    rules: GuardRules = _RULES,
    released: bool = False,
    pushed: int | None = None,
) -> GuardVerdict:
    """The verdict on a push of these keys to a place that holds those, as the service tells of it."""
    names = PlacedNames(
        tuple(
            PlacedName(name, name if name in wanted else None, "synced" if name in wanted else "removing")
            for name in there
        )
        + tuple(PlacedName(name, name, "pending") for name in wanted if name not in there)
    )
    effect = names.effect(wanted, pushed)
    return judge_names(effect, rules, past=past, released=released, now=_NOW)


def test_a_source_whose_secrets_are_all_renamed_is_held_back() -> None:
    verdict = judged(keys(0, 100), keys(100, 200), pushed=100)
    assert verdict.holds_back
    assert verdict.message.startswith("100 of 100 names would be removed from the destination (K000, ")


def test_so_it_is_on_the_first_push_over_names_that_exist_already() -> None:
    assert judged(keys(0, 3), ("OTHER",)).holds_back
    assert judged(keys(0, 100), keys(60, 160)).holds_back


@pytest.mark.parametrize("pushed", [None, 10])
def test_growth_and_unchanged_sources_pass(pushed: int | None) -> None:
    assert judged(keys(0, 10), keys(0, 10), pushed=pushed) == GuardVerdict(holds_back=False)
    assert judged(keys(0, 10), keys(0, 500), pushed=pushed) == GuardVerdict(holds_back=False)
    assert judged((), keys(0, 10), pushed=pushed) == GuardVerdict(holds_back=False)


@given(st.sets(st.integers(0, 60)), st.sets(st.integers(0, 60)), st.integers(0, 99))
def test_all_at_once_never_passes_and_nothing_that_only_adds_is_held(
    there: set[int], wanted: set[int], max_deletions: int
) -> None:
    rules = GuardRules(max_deletions, timedelta(hours=24))
    before, after = tuple(f"K{one}" for one in there), tuple(f"K{one}" for one in wanted)
    verdict = judged(before, after, rules=rules, pushed=len(before))
    kept = there & wanted
    if there and not kept:
        assert verdict.holds_back
    if there <= wanted:
        assert not verdict.holds_back
    gone = len(there) - len(kept)
    assert verdict.holds_back == (gone > 0 and (not kept or gone * 100 > max_deletions * len(there)))


def test_a_release_passes_once_and_is_counted_anew_from_there() -> None:
    past = Removal(_NOW, 10, keys(0, 5))
    verdict = judged(keys(5, 10), keys(8, 10), past, released=True)
    assert (verdict.holds_back, verdict.past) == (False, ())


def test_key_by_key_within_the_window_is_held_as_at_once() -> None:
    past: tuple[Removal, ...] = ()
    for step in range(5):
        verdict = judged(keys(step, 10), keys(step + 1, 10), *past, pushed=10 - step)
        assert not verdict.holds_back
        assert verdict.past is not None
        past = verdict.past
    verdict = judged(keys(5, 10), keys(6, 10), *past, pushed=5)
    assert verdict.holds_back
    assert (
        "1 of 5 names would be removed from the destination (K005) after 5 others within 24h"
        in verdict.message
    )


def test_where_no_names_are_told_they_are_counted() -> None:
    rows = [
        (None, 0, False),
        (10, 10, False),
        (10, 11, False),
        (10, 5, False),
        (10, 4, True),
        (1, 0, True),
    ]
    for before, now, held in rows:
        assert judge_counts(before, now, _RULES, released=False).holds_back is held
        assert not judge_counts(before, now, _RULES, released=True).holds_back
