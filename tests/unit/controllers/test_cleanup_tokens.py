"""keybearer.controllers.cleanup_tokens: what is kept for cleaning up, and how often that is written."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keybearer.controllers import cleanup_tokens as module
from keybearer.controllers.cleanup_tokens import CleanupToken, CleanupTokens
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.resources import ObjectKey
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.targets import Body

_KEY = ObjectKey("keybearer", "keybearer-operator-cleanup-tokens")
_ONE, _OTHER = ObjectKey("team-a", "login"), ObjectKey("team-b", "login")
_TOKEN = CleanupToken(
    "https://keybearer.example.com", "cnry-token-1", datetime(2026, 3, 1, tzinfo=UTC), ca_pem="cnry-pem"
)


async def loaded(gateway: FakeGateway) -> CleanupTokens:
    tokens = CleanupTokens(gateway, _KEY)
    await tokens.load()
    return tokens


def found(tokens: CleanupTokens) -> dict[ObjectKey, CleanupToken | None]:
    return {one: tokens.get(one) for one in tokens}


async def test_what_is_kept_is_found_by_the_next_process() -> None:
    gateway = FakeGateway()
    wanted = {_ONE: _TOKEN, _OTHER: CleanupToken("https://other.example.com", "cnry-token-2", granted=False)}
    await (await loaded(gateway)).keep(wanted)

    again = await loaded(gateway)
    assert found(again) == wanted
    assert [None if (one := again.get(key)) is None else one.ends_at for key in wanted] == [
        _TOKEN.ends_at,
        None,
    ]


async def test_only_a_change_is_written() -> None:
    gateway = FakeGateway()
    tokens = await loaded(gateway)
    await tokens.keep({})
    assert gateway.writes == []

    for _ in range(3):
        await tokens.keep({_ONE: _TOKEN, _OTHER: _TOKEN})
    await tokens.keep({_OTHER: _TOKEN, _ONE: _TOKEN})
    await tokens.keep({_ONE: replace(_TOKEN, text="cnry-token-3")})
    await tokens.keep({})

    written = [str(write).partition(" ")[0] for write in gateway.writes]
    assert written.count("create") == 1
    assert len(written) - written.count("create") <= 3
    assert found(await loaded(gateway)) == {}


async def test_what_many_share_is_kept_once() -> None:
    gateway = FakeGateway()
    await (await loaded(gateway)).keep(
        {ObjectKey(f"team-{number}", "login"): _TOKEN for number in range(100)}
    )

    body = gateway.find("Secret", _KEY.name, _KEY.namespace)
    assert body is not None
    assert base64.b64decode(body["data"]["tokens.json"]).count(b"cnry-token-1") == 1


async def test_what_is_too_large_is_left_out_and_the_small_ones_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_BYTES", 1000)
    gateway = FakeGateway()
    tokens = await loaded(gateway)
    wanted = {_ONE: _TOKEN, _OTHER: replace(_TOKEN, text="cnry-token-2", ca_pem="p" * 2000)}
    for _ in range(2):
        await tokens.keep(wanted)

    assert found(tokens) == found(await loaded(gateway)) == {_ONE: _TOKEN}
    written = len(gateway.writes)
    await tokens.keep(wanted)
    assert len(gateway.writes) == written


@pytest.mark.parametrize("text", ["cnry-no-base64!", "Y25yeQ==", "bnVsbA==", ""])
async def test_what_can_not_be_read_counts_as_nothing_and_is_overwritten(text: str) -> None:
    gateway = FakeGateway()
    meta = {"namespace": _KEY.namespace, "name": _KEY.name}
    body: Body = {"kind": "Secret", "metadata": meta, "data": {"tokens.json": text}}
    gateway.put(body)
    tokens = await loaded(gateway)
    assert found(tokens) == {}

    await tokens.keep({_ONE: _TOKEN})

    assert found(await loaded(gateway)) == {_ONE: _TOKEN}


async def test_what_was_not_written_is_not_taken_for_kept() -> None:
    gateway = FakeGateway()
    tokens = await loaded(gateway)
    gateway.fail("create", "Secret", ForbiddenError("no right to create"))
    with pytest.raises(ForbiddenError):
        await tokens.keep({_ONE: _TOKEN})

    assert found(tokens) == {}


def test_no_token_is_shown() -> None:
    assert "cnry" not in repr(_TOKEN)
