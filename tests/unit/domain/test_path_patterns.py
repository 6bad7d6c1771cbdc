from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.domain import path_patterns
from keybearer.domain.errors import InvalidError, SchemaViolationError
from keybearer.domain.path_patterns import PathPattern, new_pattern, parse_pattern
from keybearer.wire.limits import FOLDER_DEPTH_MAX
from support.rows import each_row

NAMES = st.text("ab", min_size=1, max_size=3)
PATHS = st.lists(NAMES, max_size=4).map(lambda names: "/" + "/".join(names))
PARTS = st.one_of(st.just("**"), st.text("ab*", min_size=1, max_size=4).filter(lambda part: "**" not in part))
PATTERNS = st.lists(PARTS, max_size=6).map(lambda parts: parse_pattern("/".join(parts)))
DEEP = "/" + "/".join("a" * 30 for _ in range(FOLDER_DEPTH_MAX))


def as_regex(pattern: PathPattern) -> re.Pattern[str]:
    """The same by another way: slow for hostile patterns, right for short ones."""
    parts = [
        "(?:/[^/]+)*" if part == "**" else "/" + "[^/]*".join(map(re.escape, part.split("*")))
        for part in pattern.parts
    ]
    return re.compile("".join(parts))


@each_row(
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


def meant(parts: Sequence[str], names: Sequence[str]) -> bool:
    """The same by the plainest way, exponential in what it is given."""
    if not parts:
        return not names
    if parts[0] == "**":
        return any(meant(parts[1:], names[count:]) for count in range(len(names) + 1))
    return bool(names) and fnmatchcase(names[0], parts[0]) and meant(parts[1:], names[1:])


@given(st.lists(PARTS, max_size=6), st.lists(NAMES, max_size=5), st.lists(NAMES, max_size=3))
def test_a_pattern_matches_as_one_that_tries_everything(
    parts: list[str], names: list[str], below: list[str]
) -> None:
    pattern, path = parse_pattern("/".join(parts)), "/" + "/".join(names)
    assert pattern.matches(path) is meant(parts, names)
    # What is met beneath is met by some path; the rest of the pattern, its stars left out, leads to one.
    rests = [[part.replace("*", "a") for part in parts[start:]] for start in range(len(parts) + 1)]
    assert pattern.meets_beneath(path) is any(meant(parts, [*names, *rest]) for rest in rests)
    if pattern.covers_beneath(path):
        assert meant(parts, [*names, *below])


@pytest.mark.parametrize("text", ["/**/**", "/a/**/**/**/b/**/**"])
def test_a_run_that_means_any_depth_is_read_as_one(text: str) -> None:
    pattern = parse_pattern(text)
    assert str(pattern) == re.sub(r"(/\*\*)+", "/**", text)
    assert pattern.is_everything is (text == "/**/**")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/**" * 63 + "/b", id="a run of any depth"),
        pytest.param("/**/a*" * 31 + "/b", id="any depth in turn with names"),
        pytest.param("/**" + "/*a*a*" * 62 + "/b", id="names that match each place"),
        pytest.param("/**/" + "/".join(f"*{'a' * n}*" for n in range(1, 17)) + "/a" * 40, id="many stars"),
    ],
)
def test_a_name_is_compared_but_once_with_each_part(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[str, str]] = []

    def noted(part: str, name: str) -> bool:
        compared.append((part, name))
        return matched(part, name)

    matched = path_patterns._name_matches
    monkeypatch.setattr(path_patterns, "_name_matches", noted)
    pattern = parse_pattern(text)
    assert not pattern.matches(DEEP)
    starred = {part for part in pattern.parts if "*" in part and part != "**"}
    assert len(compared) <= len(starred) * FOLDER_DEPTH_MAX


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("/**/a" * 9, "`\\*\\*` at most 8 times", id="any depth"),
        pytest.param("/*" * 9 + "/*a*" * 4, "`\\*` at most 16 times", id="stars"),
    ],
)
def test_a_new_pattern_holds_but_so_many_stars(text: str, told: str) -> None:
    with pytest.raises(InvalidError, match=told):
        new_pattern(text)
    assert parse_pattern(text).matches("/a" * 13), "what is stored keeps working"
    new_pattern("/**" * 20 + "/**/a" * 7)
