from __future__ import annotations

import random
from typing import Any

import pytest

from tools.soak.ledger import SourceLedger
from tools.soak.population import Population
from tools.soak.verdict import Check, Found, judge

_SOURCES = [{"KEY_0": "QQ=="}, {"KEY_0": "Qg=="}]


def _sync(*, ready: str = "True", generation: int = 2, observed: int = 2) -> dict[str, Any]:
    return {
        "metadata": {"name": "n", "uid": "u", "resourceVersion": "1", "generation": generation},
        "status": {
            "observedGeneration": observed,
            "conditions": [{"type": "Ready", "status": ready, "reason": "SourceNotFound"}],
        },
    }


@pytest.fixture
def population() -> Population:
    """Return four members over two sources."""
    population = Population(("soak-0", "soak-1"), [SourceLedger(number, 1) for number in range(2)], 30)
    for _ in range(4):
        population.new()
    return population


def _found(
    population: Population,
) -> tuple[dict[tuple[str, str], dict[str, str]], dict[tuple[str, str], Any]]:
    """Return what is there when all is right."""
    secrets = {key: dict(_SOURCES[member.source]) for key, member in population.members.items()}
    return secrets, {key: _sync() for key in population.names}


def _faults(checks: list[Check]) -> list[str]:
    return [fault for check in checks for fault in check.faults]


def test_all_that_is_right_holds(population: Population) -> None:
    checks = judge(Found(*_found(population)), population, _SOURCES)

    assert all(check.holds for check in checks)
    assert len(checks) == 4


@pytest.mark.parametrize(
    "data",
    [{"KEY_0": "eA=="}, {}, {"KEY_0": "QQ==", "MORE": "eA=="}],
    ids=["a value", "nothing", "a key more"],
)
def test_a_secret_that_is_not_its_source_is_found(population: Population, data: dict[str, str]) -> None:
    secrets, syncs = _found(population)
    secrets["soak-0", "sync-00000"] = data

    faults = _faults(judge(Found(secrets, syncs), population, _SOURCES))

    assert faults == ["soak-0/sync-00000 is not what source 0 holds"]


def test_a_missing_secret_and_one_that_is_left_are_found(population: Population) -> None:
    secrets, syncs = _found(population)
    secrets["soak-0", "left"] = secrets.pop(("soak-0", "sync-00000"))

    faults = _faults(judge(Found(secrets, syncs), population, _SOURCES))

    assert faults == ["soak-0/sync-00000 is missing", "soak-0/left is left over"]


def test_a_secret_of_the_former_source_is_found(population: Population) -> None:
    found = Found(*_found(population))
    population.redirect(population.names["soak-0", "sync-00000"], random.Random(0))  # noqa: S311 - repeats itself

    assert _faults(judge(found, population, _SOURCES)) == ["soak-0/sync-00000 is not what source 1 holds"]


@pytest.mark.parametrize(
    ("sync", "fault"),
    [
        pytest.param(_sync(ready="False"), "is not Ready: SourceNotFound", id="not ready"),
        pytest.param(_sync(observed=1), "is Ready in an earlier generation", id="an earlier generation"),
        pytest.param({"metadata": {}}, "has no condition Ready", id="no status"),
    ],
)
def test_a_status_that_is_not_ready_in_its_generation_is_found(
    population: Population, sync: dict[str, Any], fault: str
) -> None:
    secrets, syncs = _found(population)
    syncs["soak-1", "sync-00001"] = sync

    faults = _faults(judge(Found(secrets, syncs), population, _SOURCES))

    assert faults == [f"soak-1/sync-00001 {fault}"]


def test_a_sync_that_should_have_gone_or_is_missing_is_found(population: Population) -> None:
    secrets, syncs = _found(population)
    syncs["soak-0", "gone"] = syncs.pop(("soak-1", "sync-00001"))

    faults = _faults(judge(Found(secrets, syncs), population, _SOURCES))

    assert faults == ["soak-1/sync-00001 is missing", "soak-0/gone is left over"]


def test_a_check_names_few_of_many_faults() -> None:
    told = str(Check("all is well", tuple(f"fault {number}" for number in range(30))))

    assert "fault 9" in told
    assert "fault 10" not in told
    assert "and 20 more" in told
