"""Plans: all disturbances once, pairs by a seed, and their texts."""

from __future__ import annotations

from tools.explore.ledger import read_plan
from tools.explore.moments import Naming
from tools.explore.plans import Act, Disturbance, Plan, pairs_of, plans_of
from tools.explore.post import Post

_MOMENTS = {
    "first": ("write POST secrets/web#1", "event ADDED secrets(labels)/web#1"),
    "second": ("call POST /a#1",),
}


def test_each_disturbance_comes_once_under_a_number_of_its_own() -> None:
    plans = plans_of(_MOMENTS)

    assert [one.number for one in plans] == list(range(1, 7 + 3 + 7 + 1))
    assert len({str(one) for one in plans}) == len(plans)
    assert sum(one.kills for one in plans) == 4


def test_a_plan_is_read_from_its_text() -> None:
    for plan in (*plans_of(_MOMENTS), *pairs_of(_MOMENTS, 5, 1, 1), Plan(3, "first", ())):
        assert read_plan(str(plan), plan.number) == plan


def test_a_seed_gives_the_same_pairs_of_different_moments() -> None:
    pairs = pairs_of(_MOMENTS, 20, 7, 100)

    assert pairs == pairs_of(_MOMENTS, 20, 7, 100)
    assert pairs != pairs_of(_MOMENTS, 20, 8, 100)
    assert [one.number for one in pairs] == list(range(100, 120))
    assert {one.scenario for one in pairs} == {"first"}
    assert all(len({two.moment for two in one.disturbances}) == 2 for one in pairs)


def test_a_disturbance_happens_at_its_own_moment_and_once() -> None:
    wanted = Disturbance("write PATCH a#2", Act.FAILED)
    post = Post(Naming(1, "n"), [wanted])

    assert post.meet("write PATCH a") is None  # what is prepared does not count
    post.is_armed = True
    assert [post.meet("write PATCH a") for _ in range(3)] == [None, Act.FAILED, None]
    assert post.unreached == []


def test_a_disturbance_that_never_came_is_told() -> None:
    wanted = Disturbance("write PATCH a#2", Act.FAILED)
    post = Post(Naming(1, "n"), [wanted], is_armed=True)

    post.meet("write PATCH a")
    assert post.unreached == [wanted]
