"""Keys are rotated while the service is at work, and a crash in the middle loses nothing."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from keybearer.store.sealing.envelope import key_id_of
from keybearer.store.sealing.root_key import parse_root_keys
from support.databases import OwnDatabase
from support.service_fixtures import Project, ProjectSecrets, ServiceProcess, Starter, start_service
from tools.local.plain_http import plain_client
from tools.local.postgres import PostgresServer
from tools.local.waiting import PATIENCE_SECONDS, eventually

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

SECRETS = 250
CREDENTIALS = 120
"""More than are sealed in one transaction."""
ROUTE = "/api/v1/admin/keys"
# The name of the key in an envelope, as `sealing.envelope` lays it out.
SEALED_WITH = "SELECT DISTINCT hex(substr({column}, 2, 20)) FROM {table}"
SEALED_WITH_POSTGRES = "SELECT DISTINCT encode(substr({column}, 2, 20), 'hex') FROM {table}"


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def own(start: Starter, data_dir: Path) -> Iterator[ServiceProcess]:
    running = start(data_dir)
    yield running
    running.kill()


def fresh_key() -> str:
    return base64.b64encode(os.urandom(32)).decode()


def id_of(key: str) -> str:
    return str(key_id_of(parse_root_keys(key, "this test").first.name))


def put_in_front(path: Path, key: str) -> None:
    beside = path.with_name("beside")
    beside.touch(mode=0o600)
    beside.write_text(f"{key}\n{path.read_text()}")
    beside.replace(path)


def status(running: ServiceProcess) -> dict[str, Any]:
    return running.admin_client().json("GET", ROUTE)


def states(running: ServiceProcess) -> dict[str, str]:
    return {root["id"]: root["state"] for root in status(running)["rootKeys"]}


def is_done(running: ServiceProcess) -> bool:
    found = status(running)
    return not found["rotations"] and found["credentialRotation"] is None


def filled(running: ServiceProcess) -> ProjectSecrets:
    """Return a project with many secrets, each of them with two versions and a comment."""
    secrets = ProjectSecrets(running.admin_client(), running.create_project())
    for method, value in (("POST", "first"), ("PATCH", "second")):
        for first in range(0, SECRETS, 50):
            items = [
                {
                    "secretKey": f"K{number}",
                    "secretValue": f"cnry-{value}-{number}",
                    "secretComment": "cnry-c",
                }
                for number in range(first, first + 50)
            ]
            body = {**secrets.at(), "secrets": items}
            secrets.client.json(method, "/api/v4/secrets/batch", json=body)
    return secrets


def assert_everything_is_there(running: ServiceProcess, project: Project) -> None:
    secrets = ProjectSecrets(running.admin_client(), project)
    values = secrets.values()
    assert {key: values[key] for key in values if key.startswith("K")} == {
        f"K{number}": f"cnry-second-{number}" for number in range(SECRETS)
    }
    assert secrets.get("K0", version="1")["secretValue"] == "cnry-first-0"
    assert secrets.get("K0")["secretComment"] == "cnry-c"


def with_auth_methods(running: ServiceProcess) -> list[str]:
    """Return the paths of auth methods that keep a credential, of either kind."""
    admin = running.admin_client()
    ldap = {
        "url": "ldaps://l.example.com",
        "bindDN": "cn=r",
        "bindPass": "cnry-bind",
        "searchBase": "dc=example",
    }
    kubernetes = {"kubernetesHost": "https://api.example.com", "tokenReviewerJwt": "cnry-reviewer"}
    bodies = {"ldap-auth": ldap, "kubernetes-auth": kubernetes}
    paths = []
    for number in range(CREDENTIALS // 2):
        new = {"name": f"i{number}", "organizationId": running.organization_id}
        identity = admin.json("POST", "/api/v1/identities", json=new)["identity"]["id"]
        for kind, body in bodies.items():
            paths.append(f"/api/v1/auth/{kind}/identities/{identity}")
            admin.json("POST", paths[-1], json=body)
    return paths


def assert_all_open(running: ServiceProcess, paths: list[str]) -> None:
    """Each is opened when it is read, though its credential isn't told."""
    admin = running.admin_client()
    for path in paths:
        assert "cnry" not in json.dumps(admin.json("GET", path))


def credential_keys(database: OwnDatabase, data_dir: Path) -> set[str]:
    """Return what credentials are sealed with."""
    return names_of_keys(
        database, data_dir, ("ldap_auths", "bind_password"), ("kubernetes_auths", "reviewer_token")
    )


def sealing_keys(database: OwnDatabase, data_dir: Path) -> set[str]:
    """Return what values are sealed with."""
    return names_of_keys(database, data_dir, ("secrets", "value"), ("secret_versions", "value"))


def names_of_keys(database: OwnDatabase, data_dir: Path, *places: tuple[str, str]) -> set[str]:
    statement = SEALED_WITH if database.server is None else SEALED_WITH_POSTGRES
    answers = [
        database.execute(data_dir, statement.format(table=table, column=column)) for table, column in places
    ]
    return {line.lower() for answer in answers for line in answer.split()}


@contextmanager
def working(running: ServiceProcess, project: Project) -> Iterator[list[str]]:
    """Read and write within; yields the keys whose write was answered. Whatever is refused fails the test."""
    token = running.login(running.admin)
    written: list[str] = []
    refused: list[str] = []
    ended = threading.Event()

    def work() -> None:
        headers = {"authorization": f"Bearer {token}"}
        with plain_client(running.url, headers) as client:
            while not ended.is_set():
                key = f"W{len(written)}"
                body = {"projectId": project.id, "environment": "dev", "secretValue": f"cnry-{key}"}
                answers = [
                    client.post(f"/api/v4/secrets/{key}", json=body),
                    client.get("/api/v4/secrets/K1", params={"projectId": project.id, "environment": "dev"}),
                ]
                refused.extend(answer.text for answer in answers if answer.status_code != 200)
                written.append(key)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        eventually(lambda: len(written) > 1, awaited="the first writes")
        yield written
        more = len(written) + 2
        eventually(lambda: len(written) > more, awaited="writes after it")
    finally:
        ended.set()
        thread.join()
    assert refused == []


def test_a_data_key_is_rotated_while_others_read_and_write(
    own: ServiceProcess, own_database: OwnDatabase
) -> None:
    secrets = filled(own)
    before = sealing_keys(own_database, own.data_dir)
    with working(own, secrets.project) as written:
        body = {"projectId": secrets.project.id}
        begun = own.admin_client().json("POST", f"{ROUTE}/rotate-data", json=body)
        assert begun == {"projectIds": [secrets.project.id]}
        eventually(lambda: is_done(own), awaited="the end of the rotation")
    after = sealing_keys(own_database, own.data_dir)
    assert len(before) == len(after) == 1
    assert before != after
    assert status(own)["dataKeys"] == 1
    assert_everything_is_there(own, secrets.project)
    values = ProjectSecrets(own.admin_client(), secrets.project).values()
    assert {key: values[key] for key in written} == {key: f"cnry-{key}" for key in written}


def test_a_rotation_of_data_keys_that_is_killed_goes_on_after_the_next_start(
    start: Starter, own: ServiceProcess, own_database: OwnDatabase
) -> None:
    secrets = filled(own)
    before = sealing_keys(own_database, own.data_dir)
    own.admin_client().json("POST", f"{ROUTE}/rotate-data", json={})
    own.kill()
    again = start(own.data_dir)
    try:
        assert_everything_is_there(again, secrets.project)
        eventually(lambda: is_done(again), awaited="the end of the rotation")
        assert_everything_is_there(again, secrets.project)
        assert status(again)["dataKeys"] == 1
    finally:
        again.stop()
    assert not before & sealing_keys(own_database, own.data_dir)


def test_the_key_of_auth_methods_is_rotated_with_those_of_all_projects_while_they_are_changed(
    own: ServiceProcess, own_database: OwnDatabase
) -> None:
    paths = with_auth_methods(own)
    before = credential_keys(own_database, own.data_dir)
    admin = own.admin_client()
    admin.json("POST", f"{ROUTE}/rotate-data", json={})
    number = 0
    while not is_done(own):
        change = {"accessTokenTTL": 600 + number}
        admin.json("PATCH", paths[number % len(paths)], json=change)
        number += 1
    after = credential_keys(own_database, own.data_dir)
    assert len(before) == len(after) == 1
    assert before != after
    assert_all_open(own, paths)
    kept = own_database.execute(
        own.data_dir, "SELECT count(*) FROM server_keys WHERE name LIKE 'auth methods%'"
    )
    assert kept.strip() == "1"


def test_a_rotation_of_the_key_of_auth_methods_that_is_killed_goes_on_after_the_next_start(
    start: Starter, own: ServiceProcess, own_database: OwnDatabase
) -> None:
    paths = with_auth_methods(own)
    before = credential_keys(own_database, own.data_dir)
    own.admin_client().json("POST", f"{ROUTE}/rotate-data", json={})
    own.kill()
    again = start(own.data_dir)
    try:
        assert_all_open(again, paths)
        eventually(lambda: is_done(again), awaited="the end of the rotation")
        assert_all_open(again, paths)
        again.admin_client().json("POST", f"{ROUTE}/rotate-data", json={})
        eventually(lambda: is_done(again), awaited="the end of the next one")
        assert_all_open(again, paths)
    finally:
        again.stop()
    assert not before & credential_keys(own_database, own.data_dir)


def test_a_root_key_is_rotated_while_others_read_and_write(
    start: Starter, own: ServiceProcess, own_database: OwnDatabase
) -> None:
    secrets = filled(own)
    path = own.data_dir / "root.key"
    former = id_of(path.read_text())
    with working(own, secrets.project):
        if own_database.server is None:
            made = own.admin_client().json("POST", f"{ROUTE}/rotate-root")["rootKeyId"]
        else:
            # Other processes, with files of their own, may serve the database: a person brings the key to each.
            fresh = fresh_key()
            put_in_front(path, fresh)
            made = id_of(fresh)
        eventually(
            lambda: states(own) == {made: "active", former: "retired"}, awaited="the end of the rotation"
        )
    assert path.stat().st_mode & 0o777 == 0o600
    lines = path.read_text().split()
    assert [id_of(line) for line in lines] == [made, former]
    assert own.stop() == 0
    path.write_text(lines[0])
    again = start(own.data_dir)
    try:
        assert_everything_is_there(again, secrets.project)
    finally:
        again.stop()


def test_a_rotation_of_the_root_key_that_is_killed_is_finished_by_the_next_start(
    start: Starter, own: ServiceProcess
) -> None:
    secrets = filled(own)
    path = own.data_dir / "root.key"
    former, fresh = path.read_text().strip(), fresh_key()
    put_in_front(path, fresh)
    answer = own.admin_client().post(f"{ROUTE}/rotate-root")
    # It may have seen the file by itself a moment before.
    assert answer.status_code in (200, 400)
    own.kill()
    again = start(own.data_dir)
    assert states(again) == {id_of(fresh): "active", id_of(former): "retired"}
    assert_everything_is_there(again, secrets.project)
    again.create_project(name="later")
    again.stop()
    path.write_text(fresh)
    last = start(own.data_dir)
    try:
        assert_everything_is_there(last, secrets.project)
    finally:
        last.stop()


def test_without_a_new_root_key_nothing_is_rotated(start: Starter, data_dir: Path) -> None:
    running = start(data_dir, environment={"KEYBEARER_ROOT_KEY": fresh_key()})
    try:
        answer = running.admin_client().json("POST", f"{ROUTE}/rotate-root", status=400)
        assert "There is no new root key" in answer["message"]
    finally:
        running.stop()


def test_who_is_no_admin_may_neither_see_nor_rotate_keys(own: ServiceProcess) -> None:
    project = own.create_project()
    identity = own.create_identity(organization_role="member", roles={project.id: "admin"})
    client = own.client(own.login(identity))
    assert client.get(ROUTE).status_code == 403
    assert client.post(f"{ROUTE}/rotate-root").status_code == 403
    assert client.post(f"{ROUTE}/rotate-data", json={"projectId": project.id}).status_code == 403
    assert own.client().get(ROUTE).status_code == 401


def test_no_process_wraps_with_a_retired_root_key_and_none_is_left_behind(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = postgres.url(postgres.create())

    def start(name: str, root_key_file: Path) -> ServiceProcess:
        return start_service(tmp_path / name, "--root-key-file", str(root_key_file), database_url=url)

    former, fresh = fresh_key(), fresh_key()
    files = [tmp_path / f"mounted-{number}.key" for number in range(2)]
    for file in files:
        file.touch(mode=0o600)
        file.write_text(former)
    first = start("one", files[0])
    second = start("two", files[1])
    try:
        secrets = filled(first)
        there = second.client(first.login(first.admin))
        put_in_front(files[0], fresh)
        refused = first.admin_client().json("POST", f"{ROUTE}/rotate-root", status=400)
        assert "1 of 2 processes" in refused["message"]
        assert states(first) == {id_of(former): "active"}
        # What the first one makes in between can be opened by the second, which has the former key alone.
        between = first.create_project(name="between")
        ProjectSecrets(there, between).create("A", "cnry-a")
        put_in_front(files[1], fresh)
        eventually(
            lambda: states(first) == {id_of(fresh): "active", id_of(former): "retired"},
            awaited="the rotation, by itself",
        )
        created = there.json("POST", "/api/v1/projects", json={"projectName": "after", "slug": "after-it"})
        after = Project(created["project"]["id"], "after-it")
        ProjectSecrets(first.admin_client(), after).create("A", "cnry-b")
        assert states(first)[id_of(former)] == "retired"
        assert {root["id"]: root["wraps"] for root in status(first)["rootKeys"]}[id_of(former)] == 0
    finally:
        first.stop()
        second.stop()
    files[0].write_text(fresh)
    last = start("one", files[0])
    try:
        assert_everything_is_there(last, secrets.project)
        for project, value in ((between, "cnry-a"), (after, "cnry-b")):
            assert ProjectSecrets(last.admin_client(), project).values() == {"A": value}
    finally:
        last.stop()


def test_the_command_line_rotates_keys_of_a_live_service_and_of_a_data_directory_alone(
    tmp_path: Path,
) -> None:
    running = start_service(tmp_path / "data")
    project = running.create_project()
    running.create_secret(project, "A", "cnry-a")
    environment = {
        "KEYBEARER_URL": running.url,
        "KEYBEARER_CLIENT_ID": running.admin.client_id,
        "KEYBEARER_CLIENT_SECRET": running.admin.client_secret,
        "PATH": os.defpath,
        "HOME": str(tmp_path),
    }

    def keybearer(*arguments: str) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).with_name("keybearer")
        return subprocess.run(
            [program, "keys", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    assert keybearer("rotate-root").returncode == 0
    assert keybearer("rotate-data", "--project", project.slug).returncode == 0
    found = json.loads(keybearer("status", "--output", "json").stdout)
    assert sorted(root["state"] for root in found["rootKeys"]) == ["active", "retired"]
    assert found["rotations"] == []
    refused = keybearer("rotate-root", "--data-dir", str(running.data_dir))
    assert refused.returncode == 2
    assert "in use by another keybearer serve" in refused.stderr
    running.stop()
    for arguments in (["rotate-root"], ["rotate-data"], ["status"]):
        done = keybearer(*arguments, "--data-dir", str(running.data_dir))
        assert (done.returncode, "cnry" in done.stdout + done.stderr) == (0, False), done.stderr
    again = start_service(running.data_dir)
    try:
        assert len(status(again)["rootKeys"]) == 3
        assert ProjectSecrets(again.admin_client(), project).values() == {"A": "cnry-a"}
    finally:
        again.stop()
