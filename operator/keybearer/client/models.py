"""What the client returns: frozen values in Python's spelling, read straight from the wire.

They are lenient where published servers are: fields that the service always sends may be absent or null from
others (wire.md section 2.1 and 2.2). A repr never shows a value, a comment, metadata or a token.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from keybearer.client.lenient import Several, Text, from_wire
from keybearer.interface.environments import Environment
from keybearer.wire.secret_type import SecretType

__all__ = [
    "TOKEN_PATTERN",
    "AccessToken",
    "AnySecretType",
    "Folder",
    "ImportBlock",
    "NotModified",
    "Project",
    "Secret",
    "SecretListing",
    "SecretMetadata",
    "SecretTag",
    "SecretType",
]

TOKEN_PATTERN = r"^[A-Za-z0-9\-._~+/]+=*$"
"""RFC 6750 section 2.1. Anything else could not travel in a header, or would end it."""

AnySecretType = SecretType | Literal["shared", "personal"]
"""What callers may write for a type."""


def _fold(given: object) -> object:
    return given.lower() if isinstance(given, str) else given


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SecretMetadata:
    """A key and a value beside a secret."""

    key: str
    value: Text = field(default="", repr=False)
    is_encrypted: bool | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class SecretTag:
    """A tag of the project that a secret carries."""

    id: str
    slug: str
    name: Text = ""
    color: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A secret (interface.md section 2.7), with what else the wire says of it.

    Attributes:
        secret_path: where it lives; for an imported one, the folder it comes from.
        workspace: the id of the project.
        version: counts from 1.
        created_at, updated_at: ISO 8601 in UTC; empty where the server doesn't say (imports).
        secret_value_hidden: the identity may not see the value, and `secret_value` is a mask.
    """

    id: str
    secret_key: str
    secret_value: str = field(repr=False)
    secret_comment: Text = field(default="", repr=False)
    secret_path: Text = ""
    environment: Text = ""
    workspace: Text = ""
    version: int = 1
    type: Annotated[SecretType, BeforeValidator(_fold)] = SecretType.SHARED
    created_at: Text = ""
    updated_at: Text = ""
    secret_value_hidden: bool = False
    skip_multiline_encoding: bool | None = None
    secret_reminder_note: str | None = field(default=None, repr=False)
    secret_reminder_repeat_days: float | None = None
    secret_metadata: Several[SecretMetadata] = ()
    tags: Several[SecretTag] = ()

    def at(self, *, secret_path: str, environment: str, workspace: str) -> Secret:
        """Return it with its place filled in where the server left it out."""
        if self.secret_path and self.environment and self.workspace:
            return self
        return replace(
            self,
            secret_path=self.secret_path or secret_path,
            environment=self.environment or environment,
            workspace=self.workspace or workspace,
        )


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBlock:
    """What one import of the folder brings, in the order of position."""

    secret_path: str
    environment: str
    folder_id: str | None = None
    secrets: Several[Secret] = ()


@dataclass(frozen=True, slots=True)
class NotModified:
    """The answer to a conditional list whose tag still holds: nothing changed."""

    etag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretListing:
    """A list as the service gave it: direct secrets and imports apart, in its order.

    Attributes:
        etag: ask with it next time; None where the server sends none.
    """

    etag: str | None
    secrets: tuple[Secret, ...]
    imports: tuple[ImportBlock, ...] = ()

    def merged(self, *, unique_keys: bool = False) -> list[Secret]:
        """Return all of them in one list, sorted by key, then path.

        A direct secret hides imported ones of its key, and an import those of later blocks (wire.md section
        2.7). Equal keys from several folders, as a recursive list finds them, are all kept.

        Args:
            unique_keys: keep only the last of equal keys.
        """
        found = list(self.secrets)
        taken = {secret.secret_key for secret in found}
        for block in self.imports:
            found += [secret for secret in block.secrets if secret.secret_key not in taken]
            taken.update(secret.secret_key for secret in block.secrets)
        return _sorted({secret.secret_key: secret for secret in found}.values() if unique_keys else found)


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project and its environments."""

    id: str
    slug: Text = ""
    name: Text = ""
    description: Text = ""
    type: Text = "secret-manager"
    org_id: Text = ""
    environments: Several[Environment] = ()
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder; `path` is given but in lists, `relative_path` in recursive lists alone."""

    id: str
    name: str
    path: str | None = None
    relative_path: str | None = None
    version: int | None = None
    env_id: Text = ""
    parent_id: str | None = None
    description: Text = ""
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """What a login or a renewal yields.

    Attributes:
        expires_in: seconds from the answer; 0 for a token that doesn't expire.
        access_token_max_ttl: seconds after which it can't be renewed any more.
    """

    access_token: Annotated[str, Field(pattern=TOKEN_PATTERN)] = field(repr=False)
    expires_in: int = 0
    access_token_max_ttl: Annotated[int, Field(alias="accessTokenMaxTTL")] = 0
    token_type: Text = "Bearer"


def _sorted(secrets: Iterable[Secret]) -> list[Secret]:
    return sorted(secrets, key=lambda secret: (secret.secret_key, secret.secret_path))
