from __future__ import annotations

import pytest

from keybearer.destinations.protocol import Present
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.importing import behavior_at_first, found_in, taken
from keybearer.wire.destination_forms import ImportBehavior, InitialSyncBehavior
from keybearer.wire.key_schema import KeyNaming

pytestmark = pytest.mark.every_database

SOURCE, DESTINATION = ImportBehavior.PRIORITIZE_SOURCE, ImportBehavior.PRIORITIZE_DESTINATION


def shown(**content: str | None) -> dict[str, Present]:
    return {name: Present(value) for name, value in content.items()}


@pytest.mark.parametrize(
    ("initial", "behavior"),
    [
        (InitialSyncBehavior.OVERWRITE_DESTINATION, None),
        (InitialSyncBehavior.IMPORT_PRIORITIZE_SOURCE, SOURCE),
        (InitialSyncBehavior.IMPORT_PRIORITIZE_DESTINATION, DESTINATION),
    ],
)
def test_the_first_sync_imports_as_its_options_say(
    initial: InitialSyncBehavior, behavior: ImportBehavior | None
) -> None:
    assert behavior_at_first(initial) is behavior


@pytest.mark.parametrize(
    ("there", "here", "behavior", "stored"),
    [
        pytest.param("x", None, SOURCE, "x", id="a key that only the destination has is created"),
        pytest.param("", None, SOURCE, "", id="also an empty one"),
        pytest.param("x", "y", SOURCE, None, id="the source keeps its value where it wins"),
        pytest.param("x", "", SOURCE, None, id="also an empty one of its own"),
        pytest.param("x", "y", DESTINATION, "x", id="the destination's value is taken where that wins"),
        pytest.param("", "y", DESTINATION, None, id="but an empty one never wins"),
        pytest.param("x", "x", DESTINATION, None, id="what is equal stays"),
        pytest.param(" x ", "x", DESTINATION, None, id="and what would be stored equal as well"),
    ],
)
def test_which_value_is_stored(
    there: str, here: str | None, behavior: ImportBehavior, stored: str | None
) -> None:
    present = {} if here is None else {"KEY": here}
    assert taken({"KEY": there}, present, behavior) == ({} if stored is None else {"KEY": stored})


def test_names_of_others_and_values_that_do_not_come_back_are_not_found() -> None:
    listing = {**shown(other="x"), "app-A": Present("1"), "app-B": Present(None)}
    assert found_in(listing, KeyNaming("app-", "")) == {"A": "1"}


@pytest.mark.parametrize("name", ["a:b", "a/b", " a", "a\0b", "n" * 5000])
def test_a_name_that_is_no_secrets_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidError, match=r"^Found 1 invalid secret name\(s\)"):
        found_in({name: Present("x"), "FINE": Present("y")}, KeyNaming("", ""))


def test_of_many_such_names_some_are_told_and_the_others_counted() -> None:
    with pytest.raises(InvalidError) as refused:
        found_in({f"n:{number:02}": Present("cnry-x") for number in range(40)}, KeyNaming("", ""))
    assert refused.value.message.startswith("Found 40 invalid secret name(s) at the destination: 'n:00', ")
    assert "'n:09' and 30 more" in refused.value.message
