"""What is known of a project's places: which folders lie in a subtree."""

from __future__ import annotations

from uuid import UUID

import pytest

from keybearer.store.sealing.envelope import SealingKey, key_name, new_key_material
from keybearer.store.sealing.known_sets import KnownPlaces, PlacedFolder
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
