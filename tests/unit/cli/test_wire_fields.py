"""Fields in the service's own spelling, as people write them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.errors import ConfigurationError
from keybearer.cli.failures import CommandError
from keybearer.cli.wire_fields import credentials_of, fields_of, rows_of

VARIABLE = "KEYBEARER_APP_CREDENTIALS"
OBJECT = '{"domain": "tenant.example.com", "clientSecret": "cnry-secret"}'


def test_credentials_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "credentials.json"
    file.write_text(f"{OBJECT}\n")
    assert credentials_of(file) == {"domain": "tenant.example.com", "clientSecret": "cnry-secret"}


def test_credentials_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OBJECT.encode())))
    assert credentials_of(Path("-"))["clientSecret"] == "cnry-secret"


def test_credentials_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, OBJECT)
    assert credentials_of(None)["clientSecret"] == "cnry-secret"


def test_without_credentials_and_nobody_to_ask_the_next_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    with pytest.raises(CommandError, match="no JSON of the credentials") as refused:
        credentials_of(None)
    assert VARIABLE in refused.value.next_step


@pytest.mark.parametrize(
    "text", ["cnry-secret", '["cnry-secret"]', "{}", '"cnry-secret"', '{"a": "cnry-secret"', ""]
)
def test_what_is_no_object_of_fields_is_refused_without_showing_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "credentials.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="no JSON object") as refused:
        credentials_of(file)
    assert "cnry-" not in str(refused.value)
    assert refused.value.__context__ is None


def test_fields_are_texts_or_json() -> None:
    assert fields_of(
        "--config",
        [
            "region=eu-central-1",
            "path=/a=b/",
            "empty=",
            "number=5",
            "ids:=[1, 2]",
            "on:=true",
            'id:="5"',
            "off:=null",
        ],
    ) == {
        "region": "eu-central-1",
        "path": "/a=b/",
        "empty": "",
        "number": "5",
        "ids": [1, 2],
        "on": True,
        "id": "5",
        "off": None,
    }
    assert fields_of("--config", None) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["region"], "--config 'region' is neither NAME=TEXT nor NAME:=JSON"),
        (["=x"], "neither"),
        ([":=1"], "neither"),
        (["a=1", "a:=2"], "--config a comes twice"),
        (["a:=[1"], r"--config a: '\[1' is no JSON"),
    ],
)
def test_what_is_no_field_is_refused(given: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        fields_of("--config", given)


@given(st.dictionaries(st.from_regex(r"[a-zA-Z]{1,8}", fullmatch=True), st.text()))
def test_every_text_is_taken_as_it_is(fields: dict[str, str]) -> None:
    assert fields_of("--config", [f"{name}={text}" for name, text in fields.items()]) == fields
    assert dict(rows_of({**fields})) == fields


def test_a_table_shows_texts_as_they_are_and_all_else_as_json() -> None:
    assert list(rows_of({"a": "text", "b": [1, {"c": None}], "d": True})) == [
        ("a", "text"),
        ("b", '[1,{"c":null}]'),
        ("d", "true"),
    ]
