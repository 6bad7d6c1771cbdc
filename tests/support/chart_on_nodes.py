"""The chart, installed by Helm on real nodes from the image of a release, and what a test asks of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from support.pasted import Shell
from support.pod_logs import PodLogs
from support.real_nodes import add_volumes, descendants
from support.release_shell import RELEASE_NAMESPACE, ReleaseShell
from support.releases import Release
from support.secretsync_objects import namespace
from tools.chart.rendering import CHART, Json
from tools.local.kube_api import Body, KubeApi
from tools.local.waiting import PATIENCE_SECONDS, eventually
from tools.node.cluster import NodeCluster

__all__ = ["IMAGE", "InstalledChart", "chart_on_nodes", "is_ready"]

IMAGE = "registry.example.com/keybearer"
_VOLUMES = 3


@dataclass(frozen=True, slots=True)
class InstalledChart(ReleaseShell):
    """A cluster with the release, and a shell whose chart is that of the checkout.

    Attributes:
        cluster: whose nodes run it.
    """

    cluster: NodeCluster

    def kubectl(self, *arguments: str, given: str | None = None) -> str:
        """Return what kubectl printed, in the namespace of the release."""
        return self.cluster.plane.kubectl(f"--namespace={RELEASE_NAMESPACE}", *arguments, input=given)

    def pods(self, component: str) -> list[Body]:
        """Pods of a component that are not about to go, in order of their names."""
        listed = json.loads(
            self.kubectl("get", "pods", f"-lapp.kubernetes.io/component={component}", "--output=json")
        )
        return [one for one in listed["items"] if "deletionTimestamp" not in one["metadata"]]

    def until_ready(self, component: str, count: int) -> list[Body]:
        """Return the pods of a component once so many of them are ready."""

        def ready() -> list[Body] | None:
            found = [one for one in self.pods(component) if is_ready(one)]
            return found if len(found) == count else None

        return eventually(ready, awaited=f"a readiness of {count} x {component}", told=self.told)

    def told(self) -> str:
        """What is known of the pods, for whoever finds them failing."""
        return self.kubectl("describe", "pods") + self.logs.told()

    def process_of(self, pod: Body) -> int:
        """Return the number that this machine has for the first process of the pod's container."""
        (status,) = pod["status"]["containerStatuses"]
        container = status["containerID"].rpartition("/")[2]
        found = [pid for pid in _below_us() if container in _cgroups(pid) and _is_first(pid)]
        assert len(found) == 1, found
        return found[0]

    def volume(self, claim: str) -> Path:
        """Return the directory of this machine that is the volume of a claim."""
        name = self.api.send("GET", f"/api/v1/namespaces/{RELEASE_NAMESPACE}/persistentvolumeclaims/{claim}")[
            "spec"
        ]["volumeName"]
        volume = self.api.send("GET", f"/api/v1/persistentvolumes/{name}")
        return Path(volume["spec"]["hostPath"]["path"])


@contextmanager
def chart_on_nodes(
    cluster: NodeCluster, released: Release, directory: Path, values: Mapping[str, Json]
) -> Iterator[InstalledChart]:
    """Yield the chart on a cluster, installed with these values and ready.

    Args:
        cluster: has no other release.
        released: whose image the pods run; the chart is that of the checkout.
        directory: exists; gets what commands leave.
        values: besides the image.
    """
    version = yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"]
    with ExitStack() as stack:
        api = stack.enter_context(KubeApi(cluster.plane.admin_kubeconfig))
        cluster.load(released.image, names=[f"{IMAGE}:{version}"])
        add_volumes(cluster, _VOLUMES)
        # The pods meet the strictest standard, or they aren't made.
        api.create(namespace(RELEASE_NAMESPACE, {"pod-security.kubernetes.io/enforce": "restricted"}))
        shell = Shell(directory / "checkout", cluster.plane.admin_kubeconfig)
        logs = stack.enter_context(PodLogs(cluster, RELEASE_NAMESPACE))
        installed = InstalledChart(api, shell, logs, cluster)
        (shell.directory / "values.json").write_text(json.dumps({"image": {"repository": IMAGE}, **values}))
        installed.run(
            f"helm install keybearer charts/keybearer --namespace {RELEASE_NAMESPACE} --values values.json --wait"
            f" --timeout {PATIENCE_SECONDS:g}s"
        )
        yield installed


def is_ready(pod: Body) -> bool:
    """Whether the kubelet says so."""
    conditions = pod["status"].get("conditions", ())
    return any((one["type"], one["status"]) == ("Ready", "True") for one in conditions)


def _below_us() -> list[int]:
    return sorted(process.pid for process in descendants(os.getpid()))


def _cgroups(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cgroup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _is_first(pid: int) -> bool:
    """Whether it is process 1 where it runs."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return bool(re.search(r"^NSpid:.*\t1$", status, re.MULTILINE))
