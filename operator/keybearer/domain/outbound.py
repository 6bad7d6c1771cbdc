"""Whom the service asks on behalf of its callers, and how far it may go for that."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from keybearer.base.errors import ConfigurationError
from keybearer.outbound.allowed import parse_allowed
from keybearer.outbound.gate import Gate
from keybearer.outbound.http import OutboundHttp
from keybearer.outbound.ldap import Directory
from keybearer.outbound.own_account import OwnAccount
from keybearer.outbound.token_review import TokenReviews
from keybearer.outbound.urls import HTTP_PORTS, OutboundUrl, parse_url

__all__ = ["Outbound", "OutboundSettings", "outbound_of"]


@dataclass(frozen=True, slots=True)
class OutboundSettings:
    """What whoever runs the service says of it.

    Attributes:
        allow: places inside that may be called, `CIDR|HOST[:PORT]`.
        account_dir: where the pod's ServiceAccount token is mounted; None: the service asks for no review as itself.
        account_api: URL of the API server that this token is for. It may be called as if it were listed.
    """

    allow: tuple[str, ...] = ()
    account_dir: Path | None = None
    account_api: str = "https://kubernetes.default.svc"


@dataclass(frozen=True, slots=True)
class Outbound:
    """The ways out.

    Attributes:
        own_account: reviews tokens of its own API server where a configuration names no reviewer.
    """

    reviews: TokenReviews
    directory: Directory
    own_account: OwnAccount | None = None


def outbound_of(settings: OutboundSettings) -> Outbound:
    """Return the ways out under these settings.

    Raises:
        ConfigurationError: one of them can't be read.
    """
    account, allow = None, settings.allow
    if settings.account_dir is not None:
        try:
            api = parse_url(settings.account_api, HTTP_PORTS)
        except ValueError as error:
            raise ConfigurationError(f"--service-account-api {error}") from error
        account = OwnAccount(api, settings.account_dir)
        allow = (*allow, _place(api))
    gate = Gate(parse_allowed(allow))
    return Outbound(TokenReviews(OutboundHttp(gate)), Directory(gate), account)


def _place(url: OutboundUrl) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port}"
