"""The chart's pods, as far as the image sees them: their arguments, and the files of their Secrets."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.chart.rendering import Manifest

__all__ = ["arguments_of", "mount_secrets", "secret_of"]

_CONTAINER = ("spec", "template", "spec", "containers", 0)
_READABLE = 0o440


def arguments_of(workload: Manifest, instead: Mapping[str, str]) -> list[str]:
    """The arguments of the first container.

    Args:
        workload: a Deployment or StatefulSet.
        instead: other values of options; each must be among the arguments.
    """
    given = workload.texts(*_CONTAINER, "args")
    for option, value in instead.items():
        given[given.index(option) + 1] = value
    return given


def mount_secrets(
    workload: Manifest, manifests: list[Manifest], under: str, folder: Path, group: int
) -> None:
    """The folder holds what the Secrets of the pod bring under this path, with the modes that the kubelet gives them.

    Args:
        workload: a Deployment or StatefulSet.
        manifests: the Secrets are among them.
        under: a path in the container, such as /etc/keybearer.
        folder: stands for it.
        group: of the pod's files (fsGroup).
    """
    places = {
        str(mount["name"]): str(mount["mountPath"])
        for mount in workload.mappings(*_CONTAINER, "volumeMounts")
    }
    for volume in workload.mappings("spec", "template", "spec", "volumes"):
        place = places[str(volume["name"])]
        given = volume.get("secret")
        if isinstance(given, Mapping) and place.startswith(f"{under}/"):
            directory = folder / place.removeprefix(f"{under}/")
            directory.mkdir()
            contents = secret_of(manifests, str(given["secretName"]))
            for key, path in _items(given):
                file = directory / path
                file.write_bytes(contents[key])
                os.chown(file, 0, group)
                file.chmod(_READABLE)


def secret_of(manifests: list[Manifest], name: str) -> dict[str, bytes]:
    """What the Secret of this name holds."""
    found = next(one for one in manifests if one.kind == "Secret" and one.name == name)
    return {key: base64.b64decode(str(value)) for key, value in found.mapping("data").items()}


def _items(volume: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    items = volume["items"]
    assert isinstance(items, list)
    for item in items:
        yield str(item["key"]), str(item["path"])
