"""`refreshMounts` on real nodes: mounted files show each change of a secret before a kubelet looks by itself."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import pytest

from support.real_nodes import pod, until_ready
from support.tenant import Tenant, open_tenant
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin
from tools.local.waiting import PROBE_SECONDS, TEST_SECONDS, eventually
from tools.node.cluster import NodeCluster

# By a kubelet's own pace, which is a look a minute, the changes would take an hour and a half.
pytestmark = [pytest.mark.system, pytest.mark.timeout(2 * TEST_SECONDS)]

_CHANGES = 100
_PODS = 10
"""They change in turn: a kubelet that has just looked at a pod waits up to a second before it looks again."""
_PORT = 8080


@pytest.fixture(scope="module")
def tenant(node_cluster: NodeCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tenant]:
    """A namespace with a project and an identity, served by an operator with the right on pods."""
    directory = tmp_path_factory.mktemp("refreshed-mounts")
    with (
        KubeApi(node_cluster.plane.admin_kubeconfig) as api,
        RestartableService(directory) as service,
        ServiceAdmin(service) as admin,
    ):
        values = {"operator": {"refreshMounts": {"enabled": True}}}
        installed = install_operator(node_cluster.plane, api, values)
        flags = [f"--service-url={service.url}", *installed.lease_flags()]
        operator = OperatorProcess(installed.kubeconfig, directory, flags)
        operator.start()
        try:
            project = admin.new_project("fresh")
            yield open_tenant(api, "fresh", project, admin.new_login(project.id))
            operator.check()
        finally:
            operator.terminate()


def test_each_change_is_in_the_file_at_once(
    node_cluster: NodeCluster, tenant: Tenant, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"refreshed-{number}" for number in range(_PODS)]
    for name in names:
        tenant.project.folder(f"/{name}")
        _store(tenant, name, 0)
        tenant.sync(name, source=tenant.source(secretPath=f"/{name}"), target={"refreshMounts": True})
    tenant.sync("plain", source=tenant.source(secretPath=f"/{names[0]}"))
    for name in (*names, "plain"):
        tenant.until_ready(name)
        tenant.until_updates(name)
    taken = list[float]()
    with _mounted(node_cluster, tenant, [*names, "plain"]) as files:
        plain = files.pop()
        began, shown = time.monotonic(), None
        for number in range(1, _CHANGES + 1):
            chosen = number % _PODS
            stored = time.monotonic()
            _store(tenant, names[chosen], number)
            _until(files[chosen], number)
            taken.append(time.monotonic() - stored)
            if shown is None and _read(plain) > 0:
                shown = time.monotonic() - began
        if shown is None:
            eventually(lambda: _read(plain) > 0, awaited="a change in the file of the other pod")
            shown = time.monotonic() - began
        annotations = tenant.api.get("Pod", tenant.namespace, "plain")["metadata"].get("annotations", {})
    assert not [name for name in annotations if name.startswith("keybearer.dev/")]
    median, p99 = statistics.median(taken), sorted(taken)[-(-_CHANGES * 99 // 100) - 1]
    with capsys.disabled():
        sys.stdout.write(
            f"\n{_CHANGES} changes, from the service to the mounted file: p50 {median:.2f} s, p99 {p99:.2f} s;"
            f" without refreshMounts another pod showed a change after {shown:.0f} s\n"
        )


@contextmanager
def _mounted(cluster: NodeCluster, tenant: Tenant, names: Sequence[str]) -> Iterator[list[str]]:
    """Yield where pods that mount the Secrets of their own names serve the file."""
    for name in names:
        volumes = [{"name": "secret", "secret": {"secretName": name}}]
        mount = {"volumeMounts": [{"name": "secret", "mountPath": "/etc/secret", "readOnly": True}]}
        script = f"exec httpd -f -p {_PORT} -h /etc/secret"
        body = pod(tenant.namespace, name, script, volumes=volumes, container=mount)
        cluster.plane.kubectl("create", "--filename=-", input=json.dumps(body))
    until_ready(cluster, tenant.namespace, *names)
    addresses = [tenant.api.get("Pod", tenant.namespace, name)["status"]["podIP"] for name in names]
    yield [f"http://{address}:{_PORT}/NUMBER" for address in addresses]
    for name in names:
        tenant.api.delete("Pod", tenant.namespace, name)


def _store(tenant: Tenant, name: str, number: int) -> None:
    tenant.project.store({"NUMBER": f"cnry-{number}"}, path=f"/{name}")


def _until(file: str, number: int) -> None:
    eventually(lambda: _read(file) == number, awaited=f"change {number} in the mounted file")


def _read(file: str) -> int:
    text = httpx.get(file, timeout=PROBE_SECONDS, trust_env=False).text
    return int(text.removeprefix("cnry-"))
