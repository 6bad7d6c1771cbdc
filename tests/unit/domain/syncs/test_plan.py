from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.domain.syncs.plan import (
    Plan,
    PlanRefusedError,
    Settings,
    Wanted,
    naming_of,
    plan,
    removal,
    wanted_names,
)
from keybearer.outbound.destinations.protocol import Outgoing, Present, Traits
from keybearer.store.pushes import Push
from keybearer.wire.key_schema import KeyNaming

pytestmark = pytest.mark.every_database

PLAIN = KeyNaming("", "")
NAMINGS = (PLAIN, KeyNaming("app-", ""), KeyNaming("dev/", ""), KeyNaming("a_", "_z"))


def digest(outgoing: Outgoing) -> bytes:
    return hashlib.sha256(repr((outgoing.name, outgoing.value, outgoing.metadata)).encode()).digest()


def settings(
    traits: Traits | None = None, naming: KeyNaming = PLAIN, *, keeps_others: bool = False
) -> Settings:
    traits = traits or Traits()
    return Settings(traits, naming_of(traits, naming), keeps_others, digest)


def wanted(source: dict[str, str]) -> list[Wanted]:
    return [Wanted(key, value) for key, value in source.items()]


def shown(content: dict[str, str], traits: Traits | None = None) -> dict[str, Present]:
    """Return what a remote shows of its content; a version that follows the value."""
    readable = (traits or Traits()).has_readable_values
    return {name: Present(value if readable else None, f"v-{value}") for name, value in content.items()}


def applied(content: dict[str, str], planned: Plan, traits: Traits) -> dict[str, str]:
    """Return what the remote holds after the change."""
    if traits.is_one_object:
        return dict(planned.change.whole)
    kept = {name: value for name, value in content.items() if name not in planned.change.delete}
    return {**kept, **{one.name: one.value for one in planned.change.put}}


def noted(ledger: dict[str, Push], planned: Plan) -> dict[str, Push]:
    """Return the ledger after the change, versions known."""
    ledger = {**ledger, **{push.name: push for push in planned.learnt}}
    for name in (*planned.forgotten, *planned.change.delete):
        ledger.pop(name, None)
    for one in planned.change.put:
        ledger[one.name] = Push(one.name, planned.digests[one.name], f"v-{one.value}")
    return ledger


keys = st.text("ABab_/", min_size=1, max_size=3)
values = st.text("xyz", max_size=2)
contents = st.dictionaries(
    st.one_of(keys, keys.map("app-{}".format), keys.map("dev/{}".format)), values, max_size=6
)
traits_of_all = st.builds(
    Traits,
    has_readable_values=st.booleans(),
    is_one_object=st.booleans(),
    skips_empty=st.booleans(),
    names_max=st.just(None),
    folds_case=st.booleans(),
).filter(lambda traits: traits.has_readable_values or not traits.is_one_object)


@st.composite
def cases(draw: st.DrawFn) -> tuple[dict[str, str], dict[str, str], Traits, KeyNaming, bool]:
    """Return a source whose keys make names, a remote's content, and what a plan is made under."""
    traits, naming = draw(traits_of_all), draw(st.sampled_from(NAMINGS))
    within = naming_of(traits, naming)
    source: dict[str, str] = {}
    folded: set[str] = set()
    for key, value in draw(st.dictionaries(keys, values, max_size=5)).items():
        name = key.upper() if traits.folds_case else key
        if name not in folded and within.key_of(within.name_of(name)) == name:
            folded.add(name)
            source[key] = value
    content = draw(contents)
    if traits.folds_case:
        content = {name.upper(): value for name, value in content.items()}
    return source, content, traits, naming, draw(st.booleans())


@given(cases())
def test_applying_a_plan_makes_the_remote_hold_what_is_wanted_and_leaves_foreign_names_alone(
    case: tuple[dict[str, str], dict[str, str], Traits, KeyNaming, bool],
) -> None:
    source, content, traits, naming, keeps_others = case
    asked = settings(traits, naming, keeps_others=keeps_others)
    planned = plan(wanted(source), shown(content, traits), {}, asked)
    names = wanted_names(wanted(source), traits, asked.naming)
    after = applied(content, planned, traits)
    for name, one in names.items():
        assert after[name] == one.value
    for name, value in content.items():
        if name in names:
            continue
        is_ours = asked.naming.key_of(name) is not None
        if keeps_others or not is_ours:
            assert after[name] == value
        else:
            assert name not in after
    assert after.keys() <= names.keys() | content.keys()
    if keeps_others:
        assert planned.change.delete == ()


@given(cases())
def test_planning_again_after_applying_yields_nothing_with_and_without_a_look_at_the_remote(
    case: tuple[dict[str, str], dict[str, str], Traits, KeyNaming, bool],
) -> None:
    source, content, traits, naming, keeps_others = case
    asked = settings(traits, naming, keeps_others=keeps_others)
    planned = plan(wanted(source), shown(content, traits), {}, asked)
    after, ledger = applied(content, planned, traits), noted({}, planned)
    again = plan(wanted(source), shown(after, traits), ledger, asked)
    assert again.is_empty
    assert again.learnt == ()
    assert again.forgotten == ()
    assert plan(wanted(source), None, ledger, asked).is_empty


@given(cases(), st.dictionaries(keys, values, max_size=5))
def test_a_trusted_ledger_leads_to_what_a_look_at_the_remote_would(
    case: tuple[dict[str, str], dict[str, str], Traits, KeyNaming, bool], changed: dict[str, str]
) -> None:
    source, content, traits, naming, _ = case
    asked = settings(traits, naming)
    first = plan(wanted(source), shown(content, traits), {}, asked)
    after, ledger = applied(content, first, traits), noted({}, first)
    source = {**source, **{key: value for key, value in changed.items() if key in source}}
    for key in list(source)[:1]:
        del source[key]
    seen = plan(wanted(source), shown(after, traits), ledger, asked)
    trusted = plan(wanted(source), None, ledger, asked)
    assert trusted.change.put == seen.change.put
    assert trusted.change.delete == seen.change.delete


def test_a_name_that_only_the_remote_has_is_not_deleted_on_the_word_of_the_ledger() -> None:
    planned = plan([], None, {"A": Push("A", b"", None)}, settings())
    assert planned.change.delete == ("A",)
    assert plan([], None, {}, settings()).is_empty


def test_one_changed_key_is_one_write() -> None:
    source = {"A": "1", "B": "2"}
    ledger = {name: Push(name, digest(Outgoing(name, value)), None) for name, value in source.items()}
    planned = plan(wanted({**source, "B": "3"}), None, ledger, settings())
    assert [one.name for one in planned.change.put] == ["B"]
    assert planned.change.whole == {"A": "1", "B": "3"}


def test_an_empty_value_is_left_out_and_removed_where_the_remote_holds_none() -> None:
    traits = Traits(skips_empty=True)
    planned = plan(wanted({"A": "", "B": "x"}), shown({"A": "old", "B": "x"}), {}, settings(traits))
    assert (planned.change.put, planned.change.delete) == ((), ("A",))


def test_an_object_that_others_share_keeps_what_is_theirs() -> None:
    traits = Traits(is_one_object=True)
    planned = plan(wanted({"A": "1"}), shown({"B": "2"}), {}, settings(traits, keeps_others=True))
    assert planned.change.whole == {"A": "1", "B": "2"}


def test_what_stands_beside_a_value_is_put_right_with_it() -> None:
    asked = replace(settings(), extras_of=lambda _: {"tag": "new"})
    listing = {"A": Present("1", None, {"tag": "old"}), "B": Present("2", None, {"tag": "new"})}
    planned = plan(wanted({"A": "1", "B": "2"}), listing, {}, asked)
    assert [one.name for one in planned.change.put] == ["A"]


@pytest.mark.parametrize("version", [None, "another"])
def test_where_values_do_not_come_back_a_version_that_is_not_known_is_written_over(
    version: str | None,
) -> None:
    ledger = {"A": Push("A", digest(Outgoing("A", "1")), version)}
    planned = plan(wanted({"A": "1"}), {"A": Present(None, "v")}, ledger, settings())
    assert [one.name for one in planned.change.put] == ["A"]


def test_a_name_that_is_gone_from_source_and_remote_is_forgotten() -> None:
    planned = plan([], {}, {"A": Push("A", b"", None)}, settings())
    assert (planned.change.delete, planned.forgotten) == ((), ("A",))


@pytest.mark.parametrize(
    ("source", "traits", "naming", "said"),
    [
        pytest.param(["A", "B"], Traits(names_max=1), PLAIN, "takes 1 secrets at most", id="too many"),
        pytest.param(
            ["key", "KEY"], Traits(folds_case=True), PLAIN, "'key' and 'KEY'", id="one name for two"
        ),
        pytest.param(["a/b"], Traits(), KeyNaming("dev/", ""), "'a/b' makes no name", id="a slash in a key"),
    ],
)
def test_what_the_destination_cannot_hold_is_refused(
    source: list[str], traits: Traits, naming: KeyNaming, said: str
) -> None:
    with pytest.raises(PlanRefusedError, match=said):
        plan(wanted(dict.fromkeys(source, "cnry-x")), {}, {}, settings(traits, naming))


def test_names_that_are_skipped_do_not_count_as_too_many() -> None:
    traits = Traits(names_max=1, skips_empty=True)
    assert [one.name for one in plan(wanted({"A": "", "B": "x"}), {}, {}, settings(traits)).change.put] == [
        "B"
    ]


def test_removal_takes_what_was_written_or_is_in_the_source_and_leaves_the_rest() -> None:
    naming = KeyNaming("app-", "")
    listing = shown({"app-A": "1", "app-B": "2", "app-C": "3", "D": "4"})
    ledger = {"app-A": Push("app-A", b"", None), "gone": Push("gone", b"", None)}
    change = removal(wanted({"B": "2", "D": "4"}), listing, ledger, Traits(), naming)
    assert (change.put, change.delete) == ((), ("app-A", "app-B"))


def test_removal_empties_an_object_as_a_whole() -> None:
    change = removal([], shown({"A": "1", "B": "2"}), {}, Traits(is_one_object=True), PLAIN)
    assert (change.delete, change.whole) == (("A", "B"), {})
