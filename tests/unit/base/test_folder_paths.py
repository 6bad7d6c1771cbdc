from __future__ import annotations

import pytest

from keybearer.base.folder_paths import lies_within


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
