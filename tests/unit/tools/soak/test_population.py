from __future__ import annotations

import random

import pytest

from tools.bench.workload import encoded
from tools.soak.ledger import SourceLedger
from tools.soak.population import BY_HAND, Judged, Population, Reading
from tools.soak.sight import Sight


def _changed(ledger: SourceLedger) -> dict[str, str]:
    """Change all values by one commit; return what a Secret holds afterwards."""
    change = ledger.first()
    ledger.asked(change)
    ledger.committed(change)
    return encoded(ledger.values)


@pytest.fixture
def ledgers() -> list[SourceLedger]:
    """Return two filled sources."""
    ledgers = [SourceLedger(number, keys=4) for number in range(2)]
    for ledger in ledgers:
        _changed(ledger)
    return ledgers


@pytest.fixture
def population(ledgers: list[SourceLedger]) -> Population:
    """Return an empty population over the sources."""
    return Population(("soak-0", "soak-1"), ledgers, 30)


def test_members_spread_over_namespaces_and_sources(population: Population) -> None:
    members = [population.new() for _ in range(8)]

    assert {(one.namespace, one.source) for one in members} == {
        (namespace, source) for namespace in ("soak-0", "soak-1") for source in (0, 1)
    }
    assert len({one.key for one in members}) == 8
    assert sorted(population.dependents(0)) == sorted(one.key for one in members if one.source == 0)


def test_a_secret_holds_a_revision_or_was_edited_or_is_wrong(
    population: Population, ledgers: list[SourceLedger]
) -> None:
    member = population.new()
    first = encoded(ledgers[0].values)
    second = _changed(ledgers[0])

    assert population.read(member.key, first) == Reading(Judged.REVISION, 1)
    assert population.read(member.key, second) == Reading(Judged.REVISION, 2)
    assert population.read(member.key, {**second, BY_HAND: "eA=="}) == Reading(Judged.EDITED)
    assert population.read(member.key, {**second, "KEY_0": "eA=="}) == Reading(Judged.WRONG)
    assert population.read(member.key, encoded(ledgers[1].values)) == Reading(Judged.WRONG)
    assert population.read(("soak-0", "of-somebody-else"), first) is None


def test_a_mixture_of_two_revisions_is_wrong(population: Population, ledgers: list[SourceLedger]) -> None:
    member = population.new()
    first, second = encoded(ledgers[0].values), _changed(ledgers[0])
    mixture = {**second, "KEY_0": first["KEY_0"]}

    assert population.read(member.key, mixture) == Reading(Judged.WRONG)


def test_a_member_that_reads_another_source_may_still_show_the_last_one(
    population: Population, ledgers: list[SourceLedger]
) -> None:
    member = population.new()
    population.redirect(member, random.Random(0))  # noqa: S311 - repeats itself

    assert member.source == 1
    assert population.read(member.key, encoded(ledgers[0].values)) == Reading(Judged.REVISION)
    assert population.read(member.key, encoded(ledgers[1].values)) == Reading(Judged.REVISION, 1)


def test_a_renamed_target_is_expected_and_the_old_one_is_to_go(population: Population) -> None:
    member = population.new()
    old = member.key

    assert population.retarget(member) == f"{member.name}.1"
    assert population.retarget(member) == f"{member.name}.2"
    assert list(population.members) == [member.key]
    assert old in population.departed


def test_a_member_that_left_is_expected_no_more(population: Population, ledgers: list[SourceLedger]) -> None:
    member = population.new()
    population.remove(member)

    assert not population.members
    assert not population.names
    assert population.read(member.key, encoded(ledgers[0].values)) == Reading(Judged.REVISION)


def test_a_watcher_tells_freshness_repairs_and_what_must_not_be(
    population: Population, ledgers: list[SourceLedger]
) -> None:
    member = population.new()
    sight = Sight(population)
    first = encoded(ledgers[0].values)
    sight.changed(member.key, first, sight.began + 1)
    second = _changed(ledgers[0])
    sight.committed(ledgers[0], sight.began + 2)
    sight.changed(member.key, second, sight.began + 2.5)
    sight.changed(member.key, {**second, BY_HAND: "eA=="}, sight.began + 3)
    sight.changed(member.key, second, sight.began + 3.25)
    sight.changed(member.key, None, sight.began + 4)
    sight.changed(member.key, second, sight.began + 4.5)
    assert sight.violations == []

    sight.changed(member.key, first, sight.began + 5)
    sight.changed(member.key, {"KEY_0": "eA=="}, sight.began + 6)

    assert [round(one.seconds, 3) for one in sight.arrivals.samples] == [0.5]
    assert [round(one.seconds, 3) for one in sight.repairs.samples] == [0.25, 0.5]
    assert sight.wrong == 2
    assert "went back to revision 1" in sight.violations[0]
    assert "never held; keys: KEY_0" in sight.violations[1]
