"""What is written to a file is read from it again, and errors name lines and keys alone."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest
from dotenv import dotenv_values
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.errors import ConfigurationError
from keybearer.cli.secret_files import FileFormat, format_of, read_secrets, write_secrets

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("a\\'\" \n\r\t#$`{}:-=\x85\u2028\ufeff")
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True)


@given(st.dictionaries(NAMES, TEXTS, max_size=6), st.sampled_from(FileFormat))
def test_names_and_values_survive_a_round_trip(secrets: dict[str, str], form: FileFormat) -> None:
    assert read_secrets(write_secrets(secrets, form), form) == secrets


@given(st.dictionaries(TEXTS, TEXTS, max_size=6), st.sampled_from([FileFormat.JSON, FileFormat.YAML]))
def test_any_name_survives_where_the_form_can_hold_it(secrets: dict[str, str], form: FileFormat) -> None:
    assert read_secrets(write_secrets(secrets, form), form) == secrets


def test_yaml_of_several_lines_stays_readable() -> None:
    assert write_secrets({"KEY": "-----BEGIN-----\nabc\n"}, FileFormat.YAML) == (
        "KEY: |\n  -----BEGIN-----\n  abc\n"
    )


@given(st.dictionaries(NAMES, TEXTS, max_size=6))
def test_a_file_that_we_write_means_the_same_to_its_usual_reader(secrets: dict[str, str]) -> None:
    text = write_secrets(secrets, FileFormat.ENV)
    assert dotenv_values(stream=io.StringIO(text, newline=""), interpolate=False) == secrets


@given(TEXTS, st.sampled_from(FileFormat))
def test_no_file_ends_in_another_error(text: str, form: FileFormat) -> None:
    with contextlib.suppress(ConfigurationError):
        assert all(isinstance(value, str) for value in read_secrets(text, form).values())


def test_an_env_file_may_have_comments_exports_and_values_of_several_lines() -> None:
    text = "# comment\nexport A=1\n\nB=\"two\\nlines\" # why\nC='as ${it} is\\n'\nD=\nE=a # b\n"
    assert read_secrets(text, FileFormat.ENV) == {
        "A": "1",
        "B": "two\nlines",
        "C": "as ${it} is\\n",
        "D": "",
        "E": "a",
    }


def test_yaml_scalars_are_the_texts_they_look_like() -> None:
    text = "A: no\nB: 0123\nC: 1.10\nD: |\n  two\n  lines\nE: ''\nF: 2026-01-02\n"
    assert read_secrets(text, FileFormat.YAML) == {
        "A": "no",
        "B": "0123",
        "C": "1.10",
        "D": "two\nlines\n",
        "E": "",
        "F": "2026-01-02",
    }


@pytest.mark.parametrize(
    ("text", "form", "said"),
    [
        pytest.param("A='cnry-open\n", FileFormat.ENV, "line 1", id="open quote"),
        pytest.param("A=1\nB\n", FileFormat.ENV, "line 2", id="name without a value"),
        pytest.param("A=cnry-1\nA=cnry-2\n", FileFormat.ENV, "'A' comes twice", id="name twice"),
        pytest.param(
            '{"A": "cnry-1", "A": "cnry-2"}', FileFormat.JSON, "'A' comes twice", id="JSON name twice"
        ),
        pytest.param("A: cnry-1\nA: cnry-2\n", FileFormat.YAML, "'A' comes twice", id="YAML name twice"),
        pytest.param('{"PORT": 5432}', FileFormat.JSON, "'PORT' is no text", id="number"),
        pytest.param('{"A": {"B": "cnry-1"}}', FileFormat.JSON, "'A' is no text", id="object in an object"),
        pytest.param('["cnry-1"]', FileFormat.JSON, "one JSON object", id="JSON list"),
        pytest.param('{"A": "cnry-1', FileFormat.JSON, "no JSON: line 1", id="JSON cut off"),
        pytest.param("[" * 100_000, FileFormat.JSON, "no JSON", id="JSON without end"),
        pytest.param("- cnry-1\n", FileFormat.YAML, "one mapping", id="YAML list"),
        pytest.param("A: [cnry-1]\n", FileFormat.YAML, "line 1", id="list as a value"),
        pytest.param("A: 'cnry-1\n", FileFormat.YAML, "no YAML", id="YAML cut off"),
        pytest.param("[" * 10_000, FileFormat.YAML, "no YAML", id="YAML without end"),
    ],
)
def test_a_file_that_can_not_be_read_is_refused_without_quoting_it(
    text: str, form: FileFormat, said: str
) -> None:
    with pytest.raises(ConfigurationError, match=said) as refused:
        read_secrets(text, form)
    error: BaseException | None = refused.value
    while error is not None:
        assert "cnry-" not in str(error)
        error = error.__cause__ or error.__context__


def test_a_name_that_no_env_file_can_hold_is_named() -> None:
    with pytest.raises(ConfigurationError, match=r"'WITH SPACE'.*--format json"):
        write_secrets({"WITH SPACE": "cnry-1"}, FileFormat.ENV)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        (".env", FileFormat.ENV),
        (".env.production", FileFormat.ENV),
        ("shop.env", FileFormat.ENV),
        ("shop.json", FileFormat.JSON),
        ("shop.yaml", FileFormat.YAML),
        ("shop.yml", FileFormat.YAML),
    ],
)
def test_a_files_name_tells_its_format(name: str, form: FileFormat) -> None:
    assert format_of(Path("/some/where") / name, None) is form
    assert format_of(Path(name), FileFormat.JSON) is FileFormat.JSON


def test_a_name_that_tells_nothing_asks_for_the_format() -> None:
    with pytest.raises(ConfigurationError, match="--format"):
        format_of(Path("-"), None)
