"""What is known of a project's places: which folders lie in a subtree."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.store.place_marks import Place, carried
from keybearer.store.sealing.envelope import SealingKey, key_name, new_key_material
from keybearer.store.sealing.known_sets import KnownPlaces, PlacedEnvironment, PlacedFolder
from keybearer.store.sealing.tally import PlaceTally

_PATHS = ("/", "/a", "/a/b", "/a/b/c", "/a-b", "/a0", "/ab", "/a.b", "/b", "/b/a")


def _known(*, reserved: str = "") -> KnownPlaces:
    folders = [
        PlacedFolder(f"{environment}:{path}", environment, None, path == reserved, "name", path)
        for environment in ("dev", "prod")
        for path in _PATHS
    ]
    return KnownPlaces(
        SealingKey(key_name(UUID(int=1), 1), new_key_material()),
        PlaceTally(),
        {folder.id: folder for folder in folders},
        {"dev": "dev", "prod": "prod"},
        {(folder.environment_id, folder.path) for folder in folders},
    )


@pytest.mark.parametrize(
    ("path", "within"),
    [
        ("/", _PATHS),
        ("/a", ("/a", "/a/b", "/a/b/c")),
        ("/a/b", ("/a/b", "/a/b/c")),
        ("/a/b/c", ("/a/b/c",)),
        ("/a0", ("/a0",)),
        ("/b", ("/b", "/b/a")),
        ("/missing", ()),
        ("/c", ()),
    ],
)
def test_a_subtree_is_the_folder_and_all_under_it_in_its_environment(
    path: str, within: tuple[str, ...]
) -> None:
    assert sorted(_known().within("dev", path)) == sorted(f"dev:{one}" for one in within)


def test_reserved_folders_may_be_missing_from_a_subtree() -> None:
    assert _known(reserved="/a/b").within("prod", "/a") == ["prod:/a/b/c", "prod:/a"]


def test_an_environment_without_folders_has_no_subtree() -> None:
    assert _known().within("staging", "/") == []


_CHANGED = st.sets(st.sampled_from(_PATHS))
_ADDED = st.sets(
    st.tuples(st.sampled_from(["dev", "prod"]), st.sampled_from(["/a/c", "/a1", "/z", "/a/b/a"]))
)


@given(asked=st.sets(st.sampled_from(["dev", "prod"])), gone=_CHANGED, added=_ADDED, reserved=st.booleans())
def test_subtrees_are_the_same_after_a_change_as_for_who_reads_all_anew(
    asked: set[str], gone: set[str], added: set[tuple[str, str]], *, reserved: bool
) -> None:
    known = _known(reserved="/a/b")
    for environment in asked:
        known.within(environment, "/a")
    before = {environment: list(order) for environment, order in known.order.items()}
    changed = carried(
        known,
        PlaceTally(),
        [known.folders[f"dev:{path}"] for path in gone],
        [PlacedFolder(f"{slug}:{path}", slug, None, reserved, "name", path) for slug, path in added],
    )
    assert changed is not None
    fresh = replace(changed, order={})
    for environment in ("dev", "prod"):
        for path in (*_PATHS, "/a/c", "/z"):
            assert changed.within(environment, path) == fresh.within(environment, path)
    assert known.order == before


def test_an_order_that_is_known_is_not_sorted_again_after_one_folder_more() -> None:
    known = _known()
    known.within("dev", "/a")
    new: list[Place] = [
        PlacedFolder("dev:/c", "dev", None, is_reserved=False, name="c", path="/c"),
        PlacedEnvironment("staging", "project", "staging"),
    ]
    changed = carried(known, PlaceTally(), (), new)
    assert changed is not None
    assert [path for path, _ in changed.order["dev"]] == sorted([*_PATHS, "/c"])
