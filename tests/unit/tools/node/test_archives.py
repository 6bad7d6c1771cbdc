"""Images made by hand: what a container runtime finds in them."""

from __future__ import annotations

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from tools.node.archives import HandMadeImage, write_archive

_LINKS = {"bin/cat": "tool"}


@pytest.fixture
def image(tmp_path: Path) -> HandMadeImage:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF of a tool")
    return HandMadeImage("example.invalid/tool:1", {"bin/tool": program}, ["/bin/tool", "go"], links=_LINKS)


def test_the_layer_holds_programs_links_and_directories(image: HandMadeImage, tmp_path: Path) -> None:
    archive, layer = tmp_path / "archive.tar", tmp_path / "layer.tar"
    write_archive(image, archive)
    with tarfile.open(archive) as whole:
        layer.write_bytes(_content(whole, "layer.tar"))
    with tarfile.open(layer) as inside:
        found = {one.name: (one.mode, one.linkname) for one in inside.getmembers()}
        assert _content(inside, "bin/tool") == b"\x7fELF of a tool"
    assert found == {
        "bin": (0o755, ""),
        "tmp": (0o1777, ""),
        "bin/tool": (0o755, ""),
        "bin/cat": (0o644, "tool"),
    }


def test_the_configuration_names_the_layer_and_what_is_started(image: HandMadeImage, tmp_path: Path) -> None:
    archive = tmp_path / "archive.tar"
    write_archive(image, archive)
    with tarfile.open(archive) as whole:
        (manifest,) = json.loads(_content(whole, "manifest.json"))
        config = json.loads(_content(whole, manifest["Config"]))
        (layer,) = manifest["Layers"]
        digest = hashlib.sha256(_content(whole, layer)).hexdigest()
    assert manifest["RepoTags"] == ["example.invalid/tool:1"]
    assert config["rootfs"]["diff_ids"] == [f"sha256:{digest}"]
    assert config["config"]["Entrypoint"] == ["/bin/tool", "go"]


def test_equal_images_make_equal_archives(image: HandMadeImage, tmp_path: Path) -> None:
    first, second = tmp_path / "first.tar", tmp_path / "second.tar"
    write_archive(image, first)
    write_archive(image, second)
    assert first.read_bytes() == second.read_bytes()


def _content(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    assert file is not None
    return file.read()
