"""What a kubelet reads for a pod before it starts: variables, and volumes as directories of files."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.local.kube_api import Body, KubeApi

__all__ = ["PodFiles"]

_KEPT = "claims"
"""Where volumes of claims are: they outlive pods."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of a volume."""

    path: str
    content: bytes
    mode: int | None


class PodFiles:
    """Volumes and variables of one pod.

    Args:
        api: with the rights of a kubelet.
        pod: as the API server has it.
        directory: of the node.
    """

    def __init__(self, api: KubeApi, pod: Body, directory: Path) -> None:
        self._api = api
        self._pod = pod
        self._node = directory
        self._where: str = pod["metadata"]["namespace"]
        self._directory = directory / str(pod["metadata"]["uid"])

    def variables(self, container: Body) -> dict[str, str]:
        """Return the variables of a container.

        Raises:
            RefusedError: something that they come from isn't there.
        """
        return {one["name"]: self._value(one) for one in container.get("env", [])}

    def make_volumes(self) -> dict[str, Path]:
        """Return a directory for each volume by its name.

        Raises:
            RefusedError: something that they come from isn't there.
        """
        return {one["name"]: self._volume(one) for one in self._pod["spec"].get("volumes", [])}

    def refresh(self) -> None:
        """Files of mounted Secrets and ConfigMaps are as these are now; of immutable ones they stay as they were.

        Raises:
            RefusedError: one of them is gone.
        """
        for volume in self._pod["spec"].get("volumes", []):
            for kind, named in (("Secret", "secret"), ("ConfigMap", "configMap")):
                if named in volume:
                    source = volume[named]
                    name = source.get("secretName") or source["name"]
                    if not self._object(kind, name).get("immutable"):
                        self._fill(
                            self._directory / "volumes" / str(volume["name"]), source, [{named: source}]
                        )

    def _value(self, variable: Body) -> str:
        if "valueFrom" not in variable:
            return str(variable.get("value", ""))
        match variable["valueFrom"]:
            case {"secretKeyRef": {"name": name, "key": key}}:
                return base64.b64decode(self._object("Secret", name)["data"][key]).decode()
            case {"configMapKeyRef": {"name": name, "key": key}}:
                return str(self._object("ConfigMap", name)["data"][key])
            case {"fieldRef": {"fieldPath": path}}:
                return self._field(path)
            case other:
                raise NotImplementedError(f"a variable from {sorted(other)}")

    def _volume(self, volume: Body) -> Path:
        name = str(volume["name"])
        if "persistentVolumeClaim" in volume:
            claim = volume["persistentVolumeClaim"]["claimName"]
            found = self._api.send("GET", f"/api/v1/namespaces/{self._where}/persistentvolumeclaims/{claim}")
            directory = self._node / _KEPT / str(found["metadata"]["uid"])
            directory.mkdir(parents=True, exist_ok=True)
            return directory
        directory = self._directory / "volumes" / name
        directory.mkdir(parents=True, exist_ok=True)
        if "emptyDir" in volume:
            return directory
        if "projected" in volume:
            source, sources = volume["projected"], volume["projected"]["sources"]
        else:
            kind = "secret" if "secret" in volume else "configMap"
            source, sources = volume[kind], [{kind: volume[kind]}]
        self._fill(directory, source, sources)
        return directory

    def _fill(self, directory: Path, source: Body, sources: list[Body]) -> None:
        for one in sources:
            for item in self._items(one):
                self._write(directory / item.path, item, source.get("defaultMode", 0o644))

    def _items(self, source: Body) -> Iterator[_Item]:
        match source:
            case {"secret": found}:
                data = self._object("Secret", found.get("secretName") or found["name"]).get("data", {})
                yield from _chosen(found, data, base64.b64decode)
            case {"configMap": found}:
                data = self._object("ConfigMap", found["name"]).get("data", {})
                yield from _chosen(found, data, str.encode)
            case {"downwardAPI": {"items": items}}:
                for one in items:
                    text = self._field(one["fieldRef"]["fieldPath"])
                    yield _Item(one["path"], text.encode(), one.get("mode"))
            case {"serviceAccountToken": wanted}:
                yield _Item(wanted["path"], self._token(wanted).encode(), None)
            case other:
                raise NotImplementedError(f"a volume of {sorted(other)}")

    def _write(self, file: Path, item: _Item, default: int) -> None:
        """Write a file as the kubelet does: in one go, somebody else's, and readable for the pod's group.

        Only root can make it so; with others it is their own.
        """
        if file.is_file() and file.read_bytes() == item.content:
            return
        group = self._pod["spec"].get("securityContext", {}).get("fsGroup")
        mode = item.mode if item.mode is not None else default
        file.parent.mkdir(parents=True, exist_ok=True)
        written = file.with_name(f".{file.name}.new")
        written.touch(mode=0o600)
        written.write_bytes(item.content)
        if group is not None and os.geteuid() == 0:
            os.chown(written, group, group)
            mode |= 0o440
        written.chmod(mode)
        written.replace(file)

    def _token(self, wanted: Body) -> str:
        metadata, account = self._pod["metadata"], self._pod["spec"]["serviceAccountName"]
        spec: dict[str, Any] = {
            "boundObjectRef": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": metadata["name"],
                "uid": metadata["uid"],
            },
            "expirationSeconds": wanted.get("expirationSeconds", 3600),
        }
        if "audience" in wanted:
            spec["audiences"] = [wanted["audience"]]
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"/api/v1/namespaces/{self._where}/serviceaccounts/{account}/token"
        return str(self._api.send("POST", path, request)["status"]["token"])

    def _object(self, kind: str, name: str) -> Body:
        return self._api.get(kind, self._where, name)

    def _field(self, path: str) -> str:
        found: Any = self._pod
        for step in path.split("."):
            found = found[step]
        return str(found)


def _chosen(source: Body, data: Mapping[str, str], decode: Callable[[str], bytes]) -> Iterator[_Item]:
    """Yield what `items` names, or everything; KeyError for what isn't there."""
    named = source.get("items") or [{"key": key, "path": key} for key in data]
    for one in named:
        yield _Item(one["path"], decode(data[one["key"]]), one.get("mode"))
