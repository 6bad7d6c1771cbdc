"""Which of what a sync left may be at its present place under another description."""

from __future__ import annotations

import pytest

from keybearer.destinations.cloud_secrets_manager import CLOUD_SECRETS_MANAGER
from keybearer.destinations.protocol import Change, Outgoing, Present, Traits
from keybearer.domain.syncs.findings import repaired_names
from keybearer.domain.syncs.former_places import alike, as_left, resembling, told_failure
from keybearer.domain.syncs.places import Setup, is_same_place
from keybearer.domain.syncs.plan import Plan
from keybearer.store.pushes import Push

PARAMETERS = {"region": "eu-west-1"}
ONE_TO_ONE = {**PARAMETERS, "mappingBehavior": "one-to-one"}
DOCUMENT = {**PARAMETERS, "mappingBehavior": "many-to-one", "secretName": "all"}


def setup(
    connection: str = "c",
    digest: str = "d",
    schema: str | None = None,
    environment: str = "dev",
    config: dict[str, str] | None = None,
) -> Setup:
    options = {} if schema is None else {"keySchema": schema}
    return Setup(connection, config or ONE_TO_ONE, digest, options, environment)


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        pytest.param(setup(), setup(), True, id="everything is the same"),
        pytest.param(setup(), setup("another"), False, id="another connection"),
        pytest.param(setup(), setup(digest="another"), False, id="another place"),
        pytest.param(setup(), setup(schema="x-{{secretKey}}"), True, id="other names at the same place"),
        pytest.param(
            setup(config=DOCUMENT),
            setup(schema="x-{{secretKey}}", config=DOCUMENT),
            False,
            id="another name of the object that holds all keys",
        ),
        pytest.param(
            setup(schema="{{environment}}-{{secretKey}}", config=DOCUMENT),
            setup(schema="{{environment}}-{{secretKey}}", environment="prod", config=DOCUMENT),
            False,
            id="another environment in the name of that object",
        ),
        pytest.param(
            setup(config=DOCUMENT),
            setup(environment="prod", config=DOCUMENT),
            True,
            id="its name is the same",
        ),
    ],
)
def test_what_is_written_down_tells_one_place_from_another(
    one: Setup, other: Setup, *, is_same: bool
) -> None:
    assert is_same_place(CLOUD_SECRETS_MANAGER, one, other) is is_same


LEFT = {name: Push(name, b"", "7") for name in "AB"}
WANTED = {"A": Outgoing("A", "cnry-1")}


@pytest.mark.parametrize(
    ("there", "found"),
    [
        pytest.param(Present("cnry-1", "1"), {"A"}, id="the value that the source has"),
        pytest.param(Present("cnry-2", "7"), set(), id="another value"),
        pytest.param(Present(None, "7"), {"A"}, id="the version that was learnt"),
        pytest.param(Present(None, "8"), set(), id="another version"),
        pytest.param(Present(None, None), set(), id="nothing that tells"),
    ],
)
def test_a_name_is_as_it_was_left_if_what_comes_back_of_it_says_so(there: Present, found: set[str]) -> None:
    assert as_left(LEFT, {"A": there, "B": Present("cnry-9")}, WANTED) == found


def test_a_name_without_a_known_version_is_never_taken_for_what_was_left() -> None:
    left = {"A": Push("A", b"", None)}
    assert as_left(left, {"A": Present(None, None)}, WANTED) == set()


def test_names_resemble_each_other_by_their_last_part_whatever_its_case() -> None:
    held = {"A", "b", "C", "GONE"}
    assert resembling({"app/A", "B", "x/y/gone"}, {"A", "b", "C"}, held) == {"A", "b"}


def test_only_the_same_content_under_a_resembling_name_may_be_the_same_thing() -> None:
    former = {"app/A": Present("1", "v"), "app/B": Present("2", "v"), "app/C": Present("3", "v")}
    here = {"A": Present("1", "v"), "B": Present("2", "w"), "C": Present("1", "v")}
    assert alike({"app/A", "app/B", "app/C", "app/D"}, former, here, {"A", "B", "C"}) == {"app/A"}


def test_what_is_said_of_a_former_place_is_bounded() -> None:
    told = told_failure(3, {"path": "p" * 500}, "c" * 64, "why " * 500, None)
    assert len(told) < 600


def test_repaired_is_what_was_written_just_so_before_and_is_no_more() -> None:
    put = tuple(Outgoing(name, "cnry-1") for name in ("CHANGED", "DRIFTED", "NEW", "UNKNOWN"))
    planned = Plan(Change(put, ()), {one.name: b"wanted" for one in put})
    ledger = {
        "CHANGED": Push("CHANGED", b"before", "1"),
        "DRIFTED": Push("DRIFTED", b"wanted", "1"),
        "UNKNOWN": Push("UNKNOWN", b"wanted", None),
    }
    assert repaired_names(planned, ledger, Traits(has_readable_values=False)) == ["DRIFTED"]
    assert repaired_names(planned, ledger, Traits()) == ["DRIFTED", "UNKNOWN"]
