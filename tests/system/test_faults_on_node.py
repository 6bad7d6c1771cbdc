"""Faults of a node as docs/operations.md tells of them: Secrets stay, all comes back, nothing is written twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from keybearer.client import ChangedSecret, Keybearer, ServerFailure
from support.chart_on_nodes import InstalledChart, chart_on_nodes, is_ready
from support.release_shell import RELEASE_NAMESPACE
from support.releases import RELEASE_SECONDS, Release
from support.secretsync_objects import decoded, identity_secret, message_of, namespace, reason_of, secret_sync
from tools.chart.rendering import Json
from tools.local.kube_api import Body
from tools.local.waiting import PATIENCE_SECONDS, eventually
from tools.node.cluster import NodeCluster
from tools.node.namespaces import run_command

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_TEAM, _SYNC = "team", "web"
_IMPATIENT: Mapping[str, Json] = {
    "startup": {"periodSeconds": 1, "failureThreshold": 100},
    "liveness": {"periodSeconds": 1, "timeoutSeconds": 3, "failureThreshold": 4},
    "readiness": {"periodSeconds": 1, "timeoutSeconds": 3},
}
_VALUES: Mapping[str, Json] = {
    # As shipped but for how long is waited for what hangs, and for limits that are soon reached.
    "operator": {
        "probes": _IMPATIENT,
        "terminationGracePeriodSeconds": 3,
        "resources": {"requests": {"memory": "64Mi"}, "limits": {"memory": "256Mi"}},
    },
    "embeddedService": {
        "probes": _IMPATIENT,
        "terminationGracePeriodSeconds": 3,
        "resources": {"requests": {"memory": "64Mi"}, "limits": {"memory": "384Mi"}},
    },
}
_OUTAGE_SECONDS = 120
_NODE_MAY_BE_SILENT_SECONDS = 60
"""The controller manager gives a node up after 50."""
_TMP_MIB = 64
"""Of the chart's volumes at /tmp."""
_FULL_VOLUME, _FILLER = "24m", "filler"


@dataclass(frozen=True, slots=True)
class _Scene:
    """A SecretSync in step with a project that the first administrator fills."""

    chart: InstalledChart
    project: str

    def store(self, client: Keybearer, value: str) -> None:
        """The one secret of the project has this value."""
        client.secrets.update_many(
            (ChangedSecret("PASSWORD", value),), mode="upsert", project_id=self.project, environment="dev"
        )

    def source(self, client: Keybearer) -> dict[str, str]:
        """What the service has now."""
        listed = client.secrets.list(project_id=self.project, environment="dev")
        return {one.secret_key: one.secret_value for one in listed}

    def target(self) -> dict[str, str]:
        """What workloads have now."""
        found = self.chart.api.find("Secret", _TEAM, _SYNC)
        return {} if found is None else decoded(found)

    def until_synced(self, value: str) -> None:
        """Workloads have this value, and the SecretSync says so."""
        eventually(
            lambda: self.target() == {"PASSWORD": value} and reason_of(self.sync()) == "Synced",
            awaited="the new value in the Secret",
            within=2 * PATIENCE_SECONDS,
            told=lambda: message_of(self.sync()) + self.chart.told(),
        )

    def sync(self) -> Body:
        """The SecretSync."""
        return self.chart.api.get("SecretSync", _TEAM, _SYNC)

    @contextmanager
    def written_once(self) -> Iterator[None]:
        """Within, the Secret is written once: for the one change that somebody makes."""
        since = self.chart.api.get("Secret", _TEAM, _SYNC)["metadata"]["resourceVersion"]
        yield
        events = self.chart.api.history("Secret", _TEAM, since)
        assert [event for event, name in events if name == _SYNC] == ["MODIFIED"]

    def leader(self) -> Body:
        """The pod of the operator that leads."""

        def found() -> Body | None:
            path = f"/apis/coordination.k8s.io/v1/namespaces/{RELEASE_NAMESPACE}/leases/keybearer-operator"
            holder = self.chart.api.send("GET", path)["spec"].get("holderIdentity") or ""
            return next(
                (
                    one
                    for one in self.chart.pods("operator")
                    if is_ready(one) and holder.startswith(one["metadata"]["name"])
                ),
                None,
            )

        return eventually(found, awaited="a leader that is ready", told=self.chart.told)

    def service(self) -> Body:
        """The pod of the service."""
        (pod,) = self.chart.until_ready("service", 1)
        return pod

    def until_whole(self) -> None:
        """All that is to run is ready."""
        self.chart.until_ready("operator", 2)
        self.chart.until_ready("service", 1)


@pytest.fixture(scope="module")
def scene(
    fit_machine: None,  # noqa: ARG001 - which may skip
    released: Release,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[_Scene]:
    with (
        NodeCluster() as cluster,
        chart_on_nodes(cluster, released, tmp_path_factory.mktemp("faults"), _VALUES) as chart,
    ):
        with chart.administrator() as client:
            made = _Scene(chart, client.projects.create("my-shop", slug="my-shop").id)
            made.store(client, "cnry-0")
        admin = decoded(chart.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-admin"))
        chart.api.create(namespace(_TEAM))
        chart.api.create(identity_secret(_TEAM, "identity", admin))
        source = {"projectId": made.project, "environment": "dev"}
        chart.api.create(secret_sync(_TEAM, _SYNC, {"identityRef": {"name": "identity"}, "source": source}))
        made.until_synced("cnry-0")
        yield made
        assert not [name for name, text in chart.logs.of_pods().items() if "cnry-" in text]


def test_who_hangs_is_killed_by_its_probe_and_all_goes_on(scene: _Scene) -> None:
    before = scene.target()
    leader, service = scene.leader(), scene.service()
    with scene.written_once():
        for pod in (leader, service):
            os.kill(scene.chart.process_of(pod), signal.SIGSTOP)
        for pod in (leader, service):
            ended = _until_restarted(scene, pod)
            # By SIGKILL, since what hangs doesn't hear of SIGTERM.
            assert ended["exitCode"] == 128 + signal.SIGKILL
        assert scene.target() == before
        scene.until_whole()
        events = scene.chart.kubectl("get", "events", "--field-selector=reason=Unhealthy")
        assert "Liveness probe failed" in events
        _change(scene, "cnry-1")


def test_who_takes_more_memory_than_its_limit_is_started_again_and_all_goes_on(scene: _Scene) -> None:
    before = scene.target()
    leader, service = scene.leader(), scene.service()
    with scene.written_once():
        for pod in (leader, service):
            _use_up_memory(scene.chart.process_of(pod))
        for pod in (leader, service):
            assert _until_restarted(scene, pod)["reason"] == "OOMKilled"
        assert scene.target() == before
        scene.until_whole()
        _change(scene, "cnry-2")


def test_who_is_evicted_is_replaced_and_all_goes_on(scene: _Scene) -> None:
    before = scene.target()
    evicted = (scene.leader(), scene.service())
    with scene.written_once():
        for pod in evicted:
            script = f"open('/tmp/filler', 'wb').write(bytes({_TMP_MIB + 8} << 20))"
            scene.chart.kubectl("exec", pod["metadata"]["name"], "--", "python", "-c", script)
        _until_replaced(scene, evicted)
        assert scene.target() == before
        scene.until_whole()
        _change(scene, "cnry-3")
    assert "exceeds the limit" in scene.chart.kubectl("get", "events", "--field-selector=reason=Evicted")


def test_a_node_without_its_api_server_goes_on_and_catches_up(scene: _Scene) -> None:
    before, service = scene.target(), scene.service()
    operators = _operators(scene)
    with scene.written_once(), scene.chart.administrator() as client:
        with _cut_off(scene.chart.cluster):
            over = time.monotonic() + _OUTAGE_SECONDS
            scene.store(client, "cnry-4")
            eventually(
                lambda: _node_is_ready(scene) == "Unknown",
                awaited="a node that was given up",
                within=max(PATIENCE_SECONDS, _NODE_MAY_BE_SILENT_SECONDS),
            )
            # It is the outage itself that lasts.
            while time.monotonic() < over:
                assert scene.target() == before
                time.sleep(1)
        eventually(lambda: _node_is_ready(scene) == "True", awaited="a node that is back")
        scene.until_synced("cnry-4")
        scene.until_whole()
    # Nobody was put elsewhere. Who led has ended and was started again; the service has not noticed.
    assert _operators(scene).keys() == operators.keys()
    assert sum(_operators(scene).values()) == sum(operators.values()) + 1
    assert _restarts(scene.service()) == _restarts(service)
    assert scene.service()["metadata"]["uid"] == service["metadata"]["uid"]


def test_a_service_on_a_full_volume_reads_on_and_writes_once_there_is_room(scene: _Scene) -> None:
    with _small_volume(scene) as volume:
        service, before = scene.service(), scene.target()
        with scene.written_once():
            with scene.chart.administrator() as client:
                assert scene.source(client) == before
                filler = _fill(scene, volume)
                with pytest.raises(ServerFailure, match="the volume of the database is full"):
                    scene.store(client, "cnry-5")
                assert scene.source(client) == before
                # The operator reads as well.
                scene.chart.api.patch("SecretSync", _TEAM, _SYNC, _asked("with a full volume"))
                eventually(
                    lambda: scene.sync()["status"].get("lastHandledRequestedAt") == "with a full volume",
                    awaited="an answer of the operator",
                    told=lambda: message_of(scene.sync()),
                )
                assert reason_of(scene.sync()) == "Synced"
                assert scene.target() == before
                eventually(lambda: "NoRoomError" in _log_of(scene), awaited="a word in the log")
                _in_node(scene, "rm", str(filler))
                scene.store(client, "cnry-5")
            scene.until_synced("cnry-5")
        assert _restarts(scene.service()) == _restarts(service) == 0
        assert "request_failed" not in _log_of(scene)


def _change(scene: _Scene, value: str) -> None:
    """A change in the service reaches the Secret."""
    with scene.chart.administrator() as client:
        scene.store(client, value)
    scene.until_synced(value)


def _status(pod: Body) -> Body:
    (status,) = pod["status"]["containerStatuses"]
    found: Body = status
    return found


def _restarts(pod: Body) -> int:
    return int(_status(pod)["restartCount"])


def _operators(scene: _Scene) -> dict[str, int]:
    """How often each pod of the operator that is ready was started again, by its UID."""
    ready = scene.chart.until_ready("operator", 2)
    return {one["metadata"]["uid"]: _restarts(one) for one in ready}


def _until_restarted(scene: _Scene, pod: Body) -> Body:
    """Return how the container ended that ran there."""
    former = _status(pod)["containerID"]

    def ended() -> Body | None:
        now = scene.chart.api.get("Pod", RELEASE_NAMESPACE, pod["metadata"]["name"])
        assert now["metadata"]["uid"] == pod["metadata"]["uid"]
        last = _status(now).get("lastState", {}).get("terminated")
        return last if last and last["containerID"] == former else None

    return eventually(ended, awaited=f"a restart in {pod['metadata']['name']}", told=scene.chart.told)


def _until_replaced(scene: _Scene, evicted: tuple[Body, ...]) -> None:
    gone = {one["metadata"]["uid"] for one in evicted}

    def replaced() -> bool:
        present = [*scene.chart.pods("operator"), *scene.chart.pods("service")]
        ready = [one for one in present if is_ready(one)]
        return len(ready) == 3 and not gone & {one["metadata"]["uid"] for one in ready}

    eventually(
        replaced, awaited="other pods in their place", within=2 * PATIENCE_SECONDS, told=scene.chart.told
    )


# It is no part of the pod, so that the kernel ends the container's own process: that one has a higher oom_score_adj.
_HOG = """
import pathlib, sys
groups, first = sys.argv[1:]
pathlib.Path(groups, "cgroup.procs").write_text("0")
held = []
def runs():
    try:
        return pathlib.Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False
while runs():
    held.append(b"x" * (4 << 20))
"""


def _use_up_memory(process: int) -> None:
    """Memory of the container is used up by another process, until its first one is ended for that."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _HOG, _memory_cgroup(process), str(process)],
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    # Whoever is in the cgroup of a container that ends may be ended with it.
    assert done.returncode in {0, -signal.SIGKILL}


def _memory_cgroup(process: int) -> Path:
    root = Path("/sys/fs/cgroup")
    for line in Path(f"/proc/{process}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return root / "memory" / path.lstrip("/")
        if not controllers and (root / "cgroup.controllers").exists():
            return root / path.lstrip("/")
    raise AssertionError(f"process {process} has no cgroup of memory")


@contextmanager
def _cut_off(cluster: NodeCluster) -> Iterator[None]:
    """Nothing on the node reaches the API server, and nobody tells it so; the API server may ask the kubelet."""
    host, _, port = cluster.plane.server_url.removeprefix("https://").rpartition(":")
    network = cluster.nodes[0].namespaces.network
    chains = "".join(
        f"chain {hook} {{ type filter hook {hook} priority -200; ip daddr {host} tcp dport {port} drop; }}\n"
        for hook in ("output", "forward")
    )

    def nft(*arguments: str, given: str = "") -> None:
        run_command(["nsenter", f"--net={network}", "nft", *arguments], given=given)

    nft("-f", "-", given=f"table inet cut_off {{\n{chains}}}\n")
    try:
        yield
    finally:
        nft("delete", "table", "inet", "cut_off")


def _node_is_ready(scene: _Scene) -> str:
    conditions = scene.chart.api.send("GET", "/api/v1/nodes/node-1")["status"]["conditions"]
    return next(str(one["status"]) for one in conditions if one["type"] == "Ready")


@contextmanager
def _small_volume(scene: _Scene) -> Iterator[Path]:
    """Yield the service's volume, which is a small one within, with the same content."""
    volume = scene.chart.volume("data-keybearer-service-0")

    def started_anew(change: Callable[[], object]) -> None:
        scene.chart.kubectl("scale", "statefulset/keybearer-service", "--replicas=0")
        scene.chart.kubectl(
            "wait", "--for=delete", "pod/keybearer-service-0", f"--timeout={PATIENCE_SECONDS:g}s"
        )
        change()
        scene.chart.kubectl("scale", "statefulset/keybearer-service", "--replicas=1")
        scene.service()

    copied = volume.with_name("copied")

    def make() -> None:
        _in_node(scene, "cp", "-a", str(volume), str(copied))
        _in_node(scene, "mount", "-t", "tmpfs", "-o", f"size={_FULL_VOLUME},mode=0777", "tmpfs", str(volume))
        _in_node(scene, "cp", "-a", f"{copied}/.", str(volume))

    started_anew(make)
    try:
        yield volume
    finally:
        _in_node(scene, "rm", "--force", str(volume / _FILLER))


def _log_of(scene: _Scene) -> str:
    """What the service has logged since its latest start."""
    logged = scene.chart.logs.of_pods()["keybearer-service-0"]
    return logged.rpartition("Started server process")[2]


def _fill(scene: _Scene, volume: Path) -> Path:
    """No byte is left on the volume; return the file that takes it all."""
    filler = volume / _FILLER
    _in_node(scene, "sh", "-c", f"! dd if=/dev/zero of={filler} bs=4096 2>/dev/null")
    return filler


def _in_node(scene: _Scene, *command: str) -> str:
    process = scene.chart.cluster.nodes[0].namespaces.pid
    return run_command(["nsenter", f"--mount=/proc/{process}/ns/mnt", *command])


def _asked(when: str) -> Body:
    annotations = {"keybearer.dev/request": "sync", "keybearer.dev/requestedAt": when}
    return {"metadata": {"annotations": annotations}}
