"""The tools work in a checkout that has no tests, and are no part of the distribution."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.local.waiting import PATIENCE_SECONDS

_ROOT = Path(__file__).parents[3]
_LEFT_OUT = (".*", "build", "dist", "__pycache__", "*.egg-info")
_IMPORT_ALL = """
import importlib, pkgutil, tools
# moto_program runs in an environment of its own.
found = (one.name for one in pkgutil.walk_packages(tools.__path__, "tools."))
names = [name for name in found if name != "tools.local.moto_program"]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout without its tests."""
    copy = tmp_path_factory.mktemp("copy") / "keybearer"
    ignored = shutil.ignore_patterns(*_LEFT_OUT)
    copy.mkdir()
    for one in _ROOT.iterdir():
        if one.name != "tests" and one.name not in ignored(str(_ROOT), [one.name]):
            if one.is_dir():
                shutil.copytree(one, copy / one.name, ignore=ignored)
            else:
                shutil.copy(one, copy)
    return copy


def test_every_module_of_the_tools_is_imported_without_the_tests(checkout: Path) -> None:
    assert int(_run(checkout, "-c", _IMPORT_ALL).stdout) > 100


@pytest.mark.parametrize(
    "arguments",
    [
        "tools.chart lint",
        "tools.chart.readme --check",
        "tools.controlplane --help",
        "tools.release.version --check",
        "tools.reference --check",
    ],
)
def test_a_tool_runs_without_the_tests(checkout: Path, arguments: str) -> None:
    done = _run(checkout, "-m", *arguments.split())
    assert done.returncode == 0, done.stderr


def test_an_installed_keybearer_brings_no_tools(tmp_path: Path) -> None:
    done = _run(tmp_path, "-c", "import keybearer, tools")
    assert "No module named 'tools'" in done.stderr


def _run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a Python did that has this directory, and nothing else, on its path besides what is installed."""
    kept = {name: value for name, value in os.environ.items() if name in {"HOME", "PATH", "XDG_CACHE_HOME"}}  # noqa: TID251 - Helm is in the cache
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=directory,
        env=kept,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
