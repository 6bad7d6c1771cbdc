"""Programs are found in the promised order, built once, and built again when their module changes."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tools.chart.helm import helm_binary, helm_recipe
from tools.controlplane import recipes, toolchain
from tools.controlplane.binaries import cached_programs, control_plane_binaries
from tools.controlplane.errors import BuildError
from tools.controlplane.recipes import Recipe, control_plane_recipe

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_GREETING = "package main\n\nvar greeting string\n\nfunc main() { println(greeting) }\n"


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    """A program of one line whose linker flags say what it prints, cached below the test's directory."""
    # Not XDG_CACHE_HOME: Go keeps its own cache there, and a toolchain may have been installed there.
    monkeypatch.setattr(recipes, "cache_root", lambda: tmp_path / "cache")
    module = tmp_path / "module"
    module.mkdir()
    (module / "go.mod").write_text("module example.test/hello\n\ngo 1.21\n")
    (module / "go.sum").write_text("")
    (module / "main.go").write_text(_GREETING)
    return Recipe("hello", module, "v1", {"hello": "example.test/hello"}, {"main.greeting": "linked"})


def test_two_runs_at_once_build_once(recipe: Recipe, capsys: pytest.CaptureFixture[str]) -> None:
    with ThreadPoolExecutor() as threads:
        runs = [threads.submit(cached_programs, recipe, ["hello"]) for _ in range(2)]
        first, second = (run.result()["hello"] for run in runs)
    assert first == second
    said = capsys.readouterr().err
    assert said.count("building hello v1") == 1
    assert said.count("waiting for another run") == 1
    assert subprocess.run([first], capture_output=True, text=True, check=True).stderr == "linked\n"
    assert {path.name for path in first.parent.iterdir()} == {"hello"}


def test_changed_modules_and_flags_have_a_cache_of_their_own(recipe: Recipe) -> None:
    before = recipe.directory
    assert replace(recipe, variables={"main.greeting": "other"}).directory != before
    (recipe.module / "go.sum").write_text("example.test/dependency v1.0.0 h1:\n")
    assert recipe.directory != before


def test_a_failed_build_names_the_cause_and_leaves_no_program(recipe: Recipe) -> None:
    (recipe.module / "main.go").write_text("package main\n\nfunc main() { absent() }\n")
    with pytest.raises(BuildError, match="undefined: absent"):
        cached_programs(recipe, ["hello"])
    assert not (recipe.directory / "hello").exists()


def test_named_assets_are_used_and_what_they_may_lack_comes_from_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = control_plane_binaries()
    for program in (cached.etcd, cached.kube_apiserver, cached.kubectl):
        (tmp_path / program.name).symlink_to(program)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    found = control_plane_binaries()
    assert found.kube_apiserver == tmp_path / "kube-apiserver"
    assert found.kube_controller_manager == cached.kube_controller_manager

    (tmp_path / "kubectl").unlink()
    with pytest.raises(BuildError, match="lacks kubectl"):
        control_plane_binaries()


def test_an_old_go_on_the_path_is_passed_over(
    recipe: Recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = _stub_go(tmp_path / "new", "go1.21.0")
    monkeypatch.setattr(toolchain, "_wheel_go", lambda: new)
    old = _stub_go(tmp_path / "old", "go1.20.14")
    monkeypatch.setenv("PATH", str(old.parent), prepend=":")
    assert toolchain.go_command(recipe.module) == new

    newer = _stub_go(tmp_path / "newer", "go1.30")
    monkeypatch.setenv("PATH", str(newer.parent), prepend=":")
    assert toolchain.go_command(recipe.module) == newer


def test_helm_renders_for_the_kubernetes_version_of_its_client_library() -> None:
    said = subprocess.run(
        [helm_binary(), "version", "--short"], capture_output=True, text=True, check=True
    ).stdout
    assert said.startswith(helm_recipe().version)


def test_the_locked_versions_are_the_ones_built() -> None:
    kubectl = control_plane_binaries().kubectl
    said = subprocess.run([kubectl, "version", "--client"], capture_output=True, text=True, check=True).stdout
    assert f"Client Version: {control_plane_recipe().version}" in said


def _stub_go(directory: Path, version: str) -> Path:
    directory.mkdir()
    program = directory / "go"
    program.write_text(f"#!/bin/sh\necho {version}\n")
    program.chmod(0o755)
    return program
