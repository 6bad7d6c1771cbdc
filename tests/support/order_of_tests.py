"""Tests that share a control plane run first and together: processes that run no such test never start one.

Each process of pytest-xdist takes a part of the list from its front, and what is left of others' parts from their
ends. Within these groups tests stay in the order that chance gave them.
"""

from __future__ import annotations

import pytest

__all__ = ["pytest_collection_modifyitems"]

_PLANES = ("operator_cluster", "control_plane")
"""Fixtures that are a control plane for as long as the process runs."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of each shared control plane in front of all others."""
    items.sort(key=_group)


def _group(item: pytest.Item) -> int:
    names = item.fixturenames if isinstance(item, pytest.Function) else ()
    return next((number for number, name in enumerate(_PLANES) if name in names), len(_PLANES))
