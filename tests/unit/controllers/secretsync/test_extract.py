from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.secretsync.payload import ExtractError, ExtractFault, JsonReader, extract_value
from keybearer.controllers.secretsync.spec import Decoding
from support.rows import each_row

_DOCUMENT = """{
  "user": "cnry-user", "port": 5432, "ratio": 1.50, "big": 123456789012345678901234567890, "on": true,
  "none": null, "hosts": ["cnry-a", {"name": "cnry-b", "ports": [ 1, 2.0 ]}], "a.b": "cnry-dotted",
  "back\\\\slash": "cnry-slashed", "": "cnry-nameless", "text": "ä\\n\\"", "empty": {}, "list": []
}"""


@each_row(
    ("path", "value"),
    [
        ("user", "cnry-user"),
        ("port", "5432"),
        ("ratio", "1.50"),
        ("big", "123456789012345678901234567890"),
        ("on", "true"),
        ("hosts.0", "cnry-a"),
        ("hosts.1.name", "cnry-b"),
        ("hosts.1", '{"name":"cnry-b","ports":[1,2.0]}'),
        ("hosts.1.ports.1", "2.0"),
        (r"a\.b", "cnry-dotted"),
        (r"back\\slash", "cnry-slashed"),
        ("", "cnry-nameless"),
        ("text", 'ä\n"'),
        ("empty", "{}"),
        ("list", "[]"),
    ],
)
def test_a_property_is_taken_as_it_was_written(path: str, value: str) -> None:
    assert extract_value(_DOCUMENT, path, Decoding.NONE, JsonReader()) == value.encode()


@each_row(
    "path",
    [
        "other",
        "none",
        "hosts.2",
        "hosts.-1",
        "hosts.name",
        "hosts.00000000",
        "user.x",
        "a.b",
        "hosts.1.x",
        "user.",
    ],
)
def test_a_property_that_is_not_there_is_named(path: str) -> None:
    with pytest.raises(ExtractError, match="has no property") as refusal:
        extract_value(_DOCUMENT, path, Decoding.NONE, JsonReader())

    assert refusal.value.fault is ExtractFault.PROPERTY_NOT_FOUND
    assert path in str(refusal.value)
    assert "cnry" not in str(refusal.value)


def test_a_property_whose_name_has_a_dot_is_told_how_to_write() -> None:
    with pytest.raises(ExtractError) as refusal:
        extract_value('{"db.port": "cnry-1"}', "db.port", Decoding.NONE, JsonReader())

    assert str(refusal.value).endswith(r"write property: db\.port")
    assert "cnry" not in str(refusal.value)
    assert extract_value('{"db.port": "1"}', r"db\.port", Decoding.NONE, JsonReader()) == b"1"


@pytest.mark.parametrize(
    "value",
    [
        pytest.param("cnry-text", id="no JSON"),
        pytest.param('{"a": "cnry-1", "a": "cnry-2"}', id="a name twice, which programs read differently"),
        pytest.param('{"a": [{"b": 1, "b": 2}]}', id="a name twice deep inside"),
        pytest.param('{"a": NaN}', id="a number that JSON hasn't"),
        pytest.param('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", id="nested without end"),
        pytest.param('{"a": ' + "[" * 70 + "]" * 70 + "}", id="nested deeper than is written"),
        pytest.param("", id="nothing"),
    ],
)
def test_what_is_no_plain_json_is_refused_without_repeating_it(value: str) -> None:
    with pytest.raises(ExtractError) as refusal:
        extract_value(value, "a", Decoding.NONE, JsonReader())

    assert refusal.value.fault is ExtractFault.NOT_JSON
    assert "cnry" not in f"{refusal.value} {refusal.value.__cause__} {refusal.value.__context__!r:.0}"


@given(
    st.recursive(
        st.text() | st.integers() | st.booleans(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_what_is_taken_out_is_what_was_put_in(inner: object) -> None:
    value = json.dumps({"a": inner}, indent=1)

    taken = extract_value(value, "a", Decoding.NONE, JsonReader()).decode()

    assert (taken if isinstance(inner, str) else json.loads(taken)) == inner


@given(st.binary())
def test_base64_gives_its_bytes_whatever_lines_it_stands_in(content: bytes) -> None:
    assert extract_value(base64.encodebytes(content).decode(), None, Decoding.BASE64, JsonReader()) == content


def test_a_property_is_taken_first_and_decoded_then() -> None:
    value = json.dumps({"store": base64.b64encode(b"cnry-\xff").decode()})

    assert extract_value(value, "store", Decoding.BASE64, JsonReader()) == b"cnry-\xff"


@pytest.mark.parametrize("value", ["cnry-!", "YQ", "Y Q=", "YQ==YQ==", "_-8=", "YQ==\u00a0", "ä"])
def test_what_is_no_strict_base64_is_refused_without_repeating_it(value: str) -> None:
    with pytest.raises(ExtractError, match="not Base64") as refusal:
        extract_value(value, None, Decoding.BASE64, JsonReader())

    assert refusal.value.fault is ExtractFault.NOT_BASE64


def test_half_a_surrogate_pair_is_no_text() -> None:
    with pytest.raises(ExtractError) as refusal:
        extract_value('{"a": "\\ud800"}', "a", Decoding.NONE, JsonReader())

    assert refusal.value.fault is ExtractFault.NOT_TEXT


class TestAllowance:
    def test_many_properties_of_one_value_cost_its_size_once(self) -> None:
        value = json.dumps({"a": "cnry-a", "b": "cnry-b"})
        reader = JsonReader(len(value))

        taken = [extract_value(value, path, Decoding.NONE, reader) for path in "abab"]

        assert taken == [b"cnry-a", b"cnry-b"] * 2

    def test_more_json_than_allowed_is_refused_with_the_remedy(self) -> None:
        value = json.dumps({"a": "cnry-a"})
        reader = JsonReader(2 * len(value) - 1)
        extract_value(value, "a", Decoding.NONE, reader)

        with pytest.raises(ExtractError, match="split the object") as refusal:
            extract_value(value.replace("cnry-a", "cnry-b"), "a", Decoding.NONE, reader)

        assert refusal.value.fault is ExtractFault.TOO_MUCH_JSON
        assert "cnry" not in str(refusal.value)

    def test_what_is_written_as_json_again_counts_each_time(self) -> None:
        value = json.dumps({"a": ["cnry-a"] * 10}, separators=(",", ":"))
        reader = JsonReader(2 * len(value))
        extract_value(value, "a", Decoding.NONE, reader)

        with pytest.raises(ExtractError) as refusal:
            extract_value(value, "a", Decoding.NONE, reader)

        assert refusal.value.fault is ExtractFault.TOO_MUCH_JSON

    def test_what_is_no_json_stays_none_the_second_time(self) -> None:
        reader = JsonReader()
        for _ in range(2):
            with pytest.raises(ExtractError) as refusal:
                extract_value("cnry-text", "a", Decoding.NONE, reader)
            assert refusal.value.fault is ExtractFault.NOT_JSON
