"""What no watch tells the operator, or tells too late: names used again at once, and ends during an outage."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.preloaded import PRELOADED
from support.tenant import Tenant, open_tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_ROUNDS = 200
_FREEZES = (40, 100, 160)
_EDITS = 5


@dataclass
class Scene:
    """An operator without a Lease, so that it survives when the API server is away or it stands still itself."""

    plane: ControlPlane
    tenant: Tenant
    operator: OperatorProcess


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with ExitStack() as stack:
        service = stack.enter_context(RestartableService(tmp_path, launch=PRELOADED))
        admin = stack.enter_context(ServiceAdmin(service))
        plane = stack.enter_context(ControlPlane())
        api = stack.enter_context(KubeApi(plane.admin_kubeconfig))
        cluster = install_operator(plane, api)
        flags = [
            f"--service-url={service.url}",
            f"--lease-namespace={cluster.namespace}",
            "--no-leader-election",
        ]
        operator = OperatorProcess(cluster.kubeconfig, tmp_path, flags, launch=PRELOADED)
        stack.callback(operator.kill)
        project = admin.new_project("unseen")
        project.store({"A": "cnry-1"})
        tenant = open_tenant(api, "unseen", project, admin.new_login(project.id))
        operator.start()
        yield Scene(plane, tenant, operator)
        operator.terminate()


def test_a_name_that_is_used_again_at_once_is_never_forgotten(scene: Scene) -> None:
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


def test_objects_that_end_while_no_watch_runs_own_and_write_nothing_afterwards(scene: Scene) -> None:
    tenant = scene.tenant
    for name in ("first", "second"):
        tenant.until_ready(tenant.sync(name, onDelete="Retain"))
    heir = tenant.sync("heir", target={"name": "second", "conflictPolicy": "Adopt"})
    tenant.until_reason(heir, "TargetConflict")
    scene.operator.freeze()
    scene.plane.kill_api_server()
    scene.plane.start_api_server()
    for name in ("first", "second"):
        tenant.delete(name)
        meta = {"metadata": {"finalizers": None}}
        tenant.api.patch("SecretSync", tenant.namespace, name, meta)
        tenant.until_gone("SecretSync", name)
    scene.operator.thaw()

    tenant.until_ready(heir)
    assert _held(scene) == 1
    tenant.project.store({"A": "cnry-2"})
    tenant.until_data("second", {"A": "cnry-2"})
    assert tenant.data("first") == {"A": "cnry-1"}


def test_objects_made_while_the_last_of_them_went_are_found(scene: Scene) -> None:
    """An empty list says nothing to whoever waits for events of objects."""
    tenant = scene.tenant
    tenant.until_ready(tenant.sync("only"))
    scene.operator.freeze()
    scene.plane.kill_api_server()
    scene.plane.start_api_server()
    tenant.delete("only")
    tenant.until_gone("SecretSync", "only")
    scene.operator.thaw()
    eventually(lambda: _held(scene) == 0, awaited="an operator that knows of no SecretSync")


def _held(scene: Scene) -> float:
    return scene.operator.metric('keybearer_objects{kind="SecretSync"}')
