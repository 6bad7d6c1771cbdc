"""Which files of a pod show which keys of Secrets and ConfigMaps. Pure readings of its JSON.

A pod's volumes, and what mounts them, never change (core/v1 PodSpec), so what is read of a pod once holds as long as
it lives. Only ephemeral containers, which people add to look for a fault, come later: they are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, mappings_of, text_of
from keybearer.controllers.objects import TargetKey

__all__ = ["Mount", "mounts_of", "shows", "volumes_of"]

_SOURCES = (("secret", "Secret"), ("configMap", "ConfigMap"))
_STARTED_AND_KEPT = "Always"
"""The `restartPolicy` of an init container that runs beside the others: a sidecar."""


@dataclass(frozen=True, slots=True)
class Mount:
    """What a volume shows of an object.

    Attributes:
        kind: of the object.
        name: of the object, in the namespace of the pod.
        keys: those that become files; None: all.
    """

    kind: str
    name: str
    keys: frozenset[str] | None = None


def mounts_of(pod: Mapping[str, JsonValue]) -> frozenset[Mount]:
    """Return what files of the running containers show, where the kubelet ever changes these files.

    It never does for mounts of a part of a volume (`subPath`), and environment variables are no files.
    """
    spec = mapping_of(pod.get("spec"))
    mounted = {
        text_of(mount.get("name"))
        for container in _containers(spec)
        for mount in mappings_of(container.get("volumeMounts"))
        if not (mount.get("subPath") or mount.get("subPathExpr"))
    }
    volumes = mappings_of(spec.get("volumes"))
    shown = (volume for volume in volumes if text_of(volume.get("name")) in mounted)
    return frozenset(mount for volume in shown for mount in _mounts_of_volume(volume))


def volumes_of(pod: Mapping[str, JsonValue]) -> frozenset[Mount]:
    """Return what the volumes of a pod hold, mounted or not."""
    volumes = mappings_of(mapping_of(pod.get("spec")).get("volumes"))
    return frozenset(mount for volume in volumes for mount in _mounts_of_volume(volume))


def shows(mounts: Collection[Mount], key: TargetKey, changed: Collection[str]) -> bool:
    """Tell whether a file of these mounts shows one of the keys of an object that changed."""
    return any(
        (one.kind, one.name) == (key.kind, key.name)
        and (bool(changed) if one.keys is None else not one.keys.isdisjoint(changed))
        for one in mounts
    )


def _containers(spec: Mapping[str, JsonValue]) -> Iterator[Mapping[str, JsonValue]]:
    yield from mappings_of(spec.get("containers"))
    for container in mappings_of(spec.get("initContainers")):
        if container.get("restartPolicy") == _STARTED_AND_KEPT:
            yield container


def _mounts_of_volume(volume: Mapping[str, JsonValue]) -> Iterator[Mount]:
    for source in (volume, *mappings_of(mapping_of(volume.get("projected")).get("sources"))):
        for section, kind in _SOURCES:
            part = mapping_of(source.get(section))
            if part:
                # A volume of one Secret calls its name `secretName`.
                yield Mount(kind, text_of(part.get("secretName") or part.get("name")), _keys(part))


def _keys(source: Mapping[str, JsonValue]) -> frozenset[str] | None:
    items = list_of(source.get("items"))
    return frozenset(text_of(mapping_of(item).get("key")) for item in items) if items else None
