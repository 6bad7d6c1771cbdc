"""Somebody at a shell who installs the release by Helm on real nodes, and what became of the installation."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support.pasted import Shell, blocks
from support.pod_logs import PodLogs
from support.release_shell import FORWARDED, RELEASE_NAMESPACE, ReleaseShell
from support.released_nodes import ReleasedNodes
from support.secretsync_objects import decoded, namespace
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body
from tools.local.marks import find_mark
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = ["DEMO", "QUICK_START", "RESTRICTED", "HelmHouse", "house", "open_house"]

QUICK_START = ROOT / "examples" / "quickstart" / "README.md"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}
"""Labels of a namespace that holds its pods to the strictest standard."""
DEMO = "demo"
"""The namespace in which the quick start works."""

_PROJECT, _ENVIRONMENT = "keybearer-demo", "dev"
_KINDS = ("SecretSync", "AppConnection", "CertificateProfile")
_VOLUMES = 3


@dataclass(frozen=True, slots=True)
class HelmHouse(ReleaseShell):
    """A namespace for the release, which is still empty, and a shell whose chart is that of the release's package.

    Attributes:
        nodes: where the pods run.
    """

    nodes: ReleasedNodes

    def install(self, values: Mapping[str, object] | None = None) -> None:
        """Install by the first block of the quick start, with these values besides."""
        command = blocks(QUICK_START.read_text())[0]
        assert command.endswith("--wait\n")
        (self.shell.directory / "values.json").write_text(json.dumps(values or {}))
        self.run(f"{command.rstrip()} --values values.json")

    @contextmanager
    def quick_start(self) -> Iterator[list[str]]:
        """Yield the blocks of the quick start, while the command is at work that they leave running."""
        text = QUICK_START.read_text()
        assert FORWARDED in text
        with self.forwarding() as port:
            yield blocks(text.replace(FORWARDED, "").replace("localhost:8443", f"localhost:{port}"))

    def fill_and_sync(self) -> None:
        """Follow the quick start up to the first Secret."""
        with self.quick_start() as pasted:
            _, prepare, sync, *_ = pasted
            self.run(prepare)
            self.run(sync)
        assert decoded(self.api.get("Secret", DEMO, "web-database")) == self.source()

    def source(self, path: str = "/") -> dict[str, str]:
        """What the service has in a folder of the quick start's project, for its administrator."""
        with self.administrator() as client:
            project = client.projects.get_by_slug(_PROJECT)
            listed = client.secrets.list(project_id=project.id, environment=_ENVIRONMENT, secret_path=path)
        return {one.secret_key: one.secret_value for one in listed}

    def objects(self) -> Iterator[Body]:
        """All custom resources of the quick start's namespace."""
        return (one for kind in _KINDS for one in self.api.list(kind, DEMO))

    def identities(self) -> dict[str, str]:
        """UIDs of all custom resources."""
        return {f"{one['kind']}/{one['metadata']['name']}": one["metadata"]["uid"] for one in self.objects()}

    def chart_secrets(self) -> dict[str, Mapping[str, str]]:
        """Data of the Secrets that the chart made."""
        return {
            one["metadata"]["name"]: one["data"]
            for one in self.api.list("Secret", RELEASE_NAMESPACE)
            if one["metadata"]["name"].startswith("keybearer-service")
        }

    def files(self, name: str) -> dict[str, bytes]:
        """What a Secret of the quick start's namespace holds."""
        data = self.api.get("Secret", DEMO, name)["data"]
        return {key: base64.b64decode(value) for key, value in data.items()}

    def assert_heals(self, name: str) -> None:
        """An operator works: it mends a Secret that somebody edited."""
        before = decoded(self.api.get("Secret", DEMO, name))
        spoilt = base64.b64encode(b"edited-by-hand").decode()
        self.api.patch("Secret", DEMO, name, {"data": {"DB_PASSWORD": spoilt}})
        self.until_data(name, before)

    def until_data(self, name: str, data: Mapping[str, str]) -> None:
        """A Secret of the quick start's namespace holds these texts and nothing else."""
        eventually(
            lambda: decoded(self.api.get("Secret", DEMO, name)) == data,
            awaited=f"Secret {name} as its source is",
            told=self.logs.told,
        )

    def until_rolled_out(self, *workloads: str) -> None:
        """All pods of these workloads of the release are those of the newest template, and ready."""
        for workload in workloads:
            self.run(
                f"kubectl -n {RELEASE_NAMESPACE} rollout status {workload} --timeout={PATIENCE_SECONDS:g}s"
            )


@contextmanager
def open_house(nodes: ReleasedNodes, directory: Path) -> Iterator[HelmHouse]:
    """Yield a house on the shared nodes; at the end nothing that it or its guests made is left there.

    No pod of the release may have logged a value that is marked as secret.
    """
    try:
        nodes.add_volumes(_VOLUMES)
        # The pods meet the strictest standard, or they aren't made.
        nodes.api.create(namespace(RELEASE_NAMESPACE, RESTRICTED))
        with PodLogs(nodes.cluster, RELEASE_NAMESPACE) as logs:
            kubeconfig = nodes.cluster.plane.admin_kubeconfig
            shell = Shell(directory / "checkout", kubeconfig, nodes.release.dist)
            yield HelmHouse(nodes.api, shell, logs, nodes)
            telling = [name for name, text in logs.of_pods().items() if find_mark(text)]
            assert not telling, f"logs of {telling} show marked values"
    finally:
        nodes.clear()


@pytest.fixture
def house(released_nodes: ReleasedNodes, tmp_path: Path) -> Iterator[HelmHouse]:
    """Yield a house for one test, which installs by itself."""
    with open_house(released_nodes, tmp_path) as opened:
        yield opened
