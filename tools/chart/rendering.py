"""The Helm chart, rendered: its manifests, and Helm against a cluster."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import yaml

from tools.chart.helm import helm_binary
from tools.controlplane.environment import kubectl_environment
from tools.local.waiting import PATIENCE_SECONDS

__all__ = [
    "CHART",
    "NAMESPACE",
    "RELEASE",
    "ROOT",
    "HelmError",
    "Json",
    "Manifest",
    "helm",
    "only",
    "pods_of",
    "render",
]

Json: TypeAlias = "Mapping[str, Json] | list[Json] | str | int | float | bool | None"

ROOT = Path(__file__).parents[2]
CHART = ROOT / "charts" / "keybearer"
RELEASE = "keybearer"
NAMESPACE = "keybearer-system"

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""That of libyaml, where PyYAML was built with it: it reads the chart several times as fast."""


class HelmError(Exception):
    """Helm refused; the text is what it wrote to standard error."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One rendered object."""

    body: Mapping[str, Json]

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.text("kind")

    @property
    def name(self) -> str:
        """Its name."""
        return self.text("metadata", "name")

    @property
    def namespace(self) -> str:
        """The namespace it is written into; empty for what lives in none."""
        return self.text("metadata", "namespace") if "namespace" in self.mapping("metadata") else ""

    def at(self, *path: str | int) -> Json:
        """The part at this path; KeyError where there is none."""
        part: Json = self.body
        for step in path:
            match part, step:
                case Mapping(), str():
                    part = part[step]
                case list(), int():
                    part = part[step]
                case _:
                    raise KeyError(f"{self.body['kind']}: nothing at {path}")
        return part

    def text(self, *path: str | int) -> str:
        """The text at this path; TypeError where something else is."""
        found = self.at(*path)
        if not isinstance(found, str):
            raise self._surprise(path, found)
        return found

    def mapping(self, *path: str | int) -> Mapping[str, Json]:
        """The mapping at this path; TypeError where something else is."""
        found = self.at(*path)
        if not isinstance(found, Mapping):
            raise self._surprise(path, found)
        return found

    def mappings(self, *path: str | int) -> list[Mapping[str, Json]]:
        """A list of mappings; empty where the path leads nowhere."""
        try:
            found = self.at(*path)
        except KeyError:
            return []
        if not isinstance(found, list):
            raise self._surprise(path, found)
        return [item for item in found if isinstance(item, Mapping)]

    def texts(self, *path: str | int) -> list[str]:
        """The texts of a list at this path; TypeError where something else is."""
        found = self.at(*path)
        if not isinstance(found, list):
            raise self._surprise(path, found)
        return [str(item) for item in found]

    def annotation(self, name: str) -> str:
        """The value of an annotation; empty where there is none."""
        annotations = self.mapping("metadata").get("annotations", {})
        return str(annotations.get(name, "")) if isinstance(annotations, Mapping) else ""

    def as_yaml(self) -> str:
        """The object as kubectl takes it."""
        return yaml.safe_dump(dict(self.body), sort_keys=False)

    def _surprise(self, path: tuple[str | int, ...], found: Json) -> TypeError:
        return TypeError(f"{self.body['kind']}: {type(found).__name__} at {path}")


def helm(*arguments: str, given: str = "", kubeconfig: Path | None = None) -> str:
    """What Helm printed. No settings, plugins or clusters of the user reach it.

    Raises:
        HelmError: its status was not 0.
    """
    with tempfile.TemporaryDirectory() as home:
        finished = subprocess.run(
            [helm_binary(), *([f"--kubeconfig={kubeconfig}"] if kubeconfig else []), *arguments],
            input=given,
            capture_output=True,
            text=True,
            env=kubectl_environment(Path(home)),
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    if finished.returncode != 0:
        raise HelmError(finished.stderr)
    return finished.stdout


def render(values: Mapping[str, Json] | None = None, *, namespace: str = NAMESPACE) -> list[Manifest]:
    """The manifests of a release with these values, rendered without a cluster.

    Raises:
        HelmError: the chart or its schema refuses the values.
    """
    return list(_render(json.dumps(values or {}), namespace))


@cache
def _render(values: str, namespace: str) -> tuple[Manifest, ...]:
    rendered = helm("template", RELEASE, str(CHART), f"--namespace={namespace}", "--values=-", given=values)
    return tuple(_manifests(rendered))


def _manifests(rendered: str) -> Iterator[Manifest]:
    for document in yaml.load_all(rendered, Loader=_LOADER):
        if document is not None:
            yield Manifest(document)


def only(manifests: list[Manifest], kind: str, suffix: str = "") -> Manifest:
    """The one object of that kind whose name ends so.

    Raises:
        LookupError: there is none, or more than one.
    """
    found = [one for one in manifests if one.kind == kind and one.name.endswith(suffix)]
    if len(found) != 1:
        there = ", ".join(f"{one.kind} {one.name}" for one in manifests)
        raise LookupError(f"{len(found)} of {kind} {suffix} among {there}")
    return found[0]


def pods_of(manifests: list[Manifest]) -> list[Manifest]:
    """Each pod that these objects are or lead to, with the volumes of its claims; under the name of its workload."""
    return [pod for one in manifests if (pod := _pod_of(one)) is not None]


def _pod_of(workload: Manifest) -> Manifest | None:
    if workload.kind == "Pod":
        return workload
    if workload.kind not in {"CronJob", "Deployment", "StatefulSet", "Job"}:
        return None
    template = (*(("spec", "jobTemplate") if workload.kind == "CronJob" else ()), "spec", "template")
    volumes = list(workload.mappings(*template, "spec", "volumes"))
    for position, _ in enumerate(workload.mappings("spec", "volumeClaimTemplates")):
        name = workload.text("spec", "volumeClaimTemplates", position, "metadata", "name")
        volumes.append({"name": name, "persistentVolumeClaim": {"claimName": name}})
    names = {"name": workload.name, "namespace": workload.namespace}
    return Manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {**workload.mapping(*template, "metadata"), **names},
            "spec": {**workload.mapping(*template, "spec"), "volumes": list(volumes)},
        }
    )
