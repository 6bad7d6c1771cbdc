"""Who has no login takes the service from nobody: connections, bodies and failed logins are bounded by address."""

from __future__ import annotations

import json
import resource
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from support.service_fixtures import Credentials, Service, ServiceProcess, start_service
from tools.local.plain_http import TRUSTS_NOBODY
from tools.local.waiting import PATIENCE_SECONDS, PROBE_SECONDS, eventually

LOGIN = "/api/v1/auth/universal-auth/login"
HEAD = f"POST {LOGIN} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n".encode()
ASKING = b"GET /api/status HTTP/1.1\r\nhost: x\r\n\r\n"
STRANGER = "127.0.0.2"
PER_ADDRESS = 64


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServiceProcess]:
    data = tmp_path_factory.mktemp("strangers") / "data"
    service = start_service(data, "--probe-listen", "127.0.0.1:0", "--rate-limit", "failed-logins=5/1h")
    yield service
    service.stop()


def from_address(service: Service, address: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=address, verify=TRUSTS_NOBODY)
    return httpx.Client(base_url=service.url, transport=transport, timeout=PATIENCE_SECONDS)


def knock(service: Service, address: str) -> socket.socket:
    url = urlsplit(service.url)
    return socket.create_connection(
        (str(url.hostname), url.port or 0), timeout=PATIENCE_SECONDS, source_address=(address, 0)
    )


def probes_of(service: Service) -> httpx.Client:
    def told() -> str | None:
        lines = [json.loads(line) for line in service.log.read_text().splitlines() if "served_beside" in line]
        return next((line["address"] for line in lines if line["what"] == "probes"), None)

    return httpx.Client(
        base_url=f"http://{eventually(told, awaited='a port for probes')}", timeout=PROBE_SECONDS
    )


@pytest.fixture
def many_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_905_slow_bodies_take_neither_probes_nor_logins(running: ServiceProcess) -> None:
    identity = running.create_identity()
    with ExitStack() as opened:
        slow = [opened.enter_context(knock(running, STRANGER)) for _ in range(905)]
        probes = opened.enter_context(probes_of(running))
        refused: set[socket.socket] = set()
        for turn in range(8):
            for connection in slow:
                if connection in refused:
                    continue
                try:
                    connection.sendall(HEAD if turn == 0 else b" ")
                except ConnectionError:
                    refused.add(connection)
            assert probes.get("/api/status").json() == {"message": "Ok"}
            assert running.login(identity)
        assert len(refused) == 905 - PER_ADDRESS


def test_probes_are_answered_and_nothing_else_is_at_their_port(running: ServiceProcess) -> None:
    with probes_of(running) as probes:
        assert probes.get("/api/status").status_code == 200
        assert probes.get("/api/v1/projects").status_code == 404
        assert probes.post(LOGIN, json={}).status_code == 404


def test_connections_by_which_a_token_was_accepted_do_not_count(running: ServiceProcess) -> None:
    token = running.login(running.create_identity())
    check = (
        f"POST /api/v1/auth/checkAuth HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n\r\n".encode()
    )
    with ExitStack() as opened:
        for _ in range(PER_ADDRESS + 10):
            connection = opened.enter_context(knock(running, "127.0.0.3"))
            connection.sendall(check)
            assert connection.recv(12) == b"HTTP/1.1 200"
        for _ in range(PER_ADDRESS):
            opened.enter_context(knock(running, "127.0.0.3")).sendall(HEAD)
        late = opened.enter_context(knock(running, "127.0.0.3"))
        late.sendall(ASKING)
        assert late.recv(12) == b"HTTP/1.1 503"


def test_connections_that_are_idle_make_room_for_others(running: ServiceProcess) -> None:
    with ExitStack() as opened:
        for _ in range(2 * PER_ADDRESS):
            connection = opened.enter_context(knock(running, "127.0.0.6"))
            connection.sendall(ASKING)
            assert connection.recv(12) == b"HTTP/1.1 200"


def test_an_address_that_fails_to_log_in_often_waits_and_the_others_do_not(running: ServiceProcess) -> None:
    identity = running.create_identity(lockoutEnabled=False)
    wrong = {"clientId": "nobody", "clientSecret": "cnry-wrong"}
    right = {"clientId": identity.client_id, "clientSecret": identity.client_secret}
    with from_address(running, "127.0.0.4") as stranger:
        assert {stranger.post(LOGIN, json=right).status_code for _ in range(10)} == {200}
        assert [stranger.post(LOGIN, json=wrong).status_code for _ in range(6)] == [401] * 5 + [429]
        late = stranger.post(LOGIN, json=right)
        assert (late.status_code, late.json()["error"]) == (429, "RateLimitExceeded")
        assert int(late.headers["retry-after"]) > 0
    assert running.login(identity)


@pytest.mark.deep
def test_the_body_of_a_login_that_does_not_come_is_not_waited_for(running: ServiceProcess) -> None:
    with knock(running, "127.0.0.5") as connection:
        connection.sendall(HEAD)
        answer = b""
        while part := connection.recv(65_536):
            answer += part
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408 ")
    assert b"\r\nconnection: close" in head
    assert json.loads(body)["error"] == "RequestTimeout"
    assert json.loads(body)["message"] == "The body did not come within 10 s"


@pytest.mark.deep
@pytest.mark.usefixtures("many_files")
def test_a_thousand_identities_log_in_from_one_address_and_keep_their_connections(tmp_path: Path) -> None:
    service = start_service(tmp_path / "data")
    with ThreadPoolExecutor(8) as threads:
        identities = list(threads.map(lambda _: service.create_identity(), range(1000)))

    with ExitStack() as opened, ThreadPoolExecutor(32) as threads:

        def log_in(identity: Credentials) -> int:
            body = {"clientId": identity.client_id, "clientSecret": identity.client_secret}
            client = opened.enter_context(from_address(service, "127.0.0.1"))
            return client.post(LOGIN, json=body).status_code

        told = list(threads.map(log_in, identities))
    assert told == [200] * 1000
    service.stop()
