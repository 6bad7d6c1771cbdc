"""What operator and service tell of themselves while they work together: metrics, traces, and log lines that meet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from support.log_lines import whole_lines
from support.preloaded import PRELOADED
from support.tenant import Tenant, open_tenant
from support.trace_receiver import TraceReceiver
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.ports import free_port
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.plain_http import TRUSTS_NOBODY
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_VALUE = "cnry-observed"


@dataclass(frozen=True)
class Scene:
    tenant: Tenant
    operator: OperatorProcess
    service: RestartableService
    metrics_url: str
    traces: TraceReceiver

    def service_metrics(self) -> str:
        answer = httpx.get(f"{self.metrics_url}/metrics", timeout=PATIENCE_SECONDS, verify=TRUSTS_NOBODY)
        assert answer.status_code == 200
        return answer.text

    def log_lines(self, event: str) -> list[dict[str, object]]:
        whole = whole_lines(self.operator.log().splitlines(keepends=True))
        lines = [json.loads(line) for line in whole if line.startswith("{")]
        return [line for line in lines if line["event"] == event]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    directory = tmp_path_factory.mktemp("observed")
    port = free_port()
    with ExitStack() as stack:
        traces = stack.enter_context(TraceReceiver())
        traced = f"--traces-endpoint={traces.endpoint}"
        flags = [f"--metrics-listen=127.0.0.1:{port}", traced]
        service = stack.enter_context(RestartableService(directory, flags=flags, launch=PRELOADED))
        admin = stack.enter_context(ServiceAdmin(service))
        plane = stack.enter_context(ControlPlane())
        api = stack.enter_context(KubeApi(plane.admin_kubeconfig))
        cluster = install_operator(plane, api)
        project = admin.new_project("observed")
        tenant = open_tenant(api, "observed", project, admin.new_login(project.id))
        operator = _operator(cluster.kubeconfig, directory, service, [*cluster.lease_flags(), traced])
        operator.start()
        stack.callback(operator.terminate)
        tenant.project.store({"KEY": _VALUE})
        tenant.sync("web")
        # What comes by polling is counted elsewhere.
        tenant.until_updates("web")
        tenant.until_ready("web")
        yield Scene(tenant, operator, service, f"http://127.0.0.1:{port}", traces)


def _operator(
    kubeconfig: Path, directory: Path, service: RestartableService, flags: list[str]
) -> OperatorProcess:
    return OperatorProcess(kubeconfig, directory, [f"--service-url={service.url}", *flags], launch=PRELOADED)


def test_a_trace_leads_from_the_reconcile_through_the_service_to_the_write(scene: Scene) -> None:
    namespace = scene.tenant.namespace
    run = scene.traces.span(
        "reconcile SecretSync",
        k8s__namespace__name=namespace,
        k8s__object__name="web",
        keybearer__lane="first",
    )
    assert (run.service, run.parent, run.failed) == ("keybearer-operator", "", None)
    assert run.attributes["keybearer.reason"] == "Synced"

    eventually(lambda: len(scene.traces.children(run)) >= 3, awaited="the parts of the run")
    parts = {part.name: part for part in scene.traces.children(run)}
    assert {"service ListSecretsConditionally", "create Secret", "apply SecretSync/status"} <= parts.keys()
    assert {part.kind for part in parts.values()} == {"client"}
    asked = parts["service ListSecretsConditionally"]
    assert asked.attributes["http.response.status_code"] == 200
    (answered,) = eventually(lambda: scene.traces.children(asked) or None, awaited="the service's part")
    assert (answered.service, answered.kind, answered.trace_id) == (
        "keybearer-service",
        "server",
        run.trace_id,
    )
    assert (answered.name, answered.attributes["http.route"]) == ("GET /api/v4/secrets", "/api/v4/secrets")


def test_traces_hold_neither_values_nor_tokens_nor_texts_of_errors(scene: Scene) -> None:
    scene.tenant.sync("astray", source=scene.tenant.source(secretPath="/astray"))
    scene.tenant.until_reason("astray", "SourceNotFound")
    failed = scene.traces.span("reconcile SecretSync", k8s__object__name="astray")
    assert failed.failed == "SourceNotFound"
    sent = b"".join(scene.traces.bodies)
    for confidential in (_VALUE, scene.tenant.login.client_secret, "Bearer", "eyJ"):
        assert confidential.encode() not in sent
    assert not any(span.events for span in scene.traces.spans), "exceptions are not recorded"


def test_a_refusal_names_its_request_and_its_object_in_the_operators_log(scene: Scene) -> None:
    scene.tenant.sync("elsewhere", source=scene.tenant.source(environment="none-such"))
    scene.tenant.until_reason("elsewhere", "SourceNotFound")
    line = eventually(
        lambda: next(
            (
                one
                for one in scene.log_lines("service_call_refused")
                if str(one["source"]).endswith("none-such:/")
            ),
            None,
        ),
        awaited="a line of the refusal",
    )
    assert line["status"] == 404
    assert str(line["request_id"]).startswith("req-")
    assert str(line["request_id"]) in scene.service.log_file.read_text()
    (told,) = (one for one in scene.log_lines("condition_changed") if one["name"] == "elsewhere")
    assert told["namespace"] == scene.tenant.namespace
    assert told["reconcile_id"]
    assert told["trace_id"]


def test_a_change_is_counted_with_the_time_that_it_took_to_its_secret(scene: Scene) -> None:
    count = 'keybearer_freshness_seconds_count{updates="events"}'
    before = scene.operator.metric(count)
    scene.tenant.project.store({"KEY": "cnry-changed"})
    scene.tenant.until_data("web", {"KEY": "cnry-changed"})
    eventually(lambda: scene.operator.metric(count) == before + 1, awaited="a sample of freshness")
    assert scene.operator.metric('keybearer_freshness_seconds_bucket{le="30.0",updates="events"}') >= 1

    scene.tenant.edit("web", target={"labels": {"edited": "yes"}})
    scene.tenant.until_ready("web")
    assert scene.operator.metric(count) == before + 1, "an edited spec is no change of the source"


def test_the_operator_counts_calls_writes_and_conditions(scene: Scene) -> None:
    metric = scene.operator.metric
    assert metric('keybearer_service_calls_total{operation="UniversalAuth",status="200"}') >= 1
    assert (
        metric('keybearer_api_writes_total{object="Secret",status="201",subresource="",verb="create"}') >= 1
    )
    assert (
        metric(
            'keybearer_api_writes_total{object="SecretSync",status="200",subresource="status",verb="apply"}'
        )
        >= 1
    )
    assert 'keybearer_api_writes_total{object="Lease"' in scene.operator.metrics()
    assert metric('keybearer_conditions{condition="Ready",kind="SecretSync",status="True"}') >= 1
    assert "keybearer_reconcile_errors_total" in scene.operator.metrics()


def test_the_service_counts_requests_by_their_routes(scene: Scene) -> None:
    told = scene.service_metrics()
    assert 'keybearer_server_requests_total{method="GET",route="/api/v4/secrets",status="2xx"}' in told
    assert "keybearer_server_event_streams 1.0" in told
    assert scene.tenant.project.id not in told, "an id is of a path, never of a route"
    assert "cnry" not in told
    assert (
        httpx.get(
            f"{scene.metrics_url}/api/status", timeout=PATIENCE_SECONDS, verify=TRUSTS_NOBODY
        ).status_code
        == 404
    )
    assert (
        httpx.get(f"{scene.service.url}/metrics", timeout=PATIENCE_SECONDS, verify=TRUSTS_NOBODY).status_code
        == 404
    )
