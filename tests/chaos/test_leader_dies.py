"""A leader that dies, and one that stands still and wakes up when another leads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from support.canary import Canary
from support.chart import Json
from support.controlplane.controlplane import ControlPlane
from support.kube_api import KubeApi
from support.operator_cluster import OperatorCluster, install_operator
from support.operator_process import OperatorProcess
from support.outlets import Outlets
from support.secrets_service import RestartableService, ServiceAdmin
from support.secretsync_objects import namespace
from support.service_proxy import ServiceProxy, listing_of
from support.tenant import Tenant, open_tenant
from support.waiting import eventually

pytestmark = [pytest.mark.chaos, pytest.mark.integration]

_NAMESPACE = "leaderless"
_LEASE_SECONDS = 15
"""A Lease that is not released may be taken after this time."""
_TAKEOVER_SECONDS = _LEASE_SECONDS + 10


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[OperatorCluster]:
    """Yield the cluster that all tests share; these operators serve one namespace of it."""
    with KubeApi(control_plane.admin_kubeconfig) as api:
        api.create(namespace(_NAMESPACE))
        values: Mapping[str, Json] = {"operator": {"namespaces": [_NAMESPACE]}}
        yield install_operator(control_plane, api, values, where="keybearer-chaos")
        api.delete("Namespace", "", _NAMESPACE)


@pytest.fixture(scope="module")
def tenant(cluster: OperatorCluster, secrets_admin: ServiceAdmin) -> Tenant:
    """Return the tenant that all of them serve."""
    project = secrets_admin.new_project("leaderless")
    return open_tenant(cluster.api, _NAMESPACE, project, secrets_admin.new_login(project.id))


@pytest.fixture
def start(
    cluster: OperatorCluster,
    service_proxy: ServiceProxy,
    secrets_service: RestartableService,
    canary: Canary,
    tmp_path: Path,
) -> Iterator[Callable[[str], OperatorProcess]]:
    """Yield a function that starts an operator of a name; all have ended afterwards."""
    started: list[OperatorProcess] = []
    flags = [f"--service-url={service_proxy.url}", *cluster.lease_flags(), f"--namespace={_NAMESPACE}"]
    mark = service_proxy.mark()
    services = Outlets.from_now(cluster.api, [], [secrets_service])

    def start_one(name: str) -> OperatorProcess:
        operator = OperatorProcess(cluster.kubeconfig, tmp_path, flags, name)
        operator.start()
        started.append(operator)
        return operator

    yield start_one
    tokens = {request.token for request in service_proxy.requests(since=mark)}
    starts = (*[0] * len(started), *services.log_starts)
    Outlets(cluster.api, tuple(started), services.services, starts, [_NAMESPACE]).show_to(canary, tokens)
    for operator in started:
        if operator.running:
            operator.terminate()


def test_when_the_leader_dies_the_other_takes_over(
    start: Callable[[str], OperatorProcess],
    tenant: Tenant,
    record_property: Callable[[str, object], None],
) -> None:
    tenant.project.store({"KEY": "cnry-1"})
    first = start("first")
    eventually(lambda: first.leads, awaited="a leader")
    second = start("second")
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")

    first.kill()
    began = time.monotonic()
    tenant.api.delete("Secret", tenant.namespace, "web")
    tenant.until_data("web", {"KEY": "cnry-1"}, within=_TAKEOVER_SECONDS)

    record_property("takeover_seconds", round(time.monotonic() - began, 1))
    assert second.leads


def test_a_leader_that_stood_still_writes_nothing_when_it_wakes_up(
    start: Callable[[str], OperatorProcess], tenant: Tenant, service_proxy: ServiceProxy
) -> None:
    tenant.project.folder("/frozen")
    tenant.project.store({"KEY": "cnry-old"}, path="/frozen")
    first = start("first")
    eventually(lambda: first.leads, awaited="a leader", within=_TAKEOVER_SECONDS)
    with service_proxy.holding(listing_of(tenant.project.id, "/frozen")) as hold:
        tenant.sync("frozen", source=tenant.source(secretPath="/frozen"), refreshInterval="1h")
        hold.wait_caught()
        first.freeze()
        # What the first has asked for is old news when it gets to read it.
        hold.release()
    tenant.project.store({"KEY": "cnry-new"}, path="/frozen")
    second = start("second")
    eventually(lambda: second.leads, awaited="a new leader", within=_TAKEOVER_SECONDS)
    tenant.until_data("frozen", {"KEY": "cnry-new"})
    tenant.until_ready("frozen")
    sync, secret = tenant.get("frozen"), tenant.secret("frozen")

    first.thaw()
    first.wait_ended()

    assert '"operator_failed"' in first.log()
    assert tenant.get("frozen") == sync
    assert tenant.secret("frozen") == secret
    assert second.leads
