"""The envelopes around what the service answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, with_config

from keybearer.client.models import Environment, Folder, ImportBlock, Project, Secret

__all__ = [
    "EnvironmentAnswer",
    "FolderAnswer",
    "FoldersAnswer",
    "MessageAnswer",
    "ProjectAnswer",
    "ProjectsAnswer",
    "SecretAnswer",
    "SecretsAnswer",
]

_wire = with_config(ConfigDict(extra="ignore", hide_input_in_errors=True))


def _null_to_list(given: object) -> object:
    return () if given is None else given


@_wire
@dataclass(frozen=True, slots=True)
class SecretAnswer:
    """`{secret}`."""

    secret: Secret


@_wire
@dataclass(frozen=True, slots=True)
class SecretsAnswer:
    """`{secrets, imports}`; published servers may leave `imports` out."""

    secrets: tuple[Secret, ...]
    imports: Annotated[tuple[ImportBlock, ...], BeforeValidator(_null_to_list)] = ()


@_wire
@dataclass(frozen=True, slots=True)
class ProjectAnswer:
    """`{project}`."""

    project: Project


@_wire
@dataclass(frozen=True, slots=True)
class ProjectsAnswer:
    """`{projects}`."""

    projects: tuple[Project, ...]


@_wire
@dataclass(frozen=True, slots=True)
class EnvironmentAnswer:
    """`{environment}`."""

    environment: Environment


@_wire
@dataclass(frozen=True, slots=True)
class FolderAnswer:
    """`{folder}`."""

    folder: Folder


@_wire
@dataclass(frozen=True, slots=True)
class FoldersAnswer:
    """`{folders}`."""

    folders: tuple[Folder, ...]


@_wire
@dataclass(frozen=True, slots=True)
class MessageAnswer:
    """`{message}`."""

    message: str
