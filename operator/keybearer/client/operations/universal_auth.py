"""How identities log in by client id and client secret (wire.md section 1.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.actors import ClientSecret, CreatedClientSecret, UniversalAuthSettings
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.login_settings import ClearedLockouts, LockoutTerms, given
from keybearer.wire import identities as wire

__all__ = [
    "AttachUniversalAuth",
    "ClearUniversalAuthLockouts",
    "CreateClientSecret",
    "DetachUniversalAuth",
    "GetClientSecret",
    "GetUniversalAuth",
    "ListClientSecrets",
    "RevokeClientSecret",
    "UpdateUniversalAuth",
]

_SETTINGS = "/api/v1/auth/universal-auth/identities/{}"
_ALL = f"{_SETTINGS}/client-secrets"
_ONE = f"{_ALL}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _ClientSecretAnswer:
    """`{clientSecretData}`."""

    client_secret_data: ClientSecret


@from_wire
@dataclass(frozen=True, slots=True)
class _ClientSecretsAnswer:
    """`{clientSecretData}`."""

    client_secret_data: tuple[ClientSecret, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _UniversalAuthAnswer:
    """`{identityUniversalAuth}`."""

    identity_universal_auth: UniversalAuthSettings


class _Settings(Operation[UniversalAuthSettings]):
    __slots__ = ()

    def read(self, response: Response) -> UniversalAuthSettings:
        """Return the settings."""
        return decode(response, _UniversalAuthAnswer).identity_universal_auth


@dataclass(frozen=True, slots=True)
class GetUniversalAuth(_Settings):
    """Return how an identity logs in; `NotFound` where it has no Universal Auth."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_SETTINGS, self.identity_id))


@dataclass(frozen=True, slots=True)
class _Terms(LockoutTerms, _Settings):
    """What both writes can set.

    Attributes:
        client_secret_trusted_ips: addresses or ranges; everywhere by default.
    """

    identity_id: str
    client_secret_trusted_ips: tuple[str, ...] | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class AttachUniversalAuth(_Terms):
    """Let an identity log in by client id and client secret, and return the settings.

    Durations in seconds, 0 without end or limit; what isn't given has the service's default.
    """

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.UniversalAuthConfig(**given(self)))
        return Request("POST", fill(_SETTINGS, self.identity_id), body=body)


@dataclass(frozen=True, slots=True)
class UpdateUniversalAuth(_Terms):
    """Change how an identity logs in, and return the settings; what isn't given stays."""

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.UpdateUniversalAuth(**given(self)))
        return Request("PATCH", fill(_SETTINGS, self.identity_id), body=body)


@dataclass(frozen=True, slots=True)
class DetachUniversalAuth(_Settings):
    """Take the client id and all client secrets from an identity, and return what the settings were."""

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_SETTINGS, self.identity_id))


@dataclass(frozen=True, slots=True)
class ClearUniversalAuthLockouts(ClearedLockouts):
    """Let those log in again who failed too often, and return how many lockouts ended."""

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", fill(f"{_SETTINGS}/clear-lockouts", self.identity_id))


@dataclass(frozen=True, slots=True)
class CreateClientSecret(Operation[CreatedClientSecret]):
    """Make a client secret, and return it: the only time that it is shown.

    Attributes:
        ttl: seconds; 0 for no end.
        num_uses_limit: logins; 0 for no limit.
    """

    identity_id: str
    description: str = field(default="", kw_only=True)
    ttl: int = field(default=0, kw_only=True)
    num_uses_limit: int = field(default=0, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateClientSecret(
                description=self.description, ttl=self.ttl, num_uses_limit=self.num_uses_limit
            )
        )
        return Request("POST", fill(_ALL, self.identity_id), body=body)

    def read(self, response: Response) -> CreatedClientSecret:
        """Return the client secret."""
        return decode(response, CreatedClientSecret)


@dataclass(frozen=True, slots=True)
class ListClientSecrets(Operation[list[ClientSecret]]):
    """List what is known of an identity's client secrets."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ALL, self.identity_id))

    def read(self, response: Response) -> list[ClientSecret]:
        """Return them in the service's order."""
        return list(decode(response, _ClientSecretsAnswer).client_secret_data)


@dataclass(frozen=True, slots=True)
class GetClientSecret(Operation[ClientSecret]):
    """Return what is known of a client secret; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    identity_id: str
    client_secret_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.identity_id, self.client_secret_id))

    def read(self, response: Response) -> ClientSecret:
        """Return what is known of it."""
        return decode(response, _ClientSecretAnswer).client_secret_data


@dataclass(frozen=True, slots=True)
class RevokeClientSecret(Operation[ClientSecret]):
    """End a client secret, and return what is known of it."""

    identity_id: str
    client_secret_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", fill(f"{_ONE}/revoke", self.identity_id, self.client_secret_id))

    def read(self, response: Response) -> ClientSecret:
        """Return what is known of it."""
        return decode(response, _ClientSecretAnswer).client_secret_data
