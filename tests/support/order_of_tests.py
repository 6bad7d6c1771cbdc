"""Which tests run in one process of pytest-xdist: those of a module, and those of some folders.

What a module or a session sets up is then set up in as few processes as can be: the operator's tests start one
control plane and one operator, the other tests of a cluster start one, and Helm renders the chart for all tests of
it. Large groups start first.
"""

from __future__ import annotations

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

__all__ = ["pytest_xdist_make_scheduler"]

_TOGETHER = ("tests/integration/operator/", "tests/integration/", "tests/unit/chart/")
"""Each folder is one group of tests: two share a cluster, one what Helm rendered. The first that fits counts."""

_APART = frozenset(
    f"tests/integration/test_{name}.py"
    for name in (
        "chart_rights",
        "chart_service",
        "controlplane_build",
        "observability",
        "postgres_of_tests",
    )
)
"""Modules that share no control plane: each is a group of its own."""


class _ByModule(LoadScopeScheduling):  # type: ignore[misc] # its module carries no types
    def _split_scope(self, nodeid: str) -> str:
        module = nodeid.partition("::")[0]
        if module in _APART:
            return module
        return next((folder for folder in _TOGETHER if module.startswith(folder)), module)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadScopeScheduling:
    """Return what hands groups of tests to processes."""
    return _ByModule(config, log)
