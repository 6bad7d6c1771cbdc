"""The floor of pushes writes what the service would write, and nothing else."""

from __future__ import annotations

import pytest

from tools.bench.bare_puts import bare_puts
from tools.bench.errors import BenchError
from tools.local.parameter_store import ParameterStoreServer


async def test_the_floor_writes_each_parameter_once_and_so_many_at_a_time() -> None:
    with ParameterStoreServer(0.002) as store:
        assert await bare_puts(store.url, "/floor/", 20, at_once=4) > 0
        assert store.below("/floor/").keys() == {f"KEY_{number}" for number in range(20)}
        assert store.calls == {"PutParameter": 20}
        assert store.most_at_once[""] <= 4


async def test_a_floor_that_cannot_be_measured_says_why() -> None:
    with pytest.raises(BenchError, match="ConnectError"):
        await bare_puts("http://127.0.0.1:1", "/floor/", 1, at_once=1)
