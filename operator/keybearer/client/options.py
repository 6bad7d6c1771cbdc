"""How a client behaves, and where it goes."""

from __future__ import annotations

import os
import random
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlsplit

import httpx

from keybearer.base.clock import Clock, SystemClock
from keybearer.client.credentials import Credentials, SuppliedToken
from keybearer.client.errors import InvalidArgument
from keybearer.client.retries import RetryPolicy
from keybearer.client.session import Session, Wallet

__all__ = ["ClientOptions", "base_url_of", "open_session"]

_DEFAULT_TIMEOUT = timedelta(seconds=10)
"""Interface.md section 8."""
_DEFAULT_CONNECTIONS = 100
_DEFAULT_RESPONSE_MAX_BYTES = 64 * 1024 * 1024


def _own_environment() -> MutableMapping[str, str]:
    # Written to, not read for settings, and only by a listing that was asked to attach to it.
    return os.environ  # noqa: TID251 - interface.md section 4.8: attach_to_process_env


def _fresh_rng() -> random.Random:
    return random.Random()  # noqa: S311 - jitter, not cryptography


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """How a client behaves; the defaults suit a program that reads its secrets at start.

    Attributes:
        timeout: for one attempt, from connecting to the last byte of the answer. The blocking client looks at
            the clock between reads, so that it may overrun by one.
        retry: how often and how patiently failures that pass are tried again; `NO_RETRIES` for never.
        ca_pem: certificates to trust, in PEM, in place of the system's.
        max_response_bytes: a longer answer is refused.
        max_connections: at once, streams of events included; calls beyond wait for one to come free.
        user_agent: how the client names itself.
        clock: tells instants and lengths of time.
        rng: for jitter.
        process_env: what `attach_to_process_env` fills; the environment of this process by default.
    """

    timeout: timedelta = _DEFAULT_TIMEOUT
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    ca_pem: bytes | None = field(default=None, repr=False)
    max_response_bytes: int = _DEFAULT_RESPONSE_MAX_BYTES
    max_connections: int = _DEFAULT_CONNECTIONS
    user_agent: str = "keybearer"
    clock: Clock = field(default_factory=SystemClock, repr=False)
    rng: random.Random = field(default_factory=_fresh_rng, repr=False)
    process_env: MutableMapping[str, str] = field(default_factory=_own_environment, repr=False)

    def __post_init__(self) -> None:
        if self.timeout <= timedelta() or self.max_response_bytes <= 0 or self.max_connections <= 0:
            raise InvalidArgument("timeout, max_response_bytes and max_connections must be positive")
        if not (self.user_agent.isascii() and self.user_agent.isprintable() and self.user_agent):
            raise InvalidArgument("user_agent must be printable ASCII")


def base_url_of(url: str) -> str:
    """Return the address without a trailing `/` or `/api`, as published clients cut it (wire.md section 0).

    Raises:
        InvalidArgument: it is no http or https address, or holds credentials, a query or a fragment.
    """
    given = url.strip()
    try:
        parts = urlsplit(given)
        has_host = bool(parts.hostname) and httpx.URL(given).host != ""
    except (ValueError, httpx.InvalidURL):
        # The cause is cut: its text could show a password that was left in the address.
        raise InvalidArgument("the address of the service is malformed") from None
    if not given.isprintable() or " " in given:
        raise InvalidArgument("the address of the service holds a space or a control character")
    if parts.scheme not in {"http", "https"} or not has_host:
        raise InvalidArgument("the address of the service must be https://host or http://host")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise InvalidArgument("the address of the service can't hold credentials, a query or a fragment")
    path = parts.path.rstrip("/").removesuffix("/api").rstrip("/")
    return f"{parts.scheme}://{parts.netloc}{path}"


def open_session(credentials: Credentials | SuppliedToken | None, options: ClientOptions) -> Session:
    """Return the state of a new client."""
    wallet = Wallet()
    if isinstance(credentials, SuppliedToken):
        wallet.supply(credentials)
    else:
        wallet.credentials = credentials
    return Session(
        wallet=wallet,
        retry=options.retry,
        clock=options.clock,
        rng=options.rng,
        process_env=options.process_env,
    )
