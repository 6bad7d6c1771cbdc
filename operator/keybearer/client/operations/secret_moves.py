"""Secrets moved and copied between folders of a project, and their versions (wire.md section 2.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body, query_of
from keybearer.client.models import Secret
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.secret_batches import SecretBatchAnswer
from keybearer.wire import secret_moves as wire

__all__ = ["DuplicateSecrets", "ListSecretVersions", "MoveSecrets"]


@from_wire
@dataclass(frozen=True, slots=True)
class _SecretVersionsAnswer:
    """`{secretVersions}`."""

    secret_versions: tuple[Secret, ...]


@dataclass(frozen=True, slots=True)
class _Transfer:
    """Ids of secrets that are all in the source folder; environments are slugs."""

    secret_ids: tuple[str, ...]
    project_id: str = field(kw_only=True)
    source_environment: str = field(kw_only=True)
    source_secret_path: str = field(default="/", kw_only=True)
    destination_environment: str = field(kw_only=True)
    destination_secret_path: str = field(default="/", kw_only=True)
    should_overwrite: bool = field(default=False, kw_only=True)

    def body(self) -> bytes:
        return json_body(
            lambda: wire.TransferSecrets(
                project_id=self.project_id,
                source_environment=self.source_environment,
                source_secret_path=self.source_secret_path,
                destination_environment=self.destination_environment,
                destination_secret_path=self.destination_secret_path,
                secret_ids=list(self.secret_ids),
                should_overwrite=self.should_overwrite,
            )
        )


@dataclass(frozen=True, slots=True)
class MoveSecrets(_Transfer, Operation[None]):
    """Move up to 1000 secrets to another folder of the project, all or none.

    Attributes:
        should_overwrite: replace secrets of their names that are there; `BadRequest` without.
    """

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", "/api/v4/secrets/move", body=self.body())

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""


@dataclass(frozen=True, slots=True)
class DuplicateSecrets(_Transfer, Operation[list[Secret]]):
    """Copy up to 1000 secrets to another folder of the project, all or none, and return the copies.

    Attributes:
        should_overwrite: replace secrets of their names that are there; `BadRequest` without.
    """

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", "/api/v4/secrets/duplicate", body=self.body())

    def read(self, response: Response) -> list[Secret]:
        """Return the copies."""
        return [
            secret.at(
                secret_path=self.destination_secret_path,
                environment=self.destination_environment,
                workspace=self.project_id,
            )
            for secret in decode(response, SecretBatchAnswer).secrets
        ]


@dataclass(frozen=True, slots=True)
class ListSecretVersions(Operation[list[Secret]]):
    """List what a secret was, the newest first.

    Attributes:
        limit: the service gives no more than fifty at once.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    secret_id: str
    offset: int = field(default=0, kw_only=True)
    limit: int = field(default=20, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"offset": self.offset, "limit": self.limit})
        return Request("GET", fill("/api/v1/secret/{}/secret-versions", self.secret_id), query=query)

    def read(self, response: Response) -> list[Secret]:
        """Return the versions in the service's order."""
        return list(decode(response, _SecretVersionsAnswer).secret_versions)
