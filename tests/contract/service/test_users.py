from __future__ import annotations

import base64
import json
import secrets
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from keybearer.wire.auth import SelectedOrganization, UserToken
from keybearer.wire.users import (
    OrganizationAnswer,
    OrganizationList,
    UserAnswer,
    UserList,
)
from support.rows import each_row
from support.service_fixtures import Client, Person, Project, Service, Strict

pytestmark = pytest.mark.every_database

UNKNOWN = "00000000-0000-4000-8000-000000000000"
PASSWORD = "cnry-correct horse"
LOGIN = "/api/v3/auth/login"


@pytest.fixture
def person(service: Service) -> Person:
    return service.create_user()


@pytest.fixture
def client(service: Service, person: Person) -> Client:
    return service.client(service.login_user(person))


def refused(service: Service, email: str, password: str = "cnry-wrong") -> dict[str, Any]:
    body = {"email": email, "password": password}
    return service.client().json("POST", LOGIN, status=401, json=body)


def test_a_user_logs_in_and_selects_the_organization(
    service: Service, person: Person, strict: Strict
) -> None:
    body = {"email": f" {person.email.upper()} ", "password": person.password}
    token = strict(UserToken, service.client().json("POST", f"{LOGIN}/", json=body)).access_token
    chosen = {"organizationId": service.organization_id}
    answer = service.client(token).json("POST", "/api/v3/auth/select-organization", json=chosen)
    client = service.client(strict(SelectedOrganization, answer).token)
    me = strict(UserAnswer, client.json("GET", "/api/v1/user")).user
    assert (me.id, me.email, me.username, me.role) == (
        person.user_id,
        person.email,
        person.email,
        "no-access",
    )
    assert client.json("GET", "/api/v2/users/me") == client.json("GET", "/api/v1/user")
    assert client.post("/api/v1/auth/checkAuth").status_code == 200
    listed = strict(OrganizationList, client.json("GET", "/api/v1/organization"))
    assert [item.id for item in listed.organizations] == [service.organization_id]
    one = client.json("GET", f"/api/v1/organization/{service.organization_id}")
    assert strict(OrganizationAnswer, one).organization == listed.organizations[0]


def test_selecting_the_organization_prolongs_no_session(service: Service, person: Person) -> None:
    body = {"email": person.email, "password": person.password}
    token = service.client().json("POST", LOGIN, json=body)["accessToken"]
    chosen = {"organizationId": service.organization_id}
    selected = service.client(token).json("POST", "/api/v3/auth/select-organization", json=chosen)["token"]
    assert claims_of(selected)["exp"] <= claims_of(token)["exp"]


def claims_of(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=="))
    return claims


def test_another_organization_is_not_found(client: Client) -> None:
    client.json("POST", "/api/v3/auth/select-organization", status=404, json={"organizationId": UNKNOWN})
    client.json("GET", f"/api/v1/organization/{UNKNOWN}", status=404)


def test_what_belongs_to_users_is_refused_to_machines(service: Service, admin: Client) -> None:
    chosen = {"organizationId": service.organization_id}
    changed = {"currentPassword": "cnry-x", "newPassword": PASSWORD}
    for method, path, body in (
        ("POST", "/api/v3/auth/select-organization", chosen),
        ("GET", "/api/v1/user", None),
        ("POST", "/api/v1/user/password", changed),
    ):
        assert admin.json(method, path, status=403, json=body)["error"] == "ForbiddenError"


def test_a_wrong_password_and_an_unknown_user_are_answered_alike(service: Service, person: Person) -> None:
    answers = [refused(service, person.email), refused(service, "nobody@example.com"), refused(service, "x")]
    told = {(answer["message"], answer["error"]) for answer in answers}
    assert told == {("Invalid credentials", "UnauthorizedError")}


def test_the_third_failure_locks_whether_the_user_exists_or_not(service: Service, person: Person) -> None:
    nobody = f"no-{person.email}"
    for email in (person.email, nobody):
        for _ in range(3):
            assert refused(service, email)["message"] == "Invalid credentials"
        assert "Too many failed logins" in refused(service, email, person.password)["message"]


def test_guesses_made_at_once_are_all_counted(service: Service, person: Person) -> None:
    client = service.client()
    tries = [{"email": person.email, "password": f"cnry-{number}"} for number in range(6)]
    with ThreadPoolExecutor(len(tries)) as threads:
        answers = list(threads.map(lambda body: client.post(LOGIN, json=body), tries))
    assert [answer.status_code for answer in answers] == [401] * 6
    told = Counter(answer.json()["message"] for answer in answers)
    assert told["Invalid credentials"] == 3
    assert "Too many failed logins" in refused(service, person.email, person.password)["message"]


def test_of_users_made_at_once_with_one_email_one_is(admin: Client) -> None:
    body = {"email": f"{secrets.token_hex(6)}@example.com", "password": PASSWORD}
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda _: admin.post("/api/v1/users", json=body).status_code, range(4)))
    assert sorted(made) == [200, 400, 400, 400]


def test_a_login_that_worked_starts_the_count_of_failures_anew(service: Service, person: Person) -> None:
    for _ in range(2):
        for _ in range(2):
            refused(service, person.email)
        assert service.login_user(person)


def test_a_new_password_ends_the_sessions_and_the_old_password(
    service: Service, person: Person, client: Client
) -> None:
    other = service.client(service.login_user(person))
    wrong = {"currentPassword": "cnry-wrong", "newPassword": PASSWORD}
    told = client.json("POST", "/api/v1/user/password", status=400, json=wrong)["message"]
    assert "not accepted: Invalid credentials" in told
    assert other.post("/api/v1/auth/checkAuth").status_code == 200
    body = {"currentPassword": person.password, "newPassword": PASSWORD}
    client.json("POST", "/api/v1/user/password", json=body)
    for ended in (client, other):
        assert ended.post("/api/v1/auth/checkAuth").status_code == 401
    refused(service, person.email, person.password)
    assert service.login_user(Person(person.user_id, person.email, PASSWORD))


def test_an_admin_makes_changes_and_removes_users(service: Service, admin: Client, strict: Strict) -> None:
    body = {"email": f"Ada-{secrets.token_hex(4)}@Example.com", "password": PASSWORD, "firstName": "Ada"}
    made = strict(UserAnswer, admin.json("POST", "/api/v1/users", json=body)).user
    assert (made.first_name, made.last_name, made.role) == ("Ada", None, "member")
    assert "already exists" in admin.json("POST", "/api/v1/users", status=400, json=body)["message"]
    path = f"/api/v1/users/{made.id}"
    assert strict(UserAnswer, admin.json("GET", path)).user == made
    listed = strict(UserList, admin.json("GET", "/api/v1/users"))
    assert made in listed.users
    assert listed.total_count == len(listed.users)
    session = service.client(service.login_user(Person(made.id, made.email, PASSWORD)))
    change = {"role": "no-access", "lastName": "Byron", "password": f"{PASSWORD} battery"}
    changed = strict(UserAnswer, admin.json("PATCH", path, json=change)).user
    assert (changed.first_name, changed.last_name, changed.role) == ("Ada", "Byron", "no-access")
    assert session.post("/api/v1/auth/checkAuth").status_code == 401
    person = Person(made.id, made.email, f"{PASSWORD} battery")
    session = service.client(service.login_user(person))
    strict(UserAnswer, admin.json("DELETE", path))
    assert session.post("/api/v1/auth/checkAuth").status_code == 401
    admin.json("GET", path, status=404)
    refused(service, person.email, person.password)


def test_a_changed_role_holds_for_the_sessions_there_are(
    admin: Client, person: Person, client: Client
) -> None:
    client.json("GET", "/api/v1/users", status=403)
    admin.json("PATCH", f"/api/v1/users/{person.user_id}", json={"role": "admin"})
    client.json("GET", "/api/v1/users")
    # The machine identity of the first start is an admin too: this one may go.
    assert client.json("DELETE", f"/api/v1/users/{person.user_id}")["user"]["role"] == "admin"


@pytest.mark.parametrize("role", ["member", "no-access"])
def test_only_an_admin_of_the_organization_handles_users(service: Service, role: str) -> None:
    person = service.create_user(organization_role=role)
    client = service.client(service.login_user(person))
    new = {"email": "x@example.com", "password": PASSWORD}
    own = f"/api/v1/users/{person.user_id}"
    for method, path, body in (
        ("GET", "/api/v1/users", None),
        ("POST", "/api/v1/users", new),
        ("GET", own, None),
        ("PATCH", own, {"role": "admin"}),
        ("DELETE", own, None),
    ):
        answer = client.json(method, path, status=403, json=body)
        assert answer["error"] == "PermissionDenied"


def test_users_and_machine_identities_are_not_mixed_up(
    service: Service, admin: Client, person: Person
) -> None:
    identity = service.create_identity()
    listed = [item["id"] for item in admin.json("GET", "/api/v1/identities")["identities"]]
    assert identity.identity_id in listed
    assert person.user_id not in listed
    admin.json("GET", f"/api/v1/identities/{person.user_id}", status=404)
    admin.json("DELETE", f"/api/v1/identities/{person.user_id}", status=404)
    admin.json("POST", f"/api/v1/auth/universal-auth/identities/{person.user_id}", status=404, json={})
    admin.json("GET", f"/api/v1/users/{identity.identity_id}", status=404)
    admin.json("DELETE", f"/api/v1/users/{identity.identity_id}", status=404)


@pytest.mark.parametrize(("length", "status"), [(11, 422), (12, 200), (256, 200), (257, 422)], ids=str)
def test_passwords_have_12_to_256_characters(admin: Client, person: Person, length: int, status: int) -> None:
    password = f"cnry-{'7Kd2Wq9Zx4' * 26}"[:length]
    body = {"password": password}
    answer = admin.json("PATCH", f"/api/v1/users/{person.user_id}", status=status, json=body)
    assert "cnry" not in str(answer)


@each_row(
    "change",
    [
        pytest.param({"email": "nobody"}, id="an email without @"),
        pytest.param({"email": "a b@example.com"}, id="an email with a blank"),
        pytest.param({"email": f"{'x' * 250}@example.com"}, id="a long email"),
        pytest.param({"role": "owner"}, id="an unknown role"),
        pytest.param({"firstName": "x" * 65}, id="a long first name"),
        pytest.param({"lastName": "x" * 65}, id="a long last name"),
    ],
)
def test_what_a_user_may_be_is_bounded(admin: Client, change: dict[str, Any]) -> None:
    body = {"email": "bounded@example.com", "password": PASSWORD, **change}
    admin.json("POST", "/api/v1/users", status=422, json=body)


def test_a_user_works_with_a_project_of_its_own(service: Service) -> None:
    person = service.create_user(organization_role="member")
    client = service.client(service.login_user(person))
    made = client.json("POST", "/api/v1/projects", json={"projectName": "own"})["project"]
    project = Project(made["id"], made["slug"])
    body = {"projectId": project.id, "environment": "dev", "secretValue": "cnry-1"}
    client.json("POST", "/api/v4/secrets/KEY", json=body)
    listed = client.json("GET", "/api/v4/secrets", params={"projectId": project.id, "environment": "dev"})
    assert [item["secretValue"] for item in listed["secrets"]] == ["cnry-1"]
