"""A service that nobody vouches for, and a cluster that the operator can't tell from others."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.preloaded import PRELOADED
from support.secretsync_objects import condition, message_of
from support.self_signed import certificate
from support.tenant import IDENTITY, Tenant, open_tenant
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import Body, KubeApi, RefusedError
from tools.local.operator_cluster import OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]


@dataclass(frozen=True)
class _Scene:
    cluster: OperatorCluster
    service: RestartableService
    admin: ServiceAdmin
    stack: ExitStack
    directory: Path

    def start(self, *flags: str) -> OperatorProcess:
        """An operator without a Lease runs."""
        fixed = [f"--lease-namespace={self.cluster.namespace}", "--no-leader-election"]
        operator = OperatorProcess(
            self.cluster.kubeconfig,
            self.directory,
            [f"--service-url={self.service.url}", *fixed, *flags],
            launch=PRELOADED,
        )
        self.stack.callback(operator.kill)
        operator.start()
        return operator


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[_Scene]:
    with ExitStack() as stack:
        outbound = ["--allow-outbound=127.0.0.0/8"]
        service = stack.enter_context(RestartableService(tmp_path, flags=outbound, launch=PRELOADED))
        admin = stack.enter_context(ServiceAdmin(service))
        plane = stack.enter_context(ControlPlane())
        api = stack.enter_context(KubeApi(plane.admin_kubeconfig))
        yield _Scene(install_operator(plane, api), service, admin, stack, tmp_path)


def test_a_certificate_that_nobody_vouches_for_is_refused_and_the_secret_stays(
    scene: _Scene, tmp_path: Path
) -> None:
    project = scene.admin.new_project("strangers")
    project.store({"KEY": "cnry-1"})
    login = scene.admin.new_login(project.id)
    chain, key = certificate(tmp_path, 1)
    trusted, other = chain.read_text(), tmp_path / "other"
    other.mkdir()
    untrusted = certificate(other, 2)[0].read_text()
    flags = [f"--tls-cert={chain}", f"--tls-key={key}"]
    # The same data, and so the same project; one process at a time has them.
    scene.service.stop()
    secured = scene.stack.enter_context(RestartableService(tmp_path, flags=flags, launch=PRELOADED))
    url = secured.url.replace("http://", "https://")
    operator = scene.start(f"--allow-service-url={url}")
    tenant = open_tenant(scene.cluster.api, "strangers", project, login, url=url)
    tenant.sync("web")
    first = tenant.until_reason("web", "CertificateUntrusted", saying="put the certificate of its authority")
    assert "caBundle of the identity Secret" in message_of(first)
    assert (condition(first, "Reconciling") or {})["status"] == "True"
    assert tenant.secret("web") is None

    _trust(tenant, trusted)
    tenant.until_data("web", {"KEY": "cnry-1"})
    tenant.until_ready("web")
    _trust(tenant, untrusted)
    tenant.until_reason("web", "CertificateUntrusted", saying="the last good target stays")
    assert tenant.data("web") == {"KEY": "cnry-1"}
    _trust(tenant, trusted)
    tenant.until_ready("web")
    operator.terminate()


def _trust(tenant: Tenant, pem: str) -> None:
    """The identity vouches for services with these certificates."""
    data = {"caBundle": base64.b64encode(pem.encode()).decode()}
    tenant.api.patch("Secret", tenant.namespace, IDENTITY, {"data": data})


def test_a_cluster_without_a_name_makes_nothing_in_the_service_until_it_has_one(scene: _Scene) -> None:
    admin = scene.admin
    project, far = admin.new_project("unnamed"), admin.new_project("far-away")
    project.store({"KEY": "cnry-1"})
    pusher, writer = admin.new_login(project.id, role="admin"), admin.new_login(far.id, role="member")
    connection: Body = {
        "name": "store",
        "projectId": project.id,
        "method": "machine-identity",
        "credentials": {
            "instanceUrl": scene.service.url,
            "machineIdentityClientId": writer.client_id,
            "machineIdentityClientSecret": writer.client_secret,
        },
    }
    path = "/api/v1/app-connections/external-infisical"
    connection_id = admin.send("POST", path, connection)["appConnection"]["id"]
    _forbid_namespaces(scene.cluster)
    operator = scene.start()
    tenant = open_tenant(scene.cluster.api, "unnamed", project, pusher)
    config = {"projectId": far.id, "environment": "dev", "secretPath": "/"}
    tenant.sync(
        "web",
        destination="external-infisical",
        connectionRef={"id": connection_id},
        destinationConfig=config,
        target={"name": "beside"},
    )

    told = tenant.until_reason("web", "ClusterIdUnknown", saying="may not read namespace kube-system")

    assert "ask its administrator for --cluster-id" in message_of(told)
    assert (condition(told, "Stalled") or {})["status"] == "True"
    assert admin.send("GET", f"/api/v1/secret-syncs?projectId={project.id}")["secretSyncs"] == []
    tenant.until_data("beside", {"KEY": "cnry-1"})
    operator.terminate()
    named = scene.start("--cluster-id=a-name-of-its-own")

    def arrived() -> bool:
        listed = admin.client.secrets.list(project_id=far.id, environment="dev")
        return [one.secret_key for one in listed] == ["KEY"]

    eventually(arrived, awaited="the pushed secret")
    tenant.until_ready("web")
    named.terminate()


def _forbid_namespaces(cluster: OperatorCluster) -> None:
    """The operator may not read any namespace any more."""
    listed = json.loads(cluster.plane.kubectl("get", "clusterroles", "--output=json"))["items"]
    for role in listed:
        name = role["metadata"]["name"]
        kept = [one for one in role["rules"] or () if one.get("resources") != ["namespaces"]]
        if name.startswith("keybearer") and kept != role["rules"]:
            patch = json.dumps({"rules": kept})
            cluster.plane.kubectl("patch", "clusterrole", name, "--type=merge", f"--patch={patch}")

    def is_forbidden() -> bool:
        with KubeApi(cluster.kubeconfig) as api:
            try:
                api.get("Namespace", "", "kube-system")
            except RefusedError as error:
                return error.status == 403
        return False

    eventually(is_forbidden, awaited="an operator that may not read namespace kube-system")
