"""One number in one place: pyproject.toml gives the version, and what repeats it is compared and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.release.errors import ReleaseError
from tools.release.version import out_of_step, version_of, write_copies

ROOT = Path(__file__).parents[4]


def source(root: Path, version: str = "1.2.3", copied: str = "1.2.3") -> Path:
    for name, text in {
        "pyproject.toml": f'[project]\nname = "keybearer"\nversion = "{version}"\n',
        "Dockerfile": f"#   make image IMAGE=registry.example.com/keybearer:{copied}\nARG VERSION={copied}\n",
        "charts/keybearer/Chart.yaml": f"apiVersion: v2\nversion: {copied}\nappVersion: {copied}\n",
        "README.md": f"pipx install keybearer-{copied}-py3-none-any.whl\nkubernetes 1.30.0\n",
        "docs/installing.md": f"docker save keybearer:{copied} -o keybearer.tar\n",
        "docs/decisions/0001-one.md": "it was keybearer:0.0.1 then\n",
        "CHANGELOG.md": "keybearer-0.0.1 is gone\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_every_copy_in_the_tree_says_the_version_of_pyproject() -> None:
    assert out_of_step(ROOT) == []


def test_each_copy_that_says_another_is_named_with_its_line(tmp_path: Path) -> None:
    assert out_of_step(source(tmp_path, copied="1.2.2")) == [
        "Dockerfile:1: 1.2.2",
        "Dockerfile:2: 1.2.2",
        "README.md:1: 1.2.2",
        "charts/keybearer/Chart.yaml:2: 1.2.2",
        "charts/keybearer/Chart.yaml:3: 1.2.2",
        "docs/installing.md:1: 1.2.2",
    ]


def test_writing_brings_all_copies_in_step_and_leaves_the_past(tmp_path: Path) -> None:
    write_copies(source(tmp_path, copied="1.2.20"))
    assert out_of_step(tmp_path) == []
    assert (
        tmp_path / "README.md"
    ).read_text() == "pipx install keybearer-1.2.3-py3-none-any.whl\nkubernetes 1.30.0\n"
    assert (tmp_path / "CHANGELOG.md").read_text() == "keybearer-0.0.1 is gone\n"


def test_a_version_that_charts_or_packages_do_not_take_is_refused(tmp_path: Path) -> None:
    for version in ("1.2", "1.2.3rc1", "1.2.3-rc.1", "1.2.03", "v1.2.3"):
        with pytest.raises(ReleaseError, match="three numbers"):
            version_of(source(tmp_path, version))
