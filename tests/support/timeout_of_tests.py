"""The timeout of a test follows from the patience of its waits: no second number says how slow a machine may be."""

from __future__ import annotations

import pytest

from tools.local.waiting import TEST_SECONDS

__all__ = ["pytest_configure"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give pytest-timeout, which reads its options in the same hook, the timeout; `--timeout` goes before it."""
    if config.option.timeout is None:
        config.option.timeout = TEST_SECONDS
