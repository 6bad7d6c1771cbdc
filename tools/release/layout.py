"""An OCI image layout becomes one archive, and what is in such an archive is read again."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.release.archives import tar_of, tree_of
from tools.release.errors import ReleaseError

__all__ = ["ReleasedImage", "archive_of", "read_archive"]

_REFERENCE = "org.opencontainers.image.ref.name"
# What `ctr images import` of containerd calls it by; a kubelet's name of an image without a registry is this one.
_CONTAINERD = "io.containerd.image.name"


@dataclass(frozen=True, slots=True)
class ReleasedImage:
    """The one image of an archive.

    Attributes:
        digest: of its manifest, which is what the image is called by in registries.
        config: of OCI: architecture, os, what programs start with, history.
        layers: names of their files in the archive, the lowest first.
    """

    digest: str
    config: Mapping[str, object]
    layers: tuple[str, ...]

    @property
    def platform(self) -> str:
        """Such as linux/amd64."""
        return f"{self.config['os']}/{self.config['architecture']}"


def archive_of(layout: Path, name: str, version: str, seconds: int) -> bytes:
    """The archive of a layout with one image, which is called `name:version` in it.

    Raises:
        ReleaseError: there is not one image in the layout.
    """
    files = tree_of(layout)
    index = json.loads(files["index.json"][1])
    if len(index["manifests"]) != 1:
        raise ReleaseError(f"buildah wrote {len(index['manifests'])} images into {layout}: 1 was asked for")
    index["manifests"][0]["annotations"] = {
        _CONTAINERD: f"docker.io/library/{name}:{version}",
        _REFERENCE: version,
    }
    files["index.json"] = (files["index.json"][0], json.dumps(index, sort_keys=True).encode())
    return tar_of(files, seconds)


def read_archive(archive: Path) -> ReleasedImage:
    """What the archive holds.

    Raises:
        ReleaseError: it isn't the archive of one image.
    """
    with tarfile.open(archive) as opened:

        def read(name: str) -> bytes:
            file = opened.extractfile(name)
            if file is None:
                raise ReleaseError(f"{archive.name}: {name} is no file")
            return file.read()

        (described,) = json.loads(read("index.json"))["manifests"]
        manifest = json.loads(read(_blob(described["digest"])))
        config = json.loads(read(_blob(manifest["config"]["digest"])))
    layers = tuple(_blob(layer["digest"]) for layer in manifest["layers"])
    return ReleasedImage(described["digest"], config, layers)


def _blob(digest: str) -> str:
    return f"blobs/{digest.replace(':', '/')}"
