"""Workloads of tests on real nodes, and who asks them all the time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from support.real_nodes import pod, until_ready
from tools.local.kube_api import Body
from tools.local.waiting import PROBE_SECONDS, eventually
from tools.node.cluster import NodeCluster

__all__ = ["PORT", "Asking", "asking", "deployment_of", "service_of", "until_available"]

PORT = 8080
"""Where workloads serve plain HTTP."""
_PAUSE_SECONDS = 0.05
_ENOUGH = 20


def deployment_of(template: Body, replicas: int, **spec: Any) -> Body:  # noqa: ANN401 - its JSON
    """A Deployment of pods as this one, of its name; `spec` adds to the Deployment's."""
    meta = template["metadata"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"namespace": meta["namespace"], "name": meta["name"]},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": meta["labels"]},
            "template": {"metadata": {"labels": meta["labels"]}, "spec": template["spec"]},
            **spec,
        },
    }


def service_of(namespace: str, name: str, port: int, target: int) -> Body:
    """A Service of the pods with the label `app` of its name."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": {"app": name}, "ports": [{"port": port, "targetPort": target}]},
    }


def until_available(cluster: NodeCluster, namespace: str, name: str) -> None:
    """All pods of a Deployment are of its newest template, and ready."""

    def available() -> bool:
        found = json.loads(
            cluster.plane.kubectl("get", "deployment", name, f"--namespace={namespace}", "--output=json")
        )
        wanted, status = found["spec"]["replicas"], found.get("status", {})
        return status.get("observedGeneration") == found["metadata"]["generation"] and all(
            status.get(field) == wanted for field in ("replicas", "updatedReplicas", "availableReplicas")
        )

    eventually(
        available,
        awaited=f"an availability of {name}",
        told=lambda: cluster.plane.kubectl("describe", "pods", f"--namespace={namespace}"),
    )


@dataclass(frozen=True, slots=True)
class Asking:
    """A pod that asks all the time, and logs a word for each answer."""

    cluster: NodeCluster
    namespace: str
    name: str

    def answers(self) -> Counter[str]:
        """How often it logged each word so far."""
        said = self.cluster.plane.kubectl("logs", self.name, f"--namespace={self.namespace}")
        return Counter(said.split())

    def until_more(self) -> None:
        """It has asked some times more."""
        before = self.answers().total()
        eventually(
            lambda: self.answers().total() >= before + _ENOUGH,
            awaited=f"more requests of {self.name}",
            told=lambda: str(self.answers()),
        )


@contextmanager
def asking(cluster: NodeCluster, namespace: str, url: str) -> Iterator[Asking]:
    """Yield a pod that gets an address by plain HTTP all the time: it logs `answered` or `refused`."""
    # With a time limit of its own, wget of Debian's static busybox ends with a segmentation fault.
    ask, pause = f"timeout {PROBE_SECONDS:.0f} wget -qO /dev/null {url}", f"sleep {_PAUSE_SECONDS}"
    # A node learns of a new Service a moment after its pods are ready: nothing counts before the first answer.
    script = (
        f"until {ask}; do {pause}; done 2>/dev/null; "
        f"while true; do if {ask}; then echo answered; else echo refused; fi; {pause}; done"
    )
    made = Asking(cluster, namespace, "asking")
    cluster.plane.kubectl("create", "--filename=-", input=json.dumps(pod(namespace, made.name, script)))
    until_ready(cluster, namespace, made.name)
    made.until_more()
    yield made
