"""The setting up of an empty instance, by a process of the test's own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from keybearer.wire.users import BootstrappedInstance
from support.service_fixtures import Person, ServiceProcess, Starter, Strict, start_service
from tools.local.waiting import eventually

pytestmark = pytest.mark.every_database

PATH = "/api/v1/admin/bootstrap"
# As a published test suite sends it.
BODY = {"email": "test-admin@example.com", "password": "testpassword123", "organization": "test-org"}
Started = Callable[..., ServiceProcess]


@pytest.fixture
def started(start: Starter, tmp_path: Path) -> Iterator[Started]:
    running: list[ServiceProcess] = []

    def begin(*flags: str) -> ServiceProcess:
        running.append(start(tmp_path / "data", *flags))
        return running[-1]

    yield begin
    for one in running:
        one.kill()


def printed_token(running: ServiceProcess) -> str:
    def found() -> str | None:
        match = re.search(r'"Authorization: Bearer ([^"]+)"', running.log.read_text())
        return None if match is None else match.group(1)

    return eventually(found, awaited="the token on stderr")


def test_a_new_instance_is_set_up_with_the_printed_token_once(started: Started, strict: Strict) -> None:
    running = started("--bootstrap", "api")
    assert not (running.data_dir / "admin.json").exists()
    for client in (running.client(), running.client("another-token")):
        answer = client.json("POST", PATH, status=401, json={})
        assert "keybearer serve printed" in answer["message"]
    client = running.client(printed_token(running))
    client.json("POST", PATH, status=422, json={**BODY, "password": "short"})
    made = strict(BootstrappedInstance, client.json("POST", PATH, json=BODY))
    assert (made.organization.name, made.organization.slug) == ("test-org", "test-org")
    assert (made.user.email, made.user.role) == ("test-admin@example.com", "admin")
    assert client.json("POST", PATH, status=400, json=BODY)["message"] == "Instance has already been set up"
    identity = running.client(made.identity.credentials.token)
    assert identity.json("GET", "/api/v1/identities")["identities"][0]["id"] == made.identity.id
    assert identity.json("GET", "/api/v1/users")["users"][0]["id"] == made.user.id


def test_a_published_suite_that_sends_no_token_gets_what_it_needs(started: Started) -> None:
    """The order of calls of wire.md section 1.4."""
    running = started("--bootstrap", "api", "--no-bootstrap-token")
    anyone = running.client()
    made = anyone.json("POST", PATH, json=BODY)
    login = {"email": made["user"]["email"], "password": BODY["password"]}
    token = anyone.json("POST", "/api/v3/auth/login", json=login)["accessToken"]
    chosen = {"organizationId": made["organization"]["id"]}
    user = running.client(token).json("POST", "/api/v3/auth/select-organization", json=chosen)["token"]
    admin = running.client(made["identity"]["credentials"]["token"])
    new = {"projectName": "suite", "slug": "t-suite", "type": "secret-manager"}
    project = admin.json("POST", "/api/v1/projects", json=new)["project"]
    members = {"usernames": [made["user"]["email"]], "roleSlugs": ["admin"]}
    admin.json("POST", f"/api/v1/projects/{project['id']}/memberships", json=members)
    read = {"projectId": project["id"], "environment": "dev"}
    assert running.client(user).json("GET", "/api/v4/secrets", params=read)["secrets"] == []
    identity = admin.json("POST", "/api/v1/identities", json={"name": "one", **chosen, "role": "no-access"})[
        "identity"
    ]
    path = f"/api/v1/projects/{project['id']}/memberships/identities/{identity['id']}"
    admin.json("POST", path, json={"roles": [{"role": "viewer"}]})
    method = f"/api/v1/auth/universal-auth/identities/{identity['id']}"
    assert admin.json("POST", method, json={"accessTokenTTL": 3600})["identityUniversalAuth"]["clientId"]
    assert admin.json("POST", f"{method}/client-secrets", json={"ttl": 0})["clientSecret"]
    admin.json("DELETE", f"/api/v1/identities/{identity['id']}")
    admin.json("DELETE", f"/api/v1/projects/{project['id']}")


def test_of_many_who_set_up_at_once_one_does(started: Started) -> None:
    client = started("--bootstrap", "api", "--no-bootstrap-token").client()
    bodies = [
        {**BODY, "email": f"{number}@example.com", "organization": f"o-{number}"} for number in range(8)
    ]
    with ThreadPoolExecutor(len(bodies)) as threads:
        answers = list(threads.map(lambda body: client.post(PATH, json=body), bodies))
    assert sorted(answer.status_code for answer in answers) == [200, *[400] * 7]
    token = next(answer for answer in answers if answer.status_code == 200).json()["identity"]["credentials"]
    listed = client.json("GET", "/api/v1/users", headers={"authorization": f"Bearer {token['token']}"})
    assert listed["totalCount"] == 1


def test_admins_who_remove_each_other_at_once_leave_one(started: Started) -> None:
    running = started("--bootstrap", "api", "--no-bootstrap-token")
    made = running.client().json("POST", PATH, json=BODY)
    machine = running.client(made["identity"]["credentials"]["token"])
    person = Person(made["user"]["id"], made["user"]["email"], BODY["password"])
    user = running.client(running.login_user(person))
    attempts = [
        (machine, f"/api/v1/users/{made['user']['id']}"),
        (user, f"/api/v1/identities/{made['identity']['id']}"),
    ]
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda attempt: attempt[0].delete(attempt[1]).status_code, attempts))
    # Who came second was the last admin's, or was gone itself.
    assert sorted(answers) in ([200, 400], [200, 401])
    left = [client for client, status in zip((machine, user), answers, strict=True) if status == 200]
    assert left[0].json("GET", "/api/v1/users")


def test_an_instance_that_is_set_up_prints_no_token_and_stays_closed(started: Started) -> None:
    running = started("--bootstrap", "api", "--no-bootstrap-token")
    running.client().json("POST", PATH, json=BODY)
    running.stop()
    again = started("--bootstrap", "api")
    assert again.client().get("/api/status").status_code == 200
    assert "Authorization: Bearer" not in again.log.read_text()
    again.client().json("POST", PATH, status=401, json=BODY)


@pytest.mark.parametrize("mode", ["auto", "none"])
def test_without_being_asked_for_the_route_is_closed(started: Started, mode: str) -> None:
    answer = started("--bootstrap", mode).client("any").json("POST", PATH, status=403, json=BODY)
    assert "--bootstrap api" in answer["message"]


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        pytest.param(["--no-bootstrap-token"], "give both", id="no token without the route"),
        pytest.param(
            ["--bootstrap", "api", "--admin-dir", "/"], "remove one of the two", id="a chosen admin"
        ),
    ],
)
def test_flags_that_would_say_nothing_are_refused(flags: list[str], told: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=rf"(?s)ended with 2.*{told}"):
        start_service(tmp_path / "data", *flags).kill()


def test_what_an_instance_begins_with_is_bounded(started: Started) -> None:
    client = started("--bootstrap", "api", "--no-bootstrap-token").client()
    for change in ({"organization": "  "}, {"organization": "x" * 65}, {"email": "nobody"}):
        client.json("POST", PATH, status=422, json={**BODY, **change})
    client.json("POST", PATH, json={**BODY, "organization": "x" * 64})
