from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.globs import listed_globs, matches_any, matches_glob


@given(st.text(alphabet="ab*?", max_size=12), st.text(alphabet="ab", max_size=12))
def test_a_glob_matches_what_the_shell_would_match(pattern: str, name: str) -> None:
    assert matches_glob(pattern, name) == fnmatch.fnmatchcase(name, pattern)


def test_a_glob_that_would_be_tried_for_ever_is_judged_at_once() -> None:
    assert not matches_glob("a*" * 2000 + "b", "a" * 250)


@pytest.mark.parametrize(
    ("listed", "name", "matches"),
    [
        ("", "anything", True),
        ("web", "web", True),
        ("web", "web-1", False),
        ("web, api-*", "api-2", True),
        ("web,,api", "", False),
        ("*", "", True),
    ],
)
def test_a_list_matches_by_any_of_its_globs_and_an_empty_one_everything(
    listed: str, name: str, *, matches: bool
) -> None:
    assert matches_any(listed_globs(listed), name) is matches
