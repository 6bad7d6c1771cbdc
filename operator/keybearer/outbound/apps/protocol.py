"""What others know of an app: whether credentials work, and how its credentials are made anew."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from keybearer.destinations.session import AppContext
from keybearer.wire.connections.base import Credentials

__all__ = ["App", "AppContext", "Exchanging", "Rotatable"]


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
