"""How many bytes a body may have, and how long it may take.

What is received counts; what is announced is believed if it is too much.
"""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

__all__ = ["LateBodyError", "TooLargeBodyError", "bounded_body", "refuse_announced", "timely_body"]


class TooLargeBodyError(HTTPException):
    """Answered with 413, and with the bound.

    It is an HTTPException because the framework passes on no other error while it reads a body.
    """

    def __init__(self, most: int) -> None:
        super().__init__(413, f"The body has more than {most} bytes")


class LateBodyError(HTTPException):
    """Answered with 408, and with the bound; the connection ends with the answer.

    It is an HTTPException for the same reason.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(408, f"The body did not come within {seconds:g} s")


def bounded_body(receive: Receive, most: int) -> Receive:
    """Return what receives at most so many bytes of a body.

    Raises:
        TooLargeBodyError: when received, for the piece that is too much.
    """
    received = 0

    async def bounded() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > most:
                raise TooLargeBodyError(most)
        return message

    return bounded


def timely_body(receive: Receive, seconds: float) -> Receive:
    """Return what receives a body within so many seconds from now.

    Raises:
        LateBodyError: when received: the body didn't come in time.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    is_whole = False

    async def timely() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()  # the end of the connection, which may take its time
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError as error:
            raise LateBodyError(seconds) from error
        is_whole = message["type"] != "http.request" or not message.get("more_body", False)
        return message

    return timely


def refuse_announced(scope: Scope, most: int) -> None:
    """Refuse a body whose announced length is too much, before a byte of it is waited for.

    Raises:
        TooLargeBodyError: it is.
    """
    # The parser of the connection lets only one length through, and only digits.
    announced = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if int(announced) > most:
        raise TooLargeBodyError(most)
