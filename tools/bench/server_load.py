"""A server under load for a while: what its clients saw, and what it cost the server."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tools.bench.figures import quantity
from tools.bench.load import Load, LoadResult, load
from tools.bench.process_meter import ProcessMeter
from tools.bench.samples import median

__all__ = ["WARM_UP_SHARE", "LoadedServer", "Rounds", "ServerLoad", "load_server"]

WARM_UP_SHARE = 0.25
"""Of a round's seconds: what a server is asked before the first one counts."""


@dataclass(frozen=True, slots=True)
class LoadedServer:
    """One server, and what it is asked.

    Attributes:
        url: where it listens.
        pid: of its process, whose children count as well.
        request: the bytes of one request.
        status: of a right answer.
    """

    url: str
    pid: int
    request: bytes
    status: int = 200


@dataclass(frozen=True, slots=True)
class ServerLoad:
    """What was seen on both sides."""

    load: LoadResult
    server_cpu_seconds: float


@dataclass(frozen=True, slots=True)
class Rounds:
    """All that was seen of one server, round by round; the median of each figure counts."""

    seen: list[ServerLoad] = field(default_factory=list)

    @property
    def per_second(self) -> float:
        """Return the rate of answers."""
        return median([one.load.per_second for one in self.seen])

    @property
    def p50(self) -> float:
        """Return the milliseconds that half of the requests took at most."""
        return median([one.load.milliseconds.p50 for one in self.seen])

    @property
    def p99(self) -> float:
        """Return the milliseconds that all but one in a hundred took at most."""
        return median([one.load.milliseconds.p99 for one in self.seen])

    @property
    def cpu_milliseconds(self) -> float:
        """Return the server's processor time for each request."""
        return median([one.server_cpu_seconds * 1000 / one.load.requests for one in self.seen])

    @property
    def server_share(self) -> float:
        """Return how much of a processor the server used; above 1 for more than one."""
        return median([one.server_cpu_seconds / one.load.seconds for one in self.seen])

    @property
    def client_share(self) -> float:
        """Return how much of a processor the client used at most: near 1, it is the client that was measured."""
        return max(one.load.cpu_seconds / one.load.seconds for one in self.seen)

    @property
    def first_bodies(self) -> set[int]:
        """Return the lengths, in bytes, of each round's first answer."""
        return {one.load.first_body for one in self.seen}

    @property
    def rates(self) -> str:
        """Return the rate of each round, for a note."""
        return ", ".join(quantity(one.load.per_second, "per second") for one in self.seen)


async def load_server(
    server: LoadedServer, connections: int, seconds: float, *, first: int = 0
) -> ServerLoad:
    """Ask it over so many connections for so long; `first` is the number of the first request.

    Raises:
        BenchError: an answer has another status.
    """
    meter, address = ProcessMeter(server.pid), urlsplit(server.url)
    before = meter.cpu_seconds()
    found = await load(
        Load(
            host=address.hostname or "",
            port=address.port or 0,
            request=server.request,
            status=server.status,
            connections=connections,
            seconds=seconds,
            first=first,
        )
    )
    return ServerLoad(found, meter.cpu_seconds() - before)
