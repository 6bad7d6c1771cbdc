"""The image is built on the one that the Dockerfile names, or on Debian where no registry is reached, and says so."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.release import base as module
from tools.release.base import default_reference, prepare_base
from tools.release.debian import DebianBase, DebianPackage
from tools.release.environment import Settings
from tools.release.errors import ReleaseError

DIGEST = f"sha256:{'a' * 64}"
MADE = DebianBase(
    Path("base.tar"),
    "debian",
    "bookworm",
    "Sat, 17 May 2025 09:23:09 UTC",
    (DebianPackage("libc6", "1:2.36-9", "amd64", "b" * 64),),
)


class Registry:
    """Stands for buildah."""

    def __init__(self, digest: str = DIGEST) -> None:
        self.digest = digest
        self.asked: list[str] = []
        self.imported: list[Path] = []

    def pull(self, reference: str) -> str:
        self.asked.append(reference)
        if not self.digest:
            raise ReleaseError("buildah pull: status 125:\nno such host")
        return self.digest

    def import_root(self, archive: Path, name: str) -> None:
        self.imported.append(archive)
        assert name.startswith("localhost/")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "Dockerfile").write_text(
        "ARG PYTHON_IMAGE=python:3.11-slim-bookworm\nFROM ${PYTHON_IMAGE} AS build\n"
    )

    def made(_: str, mirror: str | None) -> DebianBase:
        assert mirror is None
        return MADE

    monkeypatch.setattr(module, "debian_base", made)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/sbin/{name}")
    return tmp_path


def test_the_reference_of_the_dockerfile_gets_the_name_of_its_registry(source: Path) -> None:
    assert default_reference(source) == "docker.io/library/python:3.11-slim-bookworm"


@pytest.mark.parametrize(
    ("asked", "repository"),
    [
        pytest.param(None, "docker.io/library/python", id="the Dockerfile's own"),
        pytest.param("registry.example.com:5000/python:3.11", "registry.example.com:5000/python", id="a tag"),
        pytest.param("registry.example.com:5000/python", "registry.example.com:5000/python", id="no tag"),
        pytest.param(f"registry.example.com/python@{DIGEST}", "registry.example.com/python", id="a digest"),
    ],
)
def test_an_image_is_named_by_its_digest(source: Path, asked: str | None, repository: str) -> None:
    _, base = prepare_base(Registry(), source, Settings(base=asked))
    assert (base.kind, base.name) == ("registry", f"{repository}@{DIGEST}")
    (dependency,) = base.parts
    assert dependency.uri == f"pkg:oci/python@{DIGEST}?repository_url={repository}"
    assert dependency.digest == {"sha256": "a" * 64}


def test_where_no_registry_is_reached_it_is_debian_and_that_is_told(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = Registry(digest="")
    on, base = prepare_base(registry, source, Settings())
    assert on.startswith("localhost/")
    assert registry.imported == [MADE.archive]
    assert (base.kind, base.name) == ("debian", "debian bookworm, indexes of Sat, 17 May 2025 09:23:09 UTC")
    (dependency,) = base.parts
    assert dependency.as_json() == {
        "name": "libc6 1:2.36-9",
        "uri": "pkg:deb/debian/libc6@1%3A2.36-9?arch=amd64",
        "digest": {"sha256": "b" * 64},
    }
    told = capsys.readouterr().err
    assert "can't be fetched: no such host" in told
    assert "Debian by debootstrap instead" in told


def test_an_image_that_was_asked_for_is_never_replaced_by_debian(source: Path) -> None:
    registry = Registry(digest="")
    with pytest.raises(ReleaseError, match="no such host"):
        prepare_base(registry, source, Settings(base="registry.example.com/python:3.11"))
    assert registry.imported == []


def test_debian_that_was_asked_for_asks_no_registry(source: Path) -> None:
    registry = Registry()
    _, base = prepare_base(registry, source, Settings(base="debian"))
    assert (base.kind, registry.asked) == ("debian", [])
