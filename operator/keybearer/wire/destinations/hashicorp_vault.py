"""The destination `hashicorp-vault`: all keys are one secret of a KV engine, version 1 or 2."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints, TypeAdapter

from keybearer.wire.destinations.base import DestinationConfig, DestinationModel

__all__ = ["HASHICORP_VAULT", "VaultConfig"]

_PLACE_MAX = 128
_PATH = re.compile(r"([a-zA-Z0-9._-]+/)*[a-zA-Z0-9._-]+")


def _within(text: str, kind: str) -> str:
    bare = text.strip("/")
    if not bare or any(part in ("", ".", "..") for part in bare.split("/")):
        raise ValueError(f"{kind} needs names between its slashes, none of them . or ..")
    return bare


def _mount(text: str) -> str:
    return _within(text, "Secrets Engine Mount")


def _path(text: str) -> str:
    bare = _within(text, "Path")
    if not _PATH.fullmatch(bare):
        raise ValueError(
            "Path can only contain letters, digits, dots, hyphens, underscores and single slashes"
        )
    return bare


_Place = StringConstraints(strip_whitespace=True, min_length=1, max_length=_PLACE_MAX, pattern=r"\S")


class VaultConfig(DestinationConfig):
    """Slashes around either are dropped."""

    mount: Annotated[str, _Place, AfterValidator(_mount)]
    path: Annotated[str, _Place, AfterValidator(_path)]


HASHICORP_VAULT = DestinationModel("hashicorp-vault", "hashicorp-vault", TypeAdapter(VaultConfig))
