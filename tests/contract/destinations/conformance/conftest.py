"""One database for the scenarios of a module: each has a project of its own, and leaves no sync behind."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from support.service_domain import ServiceDomain, service_domain


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def domain(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ServiceDomain]:
    """Yield it; statements are compiled once for all."""
    async with service_domain(tmp_path_factory.mktemp("conformance")) as made:
        yield made
