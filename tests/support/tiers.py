"""Which tier a test is of: by its marks, and by what it asks for (CONTRIBUTING.md)."""

from __future__ import annotations

import pytest

__all__ = ["pytest_collection_modifyitems"]

_OF_EVERY_CHANGE = ("tests/unit/", "tests/contract/", "tests/integration/")
"""Where `make test` looks; the other tiers look everywhere for their marks."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test that asks for PostgreSQL as deep, before tests are chosen by their marks.

    Raises:
        UsageError: a test is of no tier, so that nothing would run it.
    """
    for item in items:
        if isinstance(item, pytest.Function) and "postgres" in item.fixturenames:
            item.add_marker("deep")
        is_marked = any(item.get_closest_marker(mark) for mark in ("deep", "system"))
        if not is_marked and not item.nodeid.startswith(_OF_EVERY_CHANGE):
            raise pytest.UsageError(f"{item.nodeid} is of no tier: mark it deep or system, or move it")
