"""What is written to a file is read from it again, and errors name lines and keys alone."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tempfile
from pathlib import Path
from unittest.mock import Mock

import pytest
from dotenv import dotenv_values
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.base.errors import ConfigurationError
from keybearer.cli import connecting, transfer
from keybearer.cli.failures import CommandError
from keybearer.cli.output import steers_terminal
from keybearer.cli.secret_files import FileFormat, format_of, read_secrets, write_secrets
from support.rows import each_row

TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.text("a\\'\" \n\r\t#$`{}:-=\x85\u2028\ufeff")
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True)


def fits_env(value: str) -> bool:
    try:
        write_secrets({"K": value}, FileFormat.ENV)
    except ConfigurationError:
        return False
    return True


def sourced(text: str, names: list[str]) -> list[str]:
    """Return what the variables are after a shell read the file."""
    show = "".join(f"printf '%s\\0' \"${name}\"; " for name in names)
    with tempfile.NamedTemporaryFile() as file:
        file.write(text.encode())
        file.flush()
        done = subprocess.run(
            ["/bin/sh", "-euc", f'. "$0"; {show}', file.name], capture_output=True, check=True
        )
    assert done.stderr == b""
    return [value.decode() for value in done.stdout.split(b"\0")[:-1]]


@given(st.dictionaries(NAMES, TEXTS, max_size=6), st.sampled_from([FileFormat.JSON, FileFormat.YAML]))
def test_names_and_values_survive_a_round_trip(secrets: dict[str, str], form: FileFormat) -> None:
    assert read_secrets(write_secrets(secrets, form), form) == secrets


@given(st.dictionaries(NAMES, TEXTS, max_size=6))
def test_what_an_env_file_holds_survives_a_round_trip(secrets: dict[str, str]) -> None:
    held = {name: value for name, value in secrets.items() if fits_env(value)}
    assert read_secrets(write_secrets(held, FileFormat.ENV), FileFormat.ENV) == held


@given(st.dictionaries(TEXTS, TEXTS, max_size=6), st.sampled_from([FileFormat.JSON, FileFormat.YAML]))
def test_any_name_survives_where_the_form_can_hold_it(secrets: dict[str, str], form: FileFormat) -> None:
    assert read_secrets(write_secrets(secrets, form), form) == secrets


def test_yaml_of_several_lines_stays_readable() -> None:
    assert write_secrets({"KEY": "-----BEGIN-----\nabc\n"}, FileFormat.YAML) == (
        "KEY: |\n  -----BEGIN-----\n  abc\n"
    )


@given(st.dictionaries(NAMES, TEXTS, max_size=6))
def test_a_file_that_we_write_means_the_same_to_its_usual_reader(secrets: dict[str, str]) -> None:
    held = {name: value for name, value in secrets.items() if fits_env(value)}
    text = write_secrets(held, FileFormat.ENV)
    assert dotenv_values(stream=io.StringIO(text, newline=""), interpolate=False) == held


@settings(max_examples=50, deadline=None)
@given(st.lists(TEXTS.filter(fits_env), max_size=12))
def test_a_shell_that_sources_the_file_reads_the_same(values: list[str]) -> None:
    secrets = {f"KEY_{number}": value for number, value in enumerate(values)}
    assert sourced(write_secrets(secrets, FileFormat.ENV), list(secrets)) == values


@pytest.mark.parametrize(
    ("value", "line"),
    [
        pytest.param("plain-1", "K=plain-1", id="nothing to quote"),
        pytest.param('$(a) `b` ${C} "', "K='$(a) `b` ${C} \"'", id="what a shell would expand"),
        pytest.param("C:\\new folder", "K='C:\\new folder'", id="a backslash"),
        pytest.param("it's; touch x #", 'K="it\'s; touch x #"', id="a single quote"),
        pytest.param("it's\nmine", 'K="it\'s\nmine"', id="a single quote and a line break"),
    ],
)
def test_a_value_is_quoted_so_that_shell_and_reader_agree(value: str, line: str) -> None:
    text = write_secrets({"K": value}, FileFormat.ENV)
    assert text == f"{line}\n"
    assert sourced(text, ["K"]) == [value]
    assert read_secrets(text, FileFormat.ENV) == {"K": value}


@pytest.mark.parametrize(
    "value",
    [
        "cnry'$HOME",
        "cnry'`id`",
        "cnry'\\",
        "cnry'\"",
        "cnry'\x1b[2J",
        "cnry\\\\server",
        "cnry\\",
        "cnry\0",
    ],
)
def test_a_value_that_shell_and_reader_would_read_differently_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"the value of 'K'.*--format json or yaml") as refused:
        write_secrets({"FINE": "1", "K": value}, FileFormat.ENV)
    assert "cnry" not in str(refused.value)


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


def test_numbers_and_booleans_of_json_are_the_texts_they_look_like() -> None:
    text = '{"A": 5432, "B": 1.10, "C": -0, "D": 1e400, "E": true, "F": false, "G": 12345678901234567890}'
    assert read_secrets(text, FileFormat.JSON) == {
        "A": "5432",
        "B": "1.10",
        "C": "-0",
        "D": "1e400",
        "E": "true",
        "F": "false",
        "G": "12345678901234567890",
    }
    assert read_secrets(text, FileFormat.YAML) == read_secrets(text, FileFormat.JSON)


@each_row(
    ("text", "form", "said"),
    [
        pytest.param("A='cnry-open\n", FileFormat.ENV, "line 1", id="open quote"),
        pytest.param("A=1\nB\n", FileFormat.ENV, "line 2", id="name without a value"),
        pytest.param("A=cnry-1\nA=cnry-2\n", FileFormat.ENV, "'A' comes twice", id="name twice"),
        pytest.param(
            '{"A": "cnry-1", "A": "cnry-2"}', FileFormat.JSON, "'A' comes twice", id="JSON name twice"
        ),
        pytest.param("A: cnry-1\nA: cnry-2\n", FileFormat.YAML, "'A' comes twice", id="YAML name twice"),
        pytest.param('{"A": {"B": "cnry-1"}}', FileFormat.JSON, "'A' is an object.*quotes", id="JSON object"),
        pytest.param(
            '{"A": ["cnry-1"]}', FileFormat.JSON, "'A' is a list.*quotes", id="JSON list as a value"
        ),
        pytest.param('{"A": null}', FileFormat.JSON, "'A' is null; write \"\"", id="JSON null"),
        pytest.param('{"A": NaN}', FileFormat.JSON, "'A' is no JSON value", id="no number of JSON"),
        pytest.param('["cnry-1"]', FileFormat.JSON, "one JSON object", id="JSON list"),
        pytest.param('{"A": "cnry-1', FileFormat.JSON, "no JSON: line 1", id="JSON cut off"),
        pytest.param("[" * 100_000, FileFormat.JSON, "no JSON", id="JSON without end"),
        pytest.param("- cnry-1\n", FileFormat.YAML, "one mapping", id="YAML list"),
        pytest.param("A: [cnry-1]\n", FileFormat.YAML, "line 1: 'A' is a list", id="YAML list as a value"),
        pytest.param(
            "A: b\nC:\n  D: cnry-1\n", FileFormat.YAML, "line 2: 'C' is a mapping", id="YAML mapping"
        ),
        pytest.param("A:\n", FileFormat.YAML, "line 1: 'A' is null", id="YAML without a value"),
        pytest.param("A: ~\n", FileFormat.YAML, "line 1: 'A' is null", id="YAML null"),
        pytest.param("? [a]\n: cnry-1\n", FileFormat.YAML, "line 1: a list", id="YAML list as a name"),
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


@each_row(
    "name",
    [
        "WITH SPACE",
        "A;id;B",
        "$(id)",
        "`id`",
        "A&B",
        "A|B",
        "A>B",
        "1A",
        "-A",
        "A\n",
        "\x1b]0;t\x07",
        "",
        "É",
    ],
)
def test_a_name_that_no_env_file_can_hold_is_named(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"--format json or yaml") as refused:
        write_secrets({"FINE": "1", name: "cnry-1"}, FileFormat.ENV)
    assert repr(name) in str(refused.value)
    assert "FINE" not in str(refused.value)


@pytest.mark.parametrize("text", ["a\tb\nc", "\N{SNOWMAN}"])
def test_text_may_go_to_a_terminal(text: str) -> None:
    assert not steers_terminal(text)


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b2J", "a\rb", "\x7f", "\x07", "\u202e"])
def test_text_that_steers_a_terminal_is_known(text: str) -> None:
    assert steers_terminal(text)


@pytest.mark.parametrize("form", FileFormat)
def test_an_export_to_a_terminal_obeys_no_value(
    form: FileFormat, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client = Mock()
    client.secrets.list.return_value = [
        Mock(secret_key="KEY", secret_value="cnry\x9b2J", secret_value_hidden=False)
    ]
    monkeypatch.setattr(connecting, "connected", lambda: contextlib.nullcontext(client))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with contextlib.suppress(CommandError):
        transfer.export_secrets("shop", "dev", form=form)
    assert "\x9b" not in capsys.readouterr().out


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
