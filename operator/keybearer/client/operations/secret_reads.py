"""Secrets read: list and get (interface.md section 4.8; wire.md sections 2.2 and 2.3).

Flags in whose default published servers differ are always sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.decoding import decode
from keybearer.client.errors import InvalidArgument
from keybearer.client.lenient import Several, from_wire
from keybearer.client.messages import Query, Request, Response, fill, query_of
from keybearer.client.models import (
    AnySecretType,
    ImportBlock,
    NotModified,
    Secret,
    SecretListing,
    SecretType,
)
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.place import ALL_SECRETS, ONE_SECRET, Place, SecretAnswer

__all__ = ["GetSecret", "GetSecretById", "ListSecrets", "ListSecretsConditionally"]


@from_wire
@dataclass(frozen=True, slots=True)
class _SecretsAnswer:
    """`{secrets, imports}`; published servers may leave `imports` out."""

    secrets: tuple[Secret, ...]
    imports: Several[ImportBlock] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing(Place):
    include_imports: bool = True
    recursive: bool = False
    expand_secret_references: bool = True
    view_secret_value: bool = True
    include_personal_overrides: bool = False
    tag_slugs: tuple[str, ...] = ()

    def query(self) -> Query:
        return query_of(
            {
                "projectId": self.project_id,
                "environment": self.environment,
                "secretPath": self.secret_path,
                "includeImports": self.include_imports,
                "recursive": self.recursive,
                "expandSecretReferences": self.expand_secret_references,
                "viewSecretValue": self.view_secret_value,
                "includePersonalOverrides": self.include_personal_overrides or None,
                "tagSlugs": self.tag_slugs,
            }
        )

    def read_listing(self, response: Response) -> SecretListing:
        answer = decode(response, _SecretsAnswer)
        return SecretListing(
            etag=response.headers.get("etag"),
            secrets=tuple(self.settle(secret) for secret in answer.secrets),
            imports=tuple(self._settle_block(block) for block in answer.imports),
        )

    def _settle_block(self, block: ImportBlock) -> ImportBlock:
        source = Place(
            project_id=self.project_id, environment=block.environment, secret_path=block.secret_path
        )
        return ImportBlock(
            secret_path=block.secret_path,
            environment=block.environment,
            folder_id=block.folder_id,
            secrets=tuple(source.settle(secret) for secret in block.secrets),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSecrets(_Listing, Operation[list[Secret]]):
    """List the secrets of a folder, imports merged in, sorted by key.

    Attributes:
        include_imports: also what the folder imports; a direct secret hides an imported one.
        recursive: also the folders below, to a depth of 20.
        expand_secret_references: replace `${...}` by what it names.
        view_secret_value: ask for values; else they are masked.
        include_personal_overrides: a user's own values in place of the shared ones.
        tag_slugs: only secrets that carry one of these tags.
        attach_to_process_env: set the variables that are unset or empty; never to a mask.
        set_secrets_as_environment_variables: the same, by the name of another client library.
        unique_keys: keep the last of equal keys, which recursion may find; all are kept by default.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    attach_to_process_env: bool = False
    set_secrets_as_environment_variables: bool = False
    unique_keys: bool = False

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", ALL_SECRETS, query=self.query())

    def read(self, response: Response) -> list[Secret]:
        """Return the secrets, sorted by key, then path."""
        return self.read_listing(response).merged(unique_keys=self.unique_keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSecretsConditionally(_Listing, Operation[SecretListing | NotModified]):
    """List the secrets of a folder unless nothing changed since `etag`; nothing is merged or sorted.

    Attributes:
        etag: the tag of an earlier listing with the same arguments; None reads unconditionally.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY
    statuses: ClassVar[frozenset[int]] = frozenset({304})

    etag: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        if self.etag is None:
            return Request("GET", ALL_SECRETS, query=self.query())
        if not (self.etag and self.etag.isascii() and self.etag.isprintable()):
            raise InvalidArgument("the etag is none that a listing returned")
        return Request("GET", ALL_SECRETS, query=self.query(), headers=(("If-None-Match", self.etag),))

    def read(self, response: Response) -> SecretListing | NotModified:
        """Return the listing, or that it is as it was."""
        if response.status == 304:
            return NotModified(response.headers.get("etag") or self.etag or "")
        return self.read_listing(response)


@dataclass(frozen=True, slots=True)
class GetSecret(Place, Operation[Secret]):
    """Return one secret; `NotFound` where there is none.

    Attributes:
        include_imports: look into the folder's imports where it has none of that name.
        type: `personal` for a user's override.
        version: one that the service keeps of it; the newest by default.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    secret_name: str
    include_imports: bool = field(default=True, kw_only=True)
    expand_secret_references: bool = field(default=True, kw_only=True)
    view_secret_value: bool = field(default=True, kw_only=True)
    type: AnySecretType = field(default=SecretType.SHARED, kw_only=True)
    version: int | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of(
            {
                "projectId": self.project_id,
                "environment": self.environment,
                "secretPath": self.secret_path,
                "includeImports": self.include_imports,
                "expandSecretReferences": self.expand_secret_references,
                "viewSecretValue": self.view_secret_value,
                "type": self.type,
                "version": self.version,
            }
        )
        return Request("GET", fill(ONE_SECRET, self.secret_name), query=query)

    def read(self, response: Response) -> Secret:
        """Return the secret."""
        return self.read_one(response)


@dataclass(frozen=True, slots=True)
class GetSecretById(Operation[Secret]):
    """Return one secret by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    secret_id: str
    expand_secret_references: bool = field(default=True, kw_only=True)
    view_secret_value: bool = field(default=True, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of(
            {
                "expandSecretReferences": self.expand_secret_references,
                "viewSecretValue": self.view_secret_value,
            }
        )
        return Request("GET", fill("/api/v4/secrets/id/{}", self.secret_id), query=query)

    def read(self, response: Response) -> Secret:
        """Return the secret."""
        return decode(response, SecretAnswer).secret
