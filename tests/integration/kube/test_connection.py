from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Self
from urllib.parse import urlsplit

import aiohttp
import pytest
import yaml
from kubernetes.aio.config import incluster_config

from keybearer.kube import access
from keybearer.kube.connection import Connection
from keybearer.kube.errors import UnauthorizedError, UnavailableError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import CONFIG_MAPS, ObjectKey
from tools.controlplane.certificates import create_identity
from tools.controlplane.controlplane import ControlPlane

pytestmark = pytest.mark.integration


class Pod:
    """The files that a pod finds of its ServiceAccount."""

    def __init__(self, directory: Path) -> None:
        self.token = directory / "token"
        self.ca = directory / "ca.crt"
        self.namespace = directory / "namespace"


@pytest.fixture
def pod(tmp_path: Path, control_plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch) -> Pod:
    """Make this process look like a pod of the namespace, whose token is not valid yet."""
    inside = Pod(tmp_path)
    inside.token.write_text("cnry-no-token")
    inside.ca.write_bytes(control_plane.ca_pem)
    inside.namespace.write_text(f"{namespace}\n")
    server = urlsplit(control_plane.server_url)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", str(server.hostname))
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", str(server.port))
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(inside.token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(inside.ca))
    monkeypatch.setattr(access, "_POD_NAMESPACE", inside.namespace)
    for command in (
        ("serviceaccount", "operator"),
        ("role", "operator", "--verb=get,list", "--resource=configmaps"),
        ("rolebinding", "operator", "--role=operator", f"--serviceaccount={namespace}:operator"),
    ):
        control_plane.kubectl("create", *command, f"--namespace={namespace}")
    return inside


async def fresh_token(control_plane: ControlPlane, namespace: str) -> str:
    token = await asyncio.to_thread(
        control_plane.kubectl, "create", "token", "operator", f"--namespace={namespace}"
    )
    return token.strip()


async def test_a_pod_connects_with_its_service_account(
    pod: Pod, control_plane: ControlPlane, namespace: str
) -> None:
    pod.token.write_text(await fresh_token(control_plane, namespace))
    async with await Connection.open() as connection:
        assert connection.namespace == namespace
        assert connection.server == control_plane.server_url
        gateway = Gateway(connection, may_write=lambda: None)
        assert await gateway.get(CONFIG_MAPS, ObjectKey(namespace, "none")) is None


async def test_a_token_that_was_replaced_is_taken_up_when_the_old_one_is_refused(
    pod: Pod, control_plane: ControlPlane, namespace: str
) -> None:
    async with await Connection.open() as connection:
        gateway = Gateway(connection, may_write=lambda: None)
        pod.token.write_text(await fresh_token(control_plane, namespace))
        found = await asyncio.gather(
            *(gateway.get(CONFIG_MAPS, ObjectKey(namespace, f"none-{number}")) for number in range(20))
        )

    assert found == [None] * 20


async def test_a_token_that_stays_invalid_is_told(pod: Pod, namespace: str) -> None:
    assert pod.token.exists()
    async with await Connection.open() as connection:
        with pytest.raises(UnauthorizedError):
            await Gateway(connection, may_write=lambda: None).get(CONFIG_MAPS, ObjectKey(namespace, "none"))


async def test_a_server_of_another_authority_is_not_spoken_to(
    pod: Pod, namespace: str, tmp_path: Path
) -> None:
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    pod.ca.write_bytes(create_identity(stranger, datetime.now(UTC)).ca_certificate.read_bytes())
    async with await Connection.open() as connection:
        with pytest.raises(UnavailableError, match="ClientConnectorCertificateError"):
            await Gateway(connection, may_write=lambda: None).get(CONFIG_MAPS, ObjectKey(namespace, "none"))


async def test_a_library_of_its_own_may_use_a_session_with_our_credentials(
    pod: Pod, control_plane: ControlPlane, namespace: str
) -> None:
    pod.token.write_text(await fresh_token(control_plane, namespace))
    async with (
        await Connection.open() as connection,
        connection.open_session(limit=2) as session,
        session.get(f"{connection.server}/api/v1/namespaces/{namespace}/configmaps") as response,
    ):
        assert response.status == 200


async def test_such_a_session_takes_up_a_token_that_was_replaced(
    pod: Pod, control_plane: ControlPlane, namespace: str
) -> None:
    async with await Connection.open() as connection, connection.open_session(limit=2) as session:
        pod.token.write_text(await fresh_token(control_plane, namespace))
        async with session.get(f"{connection.server}/api/v1/namespaces/{namespace}/configmaps") as response:
            assert response.status == 200


async def test_such_a_session_finds_nobody_where_its_token_stays_invalid(pod: Pod, namespace: str) -> None:
    assert pod.token.exists()
    async with await Connection.open() as connection, connection.open_session(limit=2) as session:
        # To the library an answer of 401 would be the end: it has no other credentials to try.
        with pytest.raises(aiohttp.ClientConnectionError, match="credentials"):
            await session.get(f"{connection.server}/api/v1/namespaces/{namespace}/configmaps")


class Ahead(datetime):
    """Minutes later."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Self:
        return super().now(tz) + timedelta(minutes=2)


async def test_the_last_token_goes_on_while_its_file_is_away(
    pod: Pod, control_plane: ControlPlane, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod.token.write_text(await fresh_token(control_plane, namespace))
    async with await Connection.open() as connection:
        pod.token.unlink()
        # The loader reads it anew each minute.
        monkeypatch.setattr(
            incluster_config, "datetime", SimpleNamespace(datetime=Ahead, timedelta=timedelta)
        )
        gateway = Gateway(connection, may_write=lambda: None)
        found = await gateway.get(CONFIG_MAPS, ObjectKey(namespace, "none"))
    assert found is None


@pytest.mark.parametrize(("name", "fits"), [("localhost", True), ("elsewhere.example", False)])
async def test_the_server_is_expected_under_the_name_that_the_kubeconfig_says(
    control_plane: ControlPlane, tmp_path: Path, name: str, *, fits: bool
) -> None:
    config = yaml.safe_load(control_plane.admin_kubeconfig.read_text())
    config["clusters"][0]["cluster"]["tls-server-name"] = name
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))
    async with await Connection.open(kubeconfig=str(path)) as connection:
        version = Gateway(connection, may_write=lambda: None).server_version()
        if fits:
            assert await version
        else:
            with pytest.raises(UnavailableError, match="Certificate"):
                await version
