"""What no watch tells the operator, or tells too late: names used again at once, lost ends and kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.lone_scene import LoneScene, open_scene
from keybearer.controllers.crds import CUSTOM_RESOURCES
from tools.local.operator_cluster import install_crds
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_ROUNDS = 500
_FREEZES = (100, 250, 400)
_EDITS = 5
_MORE_THAN_KOPF_MAKES = 10
"""Attempts: with its own settings it makes eight, and ends."""


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[LoneScene]:
    with open_scene(tmp_path) as scene:
        yield scene


def test_a_name_that_is_used_again_at_once_is_never_forgotten(scene: LoneScene) -> None:
    tenant = scene.tenant
    tenant.until_ready(tenant.sync("web"))
    for number in range(_ROUNDS):
        if number in _FREEZES:
            scene.operator.freeze()
        for edit in range(_EDITS):
            labels = {"metadata": {"labels": {"edit": str(edit)}}}
            tenant.api.patch("SecretSync", tenant.namespace, "web", labels)
        tenant.delete("web")
        tenant.sync("web")
        if number in _FREEZES:
            scene.operator.thaw()
        tenant.until_ready("web")


def test_objects_that_end_while_no_watch_runs_own_and_write_nothing_afterwards(scene: LoneScene) -> None:
    tenant = scene.tenant
    for name in ("first", "second"):
        tenant.until_ready(tenant.sync(name, target={"onDelete": "Retain"}))
    heir = tenant.sync("heir", target={"name": "second", "adopt": True})
    tenant.until_reason(heir, "TargetConflict")
    scene.operator.freeze()
    scene.plane.kill_api_server()
    scene.plane.start_api_server()
    for name in ("first", "second"):
        tenant.delete(name)
        tenant.until_gone("SecretSync", name)
    scene.operator.thaw()

    tenant.until_ready(heir)
    assert _held(scene) == 1
    tenant.project.store({"A": "cnry-2"})
    tenant.until_data("second", {"A": "cnry-2"})
    assert tenant.data("first") == {"A": "cnry-1"}


def test_the_end_of_the_last_object_is_noticed_though_its_list_is_empty(scene: LoneScene) -> None:
    """An empty list sends no event for any object."""
    tenant = scene.tenant
    tenant.until_ready(tenant.sync("only"))
    scene.operator.freeze()
    scene.plane.kill_api_server()
    scene.plane.start_api_server()
    tenant.delete("only")
    tenant.until_gone("SecretSync", "only")
    scene.operator.thaw()
    eventually(lambda: _held(scene) == 0, awaited="an operator that knows of no SecretSync")


def test_kinds_that_are_taken_away_and_return_are_a_pause(scene: LoneScene) -> None:
    tenant, process = scene.tenant, scene.operator.pid
    tenant.until_ready(tenant.sync("kept", target={"onDelete": "Retain"}))
    for resource in CUSTOM_RESOURCES:
        scene.plane.kubectl("delete", "crd", resource.name)
    eventually(lambda: _held(scene) == 0, awaited="an operator that knows of no SecretSync")
    attempt = f"Request attempt #{_MORE_THAN_KOPF_MAKES} failed"
    eventually(
        lambda: attempt in scene.operator.log(), awaited="an operator that goes on asking for its kinds"
    )
    tenant.project.store({"A": "cnry-2"})
    install_crds(scene.plane)
    assert tenant.data("kept") == {"A": "cnry-1"}

    tenant.until_ready(tenant.sync("kept", target={"adopt": True}))
    tenant.until_ready(tenant.sync("new"))
    tenant.until_data("kept", {"A": "cnry-2"})
    assert scene.operator.pid == process


def _held(scene: LoneScene) -> float:
    return scene.operator.metric('keybearer_objects{kind="SecretSync"}')
