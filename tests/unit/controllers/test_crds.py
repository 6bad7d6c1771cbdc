from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from keybearer.cli.main import app
from keybearer.controllers.crds import CUSTOM_RESOURCES, build_crd, crd_files, out_of_step, render_crds
from keybearer.controllers.custom_resource import NEVER_OBSERVED, CustomResource

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


def _fields(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        yield f"{path}.{name}", field
        yield from _fields(field, f"{path}.{name}")
    for inner in ("items", "additionalProperties"):
        if isinstance(schema.get(inner), dict):
            yield from _fields(schema[inner], f"{path}[]")


@pytest.mark.parametrize("resource", CUSTOM_RESOURCES, ids=lambda one: one.kind)
def test_kubectl_explain_has_a_sentence_for_each_field(resource: CustomResource) -> None:
    schema = build_crd(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    halves = {name: schema["properties"][name] for name in ("spec", "status")}
    fields = dict(_fields({"properties": halves}, resource.kind))
    assert len(fields) > 40
    told = {path: field.get("description", "") for path, field in fields.items()}
    assert {path for path, text in told.items() if not text.rstrip().endswith((".", "]", ")", "`"))} == set()


@pytest.mark.parametrize("resource", CUSTOM_RESOURCES, ids=lambda one: one.kind)
def test_an_object_that_nobody_looked_at_is_behind_its_own_generation(resource: CustomResource) -> None:
    schema = build_crd(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]
    assert schema["default"] == {"observedGeneration": NEVER_OBSERVED}
    assert schema["properties"]["observedGeneration"]["minimum"] == NEVER_OBSERVED
