"""Help on narrow terminals, and settings that can't be used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.testing import CliRunner, Result

from keybearer.cli import private_input
from keybearer.cli.failures import CommandError
from keybearer.cli.main import app
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.run import environment_of_child
from support.rows import listed


def commands(
    group: object, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    assert isinstance(group, (TyperCommand, TyperGroup))
    yield path, group
    if isinstance(group, TyperGroup):
        for name, command in group.commands.items():
            yield from commands(command, (*path, name))


def mistakes(answer: Result, command: TyperCommand | TyperGroup) -> Iterator[str]:
    """What is wrong with the help of a command."""
    if answer.exit_code != 0:
        yield f"ends with {answer.exit_code}: {answer.exception!r}"
    if too_long := [line for line in answer.output.splitlines() if len(line) > 80]:
        yield f"has lines of more than 80 columns: {too_long}"
    if "\x1b" in answer.output:
        yield "has colours"
    options = {option for one in command.params if isinstance(one, TyperOption) for option in one.opts}
    if missing := sorted(option for option in options if option not in answer.output):
        yield f"does not name {', '.join(missing)}"
    listed = answer.output.partition("Show this message and exit.")[2].partition("Example")[0]
    if isinstance(command, TyperGroup) and "..." in listed:
        yield "cuts what it says of commands"


def test_help_fits_80_columns_and_names_every_option_whole() -> None:
    found = dict(commands(typer.main.get_command(app)))
    assert len(found) > 120
    wrong = [
        f"{' '.join(('keybearer', *path))} {mistake}"
        for path, command in found.items()
        for mistake in mistakes(CliRunner().invoke(app, [*path, "--help"], terminal_width=80), command)
    ]
    assert not wrong, listed(wrong)


def test_the_help_lists_every_command_in_a_group_of_its_own_kind() -> None:
    shown = CliRunner().invoke(app, ["--help"], terminal_width=80).output
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    _, use, operate, administer = re.split(
        "^(?:Use secrets and certificates|Operate in a cluster|Administer a service):$",
        shown,
        flags=re.MULTILINE,
    )
    for shown_there, some in ((use, "secrets"), (operate, "operator"), (administer, "members")):
        assert f"\n  {some} " in shown_there
    names = re.findall(r"^  ([a-z-]+)  ", use + operate + administer, re.MULTILINE)
    assert sorted(names) == sorted(group.commands)


def test_a_single_letter_asks_for_help_of_any_command() -> None:
    for words in ([], ["secrets"], ["secrets", "list"], ["explain"]):
        short, long = (CliRunner().invoke(app, [*words, flag]) for flag in ("-h", "--help"))
        assert (short.exit_code, short.output) == (0, long.output), words


def test_the_version_is_an_option_and_a_command() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == CliRunner().invoke(app, ["version"]).output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(
            ["operator", "--log-level", "loud"],
            "keybearer operator: log level 'loud' is unknown; use debug, info, warning or error",
            id="operator, log level",
        ),
        pytest.param(
            ["serve", "--data-dir", "/nonexistent/x", "--log-level", "loud"],
            "keybearer serve: log level 'loud' is unknown; use debug, info, warning or error",
            id="serve, log level",
        ),
        pytest.param(
            ["operator", "--shared-grants", "/nonexistent/grants"],
            "keybearer operator: /nonexistent/grants can't be read: No such file or directory",
            id="operator, file that isn't there",
        ),
        pytest.param(
            ["operator", "--identity-dir", "/nonexistent"],
            "keybearer operator: --identity-dir needs --service-url: the shared identity has no url of its own",
            id="operator, flags that go together",
        ),
        pytest.param(
            ["serve", "--data-dir", "/nonexistent/x", "--destinations-from", "no-such-store"],
            "keybearer serve: --destinations-from no-such-store: no package of this name is installed",
            id="serve, package that isn't there",
        ),
        pytest.param(
            ["operator", "--destinations-from", "no-such-store", "--kubeconfig", __file__],
            "keybearer operator: --destinations-from no-such-store: no package of this name is installed",
            id="operator, package that isn't there",
        ),
        pytest.param(
            ["operator", "--kubeconfig", "/nonexistent/config"],
            "keybearer operator: ",
            id="operator, no kubeconfig",
        ),
        pytest.param(
            ["crds", "--output-dir", "/nonexistent/x"],
            "keybearer crds: --output-dir: /nonexistent/x can't be written: No such file or directory",
            id="crds, directory that isn't there",
        ),
    ],
)
def test_a_setting_that_can_not_be_used_is_one_line_and_status_2(arguments: list[str], said: str) -> None:
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 2
    assert answer.stderr.splitlines()[-1].startswith(said)
    assert "Traceback" not in answer.output


@pytest.mark.parametrize("program", [["serve", "--data-dir", "/nonexistent/x"], ["operator"]], ids=str)
def test_packages_with_destinations_may_be_named_in_the_environment(program: list[str]) -> None:
    named = {"KEYBEARER_DESTINATIONS_FROM": "no-such-store another-store", "KUBECONFIG": __file__}
    answer = CliRunner().invoke(app, program, env=named)
    assert answer.exit_code == 2
    assert "--destinations-from no-such-store: no package" in answer.stderr


def test_a_grants_file_that_is_no_text_is_refused_without_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "grants.yaml"
    file.write_bytes(b"cnry-\xff")
    answer = CliRunner().invoke(app, ["operator", "--shared-grants", str(file)])
    assert (answer.exit_code, answer.stderr) == (
        2,
        "keybearer operator: one of the files is no text in UTF-8\n",
    )


OWN = {"PATH": "/bin", "SET": "own", "EMPTY": "", "KEYBEARER_TOKEN": "cnry-t", "KEYBEARER_URL": "https://k"}


def test_a_program_gets_secrets_where_nothing_is_set_and_none_of_our_credentials() -> None:
    values = {"SET": "cnry-1", "EMPTY": "cnry-2", "NEW": "cnry-3"}
    assert environment_of_child(OWN, values, override=False) == {
        "PATH": "/bin",
        "KEYBEARER_URL": "https://k",
        "SET": "own",
        "EMPTY": "cnry-2",
        "NEW": "cnry-3",
    }
    assert environment_of_child(OWN, values, override=True)["SET"] == "cnry-1"


@pytest.mark.parametrize(
    "name",
    [
        "KEYBEARER_TOKEN",
        "KEYBEARER_CLIENT_SECRET",
        "KEYBEARER_PASSWORD",
        "KEYBEARER_NEW_PASSWORD",
        "KEYBEARER_BIND_PASSWORD",
        "KEYBEARER_APP_CREDENTIALS",
        "KEYBEARER_EAB_KEY",
        "KEYBEARER_ROOT_KEY",
        "KEYBEARER_DATABASE_URL",
    ],
)
def test_a_program_does_not_see_a_credential_of_ours(name: str) -> None:
    assert environment_of_child({"PATH": "/bin", name: "cnry-own"}, {}, override=False) == {"PATH": "/bin"}


def test_no_variable_that_sounds_like_a_credential_is_left_to_programs() -> None:
    sources = (file.read_text() for file in Path(private_input.__file__).parent.glob("*.py"))
    named = {name for text in sources for name in re.findall(r"KEYBEARER_[A-Z_]+[A-Z]", text)}
    telling = {name for name in named if re.search(r"TOKEN|SECRET|PASSWORD|KEY$|DATABASE|CREDENTIALS", name)}
    assert telling == set(OwnCredential)


@pytest.mark.parametrize("name", ["", "A=B", "A\0"])
def test_a_name_that_no_environment_can_hold_is_refused(name: str) -> None:
    with pytest.raises(CommandError, match="no environment can hold") as refused:
        environment_of_child({}, {name: "cnry-1"}, override=False)
    assert "cnry-" not in str(refused.value)


def test_a_value_with_a_nul_is_refused_without_showing_it() -> None:
    with pytest.raises(CommandError, match="'A'") as refused:
        environment_of_child({}, {"A": "cnry-\0"}, override=False)
    assert "cnry-" not in str(refused.value)
