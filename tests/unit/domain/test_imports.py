from __future__ import annotations

import string
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.secrets.imports import (
    Block,
    ImportLimitError,
    ImportSteps,
    block_of,
    shown_folders,
    without_shadowed,
)
from keybearer.store.imports import ImportedPlace
from keybearer.wire.limits import IMPORT_STEPS_MAX

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


def walked(first: ImportedPlace, imports: Graph, steps: ImportSteps) -> tuple[Block, int]:
    """Return the block of an import, and how often others could go on while it was found."""
    walk, pauses = block_of(first, imports, steps), 0
    while True:
        try:
            next(walk)
        except StopIteration as done:
            return done.value, pauses
        pauses += 1


def entered(imports: Graph, first: str = "ab") -> str:
    return "".join(walked(place(*first), imports, ImportSteps())[0].folder_ids)


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
    assert walked(place("a", None), {}, ImportSteps())[0].folder_ids == ()


def test_ten_levels_are_followed() -> None:
    chain = graph(*(string.ascii_lowercase[number : number + 2] for number in range(1, 15)))
    assert entered(chain) == "bcdefghijk"


def test_what_is_met_again_nearer_leads_further() -> None:
    chain = graph(*(string.ascii_lowercase[number : number + 2] for number in range(1, 15)), "bk")
    assert entered(chain) == "bcdefghijklmnop"


def test_imports_without_bounds_are_refused() -> None:
    wide: Graph = {"b": [place("b", f"f{number}") for number in range(100_001)]}
    with pytest.raises(ImportLimitError):
        walked(place("a", "b"), wide, ImportSteps())


def circle(count: int) -> Graph:
    """Return folders of which each imports the half of the others that follows it: never two each other."""
    return {
        f"f{number}": [
            place(f"f{number}", f"f{(number + step) % count}") for step in range(1, (count + 1) // 2)
        ]
        for number in range(count)
    }


def test_imports_that_lead_to_nothing_new_count_as_well_and_all_blocks_together() -> None:
    imports, steps = circle(30), ImportSteps()
    before = steps.left
    for _ in range(2):
        walked(place("a", "f0"), imports, steps)
        # Each of the 420 imports was looked at, though there are but 30 folders.
        assert before - steps.left > 420
        before = steps.left
    with pytest.raises(ImportLimitError):  # noqa: PT012 - it is their sum that is refused
        for _ in range(IMPORT_STEPS_MAX // 420):
            walked(place("a", "f0"), imports, steps)


def test_others_go_on_while_imports_are_followed() -> None:
    steps = ImportSteps()
    _, pauses = walked(place("a", "f0"), circle(60), steps)
    assert pauses >= (IMPORT_STEPS_MAX - steps.left) // 1000 > 0


blocks = st.lists(st.lists(st.sampled_from("abcdef"), unique=True).map(tuple), max_size=5)


@given(
    blocks=blocks, keys=st.fixed_dictionaries({name: st.lists(st.sampled_from("ABCD")) for name in "abcdef"})
)
def test_folders_that_a_later_block_shows_are_not_missed_in_earlier_ones(
    blocks: list[tuple[str, ...]], keys: dict[str, list[str]]
) -> None:
    def shown(folders: Sequence[Sequence[str]]) -> list[list[str]]:
        return without_shadowed([[key for name in some for key in keys[name]] for some in folders], str)

    narrowed = shown_folders([Block(DEV, FolderPath("/"), None, block) for block in blocks])
    assert shown(narrowed) == shown(blocks)
    flat = [name for some in narrowed for name in some]
    assert len(flat) == len(set(flat))


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
