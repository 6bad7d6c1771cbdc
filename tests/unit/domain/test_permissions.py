from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.domain.authorization import Action, ProjectRole, Subject, Where
from keybearer.domain.errors import ForbiddenError
from keybearer.domain.path_patterns import parse_pattern
from keybearer.domain.permissions import Effect, Permissions, Rule
from support.rows import each_row

NO_ONE, VIEWER, MEMBER, ADMIN = (
    (role,) for role in (ProjectRole.NO_ACCESS, ProjectRole.VIEWER, ProjectRole.MEMBER, ProjectRole.ADMIN)
)
READ, VALUE, EDIT = Action.READ, Action.READ_VALUE, Action.EDIT
SECRETS = Subject.SECRETS


def rule(
    effect: Effect,
    *actions: Action,
    environment: str = "dev",
    path: str = "/app/**",
    subjects: tuple[Subject, ...] = (SECRETS,),
) -> Rule:
    return Rule(effect, frozenset(subjects), frozenset(actions), environment, parse_pattern(path))


def allow(*actions: Action, **place: str) -> Rule:
    return rule(Effect.ALLOW, *actions, **place)  # type: ignore[arg-type] # only texts are given


def deny(*actions: Action, **place: str) -> Rule:
    return rule(Effect.DENY, *actions, **place)  # type: ignore[arg-type] # same


@each_row(
    ("permissions", "action", "where", "allowed"),
    [
        pytest.param(Permissions(NO_ONE, (allow(READ),)), READ, ("dev", "/app/x"), True, id="a grant gives"),
        pytest.param(Permissions((), (allow(READ),)), READ, ("dev", "/app"), True, id="it needs no role"),
        pytest.param(Permissions((), (allow(READ),)), READ, ("dev", "/"), False, id="not above its place"),
        pytest.param(Permissions((), (allow(READ),)), READ, ("prod", "/app"), False, id="not elsewhere"),
        pytest.param(Permissions((), (allow(READ),)), EDIT, ("dev", "/app"), False, id="not another action"),
        pytest.param(
            Permissions((), (allow(READ),)), VALUE, ("dev", "/app"), False, id="reading is no value"
        ),
        pytest.param(
            Permissions((), (allow(VALUE),)), VALUE, ("dev", "/app"), False, id="no value without reading"
        ),
        pytest.param(
            Permissions((), (allow(READ), allow(VALUE, environment="*"))),
            VALUE,
            ("dev", "/app"),
            True,
            id="grants add up",
        ),
        pytest.param(
            Permissions(VIEWER, (allow(READ),)), VALUE, ("prod", "/"), True, id="a role holds beside a grant"
        ),
        pytest.param(
            Permissions(MEMBER, (deny(EDIT),)), EDIT, ("dev", "/app"), False, id="a deny narrows a role"
        ),
        pytest.param(
            Permissions(MEMBER, (deny(EDIT),)), EDIT, ("dev", "/other"), True, id="a deny keeps to its place"
        ),
        pytest.param(
            Permissions(ADMIN, (deny(READ),)), READ, ("dev", "/app"), False, id="a deny binds an admin"
        ),
        pytest.param(
            Permissions(MEMBER, (deny(READ),)), VALUE, ("dev", "/app"), False, id="no reading means no values"
        ),
        pytest.param(
            Permissions((), (allow(READ), deny(READ, path="/app/x"))),
            READ,
            ("dev", "/app/x"),
            False,
            id="a deny wins over a grant",
        ),
        pytest.param(
            Permissions((), (deny(READ, path="/app/x"), allow(READ))),
            READ,
            ("dev", "/app/x"),
            False,
            id="a deny wins in any order",
        ),
        pytest.param(Permissions(MEMBER, (deny(EDIT),)), EDIT, None, False, id="a part denies the whole"),
        pytest.param(Permissions((), (allow(EDIT),)), EDIT, None, False, id="a part doesn't give the whole"),
        pytest.param(
            Permissions((), (allow(EDIT, environment="*", path="/**"),)),
            EDIT,
            None,
            True,
            id="everywhere is the whole",
        ),
    ],
)
def test_roles_and_grants_decide_together(
    permissions: Permissions, action: Action, where: tuple[str, str] | None, *, allowed: bool
) -> None:
    place = None if where is None else Where(*where)
    assert permissions.allows(action, SECRETS, place) is allowed
    if place is not None:
        assert permissions.at(action, SECRETS)(*place_of(place)) is allowed


def place_of(where: Where) -> tuple[str, str]:
    return where.environment, where.path


@pytest.mark.parametrize(
    ("permissions", "inverted"),
    [
        pytest.param(Permissions(NO_ONE), False, id="nothing allows it"),
        pytest.param(Permissions(MEMBER, (deny(READ),)), True, id="a deny forbids it"),
    ],
)
def test_a_refusal_says_whether_a_rule_denies_or_none_allows(
    permissions: Permissions, *, inverted: bool
) -> None:
    with pytest.raises(ForbiddenError, match="You are not allowed to read on secrets") as refused:
        permissions.require(READ, SECRETS, Where("dev", "/app"))
    denial = refused.value.denial
    assert denial is not None
    assert denial.inverted is inverted


@pytest.mark.parametrize(
    ("permissions", "where", "allowed"),
    [
        pytest.param(Permissions(VIEWER), ("dev", "/"), True, id="a role reads everything"),
        pytest.param(Permissions((), (allow(READ),)), ("dev", "/"), True, id="a grant lies beneath the root"),
        pytest.param(Permissions((), (allow(READ),)), ("dev", "/app/x"), True, id="within the grant"),
        pytest.param(Permissions((), (allow(READ),)), ("dev", "/b"), False, id="beside the grant"),
        pytest.param(Permissions((), (allow(READ),)), ("prod", "/"), False, id="in another environment"),
        pytest.param(Permissions(VIEWER, (deny(READ),)), ("dev", "/"), True, id="a part is denied"),
        pytest.param(Permissions(VIEWER, (deny(READ),)), ("dev", "/app/x"), False, id="all of it is denied"),
    ],
)
def test_a_recursive_question_is_heard_where_something_beneath_may_be_read(
    permissions: Permissions, where: tuple[str, str], *, allowed: bool
) -> None:
    assert permissions.allows_beneath(READ, SECRETS, Where(*where)) is allowed


@pytest.mark.parametrize(
    ("permissions", "path", "allowed"),
    [
        pytest.param(Permissions(MEMBER), "/", True, id="without grants the role has decided"),
        pytest.param(Permissions(MEMBER, (deny(EDIT, path="/app/x"),)), "/app", False, id="a deny beneath"),
        pytest.param(Permissions(MEMBER, (deny(EDIT, path="/app/x"),)), "/b", True, id="a deny elsewhere"),
        pytest.param(Permissions((), (allow(EDIT),)), "/app/x", True, id="all of it within a grant"),
        pytest.param(Permissions((), (allow(EDIT),)), "/", False, id="more than the grant"),
        pytest.param(
            Permissions((), (allow(EDIT, path="/app/*"),)), "/app/x", False, id="only the folder, not beneath"
        ),
    ],
)
def test_a_subtree_moves_only_where_all_of_it_may_be_touched(
    permissions: Permissions, path: str, *, allowed: bool
) -> None:
    if allowed:
        permissions.require_all_beneath([EDIT], [SECRETS], Where("dev", path))
    else:
        with pytest.raises(ForbiddenError):
            permissions.require_all_beneath([EDIT], [SECRETS], Where("dev", path))


@pytest.mark.parametrize(
    ("giver", "given_rule", "may"),
    [
        pytest.param(Permissions(ADMIN), allow(READ, VALUE), True, id="an admin gives what it has"),
        pytest.param(Permissions(VIEWER), allow(EDIT), False, id="nobody gives what it lacks"),
        pytest.param(Permissions(ADMIN, (deny(READ),)), allow(READ), False, id="nor what it is denied"),
        pytest.param(
            Permissions(ADMIN, (deny(READ),)),
            allow(READ, path="/b/**"),
            True,
            id="a deny elsewhere is no bound",
        ),
        pytest.param(
            Permissions(ADMIN, (deny(READ),)),
            allow(READ, environment="*", path="/**"),
            False,
            id="everywhere holds what is denied",
        ),
        pytest.param(
            Permissions(VIEWER, (allow(EDIT),)), allow(EDIT), False, id="what a grant gave is not passed on"
        ),
    ],
)
def test_nobody_gives_more_than_they_have(giver: Permissions, given_rule: Rule, *, may: bool) -> None:
    assert giver.may_give(given_rule) is may


ENVIRONMENTS = st.sampled_from(["dev", "prod"])
NAMES = st.sampled_from(["a", "b", "ab"])
PATHS = st.lists(NAMES, max_size=3).map(lambda names: "/" + "/".join(names))
PATTERNS = st.lists(st.one_of(NAMES, st.sampled_from(["*", "a*", "**"])), max_size=4).map(
    lambda parts: parse_pattern("/" + "/".join(parts))
)
RULES = st.builds(
    Rule,
    st.sampled_from(Effect),
    st.frozensets(st.sampled_from([Subject.SECRETS, Subject.FOLDERS]), min_size=1),
    st.frozensets(st.sampled_from(Action), min_size=1),
    st.sampled_from(["*", "dev", "prod"]),
    PATTERNS,
)
ANY_PERMISSIONS = st.builds(
    Permissions,
    st.lists(st.sampled_from(ProjectRole), max_size=2).map(tuple),
    st.lists(RULES, max_size=4).map(tuple),
)
WHERE = st.builds(Where, ENVIRONMENTS, PATHS)


@given(ANY_PERMISSIONS, RULES, st.sampled_from(Action), st.sampled_from(Subject), WHERE)
def test_a_rule_changes_nothing_outside_its_place_and_words(
    permissions: Permissions, added: Rule, action: Action, subject: Subject, where: Where
) -> None:
    more = Permissions(permissions.roles, (*permissions.rules, added))
    before, after = permissions.allows(action, subject, where), more.allows(action, subject, where)
    # Values need reading too: a rule about reading speaks of both.
    asked = {action, Action.READ} if action is Action.READ_VALUE else {action}
    spoken = any(added.speaks_of(word, subject) for word in asked) and added.covers(where)
    if not spoken:
        assert after is before
    if added.effect is Effect.DENY:
        assert after <= before
    else:
        assert after >= before


@given(ANY_PERMISSIONS, st.sampled_from(Action), st.sampled_from(Subject), WHERE, st.lists(NAMES, max_size=2))
def test_questions_about_a_subtree_agree_with_those_about_its_places(
    permissions: Permissions, action: Action, subject: Subject, where: Where, below: list[str]
) -> None:
    place = Where(where.environment, "/".join([where.path.rstrip("/"), *below]) or "/")
    allowed = permissions.allows(action, subject, place)
    if action is not Action.READ_VALUE and allowed:
        assert permissions.allows_beneath(action, subject, where)
    if permissions.rules and not allowed:
        with pytest.raises(ForbiddenError):
            permissions.require_all_beneath([Action.READ, action], [subject], where)


@given(ANY_PERMISSIONS, RULES, st.sampled_from(Action), st.sampled_from(Subject), WHERE)
def test_what_may_be_given_is_had_wherever_it_holds(
    giver: Permissions, added: Rule, action: Action, subject: Subject, where: Where
) -> None:
    if giver.may_give(added) and added.speaks_of(action, subject) and added.covers(where):
        assert giver.allows(action, subject, where)


async def test_many_places_are_weighed_while_others_go_on() -> None:
    permissions = Permissions((), (allow(READ),))
    asked = [("dev", f"/{part}/f{number}") for part in ("app", "other") for number in range(1000)]
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(others())
    found = await permissions.places(READ, SECRETS, [*asked, *asked])
    other.cancel()
    assert found == {place for place in asked if place[1].startswith("/app/")}
    assert turns >= len(asked) // 100
