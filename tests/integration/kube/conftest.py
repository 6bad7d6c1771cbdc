"""What tests of the gateway against a real API server share."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from keybearer.base.ids import new_uuid
from keybearer.kube.connection import Connection
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import NAMESPACES, ObjectKey
from tools.controlplane.controlplane import ControlPlane


@pytest.fixture
async def connection(control_plane: ControlPlane) -> AsyncIterator[Connection]:
    """Yield a connection as administrator."""
    async with await Connection.open(kubeconfig=str(control_plane.admin_kubeconfig)) as opened:
        yield opened


@pytest.fixture
async def gateway(connection: Connection) -> Gateway:
    """Return a gateway that may always write."""
    return Gateway(connection, may_write=lambda: None)


@pytest.fixture
async def namespace(gateway: Gateway) -> AsyncIterator[str]:
    """Yield a fresh namespace; it is deleted, not waited for."""
    name = f"kube-{new_uuid()[:8]}"
    stored = await gateway.create(NAMESPACES, ObjectKey("", name), {})
    yield name
    metadata = stored["metadata"]
    assert isinstance(metadata, dict)
    await gateway.delete(NAMESPACES, ObjectKey("", name), uid=str(metadata["uid"]))
