from __future__ import annotations

import hashlib
from datetime import UTC, datetime

from keybearer.destinations.name_rules import NameRules
from keybearer.destinations.protocol import Outgoing, Traits
from keybearer.domain.syncs.key_states import standings
from keybearer.domain.syncs.plan import Wanted, wanted_names
from keybearer.store.pushes import Push
from keybearer.store.sync_names import NameState, SyncName
from keybearer.wire.key_schema import KeyNaming

NOW = datetime(2026, 3, 1, tzinfo=UTC)
NAMING = KeyNaming("APP_", "")
TRAITS = Traits(rules=NameRules(pattern="[A-Z_]+", words="capital letters"))


def digest(outgoing: Outgoing) -> bytes:
    return hashlib.sha256(outgoing.value.encode()).digest()


def told(
    source: dict[str, str],
    ledger: dict[str, str],
    *noted: SyncName,
    hidden: frozenset[str] = frozenset(),
    removes_nothing: bool = False,
) -> list[tuple[str, str | None, str, str | None]]:
    names = wanted_names([Wanted(key, value) for key, value in source.items()], TRAITS, NAMING)
    pushes = {name: Push(name, digest(Outgoing(name, value)), None) for name, value in ledger.items()}
    found = standings(
        names, pushes, noted, digest, naming=NAMING, removes_nothing=removes_nothing, hidden=hidden
    )
    return [(one.name, one.key, one.state.value, one.message) for one in found]


def failed(name: str, message: str = "no") -> SyncName:
    return SyncName(name, NameState.FAILED, message, NOW)


def foreign(name: str) -> SyncName:
    return SyncName(name, NameState.FOREIGN, None, NOW)


def test_a_name_is_synced_only_while_the_source_has_what_was_written() -> None:
    assert told({"A": "cnry-1", "B": "cnry-2", "C": "cnry-3"}, {"APP_A": "cnry-1", "APP_B": "cnry-old"}) == [
        ("APP_A", "A", "synced", None),
        ("APP_B", "B", "pending", None),
        ("APP_C", "C", "pending", None),
    ]


def test_a_failure_is_told_unless_the_source_has_again_what_was_written_before() -> None:
    ledger = {"APP_A": "cnry-1", "APP_B": "cnry-old"}
    assert told(
        {"A": "cnry-1", "B": "cnry-2"}, ledger, failed("APP_A"), failed("APP_B"), failed("APP_X")
    ) == [
        ("APP_A", "A", "synced", None),
        ("APP_B", "B", "failed", "no"),
    ]


def test_what_a_rule_refuses_has_failed_before_any_run() -> None:
    ((name, key, state, message),) = told({"lower": "cnry-1"}, {"APP_lower": "cnry-1"})
    assert (name, key, state) == ("APP_lower", "lower", "failed")
    assert message == "a name there takes capital letters; rename the secret, or change the key schema"


def test_what_is_no_longer_wanted_is_going_or_stays_where_nothing_is_removed() -> None:
    assert told({}, {"APP_A": "cnry-1", "OLD_A": "cnry-1"}) == [
        ("APP_A", "A", "removing", None),
        ("OLD_A", None, "removing", None),
    ]
    ((*_, message),) = told({}, {"APP_A": "cnry-1"}, removes_nothing=True)
    assert message == "it stays at the destination, because disableSecretDeletion is set"


def test_names_of_others_are_told_without_a_key_until_they_are_ours() -> None:
    assert told({"A": "cnry-1"}, {}, foreign("OTHER"), foreign("APP_A")) == [
        ("APP_A", "A", "pending", None),
        ("OTHER", None, "foreign", None),
    ]


def test_keys_that_the_reader_may_not_see_are_left_out() -> None:
    assert told({"A": "cnry-1", "B": "cnry-1"}, {"APP_B": "cnry-1"}, hidden=frozenset({"B"})) == [
        ("APP_A", "A", "pending", None)
    ]
