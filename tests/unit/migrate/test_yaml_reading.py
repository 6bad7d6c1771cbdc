"""YAML of people we don't know: read as Kubernetes reads it, strictly, and within bounds."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from keybearer.migrate import yaml_reading
from keybearer.migrate.conversion import Reading, read_text
from keybearer.migrate.yaml_reading import DEPTH_MAX, ReadingError, read_documents
from support.rows import each_row
from tools.local.waiting import PATIENCE_SECONDS

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=20),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text("abc-_./ ", max_size=6), inner, max_size=4)
    ),
    max_leaves=15,
)


@settings(max_examples=80, deadline=None)
@given(document=DOCUMENTS)
def test_what_was_written_is_read_again(document: JsonValue) -> None:
    read = list(read_documents(yaml.safe_dump(document)))
    assert read == ([] if document is None else [document])


@settings(max_examples=80, deadline=None)
@given(text=st.text("ab:{}[]&*!|>-'\"#%@\n\t ,?", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ReadingError):
        assert isinstance(list(read_documents(text)), list)


@each_row(
    ("text", "value"),
    [
        pytest.param("yes", True, id="yes"),
        pytest.param("'yes'", "yes", id="yes in quotes"),
        pytest.param("off", False, id="off"),
        pytest.param("2026-01-31", "2026-01-31", id="a date stays text"),
        pytest.param("12:30:45", "12:30:45", id="sixty-based stays text"),
        pytest.param("0o17", "0o17", id="octal of YAML 1.2"),
        pytest.param("0644", 420, id="octal"),
        pytest.param("0x1F", 31, id="hexadecimal"),
        pytest.param("1_000", 1000, id="underscores"),
        pytest.param("123456789012345678901234567890", "123456789012345678901234567890", id="beyond 64 bits"),
        pytest.param(".inf", ".inf", id="infinity stays text"),
        pytest.param("1e400", "1e400", id="beyond a float stays text"),
        pytest.param("~", None, id="null"),
        pytest.param("!!str 12", "12", id="a tag of YAML's own"),
        pytest.param("!!int '12'", 12, id="a number in quotes by its tag"),
        pytest.param("!!float 1", 1.0, id="a whole number by the tag of others"),
        pytest.param("!!null ''", None, id="nothing by its tag"),
        pytest.param("!!timestamp 2026-01-31", "2026-01-31", id="a date by its tag stays text"),
        pytest.param("0b101", 5, id="binary"),
        pytest.param("-0x1F", -31, id="below zero"),
        pytest.param("0b_", "0b_", id="binary without digits is text"),
        pytest.param("-0x_", "-0x_", id="hexadecimal without digits is text"),
        pytest.param("0_", 0, id="zero with an underscore"),
        pytest.param("18446744073709551616", "18446744073709551616", id="just beyond 64 bits"),
        pytest.param("1" * 5000, "1" * 5000, id="more digits than Python converts"),
    ],
)
def test_scalars_are_read_as_kubernetes_reads_them(text: str, value: JsonValue) -> None:
    assert list(read_documents(f"a: {text}\n")) == [{"a": value}]


def test_aliases_and_merged_keys_are_filled_in() -> None:
    text = (
        "base: &base {a: 1, b: [2]}\nown: {<<: *base, a: 3}\n"
        "both: {<<: [*base, {a: 4, c: 5}]}\ntext: {'<<': *base}\n"
    )
    (read,) = read_documents(text)
    assert isinstance(read, dict)
    assert read["own"] == {"a": 3, "b": [2]}
    assert read["both"] == {"a": 1, "b": [2], "c": 5}
    assert read["text"] == {"<<": {"a": 1, "b": [2]}}


def _bomb() -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]" for number in range(1, 12)]
    return "\n".join(lines)


@each_row(
    ("text", "why"),
    [
        pytest.param(_bomb(), "goes beyond 500000 values in one document", id="a bomb of aliases"),
        pytest.param("a: &a [*a]", "repeats something that isn't there, or holds itself", id="holds itself"),
        pytest.param("a: *b", "line 1", id="an alias of nothing"),
        pytest.param("[" * 5000, f"nested deeper than {DEPTH_MAX} levels", id="deep"),
        pytest.param("a: 1\nb: 2\na: 3", "line 3 has a key for the second time", id="a key twice"),
        pytest.param("? [a]\n: 1", "line 1 has a key that is no text", id="a list as key"),
        pytest.param("a: !!python/object/apply:os.system [id]", "line 1 has a tag", id="an object of Python"),
        pytest.param("a: !!binary aGk=", "line 1 has a tag", id="binary"),
        pytest.param("a: !Ref b", "line 1 has a tag", id="a tag of somebody's own"),
        pytest.param(
            "a: !!int text", "line 1 has a tag that its text doesn't match", id="a number of letters"
        ),
        pytest.param("a: !!int ''", "line 1 has a tag that its text", id="a number of nothing"),
        pytest.param("a: !!int 0x_", "line 1 has a tag that its text", id="a number without digits"),
        pytest.param("a: !!float .inf", "line 1 has a tag that its text", id="a number that JSON hasn't"),
        pytest.param("a: !!bool xx", "line 1 has a tag that its text", id="neither true nor false"),
        pytest.param("a: !!null secret", "line 1 has a tag that its text", id="a null that says something"),
        pytest.param("a: !!timestamp x", "line 1 has a tag that its text", id="a date that is none"),
        pytest.param("? !!merge b\n: {}", "line 1 has a tag that its text", id="a merge of another name"),
        pytest.param("? !!int\n: b", "line 1 has a tag that its text", id="a key of nothing"),
        pytest.param("<<: 1", "line 1 merges what is no mapping", id="merges a number"),
        pytest.param("a: b: c", "line 1 is no YAML", id="no YAML"),
    ],
)
def test_what_is_no_manifest_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(ReadingError, match=why):
        list(read_documents(text))


KINDS = st.sampled_from(
    [
        "!!int",
        "!!float",
        "!!bool",
        "!!null",
        "!!str",
        "!!timestamp",
        "!!value",
        "!!merge",
        "!!binary",
        "!!omap",
        "!x",
        "!",
    ]
)
TEXTS_OF_SCALARS = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.text("0123456789abcdefox_+-.:eE", max_size=12),
    st.integers(1, 6000).map(lambda count: "1" * count),
    st.sampled_from(["yes", "~", "", "<<", "=", ".inf", "2026-01-31", "1:30", "0b_", "-0x_", "0o8", "1._"]),
)


@settings(max_examples=300, deadline=None)
@given(tag=KINDS, text=TEXTS_OF_SCALARS, is_key=st.booleans())
def test_a_scalar_with_any_tag_is_read_or_refused(tag: str, text: str, is_key: bool) -> None:  # noqa: FBT001 - drawn
    scalar = f"{tag} {json.dumps(text)}"
    with contextlib.suppress(ReadingError):
        for document in read_documents(f"? {scalar}\n: x\n" if is_key else f"a: {scalar}\n"):
            json.dumps(document, allow_nan=False)


@settings(max_examples=300, deadline=None)
@given(text=TEXTS_OF_SCALARS)
def test_a_plain_scalar_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ReadingError):
        for document in read_documents(f"a: {text}\n"):
            json.dumps(document, allow_nan=False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('a: "\\U00110000"', id="beyond Unicode"),
        pytest.param('a: "\\UFFFFFFFF"', id="beyond a number of C"),
        pytest.param(f"%YAML 1.{'9' * 5000}\n---\na: 1", id="a version of any length"),
    ],
)
@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml_reading._Loader])
def test_what_either_parser_stumbles_over_is_refused(
    text: str, loader: type[yaml.SafeLoader], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_reading, "_Loader", loader)
    with pytest.raises(ReadingError, match="is no YAML"):
        list(read_documents(text))


def test_an_alias_of_the_merging_key_is_a_text() -> None:
    (read,) = read_documents("x: {&m <<: {a: b}, c: *m}")
    assert read == {"x": {"a": "b", "c": "<<"}}
    assert yaml.safe_dump(read)


@pytest.mark.timeout(PATIENCE_SECONDS / 5)  # a copy for each of them takes minutes
def test_many_merged_mappings_cost_one_pass() -> None:
    count = 40_000
    text = "<<: [" + ",".join(f"{{k{number}: 1, k: {number}}}" for number in range(count)) + "]\nk1: 2"
    (read,) = read_documents(text)
    assert isinstance(read, dict)
    assert (len(read), read["k"], read["k1"]) == (count + 1, 0, 2)


def test_aliases_are_counted_by_the_text_that_they_repeat() -> None:
    text = f"a: &a {'x' * 1024**2}\nb: [{', '.join(['*a'] * 16)}]"
    assert list(read_documents(text))
    with pytest.raises(
        ReadingError, match="line 2 repeats by aliases more than 1000000 values or 16 MiB of text"
    ):
        list(read_documents(text.replace("[", "[*a, ")))


def test_what_aliases_repeat_is_counted_over_all_that_is_read() -> None:
    reading = Reading()
    text = f"a: &a {'x' * 1024**2}\nb: [{', '.join(['*a'] * 10)}]\n---\nc: 1"
    read_text(reading, text, "one.yaml")
    assert reading.unreadable == []
    read_text(reading, text, "two.yaml")
    (unreadable,) = reading.unreadable
    assert unreadable.file == "two.yaml"
    assert "counted over all files" in unreadable.why


def test_no_refusal_quotes_what_stands_there() -> None:
    for text in (
        "password: cnry-quoted: x",
        "a: [cnry-open",
        "cnry-twice: 1\ncnry-twice: 2",
        "a: *cnry-alias",
        "!cnry x",
        "!!int cnry",
        "!!null cnry",
    ):
        with pytest.raises(ReadingError) as refusal:
            list(read_documents(text))
        assert "cnry" not in str(refusal.value)


def test_texts_and_streams_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_reading, "DOCUMENTS_MAX", 3)
    assert list(read_documents("1\n---\n2\n---\n3\n")) == [1, 2, 3]
    with pytest.raises(ReadingError, match="more than 3 documents"):
        list(read_documents("1\n---\n2\n---\n3\n---\n4\n"))
    monkeypatch.setattr(yaml_reading, "TEXT_MAX", 3)
    assert list(read_documents("abc")) == ["abc"]
    with pytest.raises(ReadingError, match="is longer than"):
        list(read_documents("abcd"))


def test_documents_before_a_fault_are_given() -> None:
    documents = read_documents("a: 1\n---\nb: [\n")
    assert next(documents) == {"a": 1}
    with pytest.raises(ReadingError):
        next(documents)


def test_a_repeated_part_costs_no_memory_of_its_own() -> None:
    (read,) = read_documents("a: &a {b: 1}\nc: *a\n")
    assert isinstance(read, Mapping)
    assert read["a"] is read["c"]
