"""What others know of an app: whether credentials work, and how its credentials are made anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from keybearer.outbound.remote import RemoteHttp
from keybearer.outbound.short_lived import ShortLived
from keybearer.wire.connections.base import Credentials

__all__ = ["App", "AppContext", "Exchanging", "Rotatable"]


@dataclass(frozen=True, slots=True)
class AppContext:
    """What an app works with beside the credentials.

    Attributes:
        http: the way out.
        short_lived: tokens that were got for credentials and still hold.
        organization_id: of the connection; what a role is assumed with, as external id.
        endpoints: where a remote is that has one address for everybody, by the app's name, if not at the usual place.
        own_credentials: what the service itself has at a remote, by the app's name; for methods that rest on the
            remote's trust in the service.
    """

    http: RemoteHttp
    short_lived: ShortLived
    organization_id: str
    endpoints: Mapping[str, str] = field(default_factory=dict)
    own_credentials: Mapping[str, Credentials] = field(default_factory=dict, repr=False)


class App(Protocol):
    """An app; each takes the classes of credentials that its model lists.

    Raises a `RemoteError` where the remote refuses or can't be reached; no text of it holds a credential.
    """

    async def check(self, credentials: Credentials, context: AppContext) -> None:
        """Return if the remote takes these credentials."""
        ...


@runtime_checkable
class Exchanging(App, Protocol):
    """An app with methods of which something else is kept than is given (`MethodModel.kept`)."""

    async def exchange(self, given: Credentials, context: AppContext) -> Credentials:
        """Return what is to be kept of what a person gave; what is kept as it is given comes back unchanged.

        Called once, before `check`, which then gets what this returned.
        """
        ...


@runtime_checkable
class Rotatable(App, Protocol):
    """An app with methods whose credentials can be replaced by new ones that the old ones make."""

    async def renew(self, credentials: Credentials, context: AppContext) -> Credentials:
        """Return new credentials that work; the old ones work until `retire`."""
        ...

    async def retire(self, old: Credentials, new: Credentials, context: AppContext) -> None:
        """Make the old credentials worthless, by means of the new ones."""
        ...
