"""How `keybearer serve` comes to its PostgreSQL: by the URL it is given, with TLS, and without showing a password."""

from __future__ import annotations

import datetime as dt
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from support.databases import OwnDatabase
from support.postgres_tls import tls_in_front_of
from support.service_fixtures import ProjectSecrets, ServiceProcess, start_service
from tools.local.postgres import PostgresServer
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

PASSWORD = "cnry-password"
NAMED = "database.example"


@pytest.fixture
def own(postgres: PostgresServer) -> Iterator[OwnDatabase]:
    """Yield an empty database that belongs to a user who is asked for a password."""
    name = postgres.create(empty=True)
    postgres.execute("postgres", f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    postgres.execute("postgres", f"ALTER DATABASE {name} OWNER TO {name}")
    yield OwnDatabase(postgres, name)
    postgres.drop(name)
    postgres.execute("postgres", f"DROP ROLE {name}")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a self-signed certificate for a name that nobody here has, and its key."""
    directory = tmp_path_factory.mktemp("certificate")
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAMED)])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - dt.timedelta(minutes=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(NAMED)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain_file, key_file = directory / "tls.crt", directory / "tls.key"
    chain_file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    return chain_file, key_file


def url_of(own: OwnDatabase, *, password: str = PASSWORD, name: str | None = None) -> str:
    assert own.server is not None
    return own.server.url(name or own.name, user=own.name, password=password)


def refusal(tmp_path: Path, *flags: str, url: str | None = None) -> str:
    with pytest.raises(RuntimeError, match="ended with 2") as refused:
        start_service(tmp_path / "data", *flags, database_url=url).kill()
    text = str(refused.value)
    assert "cnry" not in text
    assert "Traceback" not in text
    return text


def started(tmp_path: Path, *flags: str, url: str | None = None, anew: bool = False) -> ServiceProcess:
    running = start_service(tmp_path / "data", *flags, database_url=url, anew=anew)
    assert running.login(running.admin)
    return running


def test_a_url_with_a_password_comes_from_a_file_and_shows_nowhere(own: OwnDatabase, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text(url_of(own) + "\n")
    running = started(tmp_path, "--database-url-file", str(file), anew=True)
    process = Path(f"/proc/{running.process.pid}")
    assert PASSWORD not in (process / "cmdline").read_text()
    assert PASSWORD not in (process / "environ").read_text()
    assert running.stop() == 0
    assert PASSWORD not in running.log.read_text()


def test_a_password_among_the_arguments_is_refused(own: OwnDatabase, tmp_path: Path) -> None:
    assert "--database-url holds a password" in refusal(tmp_path, "--database-url", url_of(own))


def test_a_password_may_come_from_where_libpq_finds_it(own: OwnDatabase, tmp_path: Path) -> None:
    assert own.server is not None
    url = own.server.url(own.name, user=own.name)
    running = start_service(tmp_path / "data", "--database-url", url, environment={"PGPASSWORD": PASSWORD})
    assert running.stop() == 0


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param({"password": "cnry-wrong"}, "the user or its password is refused", id="wrong password"),
        pytest.param({"name": "cnry_nowhere"}, "there is no such database", id="no such database"),
    ],
)
def test_what_the_server_refuses_is_told(
    own: OwnDatabase, tmp_path: Path, change: dict[str, str], told: str
) -> None:
    url = url_of(own, **change)
    with pytest.raises(RuntimeError, match="ended with 2") as refused:
        start_service(tmp_path / "data", database_url=url).kill()
    assert told in str(refused.value)
    assert "cnry-" not in str(refused.value)


def test_a_server_that_is_not_there_is_told_with_its_place(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        text = refusal(tmp_path, url=f"postgresql://u:{PASSWORD}@127.0.0.1:{port}/secrets")
    assert f"the database at 127.0.0.1:{port}/secrets can't be opened" in text
    assert "refused" in text


@pytest.mark.parametrize("option", ["sslmode=cnry-sometimes", "sslrootcert=/no/where&sslmode=verify-full"])
def test_an_option_that_cannot_be_used_is_told(tmp_path: Path, option: str) -> None:
    url = f"postgresql://u:{PASSWORD}@127.0.0.1:1/secrets?{option}"
    assert "sslrootcert" in refusal(tmp_path, url=url)


def test_tls_is_verified_as_far_as_the_url_asks(
    own: OwnDatabase, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    assert own.server is not None
    chain, key = certificate
    with tls_in_front_of(own.server, chain, key) as port:
        place = f"postgresql://{own.name}:{PASSWORD}@127.0.0.1:{port}/{own.name}"
        text = refusal(tmp_path, url=f"{place}?sslmode=verify-full&sslrootcert={chain}")
        assert "TLS fails" in text
        assert "127.0.0.1" in text
        # The same without the name: the chain is good, and the handshake carries everything.
        running = started(tmp_path, url=f"{place}?sslmode=verify-ca&sslrootcert={chain}")
        assert running.stop() == 0


def test_tls_is_verified_as_the_environment_asks_unless_the_url_says_otherwise(
    own: OwnDatabase, certificate: tuple[Path, Path], tmp_path: Path
) -> None:
    assert own.server is not None
    chain, key = certificate
    environment = {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": str(chain)}
    with tls_in_front_of(own.server, chain, key) as port:
        place = f"postgresql://{own.name}:{PASSWORD}@127.0.0.1:{port}/{own.name}"
        with pytest.raises(RuntimeError, match="TLS fails"):
            start_service(tmp_path / "data", database_url=place, environment=environment).kill()
        url = f"{place}?sslmode=verify-ca"
        running = start_service(tmp_path / "data", database_url=url, environment=environment)
        assert running.stop() == 0


def test_a_server_without_tls_is_refused_where_tls_is_asked_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def decline() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(8)
                connection.sendall(b"N")
                connection.recv(1)

        thread = threading.Thread(target=decline)
        thread.start()
        text = refusal(tmp_path, url=f"postgresql://u:{PASSWORD}@127.0.0.1:{port}/d?sslmode=require")
        thread.join()
    assert "can't be opened" in text


def test_requests_are_answered_503_while_the_database_is_away_and_served_when_it_is_back(
    own: OwnDatabase, tmp_path: Path
) -> None:
    assert own.server is not None
    running = started(tmp_path, url=url_of(own))
    admin = running.admin_client()
    project = running.create_project()
    params = {"projectId": project.id, "environment": "dev"}
    own.server.execute("postgres", f"ALTER DATABASE {own.name} CONNECTION LIMIT 0")
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    own.server.execute("postgres", f"{ended} AND datname = '{own.name}'")

    def refused() -> httpx.Response | None:
        answer = admin.get("/api/v4/secrets", params=params)
        return answer if answer.status_code == 503 else None

    answer = eventually(refused, awaited="a refusal")
    assert answer.json()["error"] == "ServiceUnavailable"
    assert set(answer.json()) == {"reqId", "statusCode", "message", "error"}
    own.server.execute("postgres", f"ALTER DATABASE {own.name} CONNECTION LIMIT -1")
    eventually(lambda: admin.get("/api/v4/secrets", params=params).status_code == 200, awaited="an answer")
    assert running.stop() == 0
    assert "request_failed" not in running.log.read_text()


def test_a_write_that_waits_for_a_lock_in_vain_is_answered_503_and_changes_nothing(
    own: OwnDatabase, tmp_path: Path
) -> None:
    assert own.server is not None
    running = started(tmp_path, "--database-statement-timeout", "2", url=url_of(own))
    project = running.create_project()
    running.create_secret(project, "A", "cnry-a")
    locked = "SELECT pg_sleep(86400) FROM (SELECT id FROM projects FOR UPDATE) AS held"

    def hold() -> None:
        with pytest.raises(RuntimeError):  # its connection is ended
            own.execute(tmp_path, locked)

    holder = threading.Thread(target=hold)
    holder.start()
    sleeping = f"FROM pg_stat_activity WHERE datname = '{own.name}' AND wait_event = 'PgSleep'"
    server = own.server
    eventually(
        lambda: server.execute("postgres", f"SELECT count(*) {sleeping}").strip() == "1",
        awaited="the lock",
    )
    body = {"projectId": project.id, "environment": "dev", "secretValue": "cnry-b"}
    answer = running.admin_client().patch("/api/v4/secrets/A", json=body)
    assert (answer.status_code, answer.json()["error"]) == (503, "ServiceUnavailable")
    # Readers wait for no writer.
    assert ProjectSecrets(running.admin_client(), project).values() == {"A": "cnry-a"}
    server.execute("postgres", f"SELECT pg_terminate_backend(pid) {sleeping}")
    holder.join()
    running.admin_client().json("PATCH", "/api/v4/secrets/A", json=body)
    assert ProjectSecrets(running.admin_client(), project).get("A")["version"] == 2
    assert running.stop() == 0
