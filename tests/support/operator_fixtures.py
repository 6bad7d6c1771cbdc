"""Fixtures of tests in which operator, service and API server work together, each as a process of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Protocol

import pytest

from keybearer.controllers.crds import CUSTOM_RESOURCES
from support.canary import Canary
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.service_proxy import ServiceProxy
from support.tenant import Tenant, open_tenant
from tools.chart.rendering import Json
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import SIGNERS_ENABLED, OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import Login, RestartableService, ServiceAdmin, SourceProject

__all__ = [
    "REMOTE_INSECURE_URL",
    "SHARED_LABEL",
    "SHARED_PATH",
    "FarService",
    "Installation",
    "NewTenant",
    "SharedAccess",
    "far_service",
    "installation",
    "new_tenant",
    "operator_cluster",
    "secrets_admin",
    "secrets_service",
    "service_proxy",
    "shared_access",
    "shared_operator",
    "tenant",
]

REMOTE_INSECURE_URL = "http://secrets.example.com"
"""On the operator's list of URLs, and refused all the same."""
SHARED_LABEL = {"tests.keybearer.dev/shared": "granted"}
"""Namespaces with this label may use the operator's shared identity for `SHARED_PATH` of its project."""
SHARED_PATH = "/common"
_GRANT: Mapping[str, Json] = {
    "namespaceLabels": SHARED_LABEL,
    "environment": "dev",
    "secretPath": SHARED_PATH,
}
_VALUES: Mapping[str, Json] = {
    "operator": {
        **SIGNERS_ENABLED,
        "refreshMounts": {"enabled": True},
        "sharedIdentity": {"existingSecret": "shared"},
        "sharedGrants": [{**_GRANT, "projectSlug": "shared-project"}],
    }
}
"""With the rights for all that the tests switch on: signers, and a grant that looks at labels of namespaces."""


@dataclass(frozen=True)
class SharedAccess:
    """The operator's shared identity, and the one project that it may be used for."""

    project: SourceProject
    login: Login
    flags: list[str]


@dataclass(frozen=True)
class FarService:
    """A second service, which a test may stop and start: what others read comes from the first."""

    process: RestartableService
    admin: ServiceAdmin


@dataclass(frozen=True)
class Installation:
    """The operator that most tests share, and all around it."""

    cluster: OperatorCluster
    operator: OperatorProcess
    service: RestartableService
    admin: ServiceAdmin
    proxy: ServiceProxy
    far: FarService
    shared: SharedAccess


class NewTenant(Protocol):
    """Opens a tenant, at the shared service unless another's administrator is given."""

    def __call__(
        self, *, admin: ServiceAdmin | None = None, labels: Mapping[str, str] | None = None
    ) -> Tenant:
        """Return a tenant with a namespace, a project and an identity of its own."""
        ...


@pytest.fixture(scope="session")
def operator_cluster() -> Iterator[OperatorCluster]:
    """Yield a cluster of the operator's own: it serves all namespaces, and other tests bring theirs."""
    with ControlPlane() as plane, KubeApi(plane.admin_kubeconfig) as api:
        yield install_operator(plane, api, _VALUES)


@pytest.fixture(scope="session")
def secrets_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestartableService]:
    """Yield the service that the shared operator reads, by way of the proxy."""
    # Remotes of connections are on this machine too.
    flags = ["--allow-outbound=127.0.0.0/8"]
    with RestartableService(
        tmp_path_factory.mktemp("secrets-service"), flags=flags, launch=PRELOADED
    ) as service:
        yield service


@pytest.fixture(scope="session")
def secrets_admin(secrets_service: RestartableService) -> Iterator[ServiceAdmin]:
    """Yield the administrator of the service, past the proxy."""
    with ServiceAdmin(secrets_service) as admin:
        yield admin


@pytest.fixture(scope="session")
def service_proxy(secrets_service: RestartableService) -> Iterator[ServiceProxy]:
    """Yield what the operator takes for the service."""
    with ServiceProxy(secrets_service.url) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def far_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FarService]:
    """Yield the second service; the shared operator may be sent there by an identity's `url`."""
    directory = tmp_path_factory.mktemp("far-service")
    with (
        RestartableService(directory, "far-service", launch=PRELOADED) as process,
        ServiceAdmin(process) as admin,
    ):
        yield FarService(process, admin)


@pytest.fixture(scope="session")
def shared_access(secrets_admin: ServiceAdmin, tmp_path_factory: pytest.TempPathFactory) -> SharedAccess:
    """Return the shared identity as the operator is given it: mounted files."""
    directory = tmp_path_factory.mktemp("shared-identity")
    project = secrets_admin.new_project("shared-project")
    project.folder(SHARED_PATH)
    project.folder("/private")
    login = secrets_admin.new_login(project.id)
    for name, text in login.as_secret().items():
        (directory / name).write_text(text + "\n")
    grants = directory / "grants.yaml"
    grants.write_text(json.dumps([{**_GRANT, "projectSlug": project.slug}]))
    return SharedAccess(project, login, [f"--identity-dir={directory}", f"--shared-grants={grants}"])


@pytest.fixture(scope="session")
def shared_operator(
    operator_cluster: OperatorCluster,
    service_proxy: ServiceProxy,
    far_service: FarService,
    shared_access: SharedAccess,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[OperatorProcess]:
    """Yield an operator that serves the whole cluster with the settings of the chart."""
    directory = tmp_path_factory.mktemp("operator")
    operator = _operator(operator_cluster, service_proxy.url, far_service, shared_access, directory)
    operator.start()
    try:
        yield operator
    finally:
        operator.terminate()


def _operator(
    cluster: OperatorCluster, url: str, far: FarService, shared: SharedAccess, directory: Path
) -> OperatorProcess:
    flags = [
        f"--service-url={url}",
        f"--allow-service-url={far.process.url}",
        f"--allow-service-url={REMOTE_INSECURE_URL}",
        *shared.flags,
        *cluster.lease_flags(),
    ]
    return OperatorProcess(cluster.kubeconfig, directory, flags, launch=PRELOADED)


@pytest.fixture(scope="session")
def installation(
    operator_cluster: OperatorCluster,
    shared_operator: OperatorProcess,
    secrets_service: RestartableService,
    secrets_admin: ServiceAdmin,
    service_proxy: ServiceProxy,
    far_service: FarService,
    shared_access: SharedAccess,
) -> Installation:
    """Return the shared installation."""
    return Installation(
        operator_cluster,
        shared_operator,
        secrets_service,
        secrets_admin,
        service_proxy,
        far_service,
        shared_access,
    )


@pytest.fixture
def new_tenant(installation: Installation, canary: Canary) -> Iterator[NewTenant]:
    """Yield a function that opens tenants; their custom resources go afterwards.

    Their namespaces stay: to empty one, Kubernetes asks for objects of some seventy kinds.

    Before that, whatever operator, service and cluster show is handed to the canary.
    """
    installation.operator.check()
    api, proxy, far = installation.cluster.api, installation.proxy, installation.far
    outlets = Outlets.from_now(api, [installation.operator], [installation.service, far.process])
    start = proxy.mark()
    opened: list[Tenant] = []

    def open_one(*, admin: ServiceAdmin | None = None, labels: Mapping[str, str] | None = None) -> Tenant:
        name = f"tenant-{token_hex(4)}"
        where = admin or installation.admin
        project = where.new_project(name)
        login = where.new_login(project.id)
        url = far.process.url if where is far.admin else None
        opened.append(open_tenant(api, name, project, login, url=url, labels=labels))
        outlets.namespaces.append(name)
        return opened[-1]

    yield open_one
    tokens = {request.token for request in proxy.requests(since=start)}
    logins = [installation.admin.login, far.admin.login, installation.shared.login]
    logins += [one.login for one in opened]
    outlets.show_to(canary, {*tokens, *(login.client_secret for login in logins)})
    for one in opened:
        # Nobody waits for it: the next test has a namespace of its own.
        for kind in CUSTOM_RESOURCES:
            api.delete_all(kind.kind, one.namespace)
    installation.operator.check()


@pytest.fixture
def tenant(new_tenant: NewTenant) -> Tenant:
    """Return the tenant of this test."""
    return new_tenant()
