"""Nodes that run pods: what a cluster of `tools.node` promises, and what it leaves behind."""

from __future__ import annotations

import base64
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from support.real_nodes import Traces, descendants, pod, until_ready
from support.secretsync_objects import secret
from tools.chart.rendering import ROOT
from tools.controlplane.binaries import control_plane_binaries
from tools.local.kube_api import Body, KubeApi
from tools.local.waiting import PATIENCE_SECONDS, PROBE_SECONDS, TEST_SECONDS, eventually
from tools.node.cluster import NodeCluster
from tools.node.settings import node_name

pytestmark = [pytest.mark.system, pytest.mark.timeout(2 * TEST_SECONDS)]

_STAY = "sleep infinity"
_SERVE = "mkdir -p /tmp/www && hostname > /tmp/www/index.html && exec httpd -f -p 8080 -h /tmp/www"
_SETTINGS = ("kernel/panic", "kernel/panic_on_oops", "vm/overcommit_memory", "vm/panic_on_oom")


@pytest.fixture(scope="module")
def api(node_cluster: NodeCluster) -> Iterator[KubeApi]:
    with KubeApi(node_cluster.plane.admin_kubeconfig) as client:
        yield client


@pytest.fixture
def namespace(api: KubeApi, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace that holds its pods to the strictest standard."""
    name = re.sub(r"[^a-z0-9]+", "-", request.node.name.removeprefix("test_"))[:60].strip("-")
    api.create_namespace(name, {"pod-security.kubernetes.io/enforce": "restricted"})
    yield name
    api.delete("Namespace", "", name)


def test_a_restricted_pod_runs_and_is_read_and_entered(node_cluster: NodeCluster, namespace: str) -> None:
    _create(node_cluster, pod(namespace, "told", f"echo begun as $(id -u); {_STAY}"))
    until_ready(node_cluster, namespace, "told")
    assert _kubectl(node_cluster, namespace, "logs", "told") == "begun as 65532\n"
    status = _exec(node_cluster, namespace, "told", "cat /proc/self/status")
    said = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert (said["NoNewPrivs"], said["Seccomp"], said["CapEff"]) == ("1", "2", "0" * 16)
    refused = _exec(node_cluster, namespace, "told", "touch /anything 2>&1 || true")
    assert "Read-only file system" in refused
    given = node_cluster.plane.kubectl(
        f"--namespace={namespace}", "exec", "--stdin", "told", "--", "cat", input="through the API server"
    )
    assert given == "through the API server"


def test_a_changed_secret_is_in_the_mounted_file_once_the_pod_is_looked_at(
    node_cluster: NodeCluster, api: KubeApi, namespace: str
) -> None:
    api.create(secret(namespace, "mounted", {"password": "cnry-first"}))
    volumes = [{"name": "secret", "secret": {"secretName": "mounted"}}]
    mount = {"volumeMounts": [{"name": "secret", "mountPath": "/etc/secret", "readOnly": True}]}
    _create(node_cluster, pod(namespace, "reader", _STAY, volumes=volumes, container=mount))
    until_ready(node_cluster, namespace, "reader")
    read = "cat /etc/secret/password"
    assert _exec(node_cluster, namespace, "reader", read) == "cnry-first"
    changed = base64.b64encode(b"cnry-second").decode()
    api.patch("Secret", namespace, "mounted", {"data": {"password": changed}})
    # By itself the kubelet looks within some minutes; a pod that changes is looked at now.
    _kubectl(node_cluster, namespace, "annotate", "pod", "reader", "looked-at=now")
    eventually(
        lambda: _exec(node_cluster, namespace, "reader", read) == "cnry-second",
        awaited="the changed value in the file",
    )


def test_pods_of_two_nodes_reach_each_other_services_names_and_this_machine(
    node_cluster: NodeCluster, namespace: str
) -> None:
    for index in (1, 2):
        name = f"web-{index}"
        _create(node_cluster, _web_server(namespace, name, nodeName=node_name(index)))
        _kubectl(node_cluster, namespace, "expose", "pod", name, "--port=80", "--target-port=8080")
    until_ready(node_cluster, namespace, "web-1", "web-2")
    addresses = {
        name: _at(node_cluster, namespace, "pod", name, "{.status.podIP}") for name in ("web-1", "web-2")
    }
    cluster_ip = _at(node_cluster, namespace, "service", "web-2", "{.spec.clusterIP}")
    with _http_server(node_cluster.address, "from this machine") as port:
        reached = {
            what: _get(node_cluster, namespace, "web-1", url)
            for what, url in {
                "a pod of another node": f"http://{addresses['web-2']}:8080",
                "its address": f"http://{cluster_ip}",
                "its short name": "http://web-2",
                "its full name": f"http://web-2.{namespace}.svc.cluster.local",
                "a Service that leads to the pod itself": f"http://web-1.{namespace}",
                "this machine": f"http://{node_cluster.address}:{port}",
            }.items()
        }
    assert reached == {
        "a pod of another node": "web-2\n",
        "its address": "web-2\n",
        "its short name": "web-2\n",
        "its full name": "web-2\n",
        "a Service that leads to the pod itself": "web-1\n",
        "this machine": "from this machine",
    }
    # The API server, which speaks TLS only, says so under its name.
    said = _exec(
        node_cluster,
        namespace,
        "web-1",
        "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc kubernetes.default 443",
    )
    assert "sent an HTTP request to an HTTPS server" in said
    # And the other way round.
    for name, address in addresses.items():
        assert httpx.get(f"http://{address}:8080", timeout=PROBE_SECONDS, trust_env=False).text == f"{name}\n"


def test_a_name_that_is_not_of_the_cluster_is_refused_at_once(
    node_cluster: NodeCluster, namespace: str
) -> None:
    _create(node_cluster, pod(namespace, "asking", _STAY))
    until_ready(node_cluster, namespace, "asking")
    said = _exec(node_cluster, namespace, "asking", "nslookup keybearer.example 2>&1 || true")
    assert "NXDOMAIN" in said, said


def test_a_port_of_a_pod_is_forwarded(node_cluster: NodeCluster, namespace: str) -> None:
    _create(node_cluster, _web_server(namespace, "far"))
    until_ready(node_cluster, namespace, "far")
    with subprocess.Popen(
        [
            control_plane_binaries().kubectl,
            f"--kubeconfig={node_cluster.plane.admin_kubeconfig}",
            f"--namespace={namespace}",
            *("port-forward", "pod/far", ":8080"),
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as forwarding:
        try:
            assert forwarding.stdout is not None
            found = re.match(r"Forwarding from 127\.0\.0\.1:(\d+)", forwarding.stdout.readline())
            assert found is not None
            eventually(
                lambda: _answer(f"http://127.0.0.1:{found[1]}") == "far\n",
                awaited="an answer through the forwarded port",
            )
        finally:
            forwarding.terminate()


def test_draining_a_node_moves_its_pods_to_the_other_one(
    node_cluster: NodeCluster, api: KubeApi, namespace: str
) -> None:
    template = pod(namespace, "moved", _STAY, terminationGracePeriodSeconds=1)
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": namespace, "name": "moved"},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "moved"}},
            "template": {"metadata": {"labels": {"app": "moved"}}, "spec": template["spec"]},
        },
    }
    _kubectl(node_cluster, namespace, "cordon", node_name(2))
    try:
        api.create(deployment)
        _until_placed(node_cluster, namespace, {node_name(1)})
        _kubectl(node_cluster, namespace, "uncordon", node_name(2))
        # By force: namespaces of other tests may be about to go, with pods that nobody would make anew.
        _kubectl(node_cluster, namespace, "drain", node_name(1), "--force", "--delete-emptydir-data")
        _until_placed(node_cluster, namespace, {node_name(2)})
        # The cluster's DNS, which was drained too, has moved as well.
        eventually(
            lambda: (
                "10.96.0.1"
                in _exec(
                    node_cluster, namespace, "deployment/moved", "nslookup kubernetes.default 2>&1 || true"
                )
            ),
            awaited="an answer of DNS",
        )
    finally:
        for index in (1, 2):
            _kubectl(node_cluster, namespace, "uncordon", node_name(index))


def test_the_machines_own_settings_stay(node_cluster: NodeCluster) -> None:
    # A kubelet sets them for the whole kernel; it sees its own values.
    first = node_cluster.nodes[0].namespaces.pid
    seen = {name: Path(f"/proc/{first}/root/proc/sys/{name}").read_text().strip() for name in _SETTINGS}
    assert seen == {
        "kernel/panic": "10",
        "kernel/panic_on_oops": "1",
        "vm/overcommit_memory": "1",
        "vm/panic_on_oom": "0",
    }
    mounted = Path(f"/proc/{first}/mountinfo").read_text()
    assert all(f" /proc/sys/{name} " in mounted for name in _SETTINGS)


@pytest.mark.usefixtures("fit_machine")
def test_the_command_gives_a_cluster_and_leaves_nothing_also_after_a_kill(tmp_path: Path) -> None:
    first = _Command(tmp_path / "first.log")
    try:
        _run_a_pod_with_a_secret(first)
        killed = first.traces()
        first.process.kill()
    finally:
        first.end()
    second = _Command(tmp_path / "second.log")
    try:
        # All but what only the next start can clear was gone with the command; by now that is as well.
        assert killed.left() == {}
        traces = second.traces()
        assert traces.record.name != killed.record.name
        second.process.send_signal(signal.SIGTERM)
        assert second.process.wait(PATIENCE_SECONDS) == 0, second.log()
    finally:
        second.end()
    assert traces.left() == {}


@pytest.mark.usefixtures("fit_machine")
def test_a_cluster_that_is_stopped_leaves_nothing(tmp_path: Path) -> None:
    settings = {name: Path("/proc/sys", name).read_text() for name in _SETTINGS}
    before = descendants(os.getpid())
    with NodeCluster(log_directory=tmp_path) as cluster:
        _create(cluster, pod("default", "left", _STAY))
        until_ready(cluster, "default", "left")
        traces = Traces.of(cluster.address, os.getpid(), apart_from=before)
        assert traces.left().keys() == {
            *("processes", "interfaces", "routes", "cgroups", "files", "records"),
        }
    assert traces.left() == {}
    assert {name: Path("/proc/sys", name).read_text() for name in _SETTINGS} == settings
    assert {path.name for path in tmp_path.iterdir()} >= {"node-1-kubelet.log", "control-plane"}


class _Command:
    """`python -m tools.node`, ready."""

    def __init__(self, log: Path) -> None:
        self._log = log
        with log.open("wb") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tools.node"],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.log()
        self.ready: Body = json.loads(line)

    def log(self) -> str:
        return self._log.read_text()

    def kubectl(self, *arguments: str, given: str = "") -> str:
        return subprocess.run(
            [control_plane_binaries().kubectl, f"--kubeconfig={self.ready['kubeconfig']}", *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_SECONDS,
            check=True,
        ).stdout

    def traces(self) -> Traces:
        return Traces.of(self.ready["machine"], self.process.pid)

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def _run_a_pod_with_a_secret(command: _Command) -> None:
    manifest = pod(
        "default",
        "left",
        _STAY,
        volumes=[{"name": "secret", "secret": {"secretName": "left"}}],
        container={"volumeMounts": [{"name": "secret", "mountPath": "/etc/secret"}]},
    )
    command.kubectl("create", "secret", "generic", "left", "--from-literal=a=b")
    command.kubectl("apply", "--filename=-", given=json.dumps(manifest))
    command.kubectl("wait", "--for=condition=Ready", "pod/left", f"--timeout={PATIENCE_SECONDS:g}s")
    assert command.kubectl("exec", "left", "--", "cat", "/etc/secret/a") == "b"


def _web_server(namespace: str, name: str, **spec: object) -> Body:
    """A pod that answers with its name, at port 8080."""
    container = {
        "volumeMounts": [{"name": "scratch", "mountPath": "/tmp"}],  # noqa: S108 - of the container
        "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1},
    }
    volumes = [{"name": "scratch", "emptyDir": {}}]
    return pod(namespace, name, _SERVE, container=container, volumes=volumes, **spec)


def _create(cluster: NodeCluster, manifest: Body) -> None:
    cluster.plane.kubectl("create", "--filename=-", input=json.dumps(manifest))


def _kubectl(cluster: NodeCluster, namespace: str, *arguments: str) -> str:
    return cluster.plane.kubectl(f"--namespace={namespace}", *arguments)


def _exec(cluster: NodeCluster, namespace: str, name: str, script: str) -> str:
    return _kubectl(cluster, namespace, "exec", name, "--", "sh", "-c", script)


# With a time limit of its own, wget of Debian's static busybox ends with a segmentation fault.
def _get(cluster: NodeCluster, namespace: str, name: str, url: str) -> str:
    return eventually(
        lambda: (
            _exec(cluster, namespace, name, f"timeout {math.ceil(PROBE_SECONDS)} wget -qO- {url} || true")
            or None
        ),
        awaited=f"an answer of {url} in the pod {name}",
    )


def _at(cluster: NodeCluster, namespace: str, kind: str, name: str, path: str) -> str:
    return _kubectl(cluster, namespace, "get", kind, name, f"--output=jsonpath={path}")


def _until_placed(cluster: NodeCluster, namespace: str, nodes: set[str]) -> None:
    def placed() -> bool:
        listed = json.loads(_kubectl(cluster, namespace, "get", "pods", "--output=json"))["items"]
        return (
            len(listed) == 2
            and {one["spec"].get("nodeName") for one in listed} == nodes
            and all(one["status"].get("phase") == "Running" for one in listed)
        )

    eventually(
        placed, awaited=f"both pods on {nodes}", told=lambda: _kubectl(cluster, namespace, "get", "pods")
    )


def _answer(url: str) -> str | None:
    try:
        return httpx.get(url, timeout=PROBE_SECONDS, trust_env=False).text
    except httpx.TransportError:
        return None


@contextmanager
def _http_server(address: str, text: str) -> Iterator[int]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((address, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()
