"""The service as a process: what it keeps, what it refuses, how it ends."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest

from support.databases import OwnDatabase
from support.self_signed import certificate
from support.service_fixtures import ServiceProcess, Starter, start_service
from tools.local.plain_http import plain_client
from tools.local.waiting import PATIENCE_SECONDS, eventually

Running: TypeAlias = ServiceProcess


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def own(start: Starter, data_dir: Path) -> Iterator[Running]:
    running = start(data_dir)
    yield running
    running.kill()


@pytest.fixture
def program(start: Starter, data_dir: Path) -> Iterator[Running]:
    """Yield a service that was started as people do."""
    running = start(data_dir, anew=True)
    yield running
    running.kill()


def refusal(start: Starter, data_dir: Path, *flags: str, environment: dict[str, str] | None = None) -> str:
    with pytest.raises(RuntimeError, match="ended with 2") as refused:
        start(data_dir, *flags, environment=environment).kill()
    return str(refused.value)


def values(running: Running, project_id: str) -> dict[str, str]:
    params = {"projectId": project_id, "environment": "dev"}
    listed = running.admin_client().json("GET", "/api/v4/secrets", params=params)["secrets"]
    return {secret["secretKey"]: secret["secretValue"] for secret in listed}


@pytest.mark.every_database
def test_the_first_start_writes_private_credentials_that_work(program: Running) -> None:
    path = program.data_dir / "admin.json"
    written = json.loads(path.read_text())
    assert set(written) == {"url", "organizationId", "identityId", "clientId", "clientSecret"}
    assert written["url"] == program.url
    assert path.stat().st_mode & 0o777 == 0o600
    assert program.login(program.admin)


def test_everything_in_the_data_directory_is_its_owners_alone(program: Running) -> None:
    modes = {
        path.name: path.stat().st_mode & 0o077 for path in [program.data_dir, *program.data_dir.iterdir()]
    }
    assert set(modes.values()) == {0}


@pytest.mark.every_database
def test_what_was_answered_survives_kill_9(start: Starter, own: Running) -> None:
    project = own.create_project()
    for number in range(20):
        own.create_secret(project, f"KEY_{number:02}", f"cnry-{number}")
    token = own.login(own.admin)
    own.kill()
    again = start(own.data_dir)
    try:
        assert values(again, project.id) == {f"KEY_{number:02}": f"cnry-{number}" for number in range(20)}
        assert again.client(token).post("/api/v1/auth/checkAuth").status_code == 200
    finally:
        again.stop()


@pytest.mark.every_database
def test_a_second_start_makes_no_second_admin(start: Starter, own: Running) -> None:
    before = (own.data_dir / "admin.json").read_bytes()
    own.stop()
    again = start(own.data_dir)
    try:
        assert (own.data_dir / "admin.json").read_bytes() == before
        assert again.login(again.admin)
    finally:
        again.stop()


@pytest.mark.every_database
def test_without_bootstrap_nobody_is_made(start: Starter, data_dir: Path) -> None:
    running = start(data_dir, "--bootstrap", "none")
    running.stop()
    assert not (data_dir / "admin.json").exists()


def test_a_second_process_on_the_same_directory_refuses(start: Starter, own: Running) -> None:
    assert "in use by another keybearer serve" in refusal(start, own.data_dir)
    assert own.client().get("/api/status").status_code == 200


def test_sigterm_ends_it_cleanly(program: Running) -> None:
    assert program.client().get("/api/status").status_code == 200
    assert program.stop() == 0


@pytest.mark.parametrize("mode", [0o640, 0o604], ids=["group", "others"])
def test_a_root_key_that_others_can_read_is_refused(start: Starter, own: Running, mode: int) -> None:
    own.stop()
    (own.data_dir / "root.key").chmod(mode)
    assert "run chmod 600" in refusal(start, own.data_dir)


def test_a_lost_root_key_is_not_silently_replaced(start: Starter, own: Running) -> None:
    own.stop()
    (own.data_dir / "root.key").unlink()
    assert "put back the one this database was sealed with" in refusal(start, own.data_dir)
    assert not (own.data_dir / "root.key").exists()


def test_another_root_key_is_refused(start: Starter, own: Running) -> None:
    own.stop()
    other = base64.b64encode(b"x" * 32).decode()
    assert "was not given" in refusal(start, own.data_dir, environment={"KEYBEARER_ROOT_KEY": other})


@pytest.mark.every_database
def test_a_root_key_file_that_is_named_must_be_there(data_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "mounted.key"
    assert "is missing" in refusal(start_service, data_dir, "--root-key-file", str(path))
    assert not path.exists()


@pytest.mark.every_database
def test_the_root_key_may_come_from_the_environment(start: Starter, data_dir: Path) -> None:
    key = {"KEYBEARER_ROOT_KEY": base64.b64encode(os.urandom(32)).decode()}
    running = start(data_dir, environment=key)
    project = running.create_project()
    running.create_secret(project, "A", "cnry-a")
    running.kill()
    assert not (data_dir / "root.key").exists()
    again = start(data_dir, environment=key)
    assert values(again, project.id) == {"A": "cnry-a"}
    again.stop()


@pytest.mark.every_database
def test_a_root_key_is_rotated_by_putting_the_new_one_first(start: Starter, own: Running) -> None:
    project = own.create_project()
    own.create_secret(project, "A", "cnry-a")
    own.stop()
    path = own.data_dir / "root.key"
    fresh = base64.b64encode(os.urandom(32)).decode()
    path.write_text(f"{fresh}\n{path.read_text()}")
    between = start(own.data_dir)
    assert values(between, project.id) == {"A": "cnry-a"}
    between.stop()
    path.write_text(fresh)
    after = start(own.data_dir)
    assert values(after, project.id) == {"A": "cnry-a"}
    after.stop()


@pytest.mark.every_database
def test_no_file_ever_holds_a_value_in_clear(own: Running, own_database: OwnDatabase) -> None:
    project = own.create_project()
    admin = own.admin_client()
    body = {
        "projectId": project.id,
        "environment": "dev",
        "secretValue": "cnry-at-rest-value",
        "secretComment": "cnry-at-rest-comment",
        "secretReminderNote": "cnry-at-rest-note",
        "secretMetadata": [{"key": "k", "value": "cnry-at-rest-metadata"}],
    }
    admin.json("POST", "/api/v4/secrets/A", json=body)
    admin.json("PATCH", "/api/v4/secrets/A", json={**body, "secretValue": "cnry-at-rest-second"})
    path = f"/api/v1/auth/universal-auth/identities/{own.admin.identity_id}/client-secrets"
    client_secret = admin.json("POST", path, json={})["clientSecret"]
    token = admin.headers["authorization"].removeprefix("Bearer ")
    stored = own_database.files(own.data_dir)
    assert any(project.slug.encode() in file.read_bytes() for file in stored)
    files = {file for file in own.data_dir.iterdir() if file.name != "admin.json"}
    for file in [*files, *stored, own.log]:
        content = file.read_bytes()
        for value in (b"cnry-", client_secret.encode(), token.encode(), token.split(".")[2].encode()):
            assert value not in content, file.name


@pytest.mark.every_database
def test_a_key_moved_to_another_row_does_not_open(
    start: Starter, own: Running, own_database: OwnDatabase
) -> None:
    project = own.create_project()
    own.create_secret(project, "A", "cnry-a")
    own.create_secret(project, "B", "cnry-b")
    own.stop()
    moved = "UPDATE secrets SET value = (SELECT value FROM secrets WHERE key = 'A') WHERE key = 'B'"
    own_database.execute(own.data_dir, moved)
    again = start(own.data_dir)
    params = {"projectId": project.id, "environment": "dev"}
    answer = again.admin_client().json("GET", "/api/v4/secrets", status=400, params=params)
    assert answer["error"] == "CryptographyError"
    assert "can't be opened" in answer["message"]
    again.stop()
    log = again.log.read_text()
    assert answer["reqId"] in log
    assert "UnsealError" in log


@pytest.mark.every_database
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        pytest.param(["--listen", "nonsense"], "is no HOST:PORT", id="no port"),
        pytest.param(["--listen", "127.0.0.1:99999"], "is no HOST:PORT", id="no such port"),
        pytest.param(["--listen", "192.0.2.1:0"], "can't listen on 192.0.2.1:0", id="not our address"),
        pytest.param(["--tls-cert", "c.pem"], "go together", id="half a certificate"),
        pytest.param(["--tls-cert", "no.pem", "--tls-key", "no.key"], "can't be used", id="no certificate"),
        pytest.param(
            ["--database-url", "mysql://u:cnry-p@h/d"], "must begin with postgresql", id="no PostgreSQL"
        ),
        pytest.param(["--log-level", "loud"], "log level", id="no log level"),
    ],
)
def test_a_flag_that_cannot_be_used_is_told(data_dir: Path, flags: list[str], told: str) -> None:
    text = refusal(start_service, data_dir, *flags)
    assert told in text
    assert "cnry" not in text


@pytest.mark.every_database
def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        assert "choose another --listen" in refusal(start_service, tmp_path / "other", "--listen", listen)


def serial_served(url: str) -> int:
    from cryptography import x509  # noqa: PLC0415 - used here alone

    host, _, port = url.removeprefix("https://").rpartition(":")
    return x509.load_pem_x509_certificate(
        ssl.get_server_certificate((host, int(port))).encode()
    ).serial_number


@pytest.mark.every_database
def test_tls_is_served_and_a_changed_certificate_is_taken_up(tmp_path: Path) -> None:
    chain, key = certificate(tmp_path, serial=1001)
    flags = ("--tls-cert", str(chain), "--tls-key", str(key))
    running = start_service(tmp_path / "data", *flags, scheme="https")
    try:
        trusted = ssl.create_default_context(cafile=chain)
        assert httpx.get(f"{running.url}/api/status", verify=trusted, timeout=PATIENCE_SECONDS).json() == {
            "message": "Ok"
        }
        assert serial_served(running.url) == 1001
        chain.write_text("half a file")
        eventually(
            lambda: "kept_former_certificate" in running.log.read_text(), awaited="word of the bad file"
        )
        assert serial_served(running.url) == 1001
        certificate(tmp_path, serial=2002)
        eventually(lambda: serial_served(running.url) == 2002, awaited="the new certificate")
    finally:
        running.stop()


@pytest.mark.every_database
def test_the_operators_libraries_are_not_loaded_by_the_service() -> None:
    code = (
        "import sys, typer.main, keybearer.server.run, keybearer.cli.serve\n"
        "from keybearer.cli.main import app\n"
        "assert [*typer.main.get_group(app).commands.values()]\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'kopf', 'kubernetes', 'httpx', 'aiohttp'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.every_database
def test_the_services_libraries_are_not_loaded_by_the_command_line() -> None:
    code = (
        "import sys, typer.main\n"
        "from keybearer.cli.main import app\n"
        "assert [*typer.main.get_group(app).commands.values()]\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & {'fastapi', 'sqlalchemy', 'uvicorn'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.every_database
def test_whatever_was_answered_before_kill_9_in_the_midst_of_writes_is_there(
    start: Starter, own: Running
) -> None:
    project = own.create_project()
    token = own.login(own.admin)
    answered: list[str] = []
    enough = threading.Event()

    def write(worker: int) -> None:
        headers = {"authorization": f"Bearer {token}"}
        with plain_client(own.url, headers) as client:
            for number in range(1000):
                key = f"W{worker}_{number}"
                body = {"projectId": project.id, "environment": "dev", "secretValue": f"cnry-{key}"}
                try:
                    client.post(f"/api/v4/secrets/{key}", json=body).raise_for_status()
                except httpx.TransportError:
                    return
                answered.append(key)
                if len(answered) >= 40:
                    enough.set()

    workers = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for worker in workers:
        worker.start()
    assert enough.wait(PATIENCE_SECONDS)
    own.kill()
    for worker in workers:
        worker.join()
    again = start(own.data_dir)
    try:
        kept = values(again, project.id)
        assert {key: kept.get(key) for key in answered} == {key: f"cnry-{key}" for key in answered}
    finally:
        again.stop()


def test_a_request_in_flight_is_answered_before_the_end(own: Running) -> None:
    body = json.dumps({"clientId": own.admin.client_id, "clientSecret": own.admin.client_secret}).encode()
    host, _, port = own.url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        head = (
            "POST /api/v1/auth/universal-auth/login HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
            f"content-length: {len(body)}\r\n\r\n"
        )
        connection.sendall(head.encode() + body[:10])
        # Two answers on a second connection: the loop has read the first half by then.
        for _ in range(2):
            assert own.client().get("/api/status").status_code == 200
        own.process.terminate()
        eventually(lambda: not accepts(host, int(port)), awaited="the end of listening")
        connection.sendall(body[10:])
        answer = connection.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 200")
    assert own.process.wait(PATIENCE_SECONDS) == 0


def accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port)).close()
    except OSError:
        return False
    return True
