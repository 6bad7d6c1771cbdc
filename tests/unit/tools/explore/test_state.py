"""What is compared of two runs."""

from __future__ import annotations

import base64

from tools.explore.moments import Naming
from tools.explore.state import difference, state_of
from tools.explore.trail import Trail
from tools.local.kube_api import Body


def _secret(serial: int, **data: str) -> Body:
    return {
        "metadata": {
            "name": f"web-x{serial}",
            "uid": f"{serial}",
            "resourceVersion": f"{serial}",
            "labels": {"a": "b"},
        },
        "type": "Opaque",
        "data": {key: base64.b64encode(text.encode()).decode() for key, text in data.items()},
    }


def _state(serial: int, body: Body) -> dict[str, str]:
    return state_of([("Secret", body["metadata"]["name"], body)], Naming(serial, "n"))


def test_two_runs_that_ended_alike_do_not_differ() -> None:
    assert difference(_state(1, _secret(1, A="cnry-1")), _state(2, _secret(2, A="cnry-1"))) == []


def test_a_difference_is_told_without_values() -> None:
    [told] = difference(_state(1, _secret(1, A="cnry-1")), _state(2, _secret(2, A="cnry-2")))

    assert told == "Secret/web.data.A: a value instead of a value"
    assert "cnry" not in told


def test_masked_places_are_not_compared() -> None:
    assert difference({"a": "1", "b": "2"}, {"a": "2", "b": "2"}, ["a"]) == []


def test_of_other_runs_nothing_is_told() -> None:
    assert _state(2, _secret(1, A="cnry-1")) == {}


def test_a_generation_counts_as_observed_or_not() -> None:
    def sync(generation: int, observed: int) -> dict[str, str]:
        meta = {"name": "web-x1", "generation": generation}
        return state_of(
            [("SecretSync", "web-x1", {"metadata": meta, "status": {"observedGeneration": observed}})],
            Naming(1, "n"),
        )

    assert sync(1, 1) == sync(3, 3)
    assert sync(3, 2) != sync(3, 3)


def test_an_empty_secret_and_one_that_went_are_found() -> None:
    trail = Trail(Naming(1, "n"), ("web",))
    trail.see("ADDED", "Secret", _secret(1, A="cnry-1"))
    assert trail.findings == []

    trail.see("MODIFIED", "Secret", _secret(1))
    trail.see("DELETED", "Secret", _secret(1))
    trail.see("DELETED", "Secret", _secret(2))
    assert trail.findings == ["Secret web was empty", "Secret web was gone"]
