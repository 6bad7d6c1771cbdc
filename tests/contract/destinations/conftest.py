"""What the contract tests of destinations share: a way out, and the remotes that are real."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from support.remotes.way_out import WayOut, way_out


@pytest.fixture
async def way() -> AsyncIterator[WayOut]:
    async with way_out() as opened:
        yield opened
