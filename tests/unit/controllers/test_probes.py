from __future__ import annotations

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, Gauge

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.probes import ProbeState, serve_probes


async def _get(address: str, path: str) -> tuple[int, str]:
    async with aiohttp.ClientSession() as session, session.get(f"http://{address}{path}") as answer:
        return answer.status, await answer.text()


async def test_a_starting_process_is_alive_but_not_ready() -> None:
    state = ProbeState()
    async with serve_probes("127.0.0.1:0", CollectorRegistry(), state) as address:
        assert await _get(address, "/healthz") == (200, "ok")
        assert await _get(address, "/readyz") == (503, "starting")
        state.unready = lambda: None
        assert await _get(address, "/readyz") == (200, "ok")
        assert (await _get(address, "/anything"))[0] == 404


async def test_metrics_are_collected_when_they_are_asked_for() -> None:
    registry, state = CollectorRegistry(), ProbeState()
    depth = Gauge("depth", "Keys that wait.", registry=registry)
    state.collect = lambda: depth.set(5)
    async with serve_probes("127.0.0.1:0", registry, state) as address:
        status, text = await _get(address, "/metrics")

    assert status == 200
    assert "depth 5.0" in text


@pytest.mark.parametrize(
    "listen",
    ["", "localhost", "127.0.0.1:", "127.0.0.1:port", "127.0.0.1:65536", ":999999", "127.0.0.1:-1"],
)
async def test_an_address_that_is_none_is_a_configuration_error(listen: str) -> None:
    with pytest.raises(ConfigurationError, match="--metrics-listen"):
        async with serve_probes(listen, CollectorRegistry(), ProbeState()):
            pass


async def test_a_taken_port_is_a_configuration_error_with_a_remedy() -> None:
    async with serve_probes("127.0.0.1:0", CollectorRegistry(), ProbeState()) as address:
        with pytest.raises(ConfigurationError, match="choose another port"):
            async with serve_probes(address, CollectorRegistry(), ProbeState()):
                pass
