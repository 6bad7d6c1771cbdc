"""An identity that logs in as a ServiceAccount of its namespace: operator, service and API server together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.canary import Canary
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.secretsync_objects import identity_secret, namespace
from support.tenant import IDENTITY, Tenant, open_tenant
from tools.chart.rendering import Json, only, render
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin

pytestmark = pytest.mark.integration

_TENANT = "kubernetes-identity"
_RELEASE = "keybearer-kubernetes"
_AUDIENCE = "keybearer.test"
_VALUES: dict[str, Json] = {
    "operator": {"namespaces": [_TENANT], "clusterId": "one", "allowServiceAccountTokens": True},
    "embeddedService": {"tokenReviews": {"enabled": True}},
}
_SERVICE_RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")


@dataclass(frozen=True)
class House:
    """An operator and a service, each with the rights that the chart gives it when asked, and a tenant."""

    service: RestartableService
    admin: ServiceAdmin
    tenant: Tenant


@pytest.fixture
def cluster(control_plane: ControlPlane) -> Iterator[OperatorCluster]:
    with KubeApi(control_plane.admin_kubeconfig) as api:
        api.create(namespace(_TENANT))
        installed = install_operator(control_plane, api, _VALUES, where=_RELEASE)
        rendered = render(_VALUES, namespace=_RELEASE)
        rights = [only(rendered, kind, "-service") for kind in _SERVICE_RIGHTS]
        control_plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in rights))
        control_plane.kubectl("create", "serviceaccount", "web", f"--namespace={_TENANT}")
        yield installed
        api.delete("Namespace", "", _TENANT)


@pytest.fixture
def house(
    control_plane: ControlPlane, cluster: OperatorCluster, tmp_path: Path, canary: Canary
) -> Iterator[House]:
    account = only(render(_VALUES, namespace=_RELEASE), "ServiceAccount", "-service").name
    mounted = tmp_path / "serviceaccount"
    mounted.mkdir()
    token = control_plane.kubectl("create", "token", account, f"--namespace={_RELEASE}")
    (mounted / "token").write_text(token)
    (mounted / "ca.crt").write_bytes(control_plane.ca_pem)
    flags = [f"--service-account-dir={mounted}", f"--service-account-api={control_plane.server_url}"]
    with (
        RestartableService(tmp_path, flags=flags, launch=PRELOADED) as service,
        ServiceAdmin(service) as admin,
    ):
        operator_flags = [f"--service-url={service.url}", "--api-audience=https://kubernetes.default.svc"]
        operator = OperatorProcess(
            cluster.kubeconfig,
            tmp_path,
            [*operator_flags, f"--namespace={_TENANT}", *cluster.lease_flags()],
            launch=PRELOADED,
        )
        project = admin.new_project("kubernetes-identity")
        login = admin.new_login(project.id)
        tenant = open_tenant(cluster.api, _TENANT, project, login)
        operator.start()
        outlets = Outlets.from_now(cluster.api, [operator], [service])
        outlets.namespaces.append(_TENANT)
        try:
            yield House(service, admin, tenant)
            outlets.show_to(canary, {login.client_secret, token.strip()})
        finally:
            operator.terminate()


def test_a_secret_is_synced_with_the_token_of_a_service_account_and_nothing_else(
    house: House, control_plane: ControlPlane
) -> None:
    tenant, identity_id = house.tenant, house.tenant.login.identity_id
    config = {
        "kubernetesHost": control_plane.server_url,
        "allowedNamespaces": _TENANT,
        "allowedNames": "web",
        "allowedAudience": _AUDIENCE,
    }
    house.admin.send("POST", f"/api/v1/auth/kubernetes-auth/identities/{identity_id}", config)
    tenant.project.store({"DB_PASSWORD": "cnry-db-password"})
    known = {"identityId": identity_id, "audience": _AUDIENCE}
    for name, account in (("by-account", "web"), ("by-another", "default")):
        tenant.api.create(identity_secret(_TENANT, name, {**known, "serviceAccountName": account}))
    assert tenant.secret(IDENTITY) is not None

    tenant.sync("web", identityRef={"name": "by-account"})
    tenant.sync("other", identityRef={"name": "by-another"})

    tenant.until_data("web", {"DB_PASSWORD": "cnry-db-password"})
    tenant.until_ready("web")
    tenant.until_reason("other", "CredentialsRejected")
    assert tenant.secret("other") is None
