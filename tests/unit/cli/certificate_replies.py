"""How a command for certificates is run against a service that is played, and what that one replies."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson

from support.command_line import Answer, CommandLine
from support.scripted_server import Reply, ScriptedServer

__all__ = [
    "AUTHORITIES",
    "AUTHORITY",
    "BY_SLUG",
    "ID",
    "ISSUED",
    "POLICY",
    "PROFILE",
    "SERVER_KEY",
    "Asks",
    "issued",
    "run",
    "standing",
    "waiting",
]

ID = "00000000-0000-4000-8000-00000000000{}"
PROFILE = {"id": ID.format(1), "slug": "web", "caId": ID.format(2), "certificatePolicyId": ID.format(3)}
AUTHORITY = {"id": ID.format(2), "name": "issuing", "type": "internal", "status": "active"}
POLICY = {"id": ID.format(3), "name": "web"}
SERVER_KEY = "-----BEGIN PRIVATE KEY-----\ncnry-server-key\n-----END PRIVATE KEY-----\n"
ISSUED: dict[str, Any] = {
    "certificate": "-----BEGIN CERTIFICATE-----\nleaf\n-----END CERTIFICATE-----\n",
    "certificateChain": "-----BEGIN CERTIFICATE-----\nca\n-----END CERTIFICATE-----",
    "serialNumber": "0a",
    "certificateId": "c-1",
}
BY_SLUG = Reply(body={"certificateProfile": PROFILE})
AUTHORITIES = Reply(
    body={"certificateAuthorities": [{**AUTHORITY, "id": "ca-0", "name": "other"}, AUTHORITY]}
)


def issued(**more: str) -> Reply:
    return Reply(body={"certificateRequestId": "r-1", "status": "issued", "certificate": {**ISSUED, **more}})


def waiting(status: str = "pending_approval") -> Reply:
    return Reply(body={"certificateRequestId": "r-1", "status": status, "certificate": None, "message": "m"})


def standing(status: str, **more: str) -> Reply:
    return Reply(body={"status": status, **more})


class Asks:
    """What a command was answered with, and what it had asked."""

    def __init__(self, answer: Answer, server: ScriptedServer) -> None:
        self.answer = answer
        self.lines = [
            f"{seen.method} {seen.path.removeprefix('/api/v1/cert-manager/')}"
            f"{'?' if seen.query else ''}{urlencode(seen.query)}"
            for seen in server.seen
        ]
        self.bodies: list[Any] = [orjson.loads(seen.body) if seen.body else None for seen in server.seen]


async def run(home: Path, *arguments: str, replies: tuple[Reply, ...] = (), stdin: str | None = None) -> Asks:
    async with ScriptedServer(*replies) as server:
        line = CommandLine(home, {"KEYBEARER_URL": server.url, "KEYBEARER_TOKEN": "cnry-token"})
        return Asks(await asyncio.to_thread(line.here, *arguments, stdin=stdin), server)
