"""Logs in: sends credentials to a remote, and reads the token that it gives for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from pydantic import JsonValue

from keybearer.base.clock import parse_instant
from keybearer.destinations.app import Issued
from keybearer.destinations.content import field_of, text_or_none
from keybearer.destinations.remote import RemoteAnswer, RemoteRefusedError, RemoteUnavailableError
from keybearer.destinations.session import Call, Session
from keybearer.pki.errors import MalformedError
from keybearer.pki.json_web_token import signed_token

__all__ = ["client_credentials", "log_in", "signed_claims"]

_CLOCK_MARGIN = timedelta(minutes=1)
_DENIALS = frozenset({400})
"""RFC 6749 section 5.2."""
_LONGEST = timedelta(hours=1)
"""A token that lasts longer, or has no end, is replaced after this time."""


async def log_in(session: Session, call: Call, *, token: str, ends: str, by: Session | None = None) -> Issued:
    """Return the token that a remote gives.

    Args:
        session: of the credentials that it is for.
        call: asks for it; answered in JSON.
        token: the field of the token; dots lead into objects, as in "auth.client_token".
        ends: the field that says until when it holds, as RFC 3339 has it or in seconds; 0 seconds are no end.
        by: whose token the call is sent with, where others than the credentials themselves ask for it.

    Raises:
        RemoteDeniedError: the remote doesn't take the credentials.
        RemoteError: it can't be asked, or gives no token.
    """
    login = replace(call, denials=call.denials | _DENIALS)
    content = (await (by.ask(login) if by is not None else session.ask_without_token(login))).json()
    who, given = session.app.answers.who, text_or_none(content, *token.split("."))
    if not given:
        raise RemoteUnavailableError(f"{who} answers without a token when asked to {call.to}")
    ends_at = _end(field_of(content, *ends.split(".")), session.now())
    if ends_at is None:
        raise RemoteUnavailableError(f"{who} gives a token and doesn't say in {ends} until when it holds")
    return Issued({"token": given}, ends_at)


def client_credentials(
    path: str,
    client: tuple[str, str],
    *,
    to: str,
    explain: Callable[[RemoteAnswer], str] = lambda _: "",
    **more: str,
) -> Call:
    """Return the call that asks for a token for a client, its id and its secret (RFC 6749 section 4.4)."""
    form = {"grant_type": "client_credentials", "client_id": client[0], "client_secret": client[1], **more}
    return Call("POST", path, to, form=form, holds_values=True, explain=explain, denials=_DENIALS)


def signed_claims(
    session: Session,
    private_key: str,
    *,
    lasts: timedelta,
    key_id: str | None = None,
    named: str = "privateKey",
    **claims: str,
) -> str:
    """Return a token of these claims that a key signs (RFC 7523), good for so long from a minute ago on.

    Raises:
        RemoteRefusedError: what is `named` is no RSA key.
    """
    # The remote's clock may be behind ours.
    begins = session.now() - _CLOCK_MARGIN
    dated: dict[str, str | datetime] = {**claims, "iat": begins, "exp": begins + lasts}
    try:
        return signed_token(dated, private_key, None if key_id is None else {"kid": key_id})
    except MalformedError:
        raise RemoteRefusedError(f"{named} is no RSA key in PEM without a password") from None


def _end(told: JsonValue, now: datetime) -> datetime | None:
    latest = now + _LONGEST
    if isinstance(told, int | float) and not isinstance(told, bool):
        return now + timedelta(seconds=told) if 0 < told < _LONGEST.total_seconds() else latest
    try:
        return min(parse_instant(told if isinstance(told, str) else ""), latest)
    except ValueError:
        return None
