from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml
from typer.testing import CliRunner

from keybearer.cli.main import app
from keybearer.controllers.crds import CUSTOM_RESOURCES, crd_files, out_of_step, render_crds

_CHECKED_IN = Path(__file__).resolve().parents[3] / "crds"


def test_the_checked_in_crds_are_in_step_with_the_models() -> None:
    assert out_of_step(_CHECKED_IN) == []


def test_all_crds_are_printed_as_one_stream_that_kubectl_applies() -> None:
    printed = CliRunner().invoke(app, ["crds"])

    assert printed.exit_code == 0
    assert printed.stdout == render_crds()
    documents = list(yaml.safe_load_all(printed.stdout))
    assert [document["metadata"]["name"] for document in documents] == [one.name for one in CUSTOM_RESOURCES]


def test_files_are_written_and_then_in_step(tmp_path: Path) -> None:
    target = tmp_path / "crds"

    written = CliRunner().invoke(app, ["crds", "--output-dir", str(target)])
    checked = CliRunner().invoke(app, ["crds", "--output-dir", str(target), "--check"])

    assert (written.exit_code, checked.exit_code) == (0, 0)
    assert {path.name for path in target.iterdir()} == set(crd_files())


def test_a_mistyped_path_is_no_new_tree(tmp_path: Path) -> None:
    written = CliRunner().invoke(app, ["crds", "--output-dir", str(tmp_path / "mistyped" / "crds")])

    assert written.exit_code == 2
    assert "mistyped" in written.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_check_names_what_differs_is_missing_or_has_no_kind_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "keybearer.dev_gone.yaml").write_text("")

    checked = CliRunner().invoke(app, ["crds", "--output-dir", str(tmp_path), "--check"])

    assert checked.exit_code == 1
    assert "keybearer.dev_gone.yaml is out of step" in checked.stderr
    assert "keybearer.dev_secretsyncs.yaml is out of step" in checked.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"keybearer.dev_gone.yaml"}
    for name, text in crd_files().items():
        (tmp_path / name).write_text(text + ("# edited\n" if "secretsyncs" in name else ""))
    assert out_of_step(tmp_path) == ["keybearer.dev_gone.yaml", "keybearer.dev_secretsyncs.yaml"]


def test_a_check_without_a_directory_says_what_it_needs() -> None:
    checked = CliRunner().invoke(app, ["crds", "--check"])

    assert checked.exit_code == 2
    assert "--output-dir" in checked.stderr


def test_printing_crds_loads_neither_kopf_nor_a_web_server_nor_a_database() -> None:
    program = (
        "import sys; from keybearer.controllers.crds import render_crds; render_crds();"
        "heavy = {'kopf', 'kubernetes', 'fastapi', 'sqlalchemy', 'jinja2', 'aiohttp'};"
        "print(sorted(heavy & sys.modules.keys()))"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "[]"
