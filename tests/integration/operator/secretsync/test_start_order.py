"""An operator that starts before the cluster is ready for it: it says what is missing, and waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.preloaded import PRELOADED
from support.tenant import open_tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_crds, install_rights
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]


def test_an_operator_waits_for_crds_for_rights_and_for_an_api_server_that_is_down(
    secrets_service: RestartableService, secrets_admin: ServiceAdmin, tmp_path: Path
) -> None:
    with ControlPlane() as plane, KubeApi(plane.admin_kubeconfig) as api:
        cluster = install_rights(plane, api)
        plane.kubectl("delete", "clusterrolebinding", "keybearer-system-keybearer-operator")
        # A Lease would be waited for after the kill.
        flags = [f"--service-url={secrets_service.url}", *cluster.lease_flags(), "--no-leader-election"]
        operator = OperatorProcess(cluster.kubeconfig, tmp_path, flags, launch=PRELOADED)

        operator.start(wait=False)
        eventually(lambda: "cannot list resource" in operator.log(), awaited="a word about rights")
        assert operator.unready() is not None
        install_rights(plane, api)
        eventually(lambda: "apply crds/" in operator.log(), awaited="a word about CRDs")
        install_crds(plane)
        eventually(lambda: operator.unready() is None, awaited="a ready operator")
        operator.kill()

        plane.kill_api_server()
        operator.start(wait=False)
        eventually(lambda: "can't be reached" in operator.log(), awaited="a word about the API server")
        operator.check()
        plane.start_api_server()
        project = secrets_admin.new_project("start-order")
        project.store({"KEY": "cnry-1"})
        tenant = open_tenant(api, "start-order", project, secrets_admin.new_login(project.id))
        tenant.sync("web")
        tenant.until_data("web", {"KEY": "cnry-1"})
        operator.terminate()
