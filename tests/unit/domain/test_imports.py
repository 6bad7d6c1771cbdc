from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.secrets.imports import ImportLimitError, block_of, without_shadowed
from keybearer.store.imports import ImportedPlace

DEV = EnvironmentSlug("dev")
Graph = dict[str, list[ImportedPlace]]


def place(importer: str, folder: str | None) -> ImportedPlace:
    return ImportedPlace(importer, FolderPath(f"/{importer}"), DEV, FolderPath(f"/{folder}"), folder)


def graph(*edges: str) -> Graph:
    """Return imports in their order: `ab` says that a imports b."""
    found: Graph = {}
    for edge in edges:
        found.setdefault(edge[0], []).append(place(edge[0], edge[1]))
    return found


def entered(imports: Graph, first: str = "ab") -> str:
    return "".join(block_of(place(*first), imports).folder_ids)


@pytest.mark.parametrize(
    ("edges", "order"),
    [
        pytest.param([], "b", id="one import"),
        pytest.param(["bc", "bd"], "bcd", id="deeper ones in their order"),
        pytest.param(["bc", "cd", "be"], "bcde", id="each with all that is behind it"),
        pytest.param(["bc", "cb"], "bc", id="a circle is cut"),
        pytest.param(["bb"], "b", id="the shortest circle too"),
        pytest.param(["bc", "ca"], "bc", id="the importing folder is no part of its own block"),
        pytest.param(["bc", "bd", "ce", "de"], "bced", id="what is reached twice stands where it came first"),
    ],
)
def test_a_block_holds_what_its_import_leads_to(edges: list[str], order: str) -> None:
    assert entered(graph(*edges)) == order


def test_a_missing_folder_makes_an_empty_block() -> None:
    assert block_of(place("a", None), {}).folder_ids == ()


def test_ten_levels_are_followed() -> None:
    chain = graph(*(string.ascii_lowercase[number : number + 2] for number in range(1, 15)))
    assert entered(chain) == "bcdefghijk"


def test_what_is_met_again_nearer_leads_further() -> None:
    chain = graph(*(string.ascii_lowercase[number : number + 2] for number in range(1, 15)), "bk")
    assert entered(chain) == "bcdefghijklmnop"


def test_imports_without_bounds_are_refused() -> None:
    wide: Graph = {"b": [place("b", f"f{number}") for number in range(100_001)]}
    with pytest.raises(ImportLimitError):
        block_of(place("a", "b"), wide)


keyed = st.lists(st.lists(st.sampled_from("ABCD"), max_size=5), max_size=5)


@given(blocks=keyed, taken=st.sets(st.sampled_from("ABCD"), max_size=1))
def test_whoever_takes_the_first_and_whoever_takes_the_last_agree(
    blocks: list[list[str]], taken: set[str]
) -> None:
    items = [
        [(key, (number, index)) for index, key in enumerate(block)] for number, block in enumerate(blocks)
    ]
    shown = without_shadowed(items, lambda item: item[0], taken=taken)
    assert len(shown) == len(blocks)
    flat = [item for block in shown for item in block]
    assert dict(flat) == dict(reversed(flat))
    last_block_first = [item for block in reversed(items) for item in block if item[0] not in taken]
    expected: dict[str, tuple[int, int]] = {}
    for key, origin in last_block_first:
        expected.setdefault(key, origin)
    assert dict(flat) == expected
