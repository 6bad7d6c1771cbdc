"""A way out on which a test counts calls and puts answers of its own in the place of the remote's.

Pace, repeats and the reading of answers are the product's own: only the exchange of one request is replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum

import httpcore
from aiohttp import web

from keybearer.destinations.remote import RemoteAnswer, RemoteRequest
from keybearer.outbound.remote import RemoteHttp
from keybearer.outbound.urls import OutboundUrl
from support.conformance.jumping_clock import JumpingClock
from support.directory import loopback_gate
from support.remotes.limits import Limit

__all__ = [
    "CHANGES",
    "CallKind",
    "InterposedHttp",
    "KilledError",
    "Sent",
    "answering",
    "killed",
    "of_method",
    "received",
    "reset",
]


class CallKind(StrEnum):
    """What a call is to a destination."""

    READ = "read"
    WRITE = "write"
    """It writes the value of a name, or of several."""
    REMOVE = "remove"
    FINISH = "finish"
    """It has what was written take effect: a redeploy, say."""
    OTHER = "other"
    """It changes something else: a login, an empty secret, a tag, a recovery."""


CHANGES = frozenset({CallKind.WRITE, CallKind.REMOVE, CallKind.FINISH})


class KilledError(BaseException):
    """The process is gone; nothing in it catches this."""


@dataclass(frozen=True)
class Sent:
    """A call; `status` is 0 where no answer came."""

    kind: CallKind
    method: str
    status: int


Instead = Callable[[], RemoteAnswer]
"""What becomes of a call instead: an answer, or an error."""


def of_method(request: RemoteRequest) -> CallKind:
    """Return what a call is where methods tell."""
    match request.method:
        case "GET" | "HEAD":
            return CallKind.READ
        case "DELETE":
            return CallKind.REMOVE
        case _:
            return CallKind.WRITE


def received(response: web.Response) -> RemoteAnswer:
    """Return an answer of a copy as the way out has it."""
    body = response.body if isinstance(response.body, bytes) else b""
    return RemoteAnswer(
        response.status, {name.lower(): text for name, text in response.headers.items()}, body
    )


def answering(status: int, body: bytes = b"{}", headers: Mapping[str, str] | None = None) -> Instead:
    """Return what answers so."""
    return lambda: RemoteAnswer(status, headers or {}, body)


def reset() -> RemoteAnswer:
    """Break the connection."""
    raise httpcore.ReadError


def killed() -> RemoteAnswer:
    """End the process."""
    raise KilledError


@dataclass
class _Trouble:
    kinds: Collection[CallKind]
    instead: Instead
    left: int
    spared: int
    is_after: bool


class InterposedHttp(RemoteHttp):
    """Sends what is asked for to loopback, unless a test has it otherwise.

    Args:
        clock: which waits move on.
        kind_of: what a call is to the destination.

    Attributes:
        sent: all calls, in order.
        limit: of writes and removals; None for any number.
        is_dead: whether `killed` ended the process.
    """

    def __init__(self, clock: JumpingClock, kind_of: Callable[[RemoteRequest], CallKind]) -> None:
        super().__init__(loopback_gate("127.0.0.0/8"), clock, None, clock.sleep)
        self._kind_of = kind_of
        self._troubles: list[_Trouble] = []
        self.sent: list[Sent] = []
        self.limit: Limit | None = None
        self.is_dead = False

    def interpose(
        self,
        instead: Instead,
        *kinds: CallKind,
        times: int = 1,
        spared: int = 0,
        is_after: bool = False,
    ) -> None:
        """Have this become of the next such calls.

        Args:
            instead: what.
            kinds: of the calls; all if none are named.
            times: how often; -1 for ever.
            spared: how many such calls are sent as usual before.
            is_after: whether the remote gets the call, and only its answer is replaced.
        """
        self._troubles.append(_Trouble(kinds or tuple(CallKind), instead, times, spared, is_after))

    def get_well(self) -> None:
        """Send everything as usual from now on."""
        self._troubles.clear()

    def forget(self) -> None:
        """Count from here."""
        self.sent.clear()

    def count(self, *kinds: CallKind) -> int:
        """Return how many such calls were carried out."""
        return sum(1 for one in self.sent if one.kind in kinds and 200 <= one.status < 300)

    def tried(self, *kinds: CallKind) -> int:
        """Return how many such calls were sent, whatever was answered."""
        return sum(1 for one in self.sent if one.kind in kinds)

    async def _exchange(
        self, request: RemoteRequest, url: OutboundUrl, target: httpcore.URL, headers: Mapping[str, str]
    ) -> RemoteAnswer:
        kind = self._kind_of(request)
        status = 0
        try:
            answer = await self._answer(kind, request, url, target, headers)
            status = answer.status
        except KilledError:
            self.is_dead = True
            raise
        finally:
            self.sent.append(Sent(kind, request.method, status))
        return answer

    async def _answer(
        self,
        kind: CallKind,
        request: RemoteRequest,
        url: OutboundUrl,
        target: httpcore.URL,
        headers: Mapping[str, str],
    ) -> RemoteAnswer:
        trouble = self._trouble_of(kind)
        if trouble is not None and not trouble.is_after:
            return trouble.instead()
        is_limited = self.limit is not None and kind in CHANGES
        if self.limit is not None and is_limited:
            refusal = self.limit.refusal("PUT", "/")
            if refusal is not None:
                return received(refusal)
        answer = await super()._exchange(request, url, target, headers)
        if trouble is not None:
            return trouble.instead()
        if self.limit is not None and is_limited:
            told = {name.lower(): text for name, text in self.limit.headers().items()}
            return RemoteAnswer(answer.status, {**answer.headers, **told}, answer.body)
        return answer

    def _trouble_of(self, kind: CallKind) -> _Trouble | None:
        for one in self._troubles:
            if not one.left or kind not in one.kinds:
                continue
            if one.spared:
                one.spared -= 1
                continue
            one.left -= 1
            return one
        return None
