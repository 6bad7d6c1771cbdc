"""Which token a request carries: logins, renewals and the one retry with a fresh token.

Logins happen on first use, and one at a time: calls that find one under way wait and share its outcome, so a
burst with wrong credentials is one failed login, not a lockout (wire.md section 1.2).
"""

from __future__ import annotations

import copy
import logging
from typing import TypeVar

from keybearer.client.credentials import (
    Credentials,
    KubernetesAuth,
    LdapAuth,
    UniversalAuth,
    UserAuth,
    login_operation,
)
from keybearer.client.errors import ClientError, InvalidArgument, ServiceError, TransportError
from keybearer.client.exchange import conclude, deliver
from keybearer.client.models import AccessToken
from keybearer.client.operation import Operation
from keybearer.client.operations.tokens import RenewToken, RevokeToken, SelectOrganization
from keybearer.client.refusals import is_token_refused
from keybearer.client.retries import NO_RETRIES, RetryPolicy
from keybearer.client.session import HeldToken, Session
from keybearer.client.steps import Alone, Steps, TextSource, take

__all__ = [
    "farewell",
    "hold_token",
    "login_as_user",
    "login_with_kubernetes",
    "login_with_ldap",
    "login_with_universal_auth",
    "perform",
    "renew",
    "revoke",
]

# Not structlog, which prints to standard output where nobody configured it: this is a library.
_log = logging.getLogger(__name__)

T = TypeVar("T")


def perform(session: Session, operation: Operation[T]) -> Steps[T]:
    """Run an operation with the token it needs, and return its result."""
    session.require_open()
    bearer = (yield from _current_token(session)) if operation.authenticated else None
    response = yield from deliver(session, operation, bearer)
    if operation.authenticated and session.wallet.credentials is not None and is_token_refused(response):
        bearer = yield from _replaced_token(session, bearer)
        response = yield from deliver(session, operation, bearer)
    return conclude(session, operation, response, bearer)


def hold_token(session: Session) -> Steps[None]:
    """Have a good token, though nothing is asked for now."""
    session.require_open()
    yield from _current_token(session)


def login_with_universal_auth(
    session: Session, client_id: str, client_secret: str, *, organization_slug: str | None = None
) -> Steps[AccessToken]:
    """Log in with a client id and a client secret, and be that identity from now on."""
    return _login(session, UniversalAuth(client_id, client_secret, organization_slug))


def login_with_ldap(
    session: Session, identity_id: str, username: str, password: str, *, organization_slug: str | None = None
) -> Steps[AccessToken]:
    """Log in as a user of the directory, and be that identity from now on."""
    return _login(session, LdapAuth(identity_id, username, password, organization_slug))


def login_with_kubernetes(
    session: Session, identity_id: str, jwt: str | TextSource, *, organization_slug: str | None = None
) -> Steps[AccessToken]:
    """Log in with a ServiceAccount's token, or a source of fresh ones, and be that identity from now on."""
    return _login(session, KubernetesAuth(identity_id, jwt, organization_slug))


def login_as_user(
    session: Session, email: str, password: str, *, organization_id: str | None = None
) -> Steps[AccessToken]:
    """Log a person in with email and password, and be that user from now on."""
    return _login(session, UserAuth(email, password, organization_id))


def renew(session: Session) -> Steps[AccessToken]:
    """Make the token in use last longer, and use what the service answers.

    Raises:
        InvalidArgument: there is no token.
    """
    session.require_open()
    token = session.wallet.token
    if token is None:
        raise InvalidArgument("there is no access token to renew; log in or set one first")

    def steps() -> Steps[AccessToken]:
        answer = yield from _grant(session, RenewToken(token.text))
        session.wallet.keep(answer, session.clock.boottime(), renewed=token)
        return answer

    return (yield from take(Alone(steps())))


def revoke(session: Session) -> Steps[None]:
    """End the token in use, and be nobody from now on.

    Raises:
        InvalidArgument: there is no token.
    """
    session.require_open()
    token = session.wallet.token
    if token is None:
        raise InvalidArgument("there is no access token to revoke")

    def steps() -> Steps[None]:
        operation = RevokeToken(token.text)
        response = yield from deliver(session, operation, None)
        conclude(session, operation, response, token.text)
        session.wallet.credentials = None
        session.wallet.forget(token.text)

    yield from take(Alone(steps()))


def farewell(session: Session) -> Steps[None]:
    """Close the session, and revoke the tokens that our own logins got; never one that was supplied."""
    session.is_closed = True
    while session.wallet.granted:
        operation = RevokeToken(session.wallet.granted.popleft())
        try:
            response = yield from deliver(session, operation, None, retry=NO_RETRIES)
            conclude(session, operation, response, operation.access_token)
        except ServiceError as error:
            _log.info("access_token_not_revoked: %s", error)  # it had run out, most likely
        except ClientError as error:
            _log.warning("access_tokens_not_revoked: %s", error)
            break


def _login(session: Session, credentials: Credentials) -> Steps[AccessToken]:
    session.require_open()

    def steps() -> Steps[AccessToken]:
        answer = yield from _logged_in(session, credentials)
        session.wallet.credentials = credentials
        session.wallet.keep(answer, session.clock.boottime())
        return answer

    return (yield from take(Alone(steps())))


def _logged_in(session: Session, credentials: Credentials) -> Steps[AccessToken]:
    operation = yield from login_operation(credentials)
    answer = yield from _grant(session, operation)
    if not isinstance(credentials, UserAuth) or credentials.organization_id is None:
        return answer
    session.wallet.granted.append(
        answer.access_token
    )  # of no use beside the other: revoked with it at the end
    selection = SelectOrganization(credentials.organization_id)
    response = yield from deliver(session, selection, answer.access_token)
    return conclude(session, selection, response, answer.access_token)


def _current_token(session: Session) -> Steps[str | None]:
    wallet = session.wallet
    due = wallet.token is None or wallet.token.is_due(session.clock.boottime())
    if due and wallet.credentials is not None:
        yield from take(Alone(_refresh(session, wallet.attempts)))
    return None if wallet.token is None else wallet.token.text


def _replaced_token(session: Session, refused: str | None) -> Steps[str | None]:
    wallet = session.wallet
    yield from take(Alone(_refresh(session, wallet.attempts, refused)))
    return None if wallet.token is None else wallet.token.text


def _refresh(session: Session, seen: int, refused: str | None = None) -> Steps[None]:
    """See to a good token.

    Args:
        session: of the client.
        seen: the number of attempts when the caller began to wait.
        refused: the token that the service took no more; another call may have replaced it already.
    """
    wallet = session.wallet
    if refused is not None:
        wallet.forget(refused)
    token = wallet.token
    if wallet.attempts != seen and wallet.failure is not None:
        raise copy.copy(wallet.failure)
    if wallet.credentials is None or (token is not None and not token.is_due(session.clock.boottime())):
        return  # another call saw to it
    try:
        if token is not None and (yield from _renewed_or_postponed(session, token)):
            return
        answer = yield from _logged_in(session, wallet.credentials)
    except ClientError as error:
        wallet.fail(error)
        raise
    wallet.keep(answer, session.clock.boottime())


def _renewed_or_postponed(session: Session, due: HeldToken) -> Steps[bool]:
    """Return whether there is a token to go on with, without a login."""
    if not due.is_renewable(session.clock.boottime()):
        return False
    try:
        answer = yield from _grant(session, RenewToken(due.text), NO_RETRIES)
    except (TransportError, ServiceError) as error:
        # Not reached, or busy: the token is still good for a while. Refused: only a login helps.
        if error.is_retryable:
            session.wallet.token = due.postponed(session.clock.boottime())
        return error.is_retryable
    session.wallet.keep(answer, session.clock.boottime(), renewed=due)
    return True


def _grant(
    session: Session, operation: Operation[AccessToken], retry: RetryPolicy | None = None
) -> Steps[AccessToken]:
    response = yield from deliver(session, operation, None, retry=retry)
    return conclude(session, operation, response, None)
