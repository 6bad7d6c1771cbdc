"""LDAP auth: its terms, and what a user's entry must hold (wire.md section 1.2). Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId, new_uuid
from keybearer.domain.addresses import EVERY_ADDRESS, networks
from keybearer.domain.errors import InvalidError, SchemaViolationError, UnauthenticatedError
from keybearer.domain.login_terms import given_fields, require_readable, require_sensible_terms
from keybearer.outbound.ldap import DirectoryAccess, DirectoryUser
from keybearer.outbound.ldap_filter import Filter, filled, names_user, parse_filter
from keybearer.outbound.trust import trust
from keybearer.outbound.urls import LDAP_PORTS, parse_url
from keybearer.store.auth_methods import LdapAuth

__all__ = [
    "DEFAULT_FILTER",
    "LDAP_AUTH",
    "LdapAuthChange",
    "LdapAuthTerms",
    "access_of",
    "changed_ldap_auth",
    "ldap_auth_of",
    "require_fields",
    "search_for",
    "wanted_attributes",
]

LDAP_AUTH = "ldap-auth"
DEFAULT_FILTER = "(uid={{username}})"


@dataclass(frozen=True, slots=True)
class LdapAuthTerms:
    """What is set of LDAP auth; seconds, with the defaults of wire.md section 1.2."""

    url: str
    bind_dn: str
    bind_password: str = field(repr=False)
    search_base: str
    search_filter: str = DEFAULT_FILTER
    ca_pem: str = ""
    allowed_fields: tuple[tuple[str, str], ...] = ()
    access_token_ttl: int = 2_592_000
    access_token_max_ttl: int = 2_592_000
    access_token_num_uses_limit: int = 0
    access_token_period: int = 0
    access_token_trusted_ips: tuple[str, ...] = EVERY_ADDRESS
    lockout_enabled: bool = True
    lockout_threshold: int = 3
    lockout_duration_seconds: int = 300
    lockout_counter_reset_seconds: int = 30


@dataclass(frozen=True, slots=True)
class LdapAuthChange:
    """What changes; None leaves a field as it is."""

    url: str | None = None
    bind_dn: str | None = None
    bind_password: str | None = field(default=None, repr=False)
    search_base: str | None = None
    search_filter: str | None = None
    ca_pem: str | None = None
    allowed_fields: tuple[tuple[str, str], ...] | None = None
    access_token_ttl: int | None = None
    access_token_max_ttl: int | None = None
    access_token_num_uses_limit: int | None = None
    access_token_period: int | None = None
    access_token_trusted_ips: tuple[str, ...] | None = None
    lockout_enabled: bool | None = None
    lockout_threshold: int | None = None
    lockout_duration_seconds: int | None = None
    lockout_counter_reset_seconds: int | None = None


def ldap_auth_of(identity_id: IdentityId, terms: LdapAuthTerms, clock: Clock) -> LdapAuth:
    """Return a configuration on these terms.

    Raises:
        SchemaViolationError: URL, filter or CA certificate can't be used.
        InvalidError: the terms contradict each other, or a trusted address is none.
    """
    now = clock.now()
    auth = LdapAuth(
        identity_id=identity_id,
        id=new_uuid(),
        url=terms.url,
        bind_dn=terms.bind_dn,
        bind_password=terms.bind_password,
        search_base=terms.search_base,
        search_filter=terms.search_filter,
        ca_pem=terms.ca_pem,
        allowed_fields=terms.allowed_fields,
        access_token_ttl=terms.access_token_ttl,
        access_token_max_ttl=terms.access_token_max_ttl,
        access_token_num_uses_limit=terms.access_token_num_uses_limit,
        access_token_period=terms.access_token_period,
        access_token_trusted_ips=networks(terms.access_token_trusted_ips),
        lockout_enabled=terms.lockout_enabled,
        lockout_threshold=terms.lockout_threshold,
        lockout_duration_seconds=terms.lockout_duration_seconds,
        lockout_counter_reset_seconds=terms.lockout_counter_reset_seconds,
        created_at=now,
        updated_at=now,
    )
    _require_usable(auth)
    return auth


def changed_ldap_auth(former: LdapAuth, change: LdapAuthChange, clock: Clock) -> LdapAuth:
    """Return the configuration with what is given of the change.

    Raises:
        SchemaViolationError: URL, filter or CA certificate can't be used.
        InvalidError: the terms contradict each other, a trusted address is none, or the password, which is never
            shown, would be sent to another directory than the one it was given for.
    """
    auth = replace(former, **given_fields(change), updated_at=clock.now())
    _require_usable(auth)
    origins = [parse_url(one.url, LDAP_PORTS).origin for one in (auth, former)]
    if change.bind_password is None and (origins[0] != origins[1] or auth.ca_pem != former.ca_pem):
        raise InvalidError("Give bindPass again when url or ldapCaCertificate changes")
    return auth


def access_of(auth: LdapAuth) -> DirectoryAccess:
    """Return how its directory is asked."""
    return DirectoryAccess(
        url=parse_url(auth.url, LDAP_PORTS),
        trusted=trust(auth.ca_pem),
        demands_tls=bool(auth.ca_pem),
        bind_dn=auth.bind_dn,
        bind_password=auth.bind_password,
        search_base=auth.search_base,
    )


def search_for(auth: LdapAuth, username: str) -> Filter:
    """Return the filter that finds the user."""
    return filled(parse_filter(auth.search_filter), username)


def wanted_attributes(auth: LdapAuth) -> tuple[str, ...]:
    """Return which attributes of the user's entry are looked at."""
    return tuple(name for name, _ in auth.allowed_fields)


def require_fields(auth: LdapAuth, user: DirectoryUser) -> None:
    """Let pass a user whose entry has one of the values that each allowed field lists.

    Raises:
        UnauthenticatedError: a field is missing, or has another value.
    """
    for name, listed in auth.allowed_fields:
        # The whole text as well: the name of a group has commas of its own.
        wanted = {listed.strip(), *(part.strip() for part in listed.split(","))} - {""}
        held = {value.decode(errors="replace") for value in user.attributes.get(name.lower(), ())}
        if not wanted & held:
            raise UnauthenticatedError(
                f"The LDAP user's field '{name}' has none of the required values", attempted=auth.identity_id
            )


def _require_usable(auth: LdapAuth) -> None:
    require_readable("url", lambda: parse_url(auth.url, LDAP_PORTS))
    require_readable("searchFilter", lambda: parse_filter(auth.search_filter))
    require_readable("ldapCaCertificate", lambda: trust(auth.ca_pem))
    if not names_user(parse_filter(auth.search_filter)):
        # Without the name, every user would be found, or always the same one.
        raise SchemaViolationError(
            "searchFilter has no value with {{username}} in it; write for example (uid={{username}})",
            field="searchFilter",
        )
    require_sensible_terms(auth)
