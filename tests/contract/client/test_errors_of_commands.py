"""Errors of commands begin with what went wrong, and end with a next step that fits the thing."""

from __future__ import annotations

from uuid import uuid4

import pytest

from keybearer.cli.failures import ExitStatus
from support.command_line import CommandLine
from support.parsed_commands import parse
from support.service_fixtures import Service

NOBODY = str(uuid4())


@pytest.fixture
def administrator(service: Service, keybearer: CommandLine) -> CommandLine:
    keybearer.variables.update(
        KEYBEARER_CLIENT_ID=service.admin.client_id, KEYBEARER_CLIENT_SECRET=service.admin.client_secret
    )
    return keybearer


MISSING = [
    pytest.param(["projects", "delete", "no-such", "--yes"], "projects list", id="project"),
    pytest.param(["secrets", "get", "NONE"], "secrets list --recursive", id="secret"),
    pytest.param(["secrets", "list", "--env", "none"], "environments list", id="environment"),
    pytest.param(["folders", "delete", "/none", "--yes"], "folders list", id="folder"),
    pytest.param(["secrets", "list", "--path", "/none"], "folders list --path /", id="folder of a list"),
    pytest.param(["tags", "delete", "none", "--yes"], "tags list", id="tag"),
    pytest.param(["grants", "remove", NOBODY, "--yes"], "grants list", id="grant"),
    pytest.param(["identities", "delete", NOBODY, "--yes"], "identities list", id="identity"),
    pytest.param(["members", "remove", NOBODY, "--yes"], "identities list", id="member"),
    pytest.param(["users", "delete", NOBODY, "--yes"], "users list", id="user"),
    pytest.param(["connections", "get", NOBODY], "connections list", id="connection"),
    pytest.param(["syncs", "get", NOBODY], "syncs list", id="sync"),
    pytest.param(["certificates", "show", NOBODY], "certificates list", id="certificate"),
    pytest.param(["certificates", "fetch", NOBODY, "--cert-file", "x"], "certificates search", id="request"),
    pytest.param(["profiles", "show", NOBODY], "profiles list", id="profile"),
    pytest.param(["policies", "show", NOBODY], "policies list", id="policy"),
    pytest.param(["authorities", "show", NOBODY], "authorities list", id="authority"),
]


@pytest.mark.parametrize(("arguments", "step"), MISSING)
def test_what_is_not_there_is_said_first_and_where_to_look_last(
    administrator: CommandLine, arguments: list[str], step: str
) -> None:
    asked = ["--project", administrator.variables["KEYBEARER_PROJECT"]]
    has_project = arguments[0] in ("certificates", "profiles", "policies", "authorities")
    answer = administrator.here(*arguments, *(asked if has_project and "fetch" not in arguments else ()))
    assert answer.status == ExitStatus.NOT_FOUND, answer.stderr
    first, last = answer.stderr.splitlines()[-2:]
    assert first.startswith(f"keybearer {arguments[0]} {arguments[1]}: ")
    assert "/api/" not in first.partition(" (")[0]
    assert f"keybearer {step}" in last
    parse(last + _still_required(step))


def _still_required(step: str) -> str:
    """Return the options that a step leaves to the environment."""
    group = step.split(maxsplit=1)[0]
    of_project = group in ("secrets", "environments", "folders", "tags", "grants", "members", "syncs")
    of_environment = group in ("secrets", "folders")
    return " --project p" * of_project + " --env e" * of_environment


def test_a_slug_that_is_too_short_is_refused_in_plain_words(administrator: CommandLine) -> None:
    answer = administrator.here("projects", "create", "Demo", "--slug", "demo")
    assert answer.status == ExitStatus.USAGE
    assert answer.stderr == "keybearer projects create: slug: must have at least 5 characters\n"


def test_without_a_project_for_certificates_the_command_that_makes_one_is_named(
    administrator: CommandLine,
) -> None:
    answer = administrator.here("certificates", "list")
    assert answer.status == ExitStatus.REFUSED
    last = answer.stderr.splitlines()[-1]
    assert "keybearer projects create" in last
    parse(last)
