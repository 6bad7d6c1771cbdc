"""The plugin's words and flags, its help, what it loads, and what the shell is offered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
import yaml
from typer.core import TyperGroup, TyperOption
from typer.testing import CliRunner

from keybearer.base.errors import ConfigurationError
from keybearer.cli.cluster import kubeconfig_of
from keybearer.cli.failures import CommandError
from keybearer.cli.kubectl.completion import complete
from keybearer.cli.kubectl.main import app
from keybearer.cli.kubectl.manifest_files import read_manifests
from keybearer.cli.kubectl.targets import KINDS, Target, one_target_of, targets_of
from keybearer.cli.main import app as keybearer
from tools.local.waiting import PATIENCE_SECONDS

CRDS = Path(__file__).parents[3] / "crds"
COMMANDS = ("status", "plan", "sync", "explain")


def test_the_words_for_kinds_are_those_of_the_crds() -> None:
    names = [yaml.safe_load(file.read_text())["spec"]["names"] for file in CRDS.glob("*.yaml")]
    assert {one["kind"]: (one["singular"], one["plural"], *one["shortNames"]) for one in names} == dict(KINDS)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ([], [Target(kind) for kind in KINDS]),
        (["kbs"], [Target("SecretSync")]),
        (["SecretSync", "a", "b"], [Target("SecretSync", "a"), Target("SecretSync", "b")]),
        (["kbs/a", "kbcp/b"], [Target("SecretSync", "a"), Target("CertificateProfile", "b")]),
        (["secretsyncs.keybearer.dev"], [Target("SecretSync")]),
        (["kbs,kbac"], [Target("SecretSync"), Target("AppConnection")]),
    ],
)
def test_objects_are_named_as_to_kubectl(words: list[str], meant: list[Target]) -> None:
    assert targets_of(words) == meant


@pytest.mark.parametrize(
    "words", [["pods"], ["kbs/"], ["/a"], ["kbs/a", "b"], ["kbs/a/b"], ["kbs,kbac", "a"]]
)
def test_what_names_nothing_of_ours_is_refused(words: list[str]) -> None:
    with pytest.raises(CommandError) as refused:
        targets_of(words)
    assert refused.value.status == 2


@pytest.mark.parametrize("words", [[], ["kbs"], ["kbs/a", "kbs/b"]])
def test_one_object_is_one(words: list[str]) -> None:
    with pytest.raises(CommandError, match="name one object"):
        one_target_of(words)


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_80_columns_and_names_every_option(command: str) -> None:
    answer = CliRunner().invoke(app, [*([command] if command else []), "--help"], terminal_width=80)
    assert answer.exit_code == 0
    assert max(map(len, answer.output.splitlines())) <= 80
    assert "..." not in answer.output.partition("Commands:")[2]
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    parts = group.commands[command].params if command else ()
    assert all(
        option in answer.output for part in parts if isinstance(part, TyperOption) for option in part.opts
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plan"], "name one object, or manifests by --filename"),
        (["plan", "kbs/a", "-f", "x"], "name one object, or manifests by --filename"),
        (["sync"], "name a kind, or objects"),
        (["sync", "kbs", "--request", "renew"], "renew is nothing for a SecretSync"),
        (["explain", "kbs"], "name one object"),
        (["status", "pods"], "'pods' is not a kind of Keybearer"),
        (["plan", "-f", "/nonexistent/x"], "/nonexistent/x can't be read"),
    ],
)
def test_a_command_line_that_can_not_be_used_is_one_line_and_status_2(
    arguments: list[str], said: str
) -> None:
    answer = CliRunner().invoke(app, arguments)
    assert answer.exit_code == 2
    assert said in answer.stderr
    assert answer.stderr.startswith(f"kubectl keybearer {arguments[0]}: ")


def test_a_file_without_anything_of_ours_is_refused_without_what_it_holds(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    for text in (
        "kind: Secret\nstringData: {a: cnry-1}\n",
        "cnry-2",
        "[cnry-3]",
        "\0cnry-4: x",
        "- - cnry-5: [",
    ):
        file.write_text(text)
        answer = CliRunner().invoke(app, ["plan", "-f", str(file)])
        assert answer.exit_code == 2, text
        assert "cnry-" not in answer.output + answer.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["explain", "secretsync", "web"],
            "no namespace is said\n  Say KIND NAMESPACE/NAME, or -n NAMESPACE",
        ),
        (["explain", "secretsync/web"], "no namespace is said"),
        (["explain", "secretsync", "team-a/"], "'team-a/' is no NAMESPACE/NAME"),
        (["explain", "-n", "b", "secretsync", "a/web"], "two namespaces are said: b and a"),
        (["explain", "-n", "a", "pods/x"], "'pods' is not a kind of Keybearer"),
        (["explain", "-n", "a", "secretsync/web"], "kubeconfig /nonexistent doesn't exist"),
        (["explain", "secretsync", "a/web"], "kubeconfig /nonexistent doesn't exist; name one that does by"),
        (["explain", "-n", "a", "kbs", "web"], "kubeconfig /nonexistent doesn't exist"),
    ],
)
def test_explain_takes_an_object_in_its_own_way_and_in_the_plugins(arguments: list[str], said: str) -> None:
    answer = CliRunner().invoke(keybearer, arguments, env={"KUBECONFIG": "/nonexistent"})
    assert answer.exit_code == 2
    assert said in answer.stderr


def test_of_several_kubeconfigs_some_may_be_missing(tmp_path: Path) -> None:
    there = tmp_path / "config"
    there.touch()
    assert kubeconfig_of(f"/nonexistent:{there}") == f"/nonexistent:{there}"
    with pytest.raises(ConfigurationError, match="kubeconfig /nonexistent:/none doesn't exist"):
        kubeconfig_of("/nonexistent:/none")


def test_every_filename_is_read_and_of_a_directory_what_kubectl_takes_of_it(tmp_path: Path) -> None:
    made = {"b.yaml": "b", "a.yml": "a", "c.json": '"c"', "README.md": "no", "below/d.yaml": "no"}
    directory, file = tmp_path / "converted", tmp_path / "more"
    for name, called in made.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(f'{{"kind": "SecretSync", "name": {called}}}')
    file.write_text("items: [{name: e}, {name: f}]\n---\nname: g")
    found = read_manifests([directory, file, directory / "a.yml"])
    assert [one["name"] for one in found] == ["a", "b", "c", "e", "f", "g"]


def test_what_is_refused_of_several_files_names_them_all_and_a_directory_without_manifests_says_so(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    for file in (first, second):
        file.write_text("kind: ConfigMap")
    answer = CliRunner().invoke(app, ["plan", "-f", str(first), "-f", str(second)])
    assert answer.exit_code == 2
    assert f"in {first}, {second}" in answer.stderr
    (tmp_path / "empty" / "below").mkdir(parents=True)
    answer = CliRunner().invoke(app, ["plan", "-f", str(tmp_path / "empty")])
    assert answer.exit_code == 2
    assert "has no file that ends in .json, .yaml, .yml" in answer.stderr
    assert "further --filename" in answer.stderr


def test_what_files_hold_together_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("kind: SecretSync")
    monkeypatch.setattr("keybearer.cli.kubectl.manifest_files.TOTAL_MAX_BYTES", 20)
    with pytest.raises(ConfigurationError, match="together"):
        read_manifests([tmp_path])
    monkeypatch.setattr("keybearer.cli.kubectl.manifest_files.FILES_MAX", 1)
    with pytest.raises(ConfigurationError, match="more than 1 files"):
        read_manifests([tmp_path])


def loaded_by(program: str, arguments: Sequence[str]) -> set[str]:
    """Return the modules that a command has loaded when it ends."""
    code = f"import sys; sys.argv = ['x', *{list(arguments)!r}]\n{program}\nprint('loaded', *sys.modules)\n"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS
    )
    return set(done.stdout.splitlines()[-1].split()[1:])


RUN = "from keybearer.cli.kubectl.main import app\ntry:\n    app()\nexcept SystemExit:\n    pass"
COMPLETE = "from keybearer.cli.kubectl.completion import main\nmain()"
HEAVY = {"aiohttp", "kubernetes", "pydantic_settings", "rich", "structlog", "httpx", "kopf", "yaml"}


def test_its_help_and_the_shells_first_words_load_nothing_that_they_do_not_need() -> None:
    assert loaded_by(RUN, ["--help"]) & {*HEAVY, "pydantic"} == set()
    assert loaded_by(COMPLETE, ["s"]) & {*HEAVY, "pydantic", "asyncio"} == set()


def test_a_look_at_a_cluster_loads_no_models() -> None:
    loaded = loaded_by(RUN, ["status", "--kubeconfig", "/nonexistent"])
    assert "keybearer.kube.connection" in loaded
    models = {name for name in loaded if name.startswith("keybearer.controllers.") and name.count(".") > 2}
    assert models == set()
    assert loaded & {"httpx", "kopf", "sqlalchemy", "fastapi", "cryptography"} == set()


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["s"], ["status", "sync"]),
        (["sync", "secret"], ["secretsync"]),
        (["sync", "--req"], ["--request"]),
        (["sync", "--request", "re"], ["renew", "release-guard", "remove-foreign"]),
        (["status", "-o", ""], ["table", "json"]),
        (["plan", "-f", ""], []),
        (["status", "-n", ""], []),
        (["explain", "-n", "x", "cert"], ["certificateprofile"]),
        (["none", "--"], []),
    ],
)
def test_the_shell_is_offered_words_and_flags(words: list[str], offered: list[str]) -> None:
    proposals, _ = complete(words)
    assert [one.partition("\t")[0] for one in proposals] == offered


def test_flags_that_the_shell_is_offered_are_there() -> None:
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for name in COMMANDS:
        offered, _ = complete([name, "--"])
        there = {
            option for part in group.commands[name].params for option in part.opts if option.startswith("--")
        }
        assert {*offered} == there, name


def test_where_the_cluster_can_not_be_asked_nothing_is_offered_and_nothing_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nonexistent")
    assert complete(["sync", "secretsync", ""]) == ([], 4)
    assert capsys.readouterr() == ("", "")
