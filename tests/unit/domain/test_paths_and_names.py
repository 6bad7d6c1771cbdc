from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.domain.errors import InvalidError, SchemaViolationError
from keybearer.domain.paths import ancestors, depth_between, folder_name_of, normalize_path, parent_of
from keybearer.domain.secrets.text import checked_name, checked_new_name, checked_value
from keybearer.wire.limits import HIDDEN_VALUE, SECRET_NAME_MAX, SECRET_VALUE_MAX_BYTES
from keybearer.wire.secret_names import NEW_NAME_PATTERN

names = st.text("abcXYZ019-_", min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param("", "/", id="nothing is the root"),
        pytest.param("/", "/", id="the root"),
        pytest.param("a/b", "/a/b", id="a slash is put in front"),
        pytest.param("/a/b/", "/a/b", id="a slash at the end goes"),
        pytest.param("//a///b", "/a/b", id="slashes in a row are one"),
        pytest.param("  /a ", "/a", id="white space around goes"),
    ],
)
def test_a_path_is_read_as_it_was_meant(text: str, path: str) -> None:
    assert normalize_path(text) == path


@given(parts=st.lists(names, min_size=1, max_size=5))
def test_the_ancestors_of_a_path_end_with_it_and_each_is_the_parent_of_the_next(parts: list[str]) -> None:
    path = normalize_path("/".join(parts))
    above = ancestors(path)
    assert above[-1] == path
    assert [parent_of(item) for item in above] == ["/", *above[:-1]]
    assert folder_name_of(path) == parts[-1]
    assert depth_between(normalize_path("/"), path) == len(parts)
    assert depth_between(above[0], path) == len(parts) - 1


@pytest.mark.parametrize(
    ("path", "told"),
    [
        pytest.param("/" + "a" * 256, "The name of a folder has at most 255 characters", id="a name"),
        pytest.param("/" + "/".join(["a" * 200] * 11), "The path of a folder has at most 2048", id="a path"),
    ],
)
def test_a_folder_that_is_too_long_is_told_by_its_limit(path: str, told: str) -> None:
    ancestors(normalize_path(path[:-1] if path.count("/") == 1 else path[:2048]))
    with pytest.raises(SchemaViolationError, match=told):
        ancestors(normalize_path(path))


def test_a_path_is_so_deep_and_no_deeper() -> None:
    assert normalize_path("/a" * 64) == "/a" * 64
    with pytest.raises(SchemaViolationError, match="at most 64 names") as refused:
        normalize_path("//a" * 65, field="secretPath")
    assert refused.value.field == "secretPath"


@pytest.mark.parametrize("path", ["/a.b", "/a b", "/a/../b", "/é"])
def test_a_folder_name_holds_only_what_it_may(path: str) -> None:
    with pytest.raises(SchemaViolationError, match="Only alphanumeric characters, dashes, and underscores"):
        ancestors(normalize_path(path))


@pytest.mark.parametrize(
    ("given_text", "stored"),
    [
        pytest.param("  cnry-value\t", "cnry-value", id="white space around goes"),
        pytest.param("cnry-value\n", "cnry-value\n", id="one newline at the end stays"),
        pytest.param("cnry-value\n\n\n", "cnry-value\n", id="of several one stays"),
        pytest.param("\n", "\n", id="a newline alone stays"),
        pytest.param("   ", "", id="only white space is nothing"),
        pytest.param("\ufeffcnry-bom\u00a0", "cnry-bom", id="what JavaScript calls white space goes"),
        pytest.param("\x1ccnry-fs\x1c", "\x1ccnry-fs\x1c", id="what only Python calls white space stays"),
        pytest.param("cnry-a\n b", "cnry-a\n b", id="white space inside stays"),
    ],
)
def test_a_value_is_trimmed_but_for_one_newline(given_text: str, stored: str) -> None:
    assert checked_value(given_text) == stored


@given(text=st.text(max_size=50))
def test_a_stored_value_stored_again_is_the_same(text: str) -> None:
    once = checked_value(text)
    assert checked_value(once) == once


def test_the_mask_is_never_stored() -> None:
    with pytest.raises(InvalidError, match="mask"):
        checked_value(f" {HIDDEN_VALUE} ")


def test_a_value_is_bounded_in_bytes() -> None:
    assert len(checked_value("x" * SECRET_VALUE_MAX_BYTES)) == SECRET_VALUE_MAX_BYTES
    with pytest.raises(SchemaViolationError):
        checked_value("é" * (SECRET_VALUE_MAX_BYTES // 2) + "x")


def test_a_name_is_trimmed() -> None:
    assert checked_name("  DB_HOST ", field="secretName") == "DB_HOST"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("  ", "Secret name cannot be empty.", id="empty"),
        pytest.param("a/b", "Secret name cannot contain colon or forward slash.", id="a slash"),
        pytest.param("a:b", "Secret name cannot contain colon or forward slash.", id="a colon"),
        pytest.param("a\0b", "Secret name cannot contain a NUL character.", id="a NUL"),
        pytest.param("x" * (SECRET_NAME_MAX + 1), "Secret name has at most 512 characters.", id="too long"),
    ],
)
def test_a_name_that_is_not_allowed_is_told_so(name: str, message: str) -> None:
    with pytest.raises(SchemaViolationError) as refused:
        checked_name(name, field="newSecretName")
    assert (refused.value.message, refused.value.field) == (message, "newSecretName")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("F\nINJECTED=1", id="a line feed"),
        pytest.param("\x1b]0;title\x07", id="an escape"),
        pytest.param("C=D", id="an equals sign"),
        pytest.param("A\tB", id="a tab"),
        pytest.param("A\u2028B", id="a line separator"),
        pytest.param("A\u202eB", id="another direction"),
        pytest.param("A\u200bB", id="nothing to be seen"),
        pytest.param("A\u00a0B", id="a space that is none"),
        pytest.param("A\x9bB", id="a control character of eight bits"),
    ],
)
def test_a_new_name_has_no_sign_that_leads_a_reader_astray(name: str) -> None:
    assert checked_name(name, field="secretName") == name
    with pytest.raises(SchemaViolationError, match="Secret name cannot contain") as refused:
        checked_new_name(name, field="secretName")
    assert name not in refused.value.message


@pytest.mark.parametrize("name", ["DB_HOST", "db.host-1", "a b", "Schlüssel", "鍵", "🔑", "@x", "#1"])
def test_a_new_name_may_be_in_any_language(name: str) -> None:
    assert checked_new_name(f" {name}\n", field="secretName") == name


@given(st.text(max_size=12))
def test_the_described_form_of_a_new_name_is_what_the_service_takes(text: str) -> None:
    try:
        checked_new_name(text, field="secretName")
    except SchemaViolationError:
        assert re.search(NEW_NAME_PATTERN, text) is None
    else:
        assert re.search(NEW_NAME_PATTERN, text) is not None
