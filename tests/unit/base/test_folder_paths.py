from __future__ import annotations

import pytest

from keybearer.base.folder_paths import lies_within, parent_and_name


@pytest.mark.parametrize(
    ("path", "folder", "within"),
    [
        ("/", "/", True),
        ("/db", "/", True),
        ("/db", "/db", True),
        ("/db/", "/db", True),
        ("/db", "/db/", True),
        ("/db/prod", "/db", True),
        ("/db-old", "/db", False),
        ("/", "/db", False),
        ("/web", "/db", False),
    ],
)
def test_a_path_lies_within_itself_and_what_is_above_it(path: str, folder: str, *, within: bool) -> None:
    assert lies_within(path, folder) is within


@pytest.mark.parametrize(
    ("path", "parts"),
    [("/", ("/", "")), ("/db", ("/", "db")), ("/db/prod/", ("/db", "prod")), ("db/prod", ("/db", "prod"))],
    ids=["the root", "below the root", "deeper", "without a slash at the beginning"],
)
def test_a_path_is_the_folder_above_and_a_name(path: str, parts: tuple[str, str]) -> None:
    assert parent_and_name(path) == parts
