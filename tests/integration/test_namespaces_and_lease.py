"""An operator for single namespaces, by Roles alone; and two replicas of it, of which one works."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex

import pytest

from support import signalled_program
from support.canary import Canary
from support.outlets import Outlets
from support.preloaded import PRELOADED
from support.service_proxy import ServiceProxy, is_subscription, listing_of
from support.tenant import Tenant, open_tenant
from tools.chart.rendering import Json
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import OPERATOR_LEASE, OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import eventually

pytestmark = pytest.mark.integration

_SERVED = ("served-one", "served-two")
_UNSERVED = "not-served"

Start = Callable[[str], OperatorProcess]


@pytest.fixture(scope="module")
def cluster(control_plane: ControlPlane) -> Iterator[OperatorCluster]:
    """Yield the cluster that all tests share; what serves single namespaces is in nobody's way there."""
    with KubeApi(control_plane.admin_kubeconfig) as api:
        # The chart's Roles are written into namespaces that exist.
        for name in (*_SERVED, _UNSERVED):
            api.create_namespace(name)
        values: Mapping[str, Json] = {"operator": {"namespaces": list(_SERVED), "clusterId": "single"}}
        yield install_operator(control_plane, api, values, where="keybearer-single")
        for name in (*_SERVED, _UNSERVED):
            api.delete("Namespace", "", name)


@pytest.fixture(scope="module")
def tenants(cluster: OperatorCluster, secrets_admin: ServiceAdmin) -> dict[str, Tenant]:
    """Return a tenant in each namespace, of one project."""
    project = secrets_admin.new_project(f"single-{token_hex(4)}")
    login = secrets_admin.new_login(project.id)
    opened = {}
    for name in (*_SERVED, _UNSERVED):
        opened[name] = open_tenant(cluster.api, name, project, login)
    return opened


@pytest.fixture
def start(
    cluster: OperatorCluster,
    service_proxy: ServiceProxy,
    secrets_service: RestartableService,
    canary: Canary,
    tmp_path: Path,
) -> Iterator[Start]:
    """Yield a function that starts an operator of a name; all have ended afterwards."""
    started: list[OperatorProcess] = []
    flags = [f"--service-url={service_proxy.url}", *cluster.lease_flags()]
    flags += [f"--namespace={name}" for name in _SERVED]
    mark = service_proxy.mark()
    services = Outlets.from_now(cluster.api, [], [secrets_service])

    def start_one(name: str) -> OperatorProcess:
        operator = OperatorProcess(cluster.kubeconfig, tmp_path, flags, name, launch=PRELOADED)
        operator.start()
        started.append(operator)
        return operator

    yield start_one
    tokens = {request.token for request in service_proxy.requests(since=mark)}
    outlets = Outlets(
        cluster.api, tuple(started), services.services, (*[0] * len(started), *services.log_starts)
    )
    outlets.namespaces.extend(_SERVED)
    outlets.show_to(canary, tokens)
    for operator in started:
        if operator.running:
            operator.terminate()


def test_an_operator_for_single_namespaces_serves_them_and_no_other(
    start: Start, tenants: dict[str, Tenant]
) -> None:
    for tenant in tenants.values():
        tenant.project.store({"KEY": "cnry-1"})
        tenant.sync("web")
    start("single")

    for name in _SERVED:
        tenants[name].until_ready("web")
        assert tenants[name].data("web") == {"KEY": "cnry-1"}
        # Watches of Secrets and identities work there as well.
        tenants[name].api.delete("Secret", name, "web")
        tenants[name].until_data("web", {"KEY": "cnry-1"})

    assert tenants[_UNSERVED].get("web")["status"] == {"observedGeneration": -1}
    assert tenants[_UNSERVED].secret("web") is None


def test_an_operator_that_is_asked_to_stop_while_its_watches_begin_ends_in_good_order(
    cluster: OperatorCluster, secrets_service: RestartableService, tmp_path: Path
) -> None:
    program = Path(signalled_program.__file__)
    flags = [f"--service-url={secrets_service.url}", *cluster.lease_flags(), f"--namespace={_SERVED[0]}"]
    operator = OperatorProcess(
        cluster.kubeconfig, tmp_path, flags, "asked-early", program=(sys.executable, program)
    )
    operator.start(wait=False)
    operator.wait_ended()
    assert '"operator_stopped"' in operator.log()
    assert "Traceback" not in operator.log()


def test_of_two_replicas_one_works_and_the_other_takes_over_when_it_is_stopped(
    start: Start, tenants: dict[str, Tenant], cluster: OperatorCluster
) -> None:
    tenant = tenants[_SERVED[0]]
    tenant.project.store({"KEY": "cnry-1"})
    first = start("first")
    eventually(lambda: first.leads, awaited="a leader")
    second = start("second")

    tenant.sync("led-by-first", refreshInterval="1h")
    tenant.until_ready("led-by-first")
    assert not second.leads
    assert second.metric('keybearer_objects{kind="SecretSync"}') == 0

    first.terminate()
    assert '"lease_released"' in first.log()
    eventually(lambda: second.leads, awaited="a new leader")
    tenant.sync("led-by-second")
    tenant.until_ready("led-by-second")
    tenant.api.delete("Secret", tenant.namespace, "led-by-first")
    tenant.until_data("led-by-first", {"KEY": "cnry-1"})

    lease = cluster.api.get("Lease", cluster.namespace, OPERATOR_LEASE)
    assert lease["spec"]["leaseTransitions"] >= 1


def test_an_operator_that_is_asked_to_stop_finishes_what_it_began(
    start: Start, tenants: dict[str, Tenant], service_proxy: ServiceProxy, cluster: OperatorCluster
) -> None:
    tenant = tenants[_SERVED[1]]
    tenant.project.folder("/begun")
    tenant.project.store({"KEY": "cnry-1"}, path="/begun")
    operator = start("stopping")
    eventually(lambda: operator.leads, awaited="a leader")
    with service_proxy.holding(listing_of(tenant.project.id, "/begun")) as hold:
        tenant.sync("begun", source=tenant.source(secretPath="/begun"), refreshInterval="1h")
        hold.wait_caught()
        operator.ask_to_stop()
        eventually(lambda: '"draining"' in operator.log(), awaited="the beginning of the drain")
        assert tenant.secret("begun") is None
        hold.release()
        operator.wait_ended()

    assert tenant.data("begun") == {"KEY": "cnry-1"}
    assert '"operator_stopped"' in operator.log()
    holder = cluster.api.get("Lease", cluster.namespace, OPERATOR_LEASE)["spec"].get("holderIdentity")
    assert not holder


@pytest.fixture
def _no_events(service_proxy: ServiceProxy) -> Iterator[None]:
    """The service tells no events: a stream that is long in opening has each source read, and shown, once more."""
    with service_proxy.answering(is_subscription, 404, {"message": "Route POST not found"}):
        yield


@pytest.mark.usefixtures("_no_events")
def test_a_restarted_operator_reads_each_source_once_and_writes_nothing(
    start: Start, tenants: dict[str, Tenant], service_proxy: ServiceProxy
) -> None:
    tenant = tenants[_SERVED[0]]
    tenant.project.folder("/restart")
    tenant.project.store({"KEY": "cnry-1"}, path="/restart")
    names = [f"restart-{number}" for number in range(20)]
    first = start("before")
    for name in names:
        tenant.sync(name, source=tenant.source(secretPath="/restart"), refreshInterval="1h")
    for name in names:
        tenant.until_ready(name)
    first.terminate()
    before = _versions(tenant, names)
    mark = service_proxy.mark()

    second = start("after")
    done = 'keybearer_reconcile_duration_seconds_count{kind="SecretSync",result="done"}'
    eventually(lambda: second.leads and second.metric(done) >= len(names), awaited="a look at every object")

    assert _versions(tenant, names) == before
    assert len(service_proxy.requests(listing_of(tenant.project.id, "/restart"), since=mark)) == 1


def _versions(tenant: Tenant, names: list[str]) -> list[str]:
    objects = [
        tenant.api.get(kind, tenant.namespace, name) for name in names for kind in ("SecretSync", "Secret")
    ]
    return [one["metadata"]["resourceVersion"] for one in objects]
