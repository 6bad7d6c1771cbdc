"""Drivers that are wrong, made of right ones: what a copy of a remote's API is worth shows on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from keybearer.destinations.remote import Http, RemoteAnswer, RemoteRequest
from support.remotes.way_out import WayOut

__all__ = ["spoil"]


class _Spoiled(Http):
    """A way out that shows what a wrong driver would see, or sends what it would send."""

    def __init__(
        self,
        right: Http,
        request: Callable[[RemoteRequest], RemoteRequest],
        answer: Callable[[RemoteAnswer], RemoteAnswer],
        how: dict[str, Any],
    ) -> None:
        self._right = right
        self._request = request
        self._answer = answer
        self._how = how

    def now(self) -> datetime:
        return self._right.now()

    async def pause(self, wait: timedelta) -> None:
        await self._right.pause(wait)

    async def send(self, request: RemoteRequest, **how: Any) -> RemoteAnswer:  # noqa: ANN401 - passed on
        return self._answer(await self._right.send(self._request(request), **{**how, **self._how}))


def spoil(
    way: WayOut,
    *,
    request: Callable[[RemoteRequest], RemoteRequest] = lambda request: request,
    answer: Callable[[RemoteAnswer], RemoteAnswer] = lambda answer: answer,
    **how: Any,  # noqa: ANN401 - passed on
) -> None:
    """Have everything that goes through this way out changed so; `how` is for `RemoteHttp.send`."""
    way.context = dataclasses.replace(way.context, http=_Spoiled(way.context.http, request, answer, how))
