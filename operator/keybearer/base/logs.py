"""Structured logs: one event per line, JSON for machines, aligned text for a terminal.

The event is a constant verb phrase in snake_case; data travels in keys. A line says which object is reconciled, and
which request is answered (`request_id`: what the wire calls reqId), wherever that is known. Values, tokens and
private keys never do; `tests/support/canary.py` searches the output of every test for them.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal, TextIO

import orjson
import structlog

from keybearer.base.log_subject import subject_of_work
from keybearer.base.origin import current_origin

__all__ = ["LogFormat", "Logger", "configure_logging", "get_logger"]

LogFormat = Literal["json", "text"]
Logger = structlog.typing.FilteringBoundLogger


def configure_logging(*, log_format: LogFormat, level: str, stream: TextIO | None = None) -> None:
    """Send structlog and the standard library's logs to one stream (stderr by default) in one format.

    Args:
        log_format: `json` writes one object per line; `text` writes for people.
        level: a name of the standard library, in any case.
        stream: where to write; stdout stays free for what a command answers.

    Raises:
        ValueError: the level is not a name of the standard library.
    """
    number = logging.getLevelNamesMapping().get(level.upper())
    if number is None:
        msg = f"log level {level!r} is unknown; use debug, info, warning or error"
        raise ValueError(msg)
    out = stream or sys.stderr
    shared: list[structlog.typing.Processor] = [
        _name_the_work,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    renderer: structlog.typing.Processor
    if log_format == "json":
        # Tracebacks as text without frame locals: locals hold values.
        shared.append(structlog.processors.format_exc_info)
        renderer = structlog.processors.JSONRenderer(serializer=_dumps)
    else:
        renderer = structlog.dev.ConsoleRenderer(
            colors=out.isatty(), exception_formatter=structlog.dev.plain_traceback
        )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    # These write URLs, bodies or a line per event at their lower levels.
    for noisy in ("kopf", "httpx", "httpcore", "aiohttp.access", "uvicorn.access", "aiosqlite"):
        logging.getLogger(noisy).setLevel(max(number, logging.WARNING))


def get_logger(name: str) -> Logger:
    """Return the logger of a module; `name` travels in each line as `module`."""
    logger: Logger = structlog.get_logger(module=name)
    return logger


def _name_the_work(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Add what the work is about; what the line says itself wins."""
    for name, value in subject_of_work().items():
        event.setdefault(name, value)
    request_id = current_origin().request_id
    if request_id:
        event.setdefault("request_id", request_id)
    return event


def _dumps(event: object, **_: object) -> str:
    return orjson.dumps(event, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
