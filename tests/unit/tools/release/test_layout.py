"""An image layout becomes an archive under the version's name, equal for equal layouts."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from tools.release.errors import ReleaseError
from tools.release.layout import archive_of, read_archive

CONFIG = {"architecture": "arm64", "os": "linux", "config": {"User": "65532:65532"}}


def layout(into: Path, images: int = 1) -> Path:
    """Write a layout as buildah does, whose index names the place it was written to."""

    def blob(content: bytes) -> dict[str, object]:
        digest = hashlib.sha256(content).hexdigest()
        (into / "blobs" / "sha256" / digest).write_bytes(content)
        return {"digest": f"sha256:{digest}", "size": len(content)}

    (into / "blobs" / "sha256").mkdir(parents=True)
    config, layer = blob(json.dumps(CONFIG).encode()), blob(b"layer")
    manifest = blob(json.dumps({"config": config, "layers": [layer]}).encode())
    named = {**manifest, "annotations": {"org.opencontainers.image.ref.name": str(into)}}
    (into / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    (into / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [named] * images}))
    return into


def test_what_is_in_the_archive_is_what_was_in_the_layout(tmp_path: Path) -> None:
    archive = tmp_path / "image.tar"
    archive.write_bytes(archive_of(layout(tmp_path / "layout"), "keybearer", "1.2.3", 7))
    image = read_archive(archive)
    assert image.platform == "linux/arm64"
    assert image.config == CONFIG
    assert image.layers == (f"blobs/sha256/{hashlib.sha256(b'layer').hexdigest()}",)
    assert (tmp_path / "layout" / "blobs" / image.digest.replace(":", "/")).is_file()


def test_containerd_and_others_find_the_image_by_its_version(tmp_path: Path) -> None:
    written = archive_of(layout(tmp_path / "layout"), "keybearer", "1.2.3", 7)
    assert b'"io.containerd.image.name": "docker.io/library/keybearer:1.2.3"' in written
    assert b'"org.opencontainers.image.ref.name": "1.2.3"' in written


def test_neither_path_nor_modes_nor_dates_of_the_layout_are_in_it(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        one = archive_of(layout(tmp_path / "one"), "keybearer", "1.2.3", 7)
    finally:
        os.umask(before)
    other = layout(tmp_path / "a" / "longer" / "path")
    os.utime(other / "index.json", (1, 1))
    assert archive_of(other, "keybearer", "1.2.3", 7) == one
    assert str(tmp_path).encode() not in one


def test_a_layout_of_more_than_one_image_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="2 images"):
        archive_of(layout(tmp_path / "layout", images=2), "keybearer", "1.2.3", 7)
