"""What the image is built on: the one that the Dockerfile names, or Debian where its registry can't be reached."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Protocol

from tools.release.debian import DebianBase, debian_base
from tools.release.environment import Settings
from tools.release.errors import ReleaseError
from tools.release.progress import report
from tools.release.provenance import Base, Dependency

__all__ = ["DEBIAN", "BaseEngine", "default_reference", "prepare_base"]

DEBIAN = "debian"
"""The word of `RELEASE_BASE` for a base that debootstrap makes."""

_IMPORTED = "localhost/keybearer-base:released"
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")


class BaseEngine(Protocol):
    """What is asked of buildah."""

    def pull(self, reference: str) -> str:
        """Fetch an image; returns the digest of its manifest."""

    def import_root(self, archive: Path, name: str) -> None:
        """An image of that root file system is in the storage."""


def prepare_base(engine: BaseEngine, source: Path, settings: Settings) -> tuple[str, Base]:
    """What to build on, in the engine's storage, and what the provenance says of it.

    Raises:
        ReleaseError: there is none; the text says why.
    """
    if settings.base == DEBIAN:
        return _debian(engine, settings)
    reference = settings.base or default_reference(source)
    try:
        return _pulled(engine, reference)
    except ReleaseError as error:
        if settings.base is not None:
            raise
        report(f"{reference} can't be fetched: {str(error).splitlines()[-1]}")
        report(f"building on Debian by debootstrap instead. RELEASE_BASE={DEBIAN} asks for that")
        return _debian(engine, settings)


def default_reference(source: Path) -> str:
    """The image that the Dockerfile builds on by default, with the name of its registry."""
    text = (source / "Dockerfile").read_text(encoding="utf-8")
    found = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", text, re.MULTILINE)
    if found is None:
        raise ReleaseError("the Dockerfile has no line ARG PYTHON_IMAGE=...")
    return found[1] if "/" in found[1] else f"docker.io/library/{found[1]}"


def _pulled(engine: BaseEngine, reference: str) -> tuple[str, Base]:
    digest = engine.pull(reference)
    if _DIGEST.fullmatch(digest) is None:
        raise ReleaseError(
            f"buildah has no digest of {reference}: name it by one, with RELEASE_BASE=...@sha256:..."
        )
    repository, _, tag = reference.partition("@")[0].rpartition(":")
    repository = repository if repository and "/" not in tag else reference.partition("@")[0]
    name = f"{repository}@{digest}"
    algorithm, _, digits = digest.partition(":")
    uri = f"pkg:oci/{repository.rpartition('/')[2]}@{digest}?repository_url={repository}"
    return reference, Base("registry", name, (Dependency(name, uri, {algorithm: digits}),))


def _debian(engine: BaseEngine, settings: Settings) -> tuple[str, Base]:
    program = shutil.which("debootstrap")
    if program is None:
        raise ReleaseError(
            "debootstrap is not installed: apt-get install debootstrap, or name an image: RELEASE_BASE=..."
        )
    base = debian_base(program, settings.mirror)
    engine.import_root(base.archive, _IMPORTED)
    return _IMPORTED, _described(base)


def _described(base: DebianBase) -> Base:
    parts = tuple(
        Dependency(
            f"{one.name} {one.version}",
            f"pkg:deb/{base.distribution}/{one.name}@{one.version.replace(':', '%3A')}?arch={one.architecture}",
            {"sha256": one.sha256},
        )
        for one in base.packages
    )
    return Base("debian", f"{base.distribution} {base.release}, indexes of {base.dated}", parts)
