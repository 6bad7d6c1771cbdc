"""Whom the service asks on behalf of its callers, and how far it may go for that."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from keybearer.base.clock import Clock
from keybearer.base.errors import ConfigurationError
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import CATALOGUE, Catalogue
from keybearer.destinations.session import AppContext
from keybearer.destinations.short_lived import ShortLived
from keybearer.outbound.acme.way import AcmeWay
from keybearer.outbound.allowed import parse_allowed
from keybearer.outbound.gate import Gate
from keybearer.outbound.http import OutboundHttp
from keybearer.outbound.ldap import Directory
from keybearer.outbound.own_account import OwnAccount
from keybearer.outbound.remote import RemoteHttp
from keybearer.outbound.token_review import TokenReviews, review_url
from keybearer.outbound.trust import trust_as_well
from keybearer.outbound.urls import HTTP_PORTS, OutboundUrl, parse_url
from keybearer.wire.credentials import Credentials
from keybearer.wire.vocabulary import canonical_app

__all__ = ["Outbound", "OutboundSettings", "Remotes", "outbound_of"]

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class OutboundSettings:
    """What whoever runs the service says of it.

    Attributes:
        allow: places inside that may be called, `CIDR|HOST[:PORT]`.
        account_dir: where the pod's ServiceAccount token is mounted; None: the service asks for no review as itself.
        account_api: URL of the API server that this token is for. It may be asked for reviews as if it were listed.
        ca_file: PEM certificates that remotes of app connections may prove themselves with, beside the system's.
        app_endpoints: where a remote is that isn't at its usual place, `APP=URL`; connections of that app may call
            what lies there as if it were listed.
        app_credentials: what the service itself has at a remote, `APP=FILE` with a JSON object.
    """

    allow: tuple[str, ...] = ()
    account_dir: Path | None = None
    account_api: str = "https://kubernetes.default.svc"
    ca_file: Path | None = None
    app_endpoints: tuple[str, ...] = ()
    app_credentials: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Remotes:
    """What apps and destinations of connections are called with; shared by all of them.

    Attributes:
        http: the one way out.
        short_lived: tokens that remotes gave.
        endpoints: by the app's name, see `AppContext`.
        own_credentials: likewise.
        to_endpoints: ways out that lead to the endpoint as well, by the app's name.
    """

    http: RemoteHttp
    short_lived: ShortLived
    endpoints: Mapping[str, str] = field(default_factory=dict)
    own_credentials: Mapping[str, Credentials] = field(default_factory=dict, repr=False)
    to_endpoints: Mapping[str, RemoteHttp] = field(default_factory=dict)

    def context(self, organization_id: str, app: str) -> AppContext:
        """Return what this app works with for a connection of the organization."""
        http = self.to_endpoints.get(app, self.http)
        return AppContext(http, self.short_lived, organization_id, self.endpoints, self.own_credentials)

    async def close(self) -> None:
        """Close the connections that are kept open."""
        for http in (self.http, *self.to_endpoints.values()):
            await http.close()


@dataclass(frozen=True, slots=True)
class Outbound:
    """The ways out.

    Attributes:
        remotes: for app connections.
        acme: to certificate authorities.
        own_account: reviews tokens of its own API server where a configuration names no reviewer.
    """

    reviews: TokenReviews
    directory: Directory
    remotes: Remotes
    acme: AcmeWay
    own_account: OwnAccount | None = None

    async def close(self) -> None:
        """Close the connections that are kept open."""
        await self.remotes.close()


def outbound_of(settings: OutboundSettings, clock: Clock, catalogue: Catalogue = CATALOGUE) -> Outbound:
    """Return the ways out under these settings, which name apps of the catalogue.

    Raises:
        ConfigurationError: one of them can't be read.
    """
    account = None
    if settings.account_dir is not None:
        try:
            api = parse_url(settings.account_api, HTTP_PORTS)
        except ValueError as error:
            raise ConfigurationError(f"--service-account-api {error}") from error
        account = OwnAccount(api, settings.account_dir)
    endpoints = _by_app(catalogue, "--app-endpoint", settings.app_endpoints, _endpoint)
    gate = Gate(parse_allowed(settings.allow))
    trusted = None if settings.ca_file is None else _trusted(settings.ca_file)
    remotes = Remotes(
        RemoteHttp(gate, clock, trusted),
        ShortLived(clock),
        {name: f"{url.scheme}://{url.place}{url.path}" for name, url in endpoints.items()},
        _by_app(catalogue, "--app-credentials", settings.app_credentials, _own_credentials),
        # Each leads to the endpoint of its own app only: callers name URLs for other apps, too.
        {name: RemoteHttp(gate, clock, trusted, endpoint=url) for name, url in endpoints.items()},
    )
    reviews = OutboundHttp(gate, None if account is None else review_url(account.api))
    acme = AcmeWay(gate, clock, trusted)
    return Outbound(TokenReviews(reviews), Directory(gate), remotes, acme, account)


def _trusted(file: Path) -> ssl.SSLContext:
    try:
        return trust_as_well(file.read_text(encoding="utf-8", errors="replace"))
    except OSError as error:
        raise ConfigurationError(f"--outbound-ca: {file} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigurationError(f"--outbound-ca: {file} {error}") from error


def _by_app(
    catalogue: Catalogue, option: str, texts: tuple[str, ...], read: Callable[[App, str], _Read]
) -> dict[str, _Read]:
    given: dict[str, _Read] = {}
    for text in texts:
        word, equals, rest = text.partition("=")
        app = catalogue.app(canonical_app(word.strip())[0])
        if not equals or app is None:
            known = ", ".join(sorted(app.name for app in catalogue.apps))
            raise ConfigurationError(f"{option} {text!r} begins with no APP=; apps are {known}")
        if app.name in given:
            raise ConfigurationError(f"{option} names {app.name} twice; give each app once")
        try:
            given[app.name] = read(app, rest.strip())
        except ValueError as error:
            raise ConfigurationError(f"{option} of {app.name} {error}") from None
    return given


def _endpoint(_: App, text: str) -> OutboundUrl:
    return parse_url(text, HTTP_PORTS)


def _own_credentials(app: App, text: str) -> Credentials:
    if app.own is None:
        raise ValueError("is of no use: none of its methods rests on anything that the service has")
    try:
        return app.own.model_validate_json(Path(text).read_bytes())
    except OSError as error:
        raise ValueError(f"can't be read from {text}: {error.strerror}") from error
    except ValidationError as error:
        wrong = {
            ".".join(map(str, issue["loc"])) or "the file" for issue in error.errors(include_input=False)
        }
        raise ValueError(f"can't be used; see to {', '.join(sorted(wrong))} in {text}") from None
