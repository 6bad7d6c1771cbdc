"""App connections (interface.md sections 4.3 and 4.4, wire.md section 4), but for making and changing them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.connections import (
    AppConnection,
    AppConnectionOption,
    AppConnectionUse,
    AvailableAppConnection,
)
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.app_connection_place import (
    ALL_CONNECTIONS,
    CONNECTIONS_OF_APP,
    ONE_CONNECTION,
    OneConnection,
)

__all__ = [
    "DeleteAppConnection",
    "GetAppConnection",
    "GetAppConnectionByName",
    "GetAppConnectionUsage",
    "ListAppConnectionOptions",
    "ListAppConnections",
    "ListAvailableAppConnections",
    "RotateAppConnection",
]


@from_wire
@dataclass(frozen=True, slots=True)
class _ConnectionsAnswer:
    """`{appConnections}`."""

    app_connections: tuple[AppConnection, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _AvailableAnswer:
    """`{appConnections}` of GET .../available."""

    app_connections: tuple[AvailableAppConnection, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _OptionsAnswer:
    """`{appConnectionOptions}`."""

    app_connection_options: tuple[AppConnectionOption, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _UsageAnswer:
    """`{projects}`."""

    projects: tuple[AppConnectionUse, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAppConnections(Operation[list[AppConnection]]):
    """List connections: those of a project, or without one those of the organization.

    Attributes:
        app: only those to this app.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    app: str | None = None
    project_id: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        path = ALL_CONNECTIONS if self.app is None else fill(CONNECTIONS_OF_APP, self.app)
        return Request("GET", path, query=query_of({"projectId": self.project_id}))

    def read(self, response: Response) -> list[AppConnection]:
        """Return the connections in the service's order."""
        return list(decode(response, _ConnectionsAnswer).app_connections)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAvailableAppConnections(Operation[list[AvailableAppConnection]]):
    """List the connections to an app that may be used, by name alone."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    app: str
    project_id: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"projectId": self.project_id})
        return Request("GET", fill(f"{CONNECTIONS_OF_APP}/available", self.app), query=query)

    def read(self, response: Response) -> list[AvailableAppConnection]:
        """Return them in the service's order."""
        return list(decode(response, _AvailableAnswer).app_connections)


@dataclass(frozen=True, slots=True)
class ListAppConnectionOptions(Operation[list[AppConnectionOption]]):
    """List the apps that connections can be made to."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", f"{ALL_CONNECTIONS}/options")

    def read(self, response: Response) -> list[AppConnectionOption]:
        """Return them in the service's order."""
        return list(decode(response, _OptionsAnswer).app_connection_options)


@dataclass(frozen=True, slots=True)
class GetAppConnection(OneConnection):
    """Return a connection by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    connection_id: str
    app: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(ONE_CONNECTION, self.app, self.connection_id))


@dataclass(frozen=True, slots=True)
class GetAppConnectionByName(OneConnection):
    """Return a connection by its name: of a project, or without one of the organization."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    name: str
    app: str = field(kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        query = query_of({"projectId": self.project_id})
        return Request(
            "GET", fill(f"{CONNECTIONS_OF_APP}/connection-name/{{}}", self.app, self.name), query=query
        )


@dataclass(frozen=True, slots=True)
class DeleteAppConnection(OneConnection):
    """Delete a connection, and return what it was; refused while a sync uses it."""

    connection_id: str
    app: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(ONE_CONNECTION, self.app, self.connection_id))


@dataclass(frozen=True, slots=True)
class RotateAppConnection(OneConnection):
    """Make the credentials of a connection anew, where the app can do that, and return the connection."""

    connection_id: str
    app: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("POST", fill(f"{ONE_CONNECTION}/rotate-credentials", self.app, self.connection_id))


@dataclass(frozen=True, slots=True)
class GetAppConnectionUsage(Operation[list[AppConnectionUse]]):
    """Return where a connection is used, and by what; for people only."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    connection_id: str
    app: str = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(f"{ONE_CONNECTION}/usage", self.app, self.connection_id))

    def read(self, response: Response) -> list[AppConnectionUse]:
        """Return the projects in the service's order."""
        return list(decode(response, _UsageAnswer).projects)
