"""Folders (wire.md section 2.9)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.models import Folder
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import projects as wire

__all__ = ["CreateFolder", "DeleteFolder", "GetFolder", "ListFolders", "UpdateFolder"]

_ALL = "/api/v2/folders"
_ONE = "/api/v2/folders/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _FolderAnswer:
    """`{folder}`."""

    folder: Folder


@from_wire
@dataclass(frozen=True, slots=True)
class _FoldersAnswer:
    """`{folders}`."""

    folders: tuple[Folder, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parent:
    """The folder in which folders are; `environment` is a slug."""

    project_id: str
    environment: str
    path: str = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFolders(_Parent, Operation[list[Folder]]):
    """List the folders directly in `path`, or all below it where `recursive`."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    recursive: bool = False

    def request(self) -> Request:
        """Return what to send."""
        query = query_of(
            {
                "projectId": self.project_id,
                "environment": self.environment,
                "path": self.path,
                "recursive": self.recursive,
            }
        )
        return Request("GET", _ALL, query=query)

    def read(self, response: Response) -> list[Folder]:
        """Return the folders in the service's order."""
        return list(decode(response, _FoldersAnswer).folders)


@dataclass(frozen=True, slots=True)
class GetFolder(Operation[Folder]):
    """Return a folder by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    folder_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.folder_id))

    def read(self, response: Response) -> Folder:
        """Return the folder."""
        return decode(response, _FolderAnswer).folder


@dataclass(frozen=True, slots=True)
class CreateFolder(_Parent, Operation[Folder]):
    """Create a folder in `path`, missing parents included, and return it."""

    name: str
    description: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateFolder(
                project_id=self.project_id,
                environment=self.environment,
                path=self.path,
                name=self.name,
                description=self.description,
            )
        )
        return Request("POST", _ALL, body=body)

    def read(self, response: Response) -> Folder:
        """Return the created folder."""
        return decode(response, _FolderAnswer).folder


@dataclass(frozen=True, slots=True)
class UpdateFolder(_Parent, Operation[Folder]):
    """Give a folder another name or description, and return it."""

    folder_id: str
    name: str
    description: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateFolder(
                project_id=self.project_id,
                environment=self.environment,
                path=self.path,
                name=self.name,
                description=self.description,
            )
        )
        return Request("PATCH", fill(_ONE, self.folder_id), body=body)

    def read(self, response: Response) -> Folder:
        """Return the changed folder."""
        return decode(response, _FolderAnswer).folder


@dataclass(frozen=True, slots=True)
class DeleteFolder(_Parent, Operation[Folder]):
    """Delete a folder by its id or its name, and return what it was.

    Attributes:
        force_delete: also when it isn't empty.
    """

    folder: str
    force_delete: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send: a DELETE with a body (wire.md section 0)."""
        body = json_body(
            lambda: wire.DeleteFolder(
                project_id=self.project_id,
                environment=self.environment,
                path=self.path,
                force_delete=self.force_delete,
            )
        )
        return Request("DELETE", fill(_ONE, self.folder), body=body)

    def read(self, response: Response) -> Folder:
        """Return the deleted folder."""
        return decode(response, _FolderAnswer).folder
