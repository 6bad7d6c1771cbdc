"""What the operator and its sandbox say to each other, and how much of it.

Standard library only: the sandbox loads nothing of the operator but this. One render has one socket pair. The
operator hands one end to the sandbox with a deadline, writes the request to the other end, closes it for writing
and reads to the end of file: the answer of the child, if it lived to give one, and one byte of verdict.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

__all__ = [
    "ANSWER_MAX_BYTES",
    "DEADLINE",
    "OUTPUT_MAX_BYTES",
    "REQUEST_MAX_BYTES",
    "WALL_FACTOR",
    "Failure",
    "Request",
    "TemplateFault",
    "Verdict",
    "read_answer",
    "read_request",
    "write_answer",
    "write_request",
]

OUTPUT_MAX_BYTES = 1024 * 1024
"""All templates of a request together: what a Secret takes."""
REQUEST_MAX_BYTES = 8 * 1024 * 1024
"""Templates and values together, encoded."""
ANSWER_MAX_BYTES = OUTPUT_MAX_BYTES * 4 // 3 + 256 * 1024
"""The output in Base64, its keys, and what JSON puts around them."""
DEADLINE = struct.Struct("!d")
"""Seconds of processor time that a child may use; sent with the file descriptor of its socket."""
WALL_FACTOR = 5
"""By the clock, a child may take this many times its limit of processor time: on a busy node it mostly waits."""


class TemplateFault(StrEnum):
    """Why a template gave nothing."""

    SYNTAX_ERROR = "SyntaxError"
    UNDEFINED_VARIABLE = "UndefinedVariable"
    UNSAFE = "Unsafe"
    FAILED = "Failed"
    NOT_TEXT = "NotText"
    TOO_SLOW = "TooSlow"
    TOO_MUCH_MEMORY = "TooMuchMemory"
    INPUT_TOO_LARGE = "InputTooLarge"
    OUTPUT_TOO_LARGE = "OutputTooLarge"


class Verdict(Enum):
    """How the child ended, as the process that started it saw it."""

    ENDED = b"E"
    OVERDUE = b"T"
    OUT_OF_MEMORY = b"M"
    CRASHED = b"C"


@dataclass(frozen=True, slots=True)
class Request:
    """What a child is given; the values never show."""

    templates: Mapping[str, str] = field(repr=False)
    values: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why and where. `name` is a variable, filter or exception; who shows it checks that it can be."""

    fault: TemplateFault
    key: str | None = None
    line: int | None = None
    name: str | None = None


def write_request(request: Request) -> bytes:
    """Return the request as bytes."""
    values = {name: base64.b64encode(value).decode() for name, value in request.values.items()}
    return json.dumps({"templates": dict(request.templates), "values": values}).encode()


def read_request(written: bytes) -> Request:
    """Return the request that the bytes hold; they come from the operator and are trusted."""
    parsed = json.loads(written)
    values = {name: base64.b64decode(value) for name, value in parsed["values"].items()}
    return Request(parsed["templates"], values)


def write_answer(answer: Mapping[str, bytes] | Failure) -> bytes:
    """Return outputs by key, or a failure, as bytes."""
    if isinstance(answer, Failure):
        failure = {"fault": answer.fault, "key": answer.key, "line": answer.line, "name": answer.name}
        return json.dumps({"failure": failure}).encode()
    outputs = {key: base64.b64encode(output).decode() for key, output in answer.items()}
    return json.dumps({"outputs": outputs}).encode()


def read_answer(written: bytes, keys: frozenset[str]) -> dict[str, bytes] | Failure:
    """Return what the bytes hold; they come from a child that ran a tenant's template and are not trusted.

    Args:
        written: as `write_answer` writes it, or anything else.
        keys: of the request; an answer has exactly these.

    Raises:
        ValueError: they are no answer. The text never repeats them.
    """
    try:
        parsed = json.loads(written)
        if "failure" in parsed:
            return _read_failure(parsed["failure"], keys)
        outputs = {key: base64.b64decode(output, validate=True) for key, output in parsed["outputs"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, binascii.Error):
        raise ValueError("the sandbox gave no answer that can be read") from None
    if outputs.keys() != keys or sum(map(len, outputs.values())) > OUTPUT_MAX_BYTES:
        raise ValueError("the sandbox answered other keys than it was asked for, or too much")
    return outputs


def _read_failure(failure: Mapping[str, object], keys: frozenset[str]) -> Failure:
    key, line, name = failure["key"], failure["line"], failure["name"]
    return Failure(
        fault=TemplateFault(str(failure["fault"])),
        key=key if isinstance(key, str) and key in keys else None,
        line=line if isinstance(line, int) and 0 < line < 10**6 else None,
        name=name if isinstance(name, str) and len(name) <= 256 else None,
    )
