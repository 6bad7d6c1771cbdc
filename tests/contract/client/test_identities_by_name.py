"""Commands take a machine identity by name, client id or id, and refuse a name that several have."""

from __future__ import annotations

from uuid import uuid4

import pytest

from keybearer.cli.failures import ExitStatus
from support.command_line import CommandLine
from support.service_fixtures import Credentials, Service


@pytest.fixture
def admin(service: Service, keybearer: CommandLine) -> CommandLine:
    keybearer.variables.update(
        KEYBEARER_CLIENT_ID=service.admin.client_id, KEYBEARER_CLIENT_SECRET=service.admin.client_secret
    )
    return keybearer


@pytest.fixture
def name() -> str:
    return f"reader-{uuid4().hex[:8]}"


def made(admin: CommandLine, name: str) -> dict[str, str]:
    answer = admin.here("identities", "create", name, "-o", "json")
    assert answer.status == 0, answer.stderr
    return dict(answer.json)


@pytest.mark.parametrize("field", ["name", "client_id", "id"])
def test_an_identity_is_found_by_any_of_its_names(admin: CommandLine, name: str, field: str) -> None:
    wanted = made(admin, name)[field]
    secret = admin.here("identities", "client-secret", "create", wanted, "-o", "json")
    assert secret.status == 0, secret.stderr
    listed = admin.here("identities", "client-secret", "list", wanted, "-o", "json").json
    assert [one["id"] for one in listed] == [secret.json["id"]]
    assert admin.here("identities", "client-secret", "revoke", wanted, secret.json["id"], "--yes").status == 0
    host = ("--host", "https://api.example.com")
    for words in (("attach", wanted, *host), ("show", wanted), ("remove", wanted, "--yes")):
        answer = admin.here("identities", "kubernetes-auth", *words)
        assert answer.status == 0, answer.stderr
    assert admin.here("identities", "delete", wanted, "--yes").status == 0
    assert name not in admin.here("identities", "list").stdout


def test_members_and_grants_take_names(admin: CommandLine, name: str) -> None:
    identity = made(admin, name)
    assert admin.here("members", "set", name, "--role", "no-access").status == 0
    added = admin.here("grants", "add", name, "--action", "read", "--path", "/a", "-o", "json")
    assert (added.status, added.json["identity_id"]) == (0, identity["id"]), added.stderr
    listed = admin.here("grants", "list", "--member", identity["client_id"], "-o", "json").json
    assert [one["id"] for one in listed] == [added.json["id"]]
    removed = admin.here("members", "remove", name, "--yes", "-o", "json")
    assert (removed.status, removed.json["identity_id"]) == (0, identity["id"])


def test_a_name_that_two_have_is_refused_with_both(admin: CommandLine, name: str) -> None:
    ids = {made(admin, name)["id"], made(admin, name)["id"]}
    answer = admin.here("identities", "delete", name, "--yes")
    assert answer.status == ExitStatus.REFUSED
    assert f"2 identities are called {name}" in answer.stderr
    assert all(one in answer.stderr for one in ids)
    assert admin.here("identities", "delete", ids.pop(), "--yes").status == 0


@pytest.mark.parametrize("field", ["client_id", "id"])
def test_an_identity_that_is_called_by_the_id_of_another_is_not_taken_for_it(
    admin: CommandLine, name: str, field: str
) -> None:
    wanted = made(admin, name)
    made(admin, wanted[field])
    added = admin.here("members", "set", wanted[field], "--role", "no-access", "-o", "json")
    assert (added.status, added.json["identity_id"]) == (0, wanted["id"]), added.stderr


def test_a_name_that_nobody_has_says_how_to_list_them(admin: CommandLine, name: str) -> None:
    answer = admin.here("identities", "kubernetes-auth", "show", name)
    assert answer.status == ExitStatus.NOT_FOUND
    assert answer.stderr.endswith("  List the identities: keybearer identities list\n")


def test_a_member_who_may_not_list_identities_names_them_by_id(
    keybearer: CommandLine, who: Credentials
) -> None:
    by_id = keybearer.here("grants", "list", "--member", who.identity_id)
    by_name = keybearer.here("grants", "list", "--member", "no-such-name")
    assert (by_id.status, by_name.status) == (0, ExitStatus.DENIED), by_id.stderr
