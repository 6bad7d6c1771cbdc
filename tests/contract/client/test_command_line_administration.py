"""The command line against a real service: people, members, grants, imports, tags, and ways to log in."""

from __future__ import annotations

import base64
import json
import secrets as random
from datetime import timedelta
from pathlib import Path

import pytest

from contract.client.house import nothing_shown
from keybearer.base.clock import SystemClock
from support.command_line import CommandLine
from support.service_fixtures import Credentials, Project, ProjectSecrets, Service

PASSWORD = "cnry-correct horse"


@pytest.fixture
def admin(service: Service, project: Project, tmp_path: Path) -> CommandLine:
    """The admin of the organization."""
    return CommandLine(
        tmp_path / "admin",
        {
            "KEYBEARER_URL": service.url,
            "KEYBEARER_CLIENT_ID": service.admin.client_id,
            "KEYBEARER_CLIENT_SECRET": service.admin.client_secret,
            "KEYBEARER_PROJECT": project.slug,
            "KEYBEARER_ENVIRONMENT": "dev",
        },
    )


@pytest.fixture
def email() -> str:
    return f"ada-{random.token_hex(4)}@example.com"


def person(service: Service, project: Project, home: Path, email: str, password: str) -> CommandLine:
    """Somebody who has logged in at a terminal of their own."""
    line = CommandLine(
        home,
        {
            "KEYBEARER_URL": service.url,
            "KEYBEARER_PROJECT": project.slug,
            "KEYBEARER_ENVIRONMENT": "dev",
        },
    )
    assert line("login", "--email", email, "--password-file", "-", stdin=password).status == 0
    return line


def test_people_are_made_changed_and_deleted_and_change_their_password(
    service: Service, project: Project, admin: CommandLine, email: str, tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_text(PASSWORD + "\n")
    made = admin("users", "create", email, "--first-name", "Ada", "--password-file", str(file))
    assert (made.status, email in made.stderr) == (0, True)
    no_password = admin("users", "create", f"b{email}")
    assert (no_password.status, "KEYBEARER_NEW_PASSWORD" in no_password.stderr) == (2, True)
    short = admin("users", "create", f"b{email}", KEYBEARER_NEW_PASSWORD="cnry-short")
    assert (short.status, "password" in short.stderr) == (2, True)
    listed = admin("users", "list")
    assert (email in listed.stdout, "Ada" in listed.stdout) == (True, True)
    ada = person(service, project, tmp_path / "ada", email, PASSWORD)
    changed = ada(
        "users",
        "change-password",
        "--password-file",
        "-",
        stdin=PASSWORD,
        KEYBEARER_NEW_PASSWORD=PASSWORD * 2,
    )
    assert (changed.status, ada("projects", "list").status) == (0, 3)
    ada = person(service, project, tmp_path / "ada", email, PASSWORD * 2)
    reset = admin("users", "update", email, "--role", "no-access", "--password-file", str(file), "-o", "json")
    assert (reset.json["role"], ada("projects", "list").status) == ("no-access", 3)
    assert admin("users", "update", email).status == 2
    assert admin("users", "delete", email).status == 2
    assert admin("users", "delete", email, "--yes").status == 0
    gone = admin("users", "delete", email, "--yes")
    assert (gone.status, "keybearer users list" in gone.stderr) == (5, True)
    nothing_shown(
        *(f"{answer.stdout} {answer.stderr}" for answer in (made, short, listed, changed, reset, gone))
    )


def test_people_and_machines_get_roles_in_a_project_and_lose_them(
    service: Service, admin: CommandLine, who: Credentials
) -> None:
    email = service.create_user().email
    machine = service.create_identity(name="ci")
    assert admin("members", "set", email, "--role", "viewer").status == 0
    assert admin("members", "set", machine.identity_id, "--role", "viewer", "--role", "member").status == 0
    again = admin("members", "set", email, "--role", "member", "-o", "json")
    assert [role["role"] for role in again.json["roles"]] == ["member"]
    rows = {line.split()[1]: line for line in admin("members", "list").stdout.splitlines()[1:]}
    assert "member" in rows[email]
    assert "person" in rows[email]
    assert "machine" in rows["ci"]
    assert "viewer" in rows["ci"]
    as_json = admin("members", "list", "-o", "json").json
    assert [one["user"]["email"] for one in as_json["users"]] == [email]
    assert {one["identity_id"] for one in as_json["identities"]} >= {machine.identity_id, who.identity_id}
    assert admin("members", "remove", email, "--yes").status == 0
    gone = admin("members", "remove", email, "--yes")
    assert (gone.status, "keybearer members list" in gone.stderr) == (5, True)
    assert admin("members", "remove", machine.identity_id, "--yes").status == 0
    assert admin("members", "remove", machine.identity_id, "--yes").status == 5
    assert admin("members", "set", email, "--role", "owner").status == 2


def test_a_grant_opens_a_part_of_a_project_until_it_is_removed(
    service: Service, project: Project, admin: CommandLine, secrets: ProjectSecrets, tmp_path: Path
) -> None:
    secrets.folder("/apps")
    secrets.create("A", "cnry-a", path="/apps")
    someone = service.create_user(roles={project.id: "no-access"})
    line = person(service, project, tmp_path / "someone", someone.email, someone.password)
    # Who has no role may not look up the slug.
    reading = ("secrets", "get", "A", "--plain", "--path", "/apps", "-p", project.id)
    assert line(*reading).status == 4
    add = ("grants", "add", someone.email, "--action", "read", "--action", "read-value", "--path", "/apps")
    made = admin(*add, "-o", "json").json
    assert (made["effect"], made["secret_path"], made["subjects"]) == ("allow", "/apps", ["secrets"])
    assert line(*reading).stdout == "cnry-a"
    denied = admin(
        *("grants", "add", someone.email, "--action", "read-value", "--env", "*", "--deny", "-o", "json")
    ).json
    assert (denied["effect"], denied["environment"], line(*reading).status) == ("deny", "*", 4)
    listed = admin("grants", "list", "--member", someone.email).stdout
    assert made["id"] in listed
    assert "deny" in listed
    assert admin("grants", "list", "--member", service.admin.identity_id, "-o", "json").json == []
    for grant in (made, denied):
        assert admin("grants", "remove", grant["id"], "--yes").status == 0
    assert line(*reading).status == 4
    assert admin("grants", "remove", made["id"], "--yes").status == 5
    stranger = admin("grants", "add", "nobody@example.com", "--action", "read")
    assert (stranger.status, "keybearer members list" in stranger.stderr) == (5, True)


def test_what_a_folder_imports_is_added_listed_and_removed(
    keybearer: CommandLine, secrets: ProjectSecrets
) -> None:
    secrets.folder("/shared", environment="prod")
    secrets.create("A", "cnry-a", environment="prod", path="/shared")
    assert keybearer("imports", "add", "prod:/shared").status == 0
    assert keybearer("imports", "add", "staging:/").status == 0
    assert keybearer("secrets", "get", "A", "--plain").stdout == "cnry-a"
    assert "prod:/shared" in keybearer("imports", "list").stdout
    listed = keybearer("imports", "list", "-o", "json").json
    assert [(one["import_env"]["slug"], one["import_path"]) for one in listed] == [
        ("prod", "/shared"),
        ("staging", "/"),
    ]
    assert keybearer("imports", "remove", "prod:shared/", "--yes").status == 0
    gone = keybearer("imports", "remove", "prod:/shared", "--yes")
    assert (gone.status, "keybearer imports list" in gone.stderr) == (5, True)
    assert keybearer("secrets", "get", "A", "--plain").status == 5
    assert keybearer("imports", "add", "/shared").status == 2


def test_tags_are_made_set_on_secrets_and_deleted(keybearer: CommandLine, secrets: ProjectSecrets) -> None:
    assert keybearer("tags", "create", "red", "--name", "Red", "--color", "#f00").status == 0
    assert keybearer("secrets", "set", "A", "--tag", "red", stdin="cnry-a").status == 0
    assert keybearer("secrets", "set", "B", stdin="cnry-b").status == 0
    tagged = keybearer("secrets", "list", "--tag", "red", "-o", "json").json
    assert [one["secret_key"] for one in tagged] == ["A"]
    # What isn't said stays.
    assert keybearer("secrets", "set", "A", stdin="cnry-a2").status == 0
    assert [one["slug"] for one in secrets.get("A")["tags"]] == ["red"]
    assert keybearer("secrets", "set", "A", "--tag", "none", stdin="cnry-a3").status == 5
    assert "Red" in keybearer("tags", "list").stdout
    assert [one["slug"] for one in keybearer("tags", "list", "-o", "json").json] == ["red"]
    assert keybearer("tags", "delete", "red", "--yes").status == 0
    assert keybearer("tags", "delete", "red", "--yes").status == 5


def test_a_person_has_values_of_their_own_on_top_of_shared_ones(
    service: Service, project: Project, secrets: ProjectSecrets, keybearer: CommandLine, tmp_path: Path
) -> None:
    someone = service.create_user(roles={project.id: "member"})
    line = person(service, project, tmp_path / "someone", someone.email, someone.password)
    alone = line("secrets", "set", "A", "--personal", stdin="cnry-own")
    assert (alone.status, "no corresponding shared secret" in alone.stderr) == (7, True)
    secrets.create("A", "cnry-shared")
    first = line("secrets", "set", "A", "--personal", stdin="cnry-own")
    second = line("secrets", "set", "A", "--personal", "-o", "json", stdin="cnry-own-2")
    assert (first.status, second.json["type"], second.json["version"]) == (0, "personal", 2)
    assert line("secrets", "get", "A", "--plain", "--personal").stdout == "cnry-own-2"
    assert line("secrets", "get", "A", "--plain").stdout == "cnry-shared"
    assert "cnry-own-2" in line("secrets", "list", "--show", "--personal").stdout
    assert "cnry-shared" in line("secrets", "list", "--show").stdout
    machine = keybearer("secrets", "set", "A", "--personal", stdin="cnry-x")
    assert (machine.status, "Must be user" in machine.stderr) == (7, True)
    assert line("secrets", "delete", "A", "--personal", "--yes").status == 0
    assert secrets.values() == {"A": "cnry-shared"}
    nothing_shown(alone.stderr, first.stderr, second.stdout, machine.stderr)


def test_an_identity_gets_kubernetes_auth_and_loses_it(
    service: Service, admin: CommandLine, tmp_path: Path
) -> None:
    identity_id = service.create_identity().identity_id
    command = ("identities", "kubernetes-auth")
    reviewer = tmp_path / "reviewer"
    reviewer.write_text("cnry-reviewer\n")
    made = admin(
        *(*command, "attach", identity_id, "--host", "https://api.example.com", "--namespace", "team-*"),
        *("--namespace", "shop", "--service-account", "web", "--audience", "keybearer", "--token-ttl", "600"),
        *("--reviewer-token-file", str(reviewer), "--trusted-ip", "10.0.0.0/8", "-o", "json"),
    )
    assert (made.json["allowed_namespaces"], made.json["allowed_names"]) == ("team-*,shop", "web")
    assert (made.json["allowed_audience"], made.json["access_token_ttl"]) == ("keybearer", 600)
    shown = admin(*command, "show", identity_id)
    assert "https://api.example.com" in shown.stdout
    assert "10.0.0.0/8" in shown.stdout
    assert "600 s" in shown.stdout
    assert "the reviewer's token that the service keeps" in shown.stdout
    assert admin(*command, "show", identity_id, "-o", "json").json == made.json
    twice = admin(*command, "attach", identity_id, "--host", "https://api.example.com")
    assert (twice.status, "already configured" in twice.stderr) == (7, True)
    assert "kubernetes-auth update IDENTITY" in twice.stderr
    assert admin(*command, "remove", identity_id).status == 2
    assert admin(*command, "remove", identity_id, "--yes").status == 0
    assert admin(*command, "show", identity_id).status == 5
    nothing_shown(made.stdout, shown.stdout, twice.stderr)


def test_a_client_id_is_told_apart_from_the_id_that_a_secret_needs(
    service: Service, admin: CommandLine
) -> None:
    login = service.create_identity()
    command = (
        "identities",
        "kubernetes-auth",
        "attach",
        login.client_id,
        "--host",
        "https://api.example.com",
    )
    patch = (
        "kubectl -n NAMESPACE patch secret SECRET --type=merge "
        f"""-p '{{"stringData":{{"identityId":"{login.identity_id}"}}}}'"""
    )
    for status in (0, 7):  # the second time it has Kubernetes auth already
        answer = admin(*command)
        assert answer.status == status, answer.stderr
        assert (
            f"{login.client_id} is the client id of the identity, and its id is {login.identity_id}"
            in answer.stderr
        )
        assert patch in answer.stderr
    assert "client id" not in admin(*command[:3], login.identity_id, *command[4:]).stderr


def test_an_update_of_kubernetes_auth_changes_only_what_is_given(
    service: Service, admin: CommandLine, tmp_path: Path
) -> None:
    identity_id = service.create_identity().identity_id
    command = ("identities", "kubernetes-auth")
    reviewer = tmp_path / "reviewer"
    reviewer.write_text("cnry-reviewer\n")
    token = ("--reviewer-token-file", str(reviewer))
    before = admin(
        *(*command, "attach", identity_id, "--host", "https://api.example.com", "--namespace", "shop"),
        *("--audience", "keybearer", "--token-ttl", "600", "-o", "json"),
    ).json
    replaced = admin(*command, "update", identity_id, *token)
    assert replaced.status == 0
    assert f"Changed of Kubernetes auth of {identity_id}: reviewer's token.\n" in replaced.stderr
    assert "next login" not in replaced.stderr
    after = admin(*command, "show", identity_id, "-o", "json").json
    changed = {name for name in before if before[name] != after[name]}
    assert changed <= {"token_reviewer", "updated_at"}
    assert after["token_reviewer"] == "stored-token"
    moved = admin(*command, "update", identity_id, "--host", "https://other.example.com")
    assert (moved.status, "Give tokenReviewerJwt again" in moved.stderr) == (7, True)
    assert "--reviewer-token-file" in moved.stderr
    moved = admin(
        *command, "update", identity_id, "--host", "https://other.example.com", *token, "-o", "json"
    )
    assert moved.json["kubernetes_host"] == "https://other.example.com"
    gone = admin(*command, "update", identity_id, "--no-reviewer-token", "--audience", "other", "-o", "json")
    assert (gone.json["token_reviewer"], gone.json["allowed_audience"]) == ("login-token", "other")
    assert "No token for the audience other can log in" in gone.stderr
    assert "The new rules count from the next login" in gone.stderr
    assert "renewed until 2592000 s after its login" in gone.stderr
    assert f"keybearer identities kubernetes-auth remove {identity_id}\n" in gone.stderr
    nothing_shown(replaced.stderr, moved.stdout, gone.stderr)


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        pytest.param([], "nothing to change was given", id="nothing"),
        pytest.param(["--no-reviewer-token", "--reviewer-token-file=-"], "exclude each other", id="both"),
        pytest.param(["--reviewer-token-file=-"], "is empty", id="an empty token"),
    ],
)
def test_an_update_of_kubernetes_auth_that_says_nothing_usable_is_refused(
    service: Service, admin: CommandLine, flags: list[str], says: str
) -> None:
    identity_id = service.create_identity().identity_id
    answer = admin("identities", "kubernetes-auth", "update", identity_id, *flags)
    assert (answer.status, says in answer.stderr) == (2, True)


@pytest.mark.parametrize(
    ("flags", "is_warned"),
    [
        pytest.param(["--host=https://api.example.com", "--audience=keybearer"], True, id="nobody reviews"),
        pytest.param(["--host=https://api.example.com"], False, id="tokens for the API server"),
        pytest.param(
            ["--host=https://kubernetes.default.svc", "--audience=keybearer"],
            True,
            id="a service without a ServiceAccount",
        ),
    ],
)
def test_an_audience_without_a_reviewer_is_warned_about(
    service: Service, admin: CommandLine, flags: list[str], *, is_warned: bool
) -> None:
    identity_id = service.create_identity().identity_id
    made = admin("identities", "kubernetes-auth", "attach", identity_id, *flags)
    assert made.status == 0, made.stderr
    assert ("No token for the audience keybearer can log in" in made.stderr) == is_warned
    assert ("kubectl create clusterrolebinding" in made.stderr) == is_warned
    shown = admin("identities", "kubernetes-auth", "show", identity_id)
    assert "no reviewer's token is set" in shown.stdout


@pytest.mark.parametrize(
    ("days", "warning"), [(-1, "ended on"), (7, "ends on"), (90, None)], ids=["ended", "soon", "late"]
)
def test_a_reviewers_token_that_ends_soon_is_warned_about(
    service: Service, admin: CommandLine, tmp_path: Path, days: int, warning: str | None
) -> None:
    identity_id = service.create_identity().identity_id
    reviewer, ends = tmp_path / "reviewer", SystemClock().now() + timedelta(days=days)
    payload = (
        base64.urlsafe_b64encode(json.dumps({"exp": int(ends.timestamp())}).encode()).rstrip(b"=").decode()
    )
    reviewer.write_text(f"cnry-head.{payload}.cnry-signature\n")
    made = admin(
        *("identities", "kubernetes-auth", "attach", identity_id, "--host", "https://api.example.com"),
        *("--reviewer-token-file", str(reviewer)),
    )
    assert made.status == 0, made.stderr
    assert ("reviewer's token" in made.stderr) == (warning is not None)
    assert warning is None or f"{warning} {ends.date()}" in made.stderr
    nothing_shown(made.stdout, made.stderr)


def test_an_identity_gets_ldap_auth_and_loses_it(
    service: Service, admin: CommandLine, tmp_path: Path
) -> None:
    identity_id = service.create_identity().identity_id
    command = ("identities", "ldap-auth")
    password = tmp_path / "password"
    password.write_text("cnry-reader\n")
    attach = (
        *(*command, "attach", identity_id, "--url", "ldaps://ldap.example.com"),
        *("--bind-dn", "cn=reader,dc=example", "--search-base", "dc=example"),
    )
    nobody = admin(*attach)
    assert (nobody.status, "KEYBEARER_BIND_PASSWORD" in nobody.stderr) == (2, True)
    odd = admin(*attach, "--require", "l", KEYBEARER_BIND_PASSWORD="cnry-reader")
    assert (odd.status, "NAME=VALUE" in odd.stderr) == (2, True)
    made = admin(
        *(*attach, "--bind-password-file", str(password), "--require", "memberOf=cn=a,dc=b", "-o", "json")
    )
    assert made.json["allowed_fields"] == [{"key": "memberOf", "value": "cn=a,dc=b"}]
    assert made.json["search_filter"] == "(uid={{username}})"
    shown = admin(*command, "show", identity_id)
    assert "memberOf=cn=a,dc=b" in shown.stdout
    assert "cn=reader,dc=example" in shown.stdout
    unlocked = admin(*command, "unlock", identity_id, "-o", "json")
    assert unlocked.json == {"ended": 0}
    assert admin(*command, "remove", identity_id, "--yes").status == 0
    assert admin(*command, "show", identity_id).status == 5
    from_environment = admin(*attach, KEYBEARER_BIND_PASSWORD="cnry-reader")
    assert from_environment.status == 0
    nothing_shown(*(f"{one.stdout} {one.stderr}" for one in (nobody, odd, made, shown, from_environment)))


def test_an_identity_that_can_not_be_finished_is_taken_back(admin: CommandLine) -> None:
    name = f"ci-{random.token_hex(4)}"
    nowhere = "00000000-0000-4000-8000-000000000000"
    refused = admin("identities", "create", name, "-p", nowhere)
    assert (refused.status, refused.stdout) == (5, "")
    assert name not in admin("identities", "list").stdout
