from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NoReturn

import aiohttp
import pytest

from keybearer.kube.connection import Connection, Request
from keybearer.kube.errors import (
    ForbiddenError,
    LeaseLostError,
    NotFoundError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)
from keybearer.kube.exchange import Act, Exchange
from support.scripted_server import Reply, ScriptedServer, write_kubeconfig

REQUEST = Request("PATCH", "/x", {}, b"{}")
BUSY = Reply(429, b"", {"Retry-After": "1"})


class Waits:
    """Takes note of sleeps and does not sleep."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


async def ask(
    tmp_path: Path, server: ScriptedServer, waits: Waits, allow: object = None, token: str = "cnry-token"
) -> bytes:
    config = write_kubeconfig(tmp_path / "config", server.url, {"token": token})
    async with await Connection.open(kubeconfig=config) as connection:
        exchange = Exchange(connection, max_in_flight=4, sleep=waits)
        answer = await exchange.ask("patch x", REQUEST, allow=allow)  # type: ignore[arg-type]
        return answer.body


async def test_shed_load_is_tried_again_after_the_wait_that_was_asked_for(tmp_path: Path) -> None:
    waits = Waits()
    async with ScriptedServer(BUSY, BUSY, Reply(body={"ok": True})) as server:
        body = await ask(tmp_path, server, waits)

    assert body == b'{"ok":true}'
    assert waits.seconds == [1.0, 1.0]


async def test_load_that_is_shed_three_times_is_the_callers_to_wait_for(tmp_path: Path) -> None:
    waits = Waits()
    async with ScriptedServer(BUSY) as server:
        with pytest.raises(TooManyRequestsError) as caught:
            await ask(tmp_path, server, waits)

    assert caught.value.retry_after == 1.0
    assert len(server.seen) == 3


async def test_a_long_wait_is_the_callers_at_once(tmp_path: Path) -> None:
    waits = Waits()
    async with ScriptedServer(Reply(429, b"", {"Retry-After": "30"})) as server:
        with pytest.raises(TooManyRequestsError) as caught:
            await ask(tmp_path, server, waits)

    assert caught.value.retry_after == 30.0
    assert (len(server.seen), waits.seconds) == (1, [])


async def test_another_refusal_is_raised_at_once(tmp_path: Path) -> None:
    waits = Waits()
    async with ScriptedServer(Reply(404, b"")) as server:
        with pytest.raises(NotFoundError, match="patch x: not found"):
            await ask(tmp_path, server, waits)

    assert len(server.seen) == 1


async def test_refused_credentials_are_read_again_once(tmp_path: Path) -> None:
    waits = Waits()
    async with ScriptedServer(Reply(401, b""), Reply(body={"ok": True})) as server:
        assert await ask(tmp_path, server, waits) == b'{"ok":true}'
    async with ScriptedServer(Reply(401, b"")) as server:
        with pytest.raises(UnauthorizedError):
            await ask(tmp_path, server, waits)

    assert len(server.seen) == 2


async def test_a_write_that_is_not_allowed_is_not_sent(tmp_path: Path) -> None:
    def refuse() -> None:
        raise LeaseLostError("not ours")

    async with ScriptedServer(Reply(body={})) as server:
        with pytest.raises(LeaseLostError):
            await ask(tmp_path, server, Waits(), refuse)

    assert server.seen == []


async def test_a_write_that_is_not_allowed_counts_as_none(tmp_path: Path) -> None:
    def refuse() -> None:
        raise LeaseLostError("not ours")

    def watch(act: Act) -> NoReturn:
        pytest.fail(f"{act} began")

    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    async with await Connection.open(kubeconfig=config) as connection:
        exchange = Exchange(connection, max_in_flight=1)
        exchange.watch_write = watch
        with pytest.raises(LeaseLostError):
            await exchange.ask("patch x", REQUEST, act=Act("patch", "Secret"), allow=refuse)


async def test_leave_to_write_is_asked_for_again_before_another_attempt(tmp_path: Path) -> None:
    async with ScriptedServer(BUSY) as server:

        def refuse_the_second() -> None:
            if server.seen:
                raise LeaseLostError("not ours any more")

        with pytest.raises(LeaseLostError):
            await ask(tmp_path, server, Waits(), refuse_the_second)

    assert len(server.seen) == 1


async def test_leave_to_write_is_asked_for_after_the_wait_for_a_slot(tmp_path: Path) -> None:
    """A write that waits in line must not be sent on a leave that it got before the line."""
    release = asyncio.Event()
    order: list[str] = []
    slow = Reply(stream=lambda _: release.wait())  # type: ignore[arg-type,return-value]
    async with ScriptedServer(slow, Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            exchange = Exchange(connection, max_in_flight=1)
            first = asyncio.create_task(exchange.ask("patch x", REQUEST, allow=lambda: order.append("first")))
            second = asyncio.create_task(
                exchange.ask("patch x", REQUEST, allow=lambda: order.append("second"))
            )
            await server.arrived(1)
            assert set(order) == {"first"}
            release.set()
            await asyncio.gather(first, second)

    assert list(dict.fromkeys(order)) == ["first", "second"]
    assert len(server.seen) == 2


async def test_a_write_is_not_sent_when_leave_ends_while_it_connects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_ours = True
    connect = aiohttp.TCPConnector.connect

    async def lose_meanwhile(*args: object, **more: object) -> object:
        nonlocal is_ours
        made = await connect(*args, **more)  # type: ignore[arg-type]
        is_ours = False
        return made

    def require_ours() -> None:
        if not is_ours:
            raise LeaseLostError("not ours any more")

    monkeypatch.setattr(aiohttp.TCPConnector, "connect", lose_meanwhile)
    async with ScriptedServer(Reply(body={})) as server:
        with pytest.raises(LeaseLostError):
            await ask(tmp_path, server, Waits(), require_ours)

    assert server.seen == []


async def test_each_request_is_told_of_with_whether_it_was_answered(tmp_path: Path) -> None:
    told: list[bool] = []
    async with ScriptedServer(Reply(body={}), Reply(403), Reply(503)) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with await Connection.open(kubeconfig=config) as connection:
            exchange = Exchange(connection, max_in_flight=4)
            exchange.on_end = told.append
            await exchange.ask("patch x", REQUEST)
            with pytest.raises(ForbiddenError):
                await exchange.ask("patch x", REQUEST)
            with pytest.raises(UnavailableError):
                await exchange.ask("patch x", REQUEST)
            await server.__aexit__(None, None, None)
            with pytest.raises(UnavailableError):
                await exchange.ask("patch x", REQUEST)

    assert told == [True, True, False, False]
