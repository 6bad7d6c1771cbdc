"""Stands before a real server as a copy of it would: each request is written down, and bad days are made here."""

from __future__ import annotations

import aiohttp
from aiohttp import web
from yarl import URL

from support.remotes.serving import Visits

__all__ = ["Forwarder"]

_PER_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})


class Forwarder:
    """What `served` puts before the server at that URL."""

    def __init__(self, upstream: str) -> None:
        self.visits = Visits()
        self.url = ""
        self._upstream = upstream

    def routes(self) -> list[web.RouteDef]:
        """Return what it answers to: everything."""
        return [web.route("*", "/{path:.*}", self._pass_on)]

    async def _pass_on(self, request: web.Request) -> web.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _PER_HOP}
        async with (
            aiohttp.ClientSession(auto_decompress=False) as session,
            session.request(
                request.method,
                URL(self._upstream + request.raw_path, encoded=True),
                headers=headers,
                data=await request.read(),
                allow_redirects=False,
            ) as answer,
        ):
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in _PER_HOP}
            return web.Response(status=answer.status, headers=kept, body=await answer.read())
