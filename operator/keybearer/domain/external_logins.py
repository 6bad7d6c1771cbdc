"""Logins that ask somebody else: an API server or a directory. No transaction is open while they answer."""

from __future__ import annotations

import asyncio
import re

from keybearer.base.clock import Clock
from keybearer.base.ids import IdentityId
from keybearer.base.logs import get_logger
from keybearer.domain.audit import EventType, audited
from keybearer.domain.auth_methods import kubernetes_not_configured, ldap_not_configured
from keybearer.domain.errors import InvalidError, UnauthenticatedError
from keybearer.domain.issuing import IssuedToken, issue_token
from keybearer.domain.kubernetes_auth import (
    KUBERNETES_AUTH,
    REVIEW_ERROR,
    api_of,
    require_allowed,
    review_refused,
    reviewer_of,
)
from keybearer.domain.ldap_auth import (
    LDAP_AUTH,
    access_of,
    require_fields,
    search_for,
    wanted_attributes,
)
from keybearer.domain.lines import Lines
from keybearer.domain.lockouts import Counter, Lockouts
from keybearer.domain.login_terms import LOCKED, grant_of, login_actor, member_of
from keybearer.domain.outbound import Outbound
from keybearer.domain.server_keys import ServerKeys
from keybearer.outbound.errors import OutboundError, OutboundUnreachableError, OutboundUntrustedError
from keybearer.outbound.ldap import DirectoryUser, WrongPasswordError
from keybearer.outbound.token_review import ReviewedToken, ReviewerUnboundError, ReviewerUnknownError
from keybearer.outbound.trust import trust
from keybearer.store.auth_methods import KubernetesAuth, LdapAuth
from keybearer.store.database import Database
from keybearer.wire.auth_methods import TokenReviewer
from keybearer.wire.token_reviews import UNBOUND_REVIEWER, UNREACHABLE_API, UNTRUSTED_API

__all__ = ["ExternalLogins"]

_log = get_logger(__name__)

_DEADLINE_SECONDS = 30
_AT_ONCE = 32
"""Logins under way at once: each may hold a connection for as long as the other side likes to be slow."""
_SHARE = 8
"""Of these, for one identity: one slow API server, or one flood, leaves places to the others."""
_TOKEN = re.compile(r"[!-~]+")
_LDAP_FAILED = "LDAP authentication failed"
_CHANGED = "The auth method was changed during the login; try again"


class ExternalLogins:
    """Lets in who somebody else vouches for."""

    def __init__(self, database: Database, keys: ServerKeys, outbound: Outbound, clock: Clock) -> None:
        self._database = database
        self._keys = keys
        self._outbound = outbound
        self._clock = clock
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._shares = Lines(_SHARE)
        self._turns = Lines(1)
        self._lockouts = Lockouts(keys)

    def reviewer_of(self, auth: KubernetesAuth) -> TokenReviewer:
        """Return whose token asks the API server to review tokens that log in on these terms."""
        return reviewer_of(auth, self._outbound.own_account)

    async def login_kubernetes(
        self, identity_id: str, jwt: str, organization_slug: str | None
    ) -> IssuedToken:
        """Return a token of the identity for a ServiceAccount that it lets in.

        Raises:
            NotFoundError: the identity has no Kubernetes auth, or, told only to whom the API server vouches for, the
                organization doesn't exist.
            UnauthenticatedError: the token is no good, or its ServiceAccount not allowed.
            InvalidError: the API server could not be asked.
            TimeoutError: too many others log in.
        """
        async with asyncio.timeout(_DEADLINE_SECONDS), self._shares.of(identity_id), self._places:
            async with self._database.reading() as unit:
                auth = await unit.auth_methods.kubernetes(IdentityId(identity_id))
                if auth is None:
                    raise kubernetes_not_configured()
            require_allowed(auth, await self._review(auth, jwt))
            async with self._database.writing() as unit:
                present = await unit.auth_methods.kubernetes(auth.identity_id, for_change=True)
                if present != auth:
                    raise UnauthenticatedError(_CHANGED, attempted=auth.identity_id)
                identity = await member_of(unit, auth.identity_id, organization_slug)
                await unit.audit(
                    audited(
                        login_actor(identity), EventType.LOGIN_KUBERNETES_AUTH, identityId=auth.identity_id
                    )
                )
                grant = grant_of(auth, KUBERNETES_AUTH)
                return await issue_token(unit, self._keys.token_signing, grant, self._clock.now())

    async def login_ldap(
        self,
        identity_id: str,
        username: str,
        password: str,
        organization_slug: str | None,
        address: str | None,
    ) -> IssuedToken:
        """Return a token of the identity for a user of its directory.

        Raises:
            NotFoundError: the identity has no LDAP auth, or, told only to who has the password, the organization
                doesn't exist.
            UnauthenticatedError: unknown user, wrong password, another required field, locked, or the directory
                could not be asked.
            TimeoutError: too many others log in.
        """
        counter = self._lockouts.counter(LDAP_AUTH, identity_id, address)
        # One after the other for each identity and address: tries at the same time would all come before the first
        # is counted.
        async with (
            asyncio.timeout(_DEADLINE_SECONDS),
            self._turns.of(counter.digest.hex()),
            self._shares.of(identity_id),
            self._places,
        ):
            async with self._database.reading() as unit:
                auth = await unit.auth_methods.ldap(IdentityId(identity_id))
                if auth is None:
                    raise ldap_not_configured()
                is_locked = await self._lockouts.is_locked(unit, counter, auth, self._clock.now())
            if is_locked:
                raise UnauthenticatedError(LOCKED, attempted=auth.identity_id)
            user = await self._user(auth, username, password)
            if user is None:
                await self._count_failure(auth, counter)
                raise UnauthenticatedError(_LDAP_FAILED, attempted=auth.identity_id)
            require_fields(auth, user)
            return await self._admit_ldap(auth, counter, organization_slug)

    async def _review(self, auth: KubernetesAuth, jwt: str) -> ReviewedToken:
        if not _TOKEN.fullmatch(jwt):
            return ReviewedToken(authenticated=False)
        api, reviewer, ca_pem = api_of(auth), auth.reviewer_token or jwt, auth.ca_pem
        own = self._outbound.own_account
        try:
            if own is not None and self.reviewer_of(auth) == "service-account":
                credentials = await own.credentials()
                reviewer, ca_pem = credentials.token, ca_pem or credentials.ca_pem
            return await self._outbound.reviews.review(
                api, jwt, audience=auth.allowed_audience, reviewer=reviewer, trusted=trust(ca_pem)
            )
        except (OutboundError, ValueError) as error:
            if isinstance(error, ReviewerUnknownError) and reviewer == jwt:
                raise review_refused(auth) from error
            _log.warning("token_review_failed", identity_id=auth.identity_id, reason=str(error))
            raise InvalidError(
                f"The token review failed: {error}{_hint(error)}", name=REVIEW_ERROR
            ) from error

    async def _user(self, auth: LdapAuth, username: str, password: str) -> DirectoryUser | None:
        try:
            return await self._outbound.directory.authenticate(
                access_of(auth), search_for(auth, username), password, wanted_attributes(auth)
            )
        except WrongPasswordError:
            return None
        except (OutboundError, ValueError) as error:
            # The caller hears the same as for a wrong password; whoever runs the service hears why.
            _log.warning("ldap_login_failed", identity_id=auth.identity_id, reason=str(error))
            raise UnauthenticatedError(_LDAP_FAILED, attempted=auth.identity_id) from error

    async def _count_failure(self, auth: LdapAuth, counter: Counter) -> None:
        async with self._database.writing() as unit:
            await self._lockouts.count(unit, counter, auth, self._clock.now())

    async def _admit_ldap(
        self, auth: LdapAuth, counter: Counter, organization_slug: str | None
    ) -> IssuedToken:
        async with self._database.writing() as unit:
            now = self._clock.now()
            present = await unit.auth_methods.ldap(auth.identity_id, for_change=True)
            if present != auth:
                raise UnauthenticatedError(_CHANGED, attempted=auth.identity_id)
            if await self._lockouts.is_locked(unit, counter, auth, now):  # by tries at another replica
                raise UnauthenticatedError(LOCKED, attempted=auth.identity_id)
            await self._lockouts.forget(unit, counter)
            identity = await member_of(unit, auth.identity_id, organization_slug)
            await unit.audit(
                audited(login_actor(identity), EventType.LOGIN_LDAP_AUTH, identityId=auth.identity_id)
            )
            return await issue_token(unit, self._keys.token_signing, grant_of(auth, LDAP_AUTH), now)


def _hint(error: Exception) -> str:
    match error:
        case OutboundUntrustedError():
            return f"; {UNTRUSTED_API}"
        case OutboundUnreachableError():
            return f"; {UNREACHABLE_API}"
        case ReviewerUnboundError():
            return f"; {UNBOUND_REVIEWER}"
        case _:
            return ""
