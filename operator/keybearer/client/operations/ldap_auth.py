"""How identities log in as people of a directory (wire.md sections 1.2 and 1.4)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from keybearer.client.actors import AllowedField, LdapAuthSettings
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.login_settings import ClearedLockouts, LockoutTerms, given
from keybearer.wire import auth_methods as wire

__all__ = ["AttachLdapAuth", "ClearLdapAuthLockouts", "DetachLdapAuth", "GetLdapAuth", "UpdateLdapAuth"]

_SETTINGS = "/api/v1/auth/ldap-auth/identities/{}"


@from_wire
@dataclass(frozen=True, slots=True)
class _LdapAuthAnswer:
    """`{identityLdapAuth}`."""

    identity_ldap_auth: LdapAuthSettings


class _Settings(Operation[LdapAuthSettings]):
    __slots__ = ()

    def read(self, response: Response) -> LdapAuthSettings:
        """Return the settings."""
        return decode(response, _LdapAuthAnswer).identity_ldap_auth


@dataclass(frozen=True, slots=True)
class GetLdapAuth(_Settings):
    """Return how an identity logs in; `NotFound` where it has no LDAP auth."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_SETTINGS, self.identity_id))


@dataclass(frozen=True, slots=True)
class _Terms(LockoutTerms, _Settings):
    """What both writes can set.

    Attributes:
        search_filter: `{{username}}` stands for the name that is given; `(uid={{username}})` by default.
        ldap_ca_certificate: PEM certificates to trust for the directory.
        allowed_fields: all of them must hold.
    """

    identity_id: str
    search_filter: str | None = field(default=None, kw_only=True)
    ldap_ca_certificate: str | None = field(default=None, kw_only=True)
    allowed_fields: tuple[AllowedField, ...] | None = field(default=None, kw_only=True)

    def terms(self) -> dict[str, Any]:
        fields = {} if self.allowed_fields is None else {"allowed_fields": _wire_fields(self.allowed_fields)}
        return {**given(self), **fields}


@dataclass(frozen=True, slots=True)
class AttachLdapAuth(_Terms):
    """Let people of the directory at `url` log in as an identity, and return the settings.

    `bind_dn` and `bind_pass` are who looks people up below `search_base`. Durations in seconds, 0 without end or
    limit; what isn't given has the service's default.
    """

    url: str = field(kw_only=True)
    bind_dn: str = field(kw_only=True)
    bind_pass: str = field(repr=False, kw_only=True)
    search_base: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.LdapAuthConfig(**self.terms()))
        return Request("POST", fill(_SETTINGS, self.identity_id), body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the password."""
        return (self.bind_pass,)


@dataclass(frozen=True, slots=True)
class UpdateLdapAuth(_Terms):
    """Change how an identity logs in, and return the settings; what isn't given stays.

    Another `url` or `ldap_ca_certificate` needs `bind_pass` again: it is never sent where it wasn't given for.
    """

    url: str | None = field(default=None, kw_only=True)
    bind_dn: str | None = field(default=None, kw_only=True)
    bind_pass: str | None = field(default=None, repr=False, kw_only=True)
    search_base: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: wire.UpdateLdapAuth(**self.terms()))
        return Request("PATCH", fill(_SETTINGS, self.identity_id), body=body)

    def confidential(self) -> tuple[str, ...]:
        """Return the password."""
        return () if self.bind_pass is None else (self.bind_pass,)


@dataclass(frozen=True, slots=True)
class DetachLdapAuth(_Settings):
    """Take LDAP auth from an identity, with the tokens it gave, and return what the settings were."""

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_SETTINGS, self.identity_id))


@dataclass(frozen=True, slots=True)
class ClearLdapAuthLockouts(ClearedLockouts):
    """Let those log in again who failed too often, and return how many lockouts ended."""

    identity_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", fill(f"{_SETTINGS}/clear-lockouts", self.identity_id))


def _wire_fields(fields: Iterable[AllowedField]) -> list[wire.AllowedField]:
    return [wire.AllowedField(key=one.key, value=one.value) for one in fields]
