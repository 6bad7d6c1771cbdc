"""What makes a program another one, so that it is built anew."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from tools.controlplane.recipes import Recipe, required_version


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "go.mod").write_text("module m\n\ngo 1.26.0\n\nrequire example.com/one v1.2.3\n")
    (tmp_path / "go.sum").write_text("")
    return tmp_path


@pytest.fixture
def recipe(module: Path) -> Recipe:
    return Recipe("name", module, "v1.2.3", {"one": "example.com/one"}, {})


def test_a_change_of_tags_or_packages_is_another_program(recipe: Recipe) -> None:
    others = (
        dataclasses.replace(recipe, tags=("no_one",)),
        dataclasses.replace(recipe, packages={"one": "example.com/two"}),
    )
    assert len({recipe.directory, *(one.directory for one in others)}) == 3


def test_a_change_of_the_modules_own_source_is_another_program(recipe: Recipe) -> None:
    before = recipe.directory
    (recipe.module / "main.go").write_text("package main\n")
    with_source = recipe.directory
    (recipe.module / "main.go").write_text("package main\n\nfunc main() {}\n")
    assert len({before, with_source, recipe.directory}) == 3


def test_tags_are_given_to_the_compiler(recipe: Recipe) -> None:
    assert dataclasses.replace(recipe, tags=("no_one", "no_two")).flags[-1] == "-tags=no_one,no_two"
    assert not [flag for flag in recipe.flags if flag.startswith("-tags")]


def test_a_version_is_read_from_either_form_of_a_requirement(module: Path) -> None:
    assert required_version(module, "example.com/one") == "v1.2.3"
    (module / "go.mod").write_text("module m\n\nrequire (\n\texample.com/one v2.0.0\n)\n")
    assert required_version(module, "example.com/one") == "v2.0.0"
