"""What a database keeps of connections: sealed credentials, so many of them, and each name once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from contract.service.app_connections.provider_connections import IDP, Connections
from keybearer.wire.limits import APP_CONNECTIONS_MAX
from support.databases import OwnDatabase
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import ServiceProcess, Starter
from tools.local.plain_http import plain_client

pytestmark = pytest.mark.every_database

SEALED_WITH = "SELECT DISTINCT hex(substr(credentials, 2, 20)) FROM app_connections"
SEALED_WITH_POSTGRES = "SELECT DISTINCT encode(substr(credentials, 2, 20), 'hex') FROM app_connections"
# Copies of the first, made by the database: a thousand requests would tell nothing more.
COPIED = """WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
    INSERT INTO app_connections (id, name, organization_id, app, method, credentials, credentials_hash, shown,
    version, is_auto_rotation_enabled, created_at, updated_at) SELECT {uuid}, name || i, organization_id, app, method,
    credentials, credentials_hash, shown, version, is_auto_rotation_enabled, created_at, updated_at
    FROM app_connections, n"""
UUIDS = {
    "sqlite": "substr('00000000-0000-4000-8000-000000000000', 1, 36 - length(i)) || i",
    "postgresql": "gen_random_uuid()::text",
}


class TestOwnService:
    """What needs a database that no other test has."""

    @pytest.fixture
    def own(
        self, start: Starter, provider: tuple[IdentityProviderCopy, Path], tmp_path: Path
    ) -> Iterator[ServiceProcess]:
        running = start(
            tmp_path / "data", "--allow-outbound", "127.0.0.0/8", "--outbound-ca", str(provider[1])
        )
        yield running
        running.kill()

    def test_credentials_are_sealed_anew_while_connections_are_changed(
        self, own: ServiceProcess, own_database: OwnDatabase, idp: IdentityProviderCopy
    ) -> None:
        connections = Connections(own.admin_client(), idp)
        made = [connections.make() for _ in range(30)]
        before = self._keys(own_database, own.data_dir)
        keys = "/api/v1/admin/keys"
        connections.client.json("POST", f"{keys}/rotate-data", json={})
        number = 0
        while connections.client.json("GET", keys)["credentialRotation"] is not None:
            path = f"{IDP}/{made[number % len(made)]['id']}"
            connections.client.json("PATCH", path, json={"description": f"d{number}"})
            number += 1
        after = self._keys(own_database, own.data_dir)
        assert len(before) == len(after) == 1
        assert before != after
        hashes = {one["id"]: one["credentialsHash"] for one in made}
        listed = connections.client.json("GET", IDP)["appConnections"]
        assert {one["id"]: one["credentialsHash"] for one in listed} == hashes, "nobody changed any"
        count = "SELECT count(*) FROM server_keys WHERE name LIKE 'auth methods%'"
        assert own_database.execute(own.data_dir, count).strip() == "1"

    def _keys(self, database: OwnDatabase, data_dir: Path) -> set[str]:
        # The name of the key in an envelope, as `sealing.envelope` lays it out.
        statement = SEALED_WITH if database.server is None else SEALED_WITH_POSTGRES
        return set(database.execute(data_dir, statement).lower().split())

    def test_no_credential_lies_in_the_database(
        self, own: ServiceProcess, own_database: OwnDatabase, idp: IdentityProviderCopy
    ) -> None:
        Connections(own.admin_client(), idp).make()
        own.stop()
        for file in own_database.files(own.data_dir):
            assert b"cnry-client-secret" not in file.read_bytes()

    def test_there_are_only_so_many(
        self, own: ServiceProcess, own_database: OwnDatabase, idp: IdentityProviderCopy
    ) -> None:
        connections = Connections(own.admin_client(), idp)
        connections.make()
        kind = "sqlite" if own_database.server is None else "postgresql"
        copied = COPIED.format(count=APP_CONNECTIONS_MAX - 1, uuid=UUIDS[kind])
        own_database.execute(own.data_dir, copied)
        connections.make()
        told = f"An organization has at most {APP_CONNECTIONS_MAX} app connections"
        assert connections.make(status=400)["message"] == told
        assert len(connections.client.json("GET", IDP)["appConnections"]) == APP_CONNECTIONS_MAX
        project = own.create_project()
        connections.make(projectId=project.id)

    def test_of_two_that_take_a_name_at_the_same_moment_one_is_told_so(
        self, own: ServiceProcess, idp: IdentityProviderCopy
    ) -> None:
        connections = Connections(own.admin_client(), idp)
        tokens = [own.login(own.admin) for _ in range(8)]

        def make(token: str) -> tuple[int, object]:
            with plain_client(own.url) as client:
                headers = {"authorization": f"Bearer {token}"}
                answer = client.post(IDP, headers=headers, json=connections.body(name="same"))
                return answer.status_code, answer.json().get("message")

        with ThreadPoolExecutor(len(tokens)) as pool:
            answers = list(pool.map(make, tokens))
        assert sorted(status for status, _ in answers) == [200, *[400] * 7]
        assert {message for status, message in answers if status == 400} == {
            'An App Connection with the name "same" already exists'
        }
        assert len(idp.visits.asked) <= len(tokens), "nobody asks the remote twice"
