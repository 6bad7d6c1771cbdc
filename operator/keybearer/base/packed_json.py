"""JSON that is kept: in exactly the memory it needs."""

from __future__ import annotations

from typing import Any

import orjson

__all__ = ["packed_json"]


def packed_json(value: Any) -> bytes:  # noqa: ANN401 - whatever JSON can say
    """Return compact JSON in bytes of its own.

    What orjson returns keeps the room that it grew in, 4 KiB at least: too much where ten thousand are kept.
    """
    return memoryview(orjson.dumps(value)).tobytes()
