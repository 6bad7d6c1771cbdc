"""The manifests of the pages are what the API server takes."""

from __future__ import annotations

import re

import pytest

from tools.chart.rendering import ROOT
from tools.controlplane.controlplane import ControlPlane
from tools.local.operator_cluster import install_crds

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_PAGE = (ROOT / "docs" / "certificates.md").read_text()
_MANIFESTS = re.findall(r"^```yaml\n(.*?)^```", _PAGE, re.DOTALL | re.MULTILINE)


def _kind_of(manifest: str) -> str:
    (kind,) = re.findall(r"^kind: (\w+)", manifest, re.MULTILINE)
    return str(kind)


@pytest.fixture(scope="module")
def served(control_plane: ControlPlane) -> ControlPlane:
    install_crds(control_plane)
    return control_plane


def test_the_page_has_a_manifest() -> None:
    assert "CertificateProfile" in map(_kind_of, _MANIFESTS)


@pytest.mark.parametrize("manifest", _MANIFESTS, ids=_kind_of)
def test_a_manifest_of_the_page_applies_as_it_is(served: ControlPlane, manifest: str) -> None:
    applied = served.kubectl(
        "--namespace=default",
        "apply",
        "--dry-run=server",
        "--validate=strict",
        "--output=name",
        "--filename=-",
        input=manifest,
    )
    assert len(applied.split()) == 1
