"""Whether a remote takes credentials, asked before they are stored. No transaction is open meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from keybearer.base.ids import OrganizationId
from keybearer.destinations.app import App, Rotation
from keybearer.destinations.remote import (
    RemoteDeniedError,
    RemoteError,
    RemoteThrottledError,
    RemoteUnavailableError,
)
from keybearer.destinations.session import Session
from keybearer.domain.errors import InvalidError
from keybearer.domain.lines import Lines
from keybearer.domain.outbound import Remotes
from keybearer.wire.credentials import Credentials

__all__ = ["Proving", "advice_of"]

_DEADLINE_SECONDS = 40
"""Of all that one remote is asked; a request has a minute."""
_AT_ONCE = 32
_SHARE = 8
"""Of these, for one organization: its slow remotes leave places to the others."""
_MESSAGE_MAX = 1024


class Proving:
    """Asks remotes about credentials, so many at a time, and fewer of one organization."""

    def __init__(self, remotes: Remotes) -> None:
        self._remotes = remotes
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._lines = Lines(_SHARE)

    async def proven(self, model: App, organization_id: OrganizationId, given: Credentials) -> Credentials:
        """Return what is to be kept of credentials that the remote takes.

        Raises:
            InvalidError: it doesn't take them, or can't be asked.
        """
        async with self._asking(organization_id):
            kept = given
            if model.exchange is not None:
                kept = await model.exchange(self._session(model, organization_id, given))
            await model.check(self._session(model, organization_id, kept))
            return kept

    async def renewed(self, model: App, organization_id: OrganizationId, present: Credentials) -> Credentials:
        """Return new credentials that the present ones made.

        Raises:
            RemoteError: the remote doesn't make them.
        """
        async with (
            self._lines.of(organization_id),
            self._places,
            asyncio.timeout(_DEADLINE_SECONDS),
        ):
            return await _rotation_of(model).renew(self._session(model, organization_id, present))

    async def retired(
        self, model: App, organization_id: OrganizationId, old: Credentials, new: Credentials
    ) -> None:
        """Make old credentials worthless by means of the new ones.

        Raises:
            RemoteError: the remote doesn't do it.
        """
        async with (
            self._lines.of(organization_id),
            self._places,
            asyncio.timeout(_DEADLINE_SECONDS),
        ):
            await _rotation_of(model).retire(self._session(model, organization_id, new), old)

    @asynccontextmanager
    async def _asking(self, organization_id: OrganizationId) -> AsyncIterator[None]:
        late = "too many other credentials are being tried; try again later"
        try:
            async with (
                asyncio.timeout(_DEADLINE_SECONDS),
                self._lines.of(organization_id),
                self._places,
            ):
                late = "the remote took too long to answer; try again later"
                yield
        except TimeoutError as error:
            raise InvalidError(f"Unable to validate connection: {late}") from error
        except RemoteError as error:
            raise InvalidError(f"Unable to validate connection: {advice_of(error)}") from error

    def _session(self, model: App, organization_id: OrganizationId, credentials: Credentials) -> Session:
        return Session(model, credentials, self._remotes.context(organization_id, model.name))


def _rotation_of(model: App) -> Rotation:
    if model.rotation is None:
        raise InvalidError(f"Rotation is not supported for {model.title} Connections")
    return model.rotation


def advice_of(error: RemoteError) -> str:
    """Return what went wrong at a remote and what to do about it; holds no credential."""
    text = str(error)[:_MESSAGE_MAX]
    match error:
        case RemoteDeniedError():
            return f"verify credentials: {text}"
        case RemoteThrottledError():
            return f"{text}; try again later"
        case RemoteUnavailableError():
            return f"{text}; see whether the host is right and can be reached from the service, or try again later"
        case _:
            return text
