from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Present, Traits
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
from keybearer.store.pushes import Push
from keybearer.wire.key_schema import KeyNaming

pytestmark = pytest.mark.every_database

PLAIN = KeyNaming("", "")
NAMINGS = (PLAIN, KeyNaming("app-", ""), KeyNaming("dev/", ""), KeyNaming("a_", "_z"))


def digest(outgoing: Outgoing) -> bytes:
    return hashlib.sha256(repr((outgoing.name, outgoing.value, outgoing.metadata)).encode()).digest()


def settings(
    traits: Traits | None = None,
    naming: KeyNaming = PLAIN,
    *,
    removes_nothing: bool = False,
    removes_foreign: bool = False,
    shared: frozenset[str] = frozenset(),
) -> Settings:
    traits = traits or Traits()
    within = naming_of(traits, naming)
    return Settings(traits, within, removes_nothing, digest, removes_foreign=removes_foreign, shared=shared)


def wanted(source: dict[str, str]) -> list[Wanted]:
    return [Wanted(key, value) for key, value in source.items()]


def shown(content: dict[str, str], traits: Traits | None = None) -> dict[str, Present]:
    """Return what a remote shows of its content; a version that follows the value."""
    readable = (traits or Traits()).has_readable_values
    return {name: Present(value if readable else None, f"v-{value}") for name, value in content.items()}


def applied(content: dict[str, str], planned: Plan) -> dict[str, str]:
    """Return what the remote holds after the change."""
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


@dataclass(frozen=True)
class Case:
    """A source whose keys make names, a remote's content, what of it is in the ledger, and what a plan is made under.

    `others` are names that other syncs wrote to the same place.
    """

    source: dict[str, str]
    content: dict[str, str]
    ours: frozenset[str]
    others: frozenset[str]
    traits: Traits
    naming: KeyNaming
    removes_nothing: bool

    @property
    def ledger(self) -> dict[str, Push]:
        return {name: Push(name, b"", None) for name in self.ours}

    def settings(self, *, removes_foreign: bool = False) -> Settings:
        return settings(
            self.traits,
            self.naming,
            removes_nothing=self.removes_nothing,
            removes_foreign=removes_foreign,
            shared=self.others,
        )

    def plan(self, *, removes_foreign: bool = False) -> Plan:
        asked = self.settings(removes_foreign=removes_foreign)
        return plan(wanted(self.source), shown(self.content, self.traits), self.ledger, asked)

    @property
    def names(self) -> set[str]:
        return set(wanted_names(wanted(self.source), self.traits, naming_of(self.traits, self.naming)).wanted)


@st.composite
def cases(draw: st.DrawFn) -> Case:
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
    known = st.frozensets(st.sampled_from([*content, "gone", "app-gone"]), max_size=4)
    return Case(source, content, draw(known), draw(known), traits, naming, draw(st.booleans()))


@given(cases())
def test_the_remote_holds_what_is_wanted_and_loses_only_what_the_ledger_says_is_ours_alone(
    case: Case,
) -> None:
    planned = case.plan()
    after = applied(case.content, planned)
    for name, one in wanted_names(wanted(case.source), case.traits, case.settings().naming).wanted.items():
        assert after[name] == one.value
    for name, value in case.content.items():
        if name in case.names:
            continue
        if name in case.ours - case.others and not case.removes_nothing:
            assert name not in after
        else:
            assert after[name] == value
    assert after.keys() <= case.names | case.content.keys()
    assert set(planned.change.delete) <= case.ours - case.others
    assert planned.change.held == case.names


@given(cases())
def test_foreign_names_are_told_and_go_only_where_that_is_asked_for(case: Case) -> None:
    naming = case.settings().naming
    made = {name for name in case.content if naming.key_of(name) is not None}
    foreign = made - case.names - case.ours - case.others
    assert set(case.plan().foreign) == foreign
    asked = case.plan(removes_foreign=True)
    after = applied(case.content, asked)
    if case.removes_nothing:
        assert set(asked.foreign) == foreign
        assert after.keys() >= case.content.keys()
    else:
        assert asked.foreign == ()
        assert after.keys() & foreign == set()
        for name in case.content.keys() - made - case.names - case.ours:
            assert after[name] == case.content[name]
    assert case.others & set(asked.change.delete) == set()


@given(cases())
def test_planning_again_after_applying_yields_nothing_with_and_without_a_look_at_the_remote(
    case: Case,
) -> None:
    asked, planned = case.settings(), case.plan()
    after, ledger = applied(case.content, planned), noted(case.ledger, planned)
    again = plan(wanted(case.source), shown(after, case.traits), ledger, asked)
    assert again.is_empty
    assert again.learnt == ()
    assert again.forgotten == ()
    assert plan(wanted(case.source), None, ledger, asked).is_empty


@given(cases(), st.dictionaries(keys, values, max_size=5))
def test_a_trusted_ledger_leads_to_what_a_look_at_the_remote_would(
    case: Case, changed: dict[str, str]
) -> None:
    asked, first = case.settings(), case.plan()
    after, ledger = applied(case.content, first), noted(case.ledger, first)
    source = {**case.source, **{key: value for key, value in changed.items() if key in case.source}}
    for key in list(source)[:1]:
        del source[key]
    seen = plan(wanted(source), shown(after, case.traits), ledger, asked)
    trusted = plan(wanted(source), None, ledger, asked)
    assert trusted.change == seen.change


def test_a_first_run_into_a_place_of_others_removes_nothing_and_counts_them() -> None:
    planned = plan(wanted({"A": "1"}), shown({"A": "0", "MASTER": "x", "OTHER": "y"}), {}, settings())
    assert ([one.name for one in planned.change.put], planned.change.delete) == (["A"], ())
    assert planned.foreign == ("MASTER", "OTHER")


def test_names_of_a_former_key_schema_are_removed_though_a_look_for_the_new_one_may_not_show_them() -> None:
    ledger = {"OLD_A": Push("OLD_A", b"", None)}
    nothing: dict[str, Present] = {}
    for listing in (nothing, None):
        planned = plan(wanted({"A": "1"}), listing, ledger, settings(naming=KeyNaming("NEW_", "")))
        assert planned.change.delete == ("OLD_A",)


def test_the_former_name_of_a_secret_stays_while_a_rule_refuses_its_present_one() -> None:
    ledger = {name: Push(name, b"", None) for name in ("OLD_A", "OLD_LONG", "NEW_OLD_LONG")}
    within = settings(Traits(rules=NameRules(longest=5)), naming=KeyNaming("NEW_", ""))
    for listing in (shown(dict.fromkeys(ledger, "1")), None):
        planned = plan(wanted({"A": "1", "LONG": "2"}), listing, ledger, within)
        # The last one is of the present key schema, so it was of another secret.
        assert planned.change.delete == ("NEW_OLD_LONG", "OLD_A")
        assert (planned.forgotten, planned.foreign) == ((), ())
        assert list(planned.refused) == ["NEW_LONG"]


@pytest.mark.parametrize(
    ("refused", "removable"),
    [
        ((), ("NEW_OLD_B", "OLD_A", "OLD_AB", "OLD_B", "OLD_C")),
        (("NEW_C",), ("NEW_OLD_B", "OLD_A", "OLD_AB", "OLD_B")),
        # Which of these was made from the secret nobody knows.
        (("NEW_B",), ("NEW_OLD_B", "OLD_A", "OLD_C")),
        (("NEW_A", "NEW_B", "NEW_C"), ("NEW_OLD_B",)),
    ],
)
def test_the_former_name_of_a_secret_stays_if_the_remote_refuses_its_present_one(
    refused: tuple[str, ...], removable: tuple[str, ...]
) -> None:
    ledger = {name: Push(name, b"", None) for name in ("OLD_A", "OLD_AB", "OLD_B", "OLD_C", "NEW_OLD_B")}
    planned = plan(
        wanted({"A": "1", "B": "2", "C": "3"}), None, ledger, settings(naming=KeyNaming("NEW_", ""))
    )
    assert planned.change.removable(refused) == removable


def test_a_name_that_another_sync_wrote_too_stays_and_is_no_longer_ours() -> None:
    ledger = {"A": Push("A", b"", None)}
    for listing in (shown({"A": "1"}), None):
        planned = plan([], listing, ledger, settings(shared=frozenset({"A"})))
        assert (planned.change.delete, planned.forgotten) == ((), ("A",))


def test_a_name_that_only_the_remote_has_is_not_deleted_on_the_word_of_the_ledger() -> None:
    planned = plan([], None, {"A": Push("A", b"", None)}, settings())
    assert planned.change.delete == ("A",)
    assert plan([], None, {}, settings()).is_empty


def test_one_changed_key_is_one_write() -> None:
    source = {"A": "1", "B": "2"}
    ledger = {name: Push(name, digest(Outgoing(name, value)), None) for name, value in source.items()}
    planned = plan(wanted({**source, "B": "3"}), None, ledger, settings())
    assert [one.name for one in planned.change.put] == ["B"]


def test_an_empty_value_is_left_out_and_removed_where_the_remote_holds_none() -> None:
    traits = Traits(skips_empty=True)
    ledger = {"A": Push("A", b"", None)}
    planned = plan(wanted({"A": "", "B": "x"}), shown({"A": "old", "B": "x"}), ledger, settings(traits))
    assert (planned.change.put, planned.change.delete) == ((), ("A",))


def test_what_stands_beside_a_value_is_put_right_with_it() -> None:
    asked = replace(settings(), extras_of=lambda _: {"tag": "new"})
    listing = {"A": Present("1", None, {"tag": "old"}), "B": Present("2", None, {"tag": "new"})}
    planned = plan(wanted({"A": "1", "B": "2"}), listing, {}, asked)
    assert [one.name for one in planned.change.put] == ["A"]


def test_where_values_do_not_come_back_what_was_changed_by_others_is_written_over() -> None:
    ledger = {"A": Push("A", digest(Outgoing("A", "1")), "another")}
    planned = plan(wanted({"A": "1"}), {"A": Present(None, "v")}, ledger, settings())
    assert [one.name for one in planned.change.put] == ["A"]


def test_what_a_run_wrote_before_it_was_cut_off_is_not_written_again_for_want_of_a_version() -> None:
    noted = Push("A", digest(Outgoing("A", "1")), None)
    planned = plan(wanted({"A": "1"}), {"A": Present(None, "v")}, {"A": noted}, settings())
    assert planned.change.put == ()
    assert planned.learnt == (replace(noted, remote_version="v"),)


def test_a_name_that_is_gone_from_source_and_remote_is_forgotten() -> None:
    planned = plan([], {}, {"A": Push("A", b"", None)}, settings())
    assert (planned.change.delete, planned.forgotten) == ((), ("A",))


def test_more_names_than_the_destination_takes_are_refused() -> None:
    with pytest.raises(PlanRefusedError, match="takes 1 secrets at most"):
        plan(wanted({"A": "cnry-x", "B": "cnry-x"}), {}, {}, settings(Traits(names_max=1)))


RULES = NameRules(
    pattern="[A-Za-z_][A-Za-z0-9_]*", words="letters", reserved=("HOST_",), longest=20, value_bytes_max=10
)


@pytest.mark.parametrize(
    ("keys", "traits", "naming", "refused", "said"),
    [
        pytest.param(
            ["key", "KEY"],
            Traits(folds_case=True),
            PLAIN,
            "KEY",
            "the secrets 'key' and 'KEY' would",
            id="one name for two",
        ),
        pytest.param(
            ["a/b"], Traits(), KeyNaming("dev/", ""), "dev/a/b", "the secret makes no name", id="a slash"
        ),
        pytest.param(["A-00"], Traits(rules=RULES), PLAIN, "A-00", "takes letters; rename", id="a rule"),
        pytest.param(["host_x"], Traits(rules=RULES), PLAIN, "host_x", "begin with HOST_", id="reserved"),
        pytest.param(["long" * 6], Traits(rules=RULES), PLAIN, "long" * 6, "24 characters", id="too long"),
    ],
)
def test_a_name_that_the_destination_cannot_hold_keeps_no_other_back_and_its_older_version_stays(
    keys: list[str], traits: Traits, naming: KeyNaming, refused: str, said: str
) -> None:
    source = {**dict.fromkeys(keys, "cnry-x"), "good": "cnry-x"}
    asked = settings(traits, naming)
    old = naming.name_of("OLD")
    ledger = {name: Push(name, b"", None) for name in (refused, old)}
    for listing in (None, shown({refused: "cnry-old", old: "cnry-old"})):
        planned = plan(wanted(source), listing, ledger, replace(asked, removes_foreign=True))
        good = asked.naming.name_of("GOOD" if traits.folds_case else "good")
        assert [one.name for one in planned.change.put] == [good]
        assert planned.change.delete == (old,)
        assert planned.change.held == {good, refused}
        assert planned.forgotten == ()
        assert planned.foreign == ()
        assert list(planned.refused) == [refused]
        assert said in planned.refused[refused]


def test_a_reason_says_how_long_a_value_is_and_never_what_it_is() -> None:
    planned = plan(wanted({"A": "cnry-é-longer"}), {}, {}, settings(Traits(rules=RULES)))
    assert planned.refused == {
        "A": "the value has 14 bytes, and the destination takes 10 bytes at most; shorten the value, or keep it "
        "elsewhere"
    }


@given(cases(), st.frozensets(keys, max_size=3))
def test_what_is_refused_is_neither_written_nor_removed_nor_told_as_foreign(
    case: Case, bad: frozenset[str]
) -> None:
    within = case.settings().naming
    folded = {key.upper() if case.traits.folds_case else key for key in bad}
    rules = NameRules(
        pattern="(?!(" + "|".join(map(re.escape, map(within.name_of, folded))) + ")$).*", words="x"
    )
    traits = replace(case.traits, rules=rules if folded else NameRules())
    planned = plan(
        wanted(case.source),
        shown(case.content, traits),
        case.ledger,
        replace(case.settings(removes_foreign=True), traits=traits),
    )
    refused = planned.refused.keys()
    assert refused <= {within.name_of(key) for key in folded}
    assert not refused & {one.name for one in planned.change.put}
    assert not refused & {*planned.change.delete, *planned.forgotten, *planned.foreign}
    assert refused <= planned.change.held


def test_names_that_are_skipped_do_not_count_as_too_many() -> None:
    traits = Traits(names_max=1, skips_empty=True)
    assert [one.name for one in plan(wanted({"A": "", "B": "x"}), {}, {}, settings(traits)).change.put] == [
        "B"
    ]


def test_removal_takes_what_only_this_sync_wrote_and_leaves_the_rest() -> None:
    naming = KeyNaming("app-", "")
    listing = shown({"app-A": "1", "app-B": "2", "app-C": "3", "D": "4"})
    ledger = {name: Push(name, b"", None) for name in ("app-A", "app-B", "app-gone", "OLD")}
    change = removal(listing, ledger, naming, {"app-B"})
    assert (change.put, change.delete) == ((), ("OLD", "app-A"))
