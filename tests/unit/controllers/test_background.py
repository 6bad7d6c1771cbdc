from __future__ import annotations

import asyncio

import pytest

from keybearer.base.errors import KeybearerError
from keybearer.controllers.background import Background, first_of
from unit.controllers.fakes.virtual_loop import in_virtual_time, settle


async def _sleep(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def _fail(seconds: float, error: Exception) -> None:
    await asyncio.sleep(seconds)
    raise error


class TestBackground:
    @in_virtual_time
    async def test_the_first_task_to_end_is_an_error_with_its_name(self) -> None:
        async with Background() as background:
            background.start("hold the Lease", _sleep(3600))
            background.start("read sources", _sleep(5))
            with pytest.raises(KeybearerError, match="read sources has ended by itself"):
                await background.ended()

    @in_virtual_time
    async def test_what_a_task_fails_with_is_raised_as_it_is(self) -> None:
        async with Background() as background:
            background.start("work", _fail(1, ConnectionError("gone")))
            with pytest.raises(ConnectionError, match="gone"):
                await background.ended()

    @in_virtual_time
    async def test_on_the_way_out_the_newest_ends_first_and_each_is_waited_for(self) -> None:
        ended: list[str] = []

        async def work(name: str) -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                await asyncio.sleep(1)
                ended.append(name)

        async with Background() as background:
            for name in ("first", "second", "third"):
                background.start(name, work(name))
            await settle()

        assert ended == ["third", "second", "first"]

    @in_virtual_time
    async def test_a_task_that_fails_while_it_ends_keeps_no_other_from_ending(self) -> None:
        ended: list[str] = []

        async def ends() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append("ends")

        async def fails() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                raise ConnectionError

        async with Background() as background:
            background.start("ends", ends())
            background.start("fails", fails())
            await settle()

        assert ended == ["ends"]


class TestFirstOf:
    @in_virtual_time
    async def test_the_place_of_the_first_to_end_and_the_others_are_cancelled(self) -> None:
        cancelled: list[bool] = []

        async def slow() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                cancelled.append(True)

        assert await first_of(slow(), _sleep(1), slow()) == 1
        assert cancelled == [True, True]
        assert asyncio.get_running_loop().time() == pytest.approx(1001)

    @in_virtual_time
    async def test_an_error_of_the_first_is_raised(self) -> None:
        with pytest.raises(ConnectionError):
            await first_of(_sleep(5), _fail(1, ConnectionError()))

    @in_virtual_time
    async def test_an_error_of_one_that_ended_at_the_same_time_is_not_lost(self) -> None:
        with pytest.raises(ConnectionError):
            await first_of(_sleep(1), _fail(1, ConnectionError()))

    @in_virtual_time
    async def test_a_cancelled_wait_cancels_them_all(self) -> None:
        cancelled: list[bool] = []

        async def slow() -> None:
            try:
                await asyncio.sleep(3600)
            finally:
                cancelled.append(True)

        waiting = asyncio.create_task(first_of(slow(), slow()))
        await settle()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

        assert cancelled == [True, True]
