"""Which Secrets and ConfigMaps the pods of a workload use, and how. Pure readings of its JSON; no value is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, mappings_of, text_of
from keybearer.controllers.target.mounts import mounts_of, volumes_of

__all__ = ["How", "Use", "uses_of"]


class How(StrEnum):
    """How a pod has what an object holds."""

    FILES = "files, which follow a change"
    FIXED_FILES = "files, which follow after a restart"
    ENVIRONMENT = "environment, which follows after a restart"
    IMAGES = "credentials for images"


@dataclass(frozen=True, slots=True, order=True)
class Use:
    """One object that pods use."""

    kind: str
    name: str
    how: How


def uses_of(workload: Mapping[str, JsonValue]) -> frozenset[Use]:
    """Return what the pods of a workload, or a CronJob, use."""
    spec = mapping_of(workload.get("spec"))
    job = mapping_of(mapping_of(spec.get("jobTemplate")).get("spec"))
    template = mapping_of((job or spec).get("template"))
    return frozenset(_uses(template))


def _uses(pod: Mapping[str, JsonValue]) -> Iterator[Use]:
    spec = mapping_of(pod.get("spec"))
    live = {(one.kind, one.name) for one in mounts_of(pod)}
    for one in volumes_of(pod):
        is_live = (one.kind, one.name) in live
        yield Use(one.kind, one.name, How.FILES if is_live else How.FIXED_FILES)
    for container in (*list_of(spec.get("containers")), *list_of(spec.get("initContainers"))):
        yield from _environment(mapping_of(container))
    for secret in mappings_of(spec.get("imagePullSecrets")):
        yield Use("Secret", text_of(secret.get("name")), How.IMAGES)


def _environment(container: Mapping[str, JsonValue]) -> Iterator[Use]:
    for one in mappings_of(container.get("env")):
        given = mapping_of(one.get("valueFrom"))
        yield from _referred(given, "secretKeyRef", "configMapKeyRef")
    for one in mappings_of(container.get("envFrom")):
        yield from _referred(one, "secretRef", "configMapRef")


def _referred(holder: Mapping[str, JsonValue], secret: str, config_map: str) -> Iterator[Use]:
    for field, kind in ((secret, "Secret"), (config_map, "ConfigMap")):
        name = text_of(mapping_of(holder.get(field)).get("name"))
        if name:
            yield Use(kind, name, How.ENVIRONMENT)
