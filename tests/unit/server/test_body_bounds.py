from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message

from keybearer.server.body_bounds import LateBodyError, timely_body


async def test_a_body_that_does_not_come_in_time_is_refused() -> None:
    never = asyncio.Event()

    async def dripping() -> Message:
        await never.wait()
        return {"type": "http.request", "body": b"a", "more_body": True}

    receive = timely_body(dripping, 0.01)
    with pytest.raises(LateBodyError, match=r"The body did not come within 0\.01 s"):
        await receive()


async def test_who_sent_the_whole_body_is_not_hurried() -> None:
    given = [{"type": "http.request", "body": b"a", "more_body": False}]

    async def whole() -> Message:
        if given:
            return given.pop()
        await asyncio.sleep(0.02)
        return {"type": "http.disconnect"}

    receive = timely_body(whole, 0.01)
    assert (await receive())["body"] == b"a"
    assert (await receive())["type"] == "http.disconnect"
