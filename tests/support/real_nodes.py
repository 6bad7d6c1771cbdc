"""A cluster whose nodes run pods, for tests of the system tier; and what such a cluster leaves on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from support.system_tools import not_run
from tools.local.waiting import eventually
from tools.node.cluster import BUSYBOX_IMAGE, NodeCluster
from tools.node.machine import shortcomings
from tools.node.network import Addresses
from tools.node.records import RECORDS, Record

__all__ = ["Traces", "add_volumes", "descendants", "fit_machine", "node_cluster", "pod", "until_ready"]

_COUNT = 2


@pytest.fixture(scope="session")
def fit_machine(request: pytest.FixtureRequest) -> None:
    """Skip the test on a machine that can't have nodes, and note it in the last line of the run."""
    found = shortcomings()
    if found:
        not_run(request.config, "nodes", "; ".join(found))


@pytest.fixture(scope="module")
def node_cluster(fit_machine: None) -> Iterator[NodeCluster]:  # noqa: ARG001 - which may skip
    """Yield one cluster of two nodes for a module; tests keep apart by namespaces of their own."""
    with NodeCluster(_COUNT) as cluster:
        yield cluster


def pod(namespace: str, name: str, script: str, **spec: Any) -> dict[str, Any]:  # noqa: ANN401 - its JSON
    """A pod that meets the standard `restricted` and runs a script of busybox.

    Args:
        namespace: where.
        name: of the pod, its label `app`, and its container.
        script: ends when the pod is to end.
        spec: of the pod, besides; `container` is merged into its container.
    """
    container = {
        "name": name,
        "image": BUSYBOX_IMAGE,
        "command": ["sh", "-c", script],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        **spec.pop("container", {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": {"app": name}},
        "spec": {
            "containers": [container],
            "securityContext": {
                "runAsNonRoot": True,
                "runAsUser": 65532,
                "runAsGroup": 65532,
                "fsGroup": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "terminationGracePeriodSeconds": 0,
            **spec,
        },
    }


def add_volumes(cluster: NodeCluster, count: int, first: int = 0) -> None:
    """So many claims that name no class get a volume: a directory of this machine that everybody may write in.

    Args:
        cluster: whose nodes all reach these directories.
        count: how many.
        first: number of the first one; no other volume of the cluster has, or had, these numbers.
    """
    for number in range(first, first + count):
        directory = cluster.directory / f"volume-{number}"
        directory.mkdir()
        directory.chmod(0o777)
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": f"volume-{number}"},
            "spec": {
                "capacity": {"storage": "100Gi"},
                "accessModes": ["ReadWriteOnce"],
                "persistentVolumeReclaimPolicy": "Retain",
                "hostPath": {"path": str(directory), "type": "Directory"},
            },
        }
        cluster.plane.kubectl("create", "--filename=-", input=json.dumps(volume))


def until_ready(cluster: NodeCluster, namespace: str, *names: str) -> None:
    """All of these pods are ready; with what is known of them where they don't become so."""

    def ready() -> bool:
        listed = json.loads(cluster.plane.kubectl("get", "pods", f"--namespace={namespace}", "--output=json"))
        found = {
            one["metadata"]["name"]
            for one in listed["items"]
            for condition in one["status"].get("conditions", ())
            if (condition["type"], condition["status"]) == ("Ready", "True")
        }
        return found >= set(names)

    eventually(
        ready,
        awaited=f"a readiness of {', '.join(names)}",
        told=lambda: cluster.plane.kubectl("describe", "pods", f"--namespace={namespace}"),
    )


@dataclass(frozen=True, slots=True)
class Traces:
    """What a cluster has on this machine.

    Attributes:
        record: of the cluster.
        processes: of the program that started it.
    """

    record: Record
    processes: frozenset[psutil.Process]

    @classmethod
    def of(cls, address: str, parent: int, *, apart_from: frozenset[psutil.Process] = frozenset()) -> Traces:
        """Look at the cluster that reaches this machine there, while it runs below the process `parent`.

        Args:
            address: of this machine, for the cluster.
            parent: has no other cluster but in the processes `apart_from`.
            apart_from: processes that are not the cluster's.
        """
        records = (Record(**json.loads(file.read_text())) for file in RECORDS.glob("*.json"))
        (record,) = (one for one in records if Addresses(one.number).machine == address)
        return cls(record, descendants(parent) - apart_from)

    def left(self) -> Mapping[str, Sequence[object]]:
        """What there is of it now, by kinds; an empty mapping where there is nothing.

        Namespaces end with the processes in them: nothing of a cluster mounts them here.
        """
        checks: Mapping[str, Sequence[object]] = {
            "processes": [process for process in self.processes if _lives(process)],
            "interfaces": _existing(Path("/sys/class/net", self.record.interface)),
            "routes": [line for line in _routes() if self.record.interface in line],
            "mounts": [line for line in _mounts() if self.record.directory in line],
            "cgroups": sorted(Path("/sys/fs/cgroup").rglob(f"keybearer-{self.record.name}-*")),
            "files": _existing(Path(self.record.directory)),
            "records": _existing(RECORDS / f"{self.record.name}.json"),
        }
        return {kind: found for kind, found in checks.items() if found}


def descendants(parent: int) -> frozenset[psutil.Process]:
    """All processes below one; itself too."""
    first = psutil.Process(parent)
    return frozenset([first, *first.children(recursive=True)])


def _lives(process: psutil.Process) -> bool:
    """Whether it runs, and no other one has its number."""
    try:
        return process.is_running() and process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}
    except psutil.NoSuchProcess:
        return False


def _existing(path: Path) -> list[Path]:
    return [path] if path.exists() else []


def _mounts() -> list[str]:
    return Path("/proc/self/mountinfo").read_text().splitlines()


def _routes() -> list[str]:
    return Path("/proc/net/route").read_text().splitlines()
