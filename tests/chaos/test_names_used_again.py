"""Deletes and makes objects of one name again and again, while the operator now and then stands still."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from support.preloaded import PRELOADED
from support.tenant import Tenant, open_tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_ROUNDS = 200
_FREEZES = (40, 100, 160)
_EDITS = 5


def test_a_name_that_is_used_again_at_once_is_never_forgotten(tmp_path: Path) -> None:
    with ExitStack() as stack:
        service = stack.enter_context(RestartableService(tmp_path, launch=PRELOADED))
        admin = stack.enter_context(ServiceAdmin(service))
        plane = stack.enter_context(ControlPlane())
        api = stack.enter_context(KubeApi(plane.admin_kubeconfig))
        cluster = install_operator(plane, api)
        flags = [f"--service-url={service.url}", f"--lease-namespace={cluster.namespace}"]
        operator = OperatorProcess(cluster.kubeconfig, tmp_path, flags, launch=PRELOADED)
        stack.callback(operator.kill)
        project = admin.new_project("names-used-again")
        project.store({"A": "cnry-1"})
        tenant = open_tenant(api, "again", project, admin.new_login(project.id))
        operator.start()
        tenant.until_ready(tenant.sync("web"))
        for number in range(_ROUNDS):
            if number in _FREEZES:
                operator.freeze()
            _use_again(tenant)
            if number in _FREEZES:
                operator.thaw()
            tenant.until_ready("web")
        operator.terminate()


def _use_again(tenant: Tenant) -> None:
    """The SecretSync is edited, deleted and made again, faster than its events are worked off."""
    for number in range(_EDITS):
        tenant.api.patch(
            "SecretSync", tenant.namespace, "web", {"metadata": {"labels": {"edit": str(number)}}}
        )
    tenant.delete("web")
    tenant.sync("web")
