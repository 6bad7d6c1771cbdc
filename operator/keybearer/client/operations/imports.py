"""Imports of folders (wire.md section 2.7)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.models import SecretImport
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import imports as wire

__all__ = ["CreateImport", "DeleteImport", "GetImport", "ListImports", "UpdateImport"]

_ALL = "/api/v2/secret-imports"
_ONE = "/api/v2/secret-imports/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _ImportAnswer:
    """`{secretImport}`."""

    secret_import: SecretImport


@from_wire
@dataclass(frozen=True, slots=True)
class _ImportsAnswer:
    """`{secretImports}`."""

    secret_imports: tuple[SecretImport, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Importing:
    """The folder that imports; `environment` is a slug."""

    project_id: str
    environment: str
    path: str = "/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListImports(_Importing, Operation[list[SecretImport]]):
    """List the imports of a folder, by position."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"projectId": self.project_id, "environment": self.environment, "path": self.path})
        return Request("GET", _ALL, query=query)

    def read(self, response: Response) -> list[SecretImport]:
        """Return the imports in the service's order."""
        return list(decode(response, _ImportsAnswer).secret_imports)


class _One(Operation[SecretImport]):
    __slots__ = ()

    def read(self, response: Response) -> SecretImport:
        """Return the import."""
        return decode(response, _ImportAnswer).secret_import


@dataclass(frozen=True, slots=True)
class GetImport(_One):
    """Return an import by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    import_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.import_id))


@dataclass(frozen=True, slots=True)
class CreateImport(_Importing, _One):
    """Have a folder import another one of its project, in the last place, and return the import.

    Attributes:
        from_environment: a slug.
        from_path: the folder that is imported.
    """

    from_environment: str
    from_path: str

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateImport(
                project_id=self.project_id,
                environment=self.environment,
                path=self.path,
                source=wire.ImportSource(environment=self.from_environment, path=self.from_path),
            )
        )
        return Request("POST", _ALL, body=body)


@dataclass(frozen=True, slots=True)
class UpdateImport(_Importing, _One):
    """Change what an import brings, or its place among the others, and return it; what isn't given stays.

    Attributes:
        position: counts from 1.
    """

    import_id: str
    from_environment: str | None = field(default=None, kw_only=True)
    from_path: str | None = field(default=None, kw_only=True)
    position: int | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateImport(
                project_id=self.project_id,
                environment=self.environment,
                path=self.path,
                source=wire.RedirectedImport(
                    environment=self.from_environment, path=self.from_path, position=self.position
                ),
            )
        )
        return Request("PATCH", fill(_ONE, self.import_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteImport(_Importing, _One):
    """Delete an import, and return what it was."""

    import_id: str

    def request(self) -> Request:
        """Return what to send: a DELETE with a body (wire.md section 0)."""
        body = json_body(
            lambda: wire.DeleteImport(
                project_id=self.project_id, environment=self.environment, path=self.path
            )
        )
        return Request("DELETE", fill(_ONE, self.import_id), body=body)
