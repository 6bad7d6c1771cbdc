"""`keybearer whoami` against a real service."""

from __future__ import annotations

import secrets as random
from datetime import UTC, datetime
from pathlib import Path

from support.command_line import CommandLine
from support.service_fixtures import Credentials, Project, Service

PASSWORD = "cnry-correct horse"


def test_an_identity_sees_where_and_who_it_is_and_when_its_token_ends(
    service: Service, project: Project, who: Credentials, keybearer: CommandLine
) -> None:
    answer = keybearer("whoami", "-o", "json")
    assert answer.status == 0, answer.stderr
    told = answer.json
    name = service.admin_client().json("GET", f"/api/v1/identities/{who.identity_id}")["identity"]["name"]
    assert (told["url"], told["kind"], told["id"]) == (service.url, "machine identity", who.identity_id)
    assert (told["name"], told["organization_role"]) == (name, "no-access")
    assert told["projects"] == [{"slug": project.slug, "roles": ["admin"]}]
    assert datetime.fromisoformat(told["expires_at"]) > datetime.now(UTC)
    table = keybearer("whoami")
    assert (table.status, name in table.stdout, "token ends" in table.stdout) == (0, True, True)


def test_a_person_sees_the_email_and_the_roles(service: Service, project: Project, tmp_path: Path) -> None:
    email = f"ada-{random.token_hex(4)}@example.com"
    admin = service.admin_client()
    admin.json("POST", "/api/v1/users", json={"email": email, "password": PASSWORD})
    body = {"emails": [email], "roleSlugs": ["member"]}
    admin.json("POST", f"/api/v1/projects/{project.id}/memberships", json=body)
    ada = CommandLine(tmp_path, {"KEYBEARER_URL": service.url})
    assert ada("login", "--email", email, "--password-file", "-", stdin=PASSWORD).status == 0
    told = ada("whoami", "-o", "json").json
    assert (told["kind"], told["name"]) == ("user", email)
    assert told["projects"] == [{"slug": project.slug, "roles": ["member"]}]
    assert told["organization"]
    assert ada("logout").status == 0
    nobody = ada("whoami")
    assert (nobody.status, "keybearer login" in nobody.stderr) == (3, True)


def test_an_ended_token_is_no_login(service: Service, tmp_path: Path, who: Credentials) -> None:
    line = CommandLine(tmp_path, {"KEYBEARER_URL": service.url})
    token = service.login(who)
    service.client().json("POST", "/api/v1/auth/token/revoke", json={"accessToken": token})
    ended = line("whoami", KEYBEARER_TOKEN=token)
    assert (ended.status, ended.stdout) == (3, "")
    assert token not in ended.stderr
