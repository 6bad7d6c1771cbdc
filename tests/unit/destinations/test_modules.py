"""How the modules of destinations depend on each other, as far as import-linter's list of layers doesn't say it."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import pytest

import keybearer.destinations
from keybearer.destinations.form import DestinationKind
from tools.chart.rendering import ROOT

_FOLDER = Path(keybearer.destinations.__path__[0])
_PACKAGE = keybearer.destinations.__name__


def _layers() -> set[str]:
    """Return the modules that stand in the contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (one["layers"] for one in contracts if one.get("containers") == [_PACKAGE])
    return {name.strip() for layer in layers for part in layer.split("|") for name in part.split(":")}


def _imports(file: Path) -> set[str]:
    """Return the modules of the package that a file imports, by the first part of their names."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                found |= {module, *(f"{module}.{name.name}" for name in names)}
            case ast.Import(names=names):
                found |= {name.name for name in names}
            case _:
                pass
    inner = (name.removeprefix(f"{_PACKAGE}.") for name in found if name.startswith(f"{_PACKAGE}."))
    return {name.partition(".")[0] for name in inner}


@pytest.fixture(scope="module")
def modules() -> Mapping[str, Path]:
    """Return all modules of the package and of packages in it, by the first part of their names below it."""
    found = {path.stem: path for path in _FOLDER.glob("*.py") if path.stem != "__init__"}
    return {**found, **{path.parent.name: path for path in _FOLDER.glob("*/__init__.py")}}


def test_each_module_stands_in_a_layer_or_is_a_vendors(modules: Mapping[str, Path]) -> None:
    for name in modules.keys() - _layers():
        module = import_module(f"{_PACKAGE}.{name}")
        own = [one for one in vars(module).values() if isinstance(one, DestinationKind)]
        assert len(own) == 1, f"place {name} in the layers of pyproject.toml: it is no vendor's"
    assert _layers() <= modules.keys()


def test_only_the_catalogue_imports_a_vendors_module(modules: Mapping[str, Path]) -> None:
    vendors = modules.keys() - _layers()
    assert vendors
    importing = {
        str(file.relative_to(_FOLDER)): sorted(_imports(file) & vendors)
        for file in _FOLDER.rglob("*.py")
        if file.name != "catalogue.py"
    }
    assert {name: found for name, found in importing.items() if found} == {}
