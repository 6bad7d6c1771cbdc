"""What `identities create` leaves behind where the service fails half-way."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

from support.command_line import CommandLine
from support.scripted_server import Reply, ScriptedServer

ORGANIZATION = Reply(body={"organizations": [{"id": "o-1", "name": "o", "slug": "o"}]})
MADE = Reply(body={"identity": {"id": "i-1", "name": "ci"}})
FAILED = Reply(500, body={"message": "Something went wrong"})


async def create(tmp_path: Path, *replies: Reply) -> tuple[int, str, list[str]]:
    async with ScriptedServer(*replies) as server:
        line = CommandLine(tmp_path, {"KEYBEARER_URL": server.url, "KEYBEARER_TOKEN": "cnry-token"})
        answer = await asyncio.to_thread(line, "identities", "create", "ci")
        asked = [f"{seen.method} {seen.path.rpartition('/')[2]}" for seen in server.seen]
    return answer.status, answer.stderr, asked


async def test_an_identity_that_can_not_be_finished_is_deleted(tmp_path: Path) -> None:
    status, said, asked = await create(tmp_path, ORGANIZATION, MADE, FAILED, MADE)
    assert (status, asked) == (6, ["GET organization", "POST identities", "POST i-1", "DELETE i-1"])
    assert "identities delete" not in said


async def test_one_that_can_not_be_deleted_either_is_named_with_what_to_do(tmp_path: Path) -> None:
    status, said, asked = await create(tmp_path, ORGANIZATION, MADE, FAILED)
    assert (status, asked[-1]) == (6, "DELETE i-1")
    assert "identity 'ci' is made, not ready to use" in said
    assert "keybearer identities delete i-1" in said
    assert "Traceback" not in said


async def test_a_client_secret_is_printed_as_a_secret_for_kubectl(tmp_path: Path) -> None:
    identity_id = "7f0f7f3e-5f43-4f5b-9b64-0b6f8a1c2d3e"
    settings = Reply(body={"identityUniversalAuth": {"id": "u-1", "clientId": "client-1"}})
    made = Reply(body={"clientSecret": "cnry-secret", "clientSecretData": {"id": "s-1"}})
    listed = Reply(body={"identities": [{"id": identity_id, "name": "ci", "role": "no-access"}]})
    async with ScriptedServer(listed, settings, made) as server:
        line = CommandLine(tmp_path, {"KEYBEARER_URL": server.url, "KEYBEARER_TOKEN": "cnry-token"})
        words = ("identities", "client-secret", "create", identity_id, "--manifest")
        refused = await asyncio.to_thread(line, *words, "No Name")
        answer = await asyncio.to_thread(line, *words, "reader")

    assert refused.status == 2
    assert "is no name of a Secret" in refused.stderr
    assert answer.status == 0, answer.stderr
    printed = json.loads(answer.stdout)
    data = {key: base64.b64decode(value).decode() for key, value in printed.pop("data").items()}
    assert data == {"clientId": "client-1", "clientSecret": "cnry-secret"}
    assert printed == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "reader"}}
