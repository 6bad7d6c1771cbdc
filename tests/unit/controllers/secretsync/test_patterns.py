from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.secretsync.key_choice import InvalidPatternError, compile_matcher, compile_renamer
from support.rows import each_row


@each_row(
    ("patterns", "name", "matches"),
    [
        pytest.param(["*"], "anything", True, id="a star takes everything"),
        pytest.param([], "anything", False, id="no pattern takes nothing"),
        pytest.param(["DB_HOST"], "DB_HOST", True, id="a plain name is itself"),
        pytest.param(["DB_HOST"], "DB_HOST2", False, id="a plain name is nothing else"),
        pytest.param(["DB_*"], "DB_HOST", True, id="a glob stands for a prefix"),
        pytest.param(["DB_*"], "MY_DB_HOST", False, id="a glob matches the whole name"),
        pytest.param(["DB_*"], "db_host", False, id="case counts"),
        pytest.param(["K?"], "K1", True, id="a question mark is one character"),
        pytest.param(["K?"], "K", False, id="a question mark is not none"),
        pytest.param(["K?"], "Kä", True, id="a question mark is one character, not one byte"),
        pytest.param(["[AB]*"], "Bx", True, id="a class is one of its members"),
        pytest.param(["[!AB]*"], "Bx", False, id="a negated class is none of them"),
        pytest.param(["[]a]"], "]", True, id="a bracket may come first in a class"),
        pytest.param(["[a"], "[a", True, id="a bracket that nothing closes is itself"),
        pytest.param(["a.c"], "abc", False, id="a dot in a glob is a dot"),
        pytest.param([r"a\*"], r"a\b", True, id="a backslash in a glob is a backslash"),
        pytest.param(["/^DB_/"], "DB_HOST", True, id="an expression matches anywhere"),
        pytest.param(["/HOST$/"], "DB_HOST", True, id="an expression may end at the end"),
        pytest.param(["/a|b/", "c"], "xbx", True, id="alternatives stay within their expression"),
        pytest.param(["/(?i)db/", "X*"], "x", False, id="flags stay within their expression"),
        pytest.param([r"/\Qa.b/", "X*"], "X1", True, id="quotes end with their expression"),
        pytest.param([r"/\Qa.b/", "X*"], "a.b", True, id="quoted text is itself"),
        pytest.param(["/(?P<n>a)/", "/(?P<n>b)/"], "b", True, id="two expressions may name a group alike"),
        pytest.param(["/"], "/", True, id="one slash is a name"),
        pytest.param(["//"], "//", True, id="two slashes are a name"),
    ],
)
def test_a_list_of_patterns_matches(patterns: list[str], name: str, matches: bool) -> None:  # noqa: FBT001 - a column
    assert compile_matcher(patterns, "keys.include")(name) is matches


@given(
    st.text(alphabet="ab*?[]!-._^\\", max_size=12).filter(lambda glob: "/" not in glob),
    st.text(alphabet="ab[]!-._^\\\n", max_size=8),
)
def test_globs_mean_what_they_mean_to_a_shell(glob: str, name: str) -> None:
    try:
        matcher = compile_matcher([glob], "keys.include")
    except InvalidPatternError:
        return  # a range that runs backwards, which fnmatch takes for the empty set

    assert matcher(name) == fnmatch.fnmatchcase(name, glob)


@each_row(
    "pattern",
    [
        pytest.param("/(/", id="an expression that nothing closes"),
        pytest.param(r"/(a)\1/", id="a reference back, which takes exponential time"),
        pytest.param("/a(?=b)/", id="a look ahead"),
        pytest.param(r"/\pL{1000}/", id="a program that is too large"),
        pytest.param("[b-a]", id="a range that runs backwards"),
    ],
)
@each_row("others", [[], ["*"]], ids=["alone", "beside a star"])
def test_a_pattern_that_is_none_is_named(pattern: str, others: list[str]) -> None:
    with pytest.raises(InvalidPatternError, match="is refused") as refusal:
        compile_matcher([*others, pattern], "keys.include")

    assert str(refusal.value).startswith(f"keys.include[{len(others)}]: pattern {pattern!r} is refused: ")


def test_patterns_that_are_too_large_together_are_refused_as_a_whole() -> None:
    with pytest.raises(InvalidPatternError, match=r"^keys\.include: all patterns together are refused"):
        compile_matcher([f"/[ab]{{{count}}}/" for count in range(800, 860)], "keys.include")


@pytest.mark.parametrize(
    ("pattern", "replacement", "name", "renamed"),
    [
        pytest.param("A", "b", "A", "b", id="an exact name"),
        pytest.param("A", "b", "AA", None, id="no other name"),
        pytest.param("A", r"\1", "A", r"\1", id="after an exact name a backslash is a backslash"),
        pytest.param("/APP_(.*)/", r"\1", "APP_HOST", "HOST", id="a group"),
        pytest.param("/APP_(.*)/", r"\1", "MY_APP_HOST", None, id="a whole match only"),
        pytest.param("/A|AB/", "x", "AB", "x", id="a whole match by the other alternative"),
        pytest.param("/(a)(b)?/", r"[\2\1\0]", "a", "[aa]", id="a group that took no part is empty"),
        pytest.param("/(.)(.)/", r"\2\\\1", "ab", r"b\a", id="two backslashes are one"),
        pytest.param("/(ä)(.)/", r"\2", "äö", "ö", id="characters are not bytes"),
    ],
)
def test_a_rename_gives(pattern: str, replacement: str, name: str, renamed: str | None) -> None:
    assert compile_renamer(pattern, replacement, "keys.rename[3]")(name) == renamed


@pytest.mark.parametrize("replacement", [r"\2", r"\x", "\\", r"\g<1>"])
def test_a_replacement_that_refers_to_nothing_is_refused(replacement: str) -> None:
    with pytest.raises(
        InvalidPatternError,
        match=r"^keys\.rename\[3\]\.to: the replacement of pattern '/\(a\)/' may refer to \\0 to \\1 only",
    ):
        compile_renamer("/(a)/", replacement, "keys.rename[3]")


def test_a_rename_of_what_is_no_expression_names_its_field() -> None:
    with pytest.raises(InvalidPatternError, match=r"^keys\.rename\[3\]\.from: pattern '/\(/' is refused"):
        compile_renamer("/(/", "x", "keys.rename[3]")
