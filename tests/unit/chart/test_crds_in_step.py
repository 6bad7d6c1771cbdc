"""The chart carries the CRDs of the repository, and renders them as they are."""

from __future__ import annotations

import yaml

from tools.chart.rendering import CHART, ROOT, only, render

_COPIES = CHART / "files" / "crds"


def test_the_charts_copies_are_the_repositorys_crds() -> None:
    originals = {file.name: file.read_bytes() for file in (ROOT / "crds").glob("*.yaml")}
    assert originals
    assert {file.name: file.read_bytes() for file in _COPIES.iterdir()} == originals, "run make chart-crds"


def test_rendering_changes_nothing_but_metadata() -> None:
    for file in _COPIES.iterdir():
        (copy,) = [one for one in yaml.safe_load_all(file.read_text(encoding="utf-8")) if one]
        rendered = only(render(), "CustomResourceDefinition", copy["metadata"]["name"])
        assert rendered.body["spec"] == copy["spec"]
        assert rendered.name == copy["metadata"]["name"]
