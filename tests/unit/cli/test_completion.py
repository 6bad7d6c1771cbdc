"""What a shell completes with the script that the program prints, in the shell itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keybearer.cli.main import app
from support.command_line import PROGRAM
from tools.local.waiting import PATIENCE_SECONDS

COMPLETIONS = [
    (["sec"], ["secrets"]),
    (["secrets", "de"], ["delete"]),
    (["identities", "client-secret", ""], ["create", "list", "revoke"]),
    (["secrets", "list", "--out"], ["--output"]),
    (["secrets", "list", "--output", "j"], ["json"]),
    (["completion", ""], ["bash", "fish", "powershell", "zsh"]),
    (["secrets", "no-such"], []),
]
BASH = """\
source <("$KEYBEARER" completion bash)
complete -p keybearer > /dev/null || exit 9
COMP_WORDS=(keybearer "$@"); COMP_CWORD=$#
_keybearer_completion keybearer
printf '%s\\n' "${COMPREPLY[@]}"
"""
ZSH = """\
autoload -Uz compinit && compinit -u -d "$HOME/dump"
source <("$KEYBEARER" completion zsh)
_arguments() { print -r -- "$1"; }
_files() { :; }
words=(keybearer "$@"); CURRENT=$#words
_keybearer_completion
"""
SPECIFIED = r'(?:(?<=\(\()|(?<=" ))"([^"]+)"'
"""A word in what zsh's `_arguments` is given."""
FISH = """\
"$KEYBEARER" completion fish | source
complete --do-complete "keybearer $argv" | string split --fields 1 \\t
true
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"PATH": f"{PROGRAM.parent}:/usr/bin:/bin", "HOME": str(tmp_path), "KEYBEARER": str(PROGRAM)}


def completed(command: list[str], environment: dict[str, str], word: str = "^(.+)$") -> list[str]:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
        env=environment,
        cwd=environment["HOME"],
    )
    assert done.stderr == ""
    return sorted(re.findall(word, done.stdout, re.MULTILINE))


@pytest.mark.parametrize(("words", "expected"), COMPLETIONS)
def test_bash_completes_commands_options_and_their_words(
    words: list[str], expected: list[str], environment: dict[str, str]
) -> None:
    assert completed(["bash", "--norc", "-c", BASH, "bash", *words], environment) == expected


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh isn't installed")
@pytest.mark.parametrize(("words", "expected"), COMPLETIONS)
def test_zsh_completes_commands_options_and_their_words(
    words: list[str], expected: list[str], environment: dict[str, str]
) -> None:
    found = completed(["zsh", "-f", "-c", ZSH, "zsh", *words], environment, SPECIFIED)
    assert found == expected


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish isn't installed")
@pytest.mark.parametrize(("words", "expected"), COMPLETIONS)
def test_fish_completes_commands_options_and_their_words(
    words: list[str], expected: list[str], environment: dict[str, str]
) -> None:
    assert completed(["fish", "--no-config", "-c", FISH, *words], environment) == expected


@pytest.mark.parametrize(
    ("shell", "begins"),
    [
        ("bash", "_keybearer_completion()"),
        ("zsh", "#compdef keybearer"),
        ("fish", "complete "),
        ("powershell", "Import"),
    ],
)
def test_a_script_begins_with_what_its_shell_looks_for(shell: str, begins: str) -> None:
    printed = CliRunner().invoke(app, ["completion", shell], prog_name="keybearer")
    assert printed.exit_code == 0
    assert printed.stdout.startswith(begins)


def test_a_shell_without_a_script_is_refused_with_those_that_have_one() -> None:
    refused = CliRunner().invoke(app, ["completion", "tcsh"], prog_name="keybearer")
    assert refused.exit_code == 2
    assert all(shell in refused.stderr for shell in ("bash", "zsh", "fish", "powershell"))
