"""Container images made by hand: one layer of a few files, as `docker save` writes it."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import tarfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.release.archives import PLAIN, PROGRAM, tar_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["HandMadeImage", "write_archive"]

_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, slots=True)
class HandMadeImage:
    """An image of static programs.

    Attributes:
        name: With its tag.
        programs: Files of this machine, by their paths in the image without the first slash.
        entrypoint: What it starts.
        links: Targets of symbolic links, by their paths.
        directories: That are there besides, for everybody to write in.
    """

    name: str
    programs: Mapping[str, Path]
    entrypoint: Sequence[str]
    links: Mapping[str, str] = field(default_factory=dict)
    directories: Sequence[str] = ("tmp",)


def write_archive(image: HandMadeImage, archive: Path) -> None:
    """The archive is there; equal images make equal ones."""
    layer = _layer(image)
    config = {
        "architecture": _ARCHITECTURES.get(platform.machine(), platform.machine()),
        "os": "linux",
        "config": {"Entrypoint": list(image.entrypoint), "Env": ["PATH=/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]},
    }
    written = json.dumps(config).encode()
    manifest = [{"Config": "config.json", "RepoTags": [image.name], "Layers": ["layer.tar"]}]
    contents = {"config.json": written, "layer.tar": layer, "manifest.json": json.dumps(manifest).encode()}
    archive.write_bytes(tar_of({name: (PLAIN, content) for name, content in contents.items()}, 0))


def _layer(image: HandMadeImage) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as layer:
        parents = {"/".join(path.split("/")[:-1]) for path in (*image.programs, *image.links)}
        for directory in sorted((parents | set(image.directories)) - {""}):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o1777 if directory in image.directories else PROGRAM
            layer.addfile(entry)
        for path, program in sorted(image.programs.items()):
            content = program.read_bytes()
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), PROGRAM
            layer.addfile(entry, io.BytesIO(content))
        for path, target in sorted(image.links.items()):
            entry = tarfile.TarInfo(path)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            layer.addfile(entry)
    return packed.getvalue()
