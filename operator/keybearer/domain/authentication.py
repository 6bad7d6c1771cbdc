"""Login, renew, revoke, and the check of each request's token (wire.md sections 1.1 to 1.3)."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.base.clock import Clock
from keybearer.domain.addresses import is_trusted, require_address
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import ActorKind, Principal
from keybearer.domain.errors import DomainError, UnauthenticatedError
from keybearer.domain.issuing import IssuedToken, issue_token, token_at_present
from keybearer.domain.lifetimes import is_locked, token_terms
from keybearer.domain.lockouts import Lockouts
from keybearer.domain.login_terms import LOCKED, grant_of, login_actor, member_of
from keybearer.domain.principals import CheckedToken, PrincipalCache, token_digest
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.tokens import read_token, sign_token
from keybearer.domain.universal_auth import credential_digest
from keybearer.store.database import Database
from keybearer.store.records import AccessToken, ClientSecret, Identity, UniversalAuth
from keybearer.store.unit import UnitOfWork

__all__ = ["Authentication"]

_INVALID = "Invalid credentials"
_NOT_ALLOWED = "You are not allowed to access this resource"
_UNIVERSAL_AUTH = "universal-auth"
_EXPIRED = "Your token has expired. Please re-authenticate."


@dataclass(frozen=True, slots=True)
class _Attempt:
    """One try to log in; the secret only as its digest."""

    client_id: str
    digest: bytes = field(repr=False)
    organization_slug: str | None
    address: str | None
    now: datetime


class Authentication:
    """Who asks."""

    def __init__(self, database: Database, keys: ServerKeys, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._clock = clock
        self._cache = PrincipalCache()
        self._lockouts = Lockouts(keys)
        # At once for commits of this process, and for those of others as soon as they are heard.
        database.revisions.subscribe(self._cache.forget)
        database.bus.subscribe(self._cache.forget, self._cache.clear)

    async def authenticate(self, text: str | None, address: str | None) -> Principal:
        """Return who the bearer of the token is.

        Raises:
            UnauthenticatedError: the token is missing, malformed, expired, revoked or unknown.
            ForbiddenError: the token may not be used from this address.
        """
        if not text:
            raise UnauthenticatedError("Token missing")
        digest = token_digest(text)
        now = self._clock.now()
        checked = self._cache.find(digest, self._clock.monotonic())
        if checked is None:
            checked = await self._check(text, digest, now, address)
        if checked.expires_at is not None and now >= checked.expires_at:
            raise UnauthenticatedError(_EXPIRED, name="TokenError")
        require_address(checked.trusted_ips, address)
        return checked.principal

    def known(self, text: str | None, address: str | None) -> Principal | None:
        """Return who the bearer of the token is, if that was checked a moment ago and still holds; None otherwise.

        Asks no database and refuses nobody: where it gives None, `authenticate` says why, or that all is well.
        """
        checked = self._cache.find(token_digest(text), self._clock.monotonic()) if text else None
        if checked is None or (checked.expires_at is not None and self._clock.now() >= checked.expires_at):
            return None
        return checked.principal if is_trusted(checked.trusted_ips, address) else None

    def end_of(self, text: str) -> datetime | None:
        """Return when a token that was authenticated ends by what it says itself; None for one without end.

        Raises:
            UnauthenticatedError: it is malformed.
        """
        return read_token(self._keys.token_signing, text).expires_at

    async def recheck(self, principal: Principal, address: str | None) -> Principal:
        """Return who the principal is by now, for what outlasts a request; it counts as no use of the token.

        Raises:
            UnauthenticatedError: the token was revoked or has expired, or the identity is gone.
            ForbiddenError: the token may not be used from this address.
        """
        async with self._database.reading() as unit:
            token = await token_at_present(unit, principal.token_id)
            identity = None if token is None else await unit.identities.get(token.identity_id)
        if token is None or identity is None:
            raise UnauthenticatedError(_NOT_ALLOWED)
        if token.expires_at is not None and self._clock.now() >= token.expires_at:
            raise UnauthenticatedError(_EXPIRED, name="TokenError")
        require_address(token.trusted_ips, address)
        return _principal(identity, token)

    async def login_universal(
        self, client_id: str, client_secret: str, organization_slug: str | None, address: str | None
    ) -> IssuedToken:
        """Return a fresh token for a client id and its secret.

        Raises:
            UnauthenticatedError: unknown client, wrong, expired or used up secret, or locked out.
            NotFoundError: the organization that was named doesn't exist.
            ForbiddenError: the secret may not be used from this address.
        """
        attempt = _Attempt(
            client_id,
            credential_digest(self._keys.credential_digest, client_secret),
            organization_slug,
            address,
            self._clock.now(),
        )
        refused: DomainError
        async with self._database.writing() as unit:
            try:
                return await self._login(unit, attempt)
            except DomainError as refusal:
                # Caught within the unit: the failure that it counted must be committed.
                refused = refusal
        raise refused

    async def renew(self, text: str, address: str | None) -> IssuedToken:
        """Return a token with a new lifetime for one that is still good.

        Raises:
            UnauthenticatedError: it is not, or the new lifetime would pass its max TTL.
            ForbiddenError: the token may not be used from this address.
        """
        claims = read_token(self._keys.token_signing, text)
        now = self._clock.now()
        if claims.expires_at is not None and now >= claims.expires_at:
            raise UnauthenticatedError(_EXPIRED, name="TokenError")
        async with self._database.writing() as unit:
            token = await token_at_present(unit, claims.token_id, for_change=True)
            if token is None:
                raise UnauthenticatedError(_NOT_ALLOWED)
            require_address(token.trusted_ips, address)
            _require_renewable(token, now)
            terms = token_terms(token, now)
            await unit.credentials.renew_token(token.id, renewed_at=now, expires_at=terms.expires_at)
            unit.drop_token(token.id)
            await _audit(unit, EventType.RENEW_TOKEN, token)
        renewed = replace(token, expires_at=terms.expires_at)
        return IssuedToken(sign_token(self._keys.token_signing, renewed, now), terms)

    async def revoke(self, text: str) -> None:
        """Make the token worthless from now on.

        Raises:
            UnauthenticatedError: it already is.
        """
        claims = read_token(self._keys.token_signing, text)
        async with self._database.writing() as unit:
            token = await unit.credentials.token(claims.token_id)
            if token is None or not await unit.credentials.delete_token(claims.token_id):
                raise UnauthenticatedError(_NOT_ALLOWED)
            await _audit(unit, EventType.REVOKE_TOKEN, token)
            unit.drop_token(claims.token_id)

    async def _check(self, text: str, digest: bytes, now: datetime, address: str | None) -> CheckedToken:
        claims = read_token(self._keys.token_signing, text)
        if claims.expires_at is not None and now >= claims.expires_at:
            raise UnauthenticatedError(_EXPIRED, name="TokenError")
        generation = self._cache.generation
        async with self._database.reading() as unit:
            token = await token_at_present(unit, claims.token_id)
            identity = None if token is None else await unit.identities.get(token.identity_id)
        if token is None or identity is None or identity.id != claims.identity_id:
            raise UnauthenticatedError(_NOT_ALLOWED)
        # Before its use is counted: whoever merely holds it elsewhere must not use it up.
        require_address(token.trusted_ips, address)
        if token.num_uses_limit > 0:
            await self._use(token)
        # The token's text may be older than its last renewal: the earlier end of the two counts.
        ends = [end for end in (claims.expires_at, token.expires_at) if end is not None]
        checked = CheckedToken(_principal(identity, token), min(ends, default=None), token.trusted_ips)
        if token.num_uses_limit == 0 and self._database.bus.hears:
            self._cache.keep(digest, checked, monotonic=self._clock.monotonic(), generation=generation)
        return checked

    async def _use(self, token: AccessToken) -> None:
        async with self._database.writing() as unit:
            present = await unit.credentials.token(token.id, for_change=True)
            used_up = present is None or present.num_uses >= token.num_uses_limit
            if used_up:
                await unit.credentials.delete_token(token.id)
            else:
                await unit.credentials.count_token_use(token.id)
        if used_up:
            raise UnauthenticatedError("Unable to authenticate: the access token has reached its usage limit")

    async def _login(self, unit: UnitOfWork, attempt: _Attempt) -> IssuedToken:
        auth = await unit.credentials.universal_auth_of_client(attempt.client_id)
        if auth is None:
            raise UnauthenticatedError(_INVALID)
        counter = self._lockouts.counter(_UNIVERSAL_AUTH, auth.identity_id, attempt.address)
        # Logins to one account take turns at its row, which this unit holds.
        failures = await unit.failed_logins.find(counter.digest)
        if is_locked(auth, failures, attempt.now):
            raise UnauthenticatedError(LOCKED, attempted=auth.identity_id)
        require_address(auth.client_secret_trusted_ips, attempt.address)
        secret = await self._matching(unit, auth, attempt.digest)
        if secret is None:
            await self._lockouts.count(unit, counter, auth, attempt.now)
            raise UnauthenticatedError(_INVALID, attempted=auth.identity_id)
        ended = _ended(secret, attempt.now)
        if ended is not None:
            await unit.credentials.revoke_client_secret(secret.id, attempt.now)
            raise ended
        identity = await member_of(unit, auth.identity_id, attempt.organization_slug)
        if failures is not None:
            await self._lockouts.forget(unit, counter)
        return await self._issue(unit, auth, secret, identity, attempt.now)

    async def _matching(self, unit: UnitOfWork, auth: UniversalAuth, digest: bytes) -> ClientSecret | None:
        match = None
        for secret in await unit.credentials.client_secrets(auth.identity_id, usable_only=True):
            # Every one is compared, so that the time says nothing about which came close.
            if hmac.compare_digest(secret.digest, digest):
                match = secret
        return match

    async def _issue(
        self, unit: UnitOfWork, auth: UniversalAuth, secret: ClientSecret, identity: Identity, now: datetime
    ) -> IssuedToken:
        await unit.credentials.count_use(secret.id, now)
        await unit.audit(
            audited(
                login_actor(identity),
                EventType.LOGIN_UNIVERSAL_AUTH,
                identityId=identity.id,
                clientSecretId=secret.id,
            )
        )
        grant = replace(grant_of(auth, _UNIVERSAL_AUTH), client_secret_id=secret.id)
        return await issue_token(unit, self._keys.token_signing, grant, now)


async def _audit(unit: UnitOfWork, event: EventType, token: AccessToken) -> None:
    identity = await unit.identities.get(token.identity_id)
    if identity is not None:
        await unit.audit(
            audited(login_actor(identity), event, tokenId=token.id, authMethod=token.auth_method)
        )


def _principal(identity: Identity, token: AccessToken) -> Principal:
    return Principal(
        identity_id=identity.id,
        organization_id=identity.organization_id,
        organization_role=identity.role,
        permission_revision=identity.permission_revision,
        token_id=token.id,
        kind=ActorKind(identity.kind),
        name=identity.name,
    )


def _ended(secret: ClientSecret, now: datetime) -> UnauthenticatedError | None:
    identity_id = secret.identity_id
    if secret.ttl > 0 and now >= secret.created_at + timedelta(seconds=secret.ttl):
        return UnauthenticatedError("Access denied due to expired client secret", attempted=identity_id)
    if secret.num_uses_limit > 0 and secret.num_uses >= secret.num_uses_limit:
        return UnauthenticatedError(
            "Access denied due to client secret usage limit reached", attempted=identity_id
        )
    return None


def _require_renewable(token: AccessToken, now: datetime) -> None:
    if token.expires_at is not None and now >= token.expires_at:
        raise UnauthenticatedError("Failed to renew MI access token due to TTL expiration")
    if token.period > 0 or token.max_ttl == 0:
        return
    end = token.created_at + timedelta(seconds=token.max_ttl)
    if now >= end:
        raise UnauthenticatedError("Failed to renew MI access token due to Max TTL expiration")
    if now + timedelta(seconds=token.ttl) > end:
        # Refused rather than shortened (wire.md section 1.3).
        raise UnauthenticatedError("Failed to renew MI access token past its Max TTL expiration")
