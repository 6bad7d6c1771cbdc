"""Whose job is begun next."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.store.sync_turns import Tenant, Turns
from support.rows import each_row

A1, A2, A3 = (Tenant("a", f"a{number}") for number in (1, 2, 3))
B1, C1 = Tenant("b", "b1"), Tenant("c", "c1")


def filled(workers: int, *waiting: Tenant, running: Counter[Tenant] | None = None) -> Counter[Tenant]:
    """Return what runs once all free workers were given to who waits without end."""
    turns, now = Turns(workers), Counter(running or {})
    while now.total() < workers and (tenant := turns.next(waiting, now)) is not None:
        now[tenant] += 1
        turns.took(tenant)
    return now


@each_row(
    ("workers", "waiting", "running"),
    [
        pytest.param(10, [A1], {A1: 8}, id="a project alone leaves two"),
        pytest.param(10, [A1, A2], {A1: 5, A2: 4}, id="an organization alone leaves one"),
        pytest.param(10, [A1, B1], {A1: 5, B1: 5}, id="two have half each"),
        pytest.param(11, [A1, B1], {A1: 6, B1: 5}, id="of an odd number too"),
        pytest.param(10, [A1, A2, A3, B1], {A1: 2, A2: 2, A3: 1, B1: 5}, id="organizations first"),
        pytest.param(9, [A1, B1, C1], {A1: 3, B1: 3, C1: 3}, id="three have a third each"),
        pytest.param(5, [A1], {A1: 3}, id="of five workers two are left"),
        pytest.param(4, [A1], {A1: 4}, id="of four none is"),
        pytest.param(1, [A1, B1], {A1: 1}, id="one is worked with"),
        pytest.param(10, [], {}, id="nobody waits"),
    ],
)
def test_workers_are_shared(workers: int, waiting: list[Tenant], running: dict[Tenant, int]) -> None:
    assert filled(workers, *waiting) == Counter(running)


def test_who_has_more_than_its_share_gets_none_while_others_wait() -> None:
    assert filled(10, A1, B1, running=Counter({A1: 8})) == {A1: 8, B1: 2}
    assert filled(10, A1, A2, running=Counter({A1: 8})) == {A1: 8, A2: 1}
    assert Turns(10).next([A1, B1], Counter({A1: 5, B1: 5})) is None


def test_of_equals_who_had_no_turn_for_longest_is_next() -> None:
    turns, order = Turns(1), []
    for _ in range(8):
        tenant = turns.next([A1, A2, B1], {})
        assert tenant is not None
        turns.took(tenant)
        order.append(tenant)
    # One organization after the other, and in each one project after the other.
    assert order == [A1, B1, A2, B1] * 2


def test_who_never_had_a_turn_is_before_who_had_and_the_longest_waiting_before_others() -> None:
    turns = Turns(1)
    turns.took(A1)
    assert turns.next([A1, C1, B1], {}) == C1


@given(
    st.integers(1, 12),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 4)), min_size=1, max_size=8, unique=True),
)
def test_nobody_has_all_and_who_waits_is_never_without(workers: int, named: list[tuple[str, int]]) -> None:
    waiting = [Tenant(organization, f"{organization}{number}") for organization, number in named]
    running = filled(workers, *waiting)
    organizations = {tenant.organization_id for tenant in waiting}
    half = (workers + 1) // 2
    if len(waiting) > 1:
        assert max(running.values()) <= half
    elif workers >= 5:
        assert running.total() == workers - 2
    if len(organizations) > 1:
        assert running.total() == workers
        of_organizations = Counter[str]()
        for tenant, number in running.items():
            of_organizations[tenant.organization_id] += number
        assert max(of_organizations.values()) <= half
        assert workers < len(organizations) or set(of_organizations) == organizations
    if workers > 2 * len(waiting):
        assert set(running) == set(waiting)
