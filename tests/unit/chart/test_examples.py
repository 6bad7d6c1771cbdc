"""The examples hold what the models accept, and read only what the quick start makes."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from support.rows import each_row
from tools.chart.rendering import ROOT, Manifest

_EXAMPLES = ROOT / "examples"
_FILES = sorted(_EXAMPLES.rglob("*.yaml"))
_HARMLESS = ({"LOG_FORMAT": "json"}, {"password": "change-it"})
"""The second is what Java's own stores are given; nothing but the example's keystores knows it."""


def _manifests(file: Path) -> Iterator[Manifest]:
    for document in yaml.safe_load_all(file.read_text()):
        yield Manifest(document)


def _specs(file: Path) -> Iterator[SecretSyncSpec]:
    for one in _manifests(file):
        if one.kind == "SecretSync":
            yield SecretSyncSpec.model_validate(one.mapping("spec"))


@pytest.fixture(scope="module")
def prepare() -> ModuleType:
    spec = importlib.util.spec_from_file_location("prepare", _EXAMPLES / "quickstart" / "prepare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@each_row("file", _FILES, ids=lambda file: file.stem)
def test_an_example_is_of_our_kinds_for_any_namespace(file: Path) -> None:
    kinds = {one.kind for one in _manifests(file)}
    assert kinds & {"SecretSync", "CertificateProfile"}
    for one in _manifests(file):
        if one.kind == "CertificateProfile":
            CertificateProfileSpec.model_validate(one.mapping("spec"))
        assert "namespace" not in one.mapping("metadata"), "the user chooses"


@pytest.mark.parametrize("file", _FILES, ids=lambda file: file.stem)
def test_an_example_reads_only_what_the_quick_start_makes(file: Path, prepare: ModuleType) -> None:
    for spec in _specs(file):
        assert spec.identity_ref is not None
        assert spec.identity_ref.name in prepare.IDENTITIES
        for source in spec.all_sources:
            assert source.project_slug == prepare.PROJECT
            assert source.environment == prepare.ENVIRONMENT
            made = prepare.FOLDERS[source.secret_path]
            exact = [name for name in (*source.keys.include, *source.keys.exclude) if name.isidentifier()]
            assert {*exact, *(item.key for item in source.keys.items)} <= made.keys()


@each_row("file", _FILES, ids=lambda file: file.stem)
def test_an_example_holds_no_credentials(file: Path) -> None:
    for one in _manifests(file):
        if one.kind == "Secret":
            assert one.mapping("stringData") in _HARMLESS


def test_the_quick_start_is_ten_lines_at_most() -> None:
    assert len((_EXAMPLES / "quickstart" / "secretsync.yaml").read_text().splitlines()) <= 10


def test_names_in_the_examples_are_given_once() -> None:
    names = [(one.kind, one.name) for file in _FILES for one in _manifests(file)]
    assert len(names) == len(set(names))


def test_the_readme_lists_every_example() -> None:
    listed = set(re.findall(r"^\| \[(\S+)\]", (_EXAMPLES / "README.md").read_text(), re.MULTILINE))
    assert listed == {str(file.relative_to(_EXAMPLES)) for file in _FILES}
