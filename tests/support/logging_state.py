"""Logging is the process's own: what one test configures must not reach the next."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import structlog

__all__ = ["logging_as_it_was", "logging_restored"]


@contextmanager
def logging_restored() -> Iterator[None]:
    """Undo what is configured inside."""
    was_configured, configuration = structlog.is_configured(), structlog.get_config()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    if structlog.is_configured() and not was_configured:
        structlog.reset_defaults()
    elif was_configured:
        structlog.configure(**configuration)
    if root.handlers != handlers:
        root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Undo what a test configures: its stream is closed with it, and later lines would fail whoever writes them."""
    with logging_restored():
        yield
