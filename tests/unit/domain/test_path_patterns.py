from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.domain.errors import SchemaViolationError
from keybearer.domain.path_patterns import PathPattern, parse_pattern

NAMES = st.text("ab", min_size=1, max_size=3)
PATHS = st.lists(NAMES, max_size=4).map(lambda names: "/" + "/".join(names))
PARTS = st.one_of(st.just("**"), st.text("ab*", min_size=1, max_size=4).filter(lambda part: "**" not in part))
PATTERNS = st.lists(PARTS, max_size=5).map(lambda parts: PathPattern(tuple(parts)))


def as_regex(pattern: PathPattern) -> re.Pattern[str]:
    """The same by another way: slow for hostile patterns, right for short ones."""
    parts = [
        "(?:/[^/]+)*" if part == "**" else "/" + "[^/]*".join(map(re.escape, part.split("*")))
        for part in pattern.parts
    ]
    return re.compile("".join(parts))


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        pytest.param("/", "/", True, id="the root is the root"),
        pytest.param("/", "/a", False, id="the root is not what lies in it"),
        pytest.param("/**", "/", True, id="everything holds the root"),
        pytest.param("/**", "/a/b", True, id="everything holds what is deep"),
        pytest.param("/app", "/app", True, id="a path is itself"),
        pytest.param("/app", "/app/x", False, id="a path is not what lies under it"),
        pytest.param("/app", "/application", False, id="a path is no beginning of a name"),
        pytest.param("/app/*", "/app/x", True, id="a star is one name"),
        pytest.param("/app/*", "/app", False, id="a star is not nothing"),
        pytest.param("/app/*", "/app/x/y", False, id="a star is not two names"),
        pytest.param("/app/**", "/app", True, id="two stars are nothing too"),
        pytest.param("/app/**", "/app/x/y", True, id="two stars are any depth"),
        pytest.param("/app/**", "/apple", False, id="two stars begin at a slash"),
        pytest.param("/app/**/db", "/app/db", True, id="two stars in the middle may be nothing"),
        pytest.param("/app/**/db", "/app/x/y/db", True, id="two stars in the middle may be deep"),
        pytest.param("/app/**/db", "/app/x/db/y", False, id="what follows two stars is the end"),
        pytest.param("/team-*/db", "/team-a/db", True, id="a star may end a name"),
        pytest.param("/t*-*x", "/team-a-x", True, id="a name may have several stars"),
        pytest.param("/a*a", "/a", False, id="beginning and end don't overlap"),
        pytest.param("app//x/", "/app/x", True, id="slashes are forgiven"),
    ],
)
def test_a_pattern_means_these_paths(pattern: str, path: str, *, matches: bool) -> None:
    assert parse_pattern(pattern).matches(path) is matches


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/app**", id="two stars at the end of a name"),
        pytest.param("/***", id="three stars"),
        pytest.param("/" + "a" * 1024, id="too long"),
        pytest.param("/a" * 65, id="too many names"),
    ],
)
def test_a_pattern_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(SchemaViolationError):
        parse_pattern(text)


@given(PATTERNS, PATHS)
def test_a_pattern_matches_as_the_regular_expression_of_the_same_meaning(
    pattern: PathPattern, path: str
) -> None:
    expected = as_regex(pattern).fullmatch("" if path == "/" else path) is not None
    assert pattern.matches(path) is expected


@given(PATTERNS, PATHS, st.lists(NAMES, max_size=3))
def test_what_matches_beneath_is_met_and_what_is_covered_matches_beneath(
    pattern: PathPattern, path: str, below: list[str]
) -> None:
    deeper = "/".join([path.rstrip("/"), *below]) or "/"
    if pattern.matches(deeper):
        assert pattern.meets_beneath(path)
    if pattern.covers_beneath(path):
        assert pattern.matches(deeper)


@given(PATTERNS, PATTERNS, PATHS)
def test_patterns_that_never_overlap_share_no_path(one: PathPattern, other: PathPattern, path: str) -> None:
    if one.matches(path) and other.matches(path):
        assert one.may_overlap(other)
        assert other.may_overlap(one)


def test_a_hostile_pattern_takes_no_time() -> None:
    pattern = parse_pattern("/**/*a*a*a*a*a*a*a*a*a*a*a*a*b" * 8)
    assert not pattern.matches("/" + "/".join(["a" * 60] * 30))
