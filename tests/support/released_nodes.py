"""Nodes that have the image of the release, shared by all tests that install its chart there."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from support.real_nodes import add_volumes
from support.releases import Release
from tools.local.kube_api import KubeApi, RefusedError
from tools.local.waiting import PATIENCE_SECONDS
from tools.node.cluster import NodeCluster

__all__ = ["PASTED_REPOSITORY", "ReleasedNodes", "released_nodes"]

PASTED_REPOSITORY = "registry.example.com/keybearer"
"""Where the pages have the image."""
_RELEASED_REPOSITORY = "docker.io/library/keybearer"
"""How the archive itself calls it."""

_NODES = 2
_GONE = 404
_OF_THE_CLUSTER = {"default", "kube-node-lease", "kube-public", "kube-system"}
_WIDE = ("clusterroles", "clusterrolebindings", "validatingadmissionpolicies", "clustertrustbundles")
_SECONDS = f"--timeout={PATIENCE_SECONDS:g}s"


@dataclass(frozen=True, slots=True)
class ReleasedNodes:
    """A cluster whose nodes have the image of a release, under its own name and under that of the pages.

    Attributes:
        cluster: of two nodes.
        api: speaks to it as administrator.
        release: whose image its nodes have.
    """

    cluster: NodeCluster
    api: KubeApi
    release: Release
    _volumes: itertools.count[int] = field(default_factory=itertools.count)
    _wide: set[str] = field(default_factory=set)

    def add_volumes(self, count: int) -> None:
        """So many further claims get a volume; `clear` takes them away."""
        first, *_ = (next(self._volumes) for _ in range(count))
        add_volumes(self.cluster, count, first)

    def clear(self) -> None:
        """Nothing is left of installations and their users: the next one finds the cluster as it was at first.

        It works after any failure: nothing that was installed is asked to help.
        """
        kubectl = self.cluster.plane.kubectl
        listed = (one["metadata"]["name"] for one in self.api.list("Namespace"))
        spaces = [name for name in listed if name not in _OF_THE_CLUSTER]
        for space in spaces:
            # Before the custom resources: who lives would put its finalizers back.
            kubectl(
                *("delete", "deployments,statefulsets,jobs,cronjobs,pods", "--all", f"--namespace={space}"),
                *("--cascade=foreground", "--grace-period=1", _SECONDS),
            )
        crds = kubectl("get", "crds", "--output=name").split()
        for crd in crds:
            self._let_go(crd.partition("/")[2])
        if crds:
            kubectl("delete", *crds, _SECONDS)
        if spaces:
            kubectl("delete", "namespaces", *spaces, "--ignore-not-found", _SECONDS)
        made = self.made_across_the_cluster()
        if made:
            kubectl("delete", *made, _SECONDS)
        volumes = kubectl("get", "persistentvolumes", "--output=name").split()
        if volumes:
            kubectl("delete", *volumes, _SECONDS)

    def remember(self) -> None:
        """What there is of the whole cluster now stays when installations go."""
        self._wide.update(self._of_the_cluster())

    def made_across_the_cluster(self) -> set[str]:
        """What installations have that is in no namespace, CRDs apart."""
        return self._of_the_cluster() - self._wide

    def _let_go(self, kind: str) -> None:
        """Objects of the kind, by its whole name, have no finalizers; one may go just now."""
        listed = json.loads(self.cluster.plane.kubectl("get", kind, "--all-namespaces", "--output=json"))[
            "items"
        ]
        for one in listed:
            kept = one["metadata"]
            place = f"namespaces/{kept['namespace']}/{kind.partition('.')[0]}/{kept['name']}"
            if kept.get("finalizers"):
                try:
                    patch = {"metadata": {"finalizers": None}}
                    self.api.send("PATCH", f"/apis/{one['apiVersion']}/{place}", patch)
                except RefusedError as refusal:
                    if refusal.status != _GONE:
                        raise

    def _of_the_cluster(self) -> set[str]:
        return set(self.cluster.plane.kubectl("get", ",".join(_WIDE), "--output=name").split())


@pytest.fixture(scope="session")
def released_nodes(fit_machine: None, released: Release) -> Iterator[ReleasedNodes]:  # noqa: ARG001 - which may skip
    """Yield a cluster for all tests of the release; each installation clears up after itself."""
    names = [f"{name}:{released.version}" for name in (PASTED_REPOSITORY, _RELEASED_REPOSITORY)]
    with NodeCluster(_NODES) as cluster, KubeApi(cluster.plane.admin_kubeconfig) as api:
        cluster.load(released.image, names=names)
        nodes = ReleasedNodes(cluster, api, released)
        nodes.remember()
        yield nodes
