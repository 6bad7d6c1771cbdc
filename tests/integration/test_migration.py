"""What `keybearer migrate` writes is taken by a real API server."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from support.migration import migration_cases
from tools.controlplane.controlplane import ControlPlane
from tools.local.operator_cluster import install_crds

pytestmark = [pytest.mark.deep, pytest.mark.integration]


def test_the_server_takes_every_manifest_of_the_corpus_and_knows_all_its_fields(
    control_plane: ControlPlane,
) -> None:
    install_crds(control_plane)
    control_plane.kubectl("create", "namespace", "migration")
    items: list[JsonValue] = []
    names: list[str] = []
    for case in migration_cases():
        for number, manifest in enumerate(case.migrated().manifests):
            metadata = manifest.body["metadata"]
            assert isinstance(metadata, dict)
            name = f"{case.name}-{number}"  # those of several cases have the same names
            names.append(name)
            items.append({**manifest.body, "metadata": {**metadata, "namespace": "migration", "name": name}})

    taken = control_plane.kubectl(
        *("create", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-"),
        input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
    )

    assert len(items) >= 40
    assert [line.rpartition("/")[2] for line in taken.splitlines()] == names
