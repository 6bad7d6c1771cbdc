"""Where app connections are: what all operations on one of them share."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.client.connections import AppConnection
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Response
from keybearer.client.operation import Operation

__all__ = ["ALL_CONNECTIONS", "CONNECTIONS_OF_APP", "ONE_CONNECTION", "OneConnection"]

ALL_CONNECTIONS = "/api/v1/app-connections"
CONNECTIONS_OF_APP = f"{ALL_CONNECTIONS}/{{}}"
ONE_CONNECTION = f"{ALL_CONNECTIONS}/{{}}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _ConnectionAnswer:
    """`{appConnection}`."""

    app_connection: AppConnection


class OneConnection(Operation[AppConnection]):
    """What answers with one connection."""

    __slots__ = ()

    def read(self, response: Response) -> AppConnection:
        """Return the connection."""
        return decode(response, _ConnectionAnswer).app_connection
