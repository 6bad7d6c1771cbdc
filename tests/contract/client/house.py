"""A project of a real service with somebody who may do all in it, for either kind of client."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from keybearer.client import (
    NO_RETRIES,
    AsyncKeybearer,
    ClientOptions,
    Keybearer,
    SuppliedToken,
    UniversalAuth,
    UserAuth,
)
from support.service_fixtures import Credentials, Project, Service
from tools.local.marks import find_mark

__all__ = ["Client", "House", "close", "nothing_shown", "of"]

T = TypeVar("T")
Client = AsyncKeybearer | Keybearer


async def of(result: Awaitable[T] | T) -> T:
    return await result if isinstance(result, Awaitable) else result


async def close(client: Client) -> None:
    if isinstance(client, AsyncKeybearer):
        await client.aclose()
    else:
        client.close()


def nothing_shown(*texts: str) -> None:
    """Let pass texts without a marked value."""
    for text in texts:
        assert find_mark(text) is None


@dataclass
class House:
    """A project of a real service, an identity that may do all in it, and the kind of client to use."""

    kind: type[AsyncKeybearer | Keybearer]
    service: Service
    project: Project
    who: Credentials
    clients: list[Client] = field(default_factory=list)

    @property
    def admin(self) -> UniversalAuth:
        return UniversalAuth(self.service.admin.client_id, self.service.admin.client_secret)

    @property
    def place(self) -> dict[str, Any]:
        return {"project_id": self.project.id, "environment": "dev"}

    @property
    def credentials(self) -> UniversalAuth:
        return UniversalAuth(self.who.client_id, self.who.client_secret)

    def client(
        self,
        credentials: UniversalAuth | UserAuth | SuppliedToken | None = None,
        options: ClientOptions | None = None,
    ) -> Client:
        chosen = options or ClientOptions(retry=NO_RETRIES, process_env={})
        made = self.kind(self.service.url, credentials, options=chosen)
        self.clients.append(made)
        return made
