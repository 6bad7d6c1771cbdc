"""What the commands for connections and syncs ask of a service, and say of its answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from support.command_line import Answer, CommandLine
from support.scripted_server import Reply, ScriptedServer

PROJECT = "00000000-0000-4000-8000-000000000001"
CONNECTION = {
    "id": "c-1",
    "name": "account",
    "app": "cloud",
    "method": "access-key",
    "credentials": {"accessKeyId": "AKIA"},
    "isAutoRotationEnabled": True,
    "rotation": {
        "rotationStatus": "failed",
        "lastRotationMessage": "no",
        "nextRotationAt": "2026-02-02T03:30:00Z",
    },
}
SYNC: dict[str, Any] = {
    "id": "s-1",
    "name": "push",
    "projectId": PROJECT,
    "connectionId": "c-1",
    "connection": {"id": "c-1", "name": "account", "app": "cloud"},
    "destination": "cloud-parameter-store",
    "environment": {"id": "e-1", "slug": "dev", "name": "Development"},
    "folder": {"id": "f-1", "path": "/app"},
    "syncOptions": {"initialSyncBehavior": "overwrite-destination", "keySchema": "A_{{secretKey}}"},
    "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
    "syncStatus": "succeeded",
    "lastSyncedAt": "2026-01-02T03:04:05Z",
}
CONNECTIONS = Reply(body={"appConnections": [{**CONNECTION, "id": "c-0", "name": "other"}, CONNECTION]})
SYNCS = Reply(body={"secretSyncs": [{**SYNC, "id": "s-0", "name": "other"}, SYNC]})
APPS = Reply(
    body={
        "appConnectionOptions": [
            {"app": "idp", "name": "Identity Provider", "methods": ["client-credentials"]},
            {"app": "cloud", "name": "AWS", "methods": ["assume-role", "access-key"]},
        ]
    }
)
DESTINATIONS = Reply(
    body={
        "secretSyncOptions": [
            {"destination": "cloud-parameter-store", "name": "Store", "connection": "cloud"}
        ]
    }
)


def one(**changes: object) -> Reply:
    return Reply(body={"secretSync": {**SYNC, **changes}})


class Asked:
    """What a command was answered with, and what it had asked."""

    def __init__(self, answer: Answer, server: ScriptedServer) -> None:
        self.answer = answer
        self.lines = [
            f"{seen.method} {seen.path.removeprefix('/api/v1/')}{'?' if seen.query else ''}{urlencode(seen.query)}"
            for seen in server.seen
        ]
        self.bodies = [orjson.loads(seen.body) if seen.body else None for seen in server.seen]


async def run(home: Path, *arguments: str, replies: tuple[Reply, ...], **more: str) -> Asked:
    async with ScriptedServer(*replies) as server:
        line = CommandLine(home, {"KEYBEARER_URL": server.url, "KEYBEARER_TOKEN": "cnry-token"})
        stdin = more.pop("stdin", None)
        answer = await asyncio.to_thread(line.here, *arguments, stdin=stdin, **more)
        return Asked(answer, server)


async def test_a_connection_of_the_organization_takes_its_only_method(tmp_path: Path) -> None:
    made = Reply(body={"appConnection": {**CONNECTION, "app": "idp"}})
    asked = await run(
        tmp_path,
        *("connections", "create", "tenant", "--app", "idp", "--credentials-file", "-"),
        replies=(APPS, made),
        stdin='{"clientSecret": "cnry-secret"}',
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines == ["GET app-connections/options", "POST app-connections/idp"]
    assert asked.bodies[-1] == {
        "name": "tenant",
        "method": "client-credentials",
        "credentials": {"clientSecret": "cnry-secret"},
    }


async def test_a_connection_that_is_rotated_says_when(tmp_path: Path) -> None:
    asked = await run(
        tmp_path,
        *("connections", "create", "account", "--app", "cloud", "--method", "access-key", "-p", PROJECT),
        *("--rotate-every", "30", "--rotate-at", "03:15", "--description", "d"),
        replies=(Reply(body={"appConnection": CONNECTION}),),
        KEYBEARER_APP_CREDENTIALS='{"secretAccessKey": "cnry-secret"}',
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.bodies == [
        {
            "name": "account",
            "method": "access-key",
            "credentials": {"secretAccessKey": "cnry-secret"},
            "description": "d",
            "projectId": PROJECT,
            "isAutoRotationEnabled": True,
            "rotation": {"rotationInterval": 30, "rotateAtUtc": {"hours": 3, "minutes": 15}},
        }
    ]


REFUSED = [
    pytest.param(
        ("connections", "create", "c", "--app", "cloud", "--credentials-file", "-"),
        (APPS,),
        2,
        "--method: assume-role, access-key",
        id="an app with several methods",
    ),
    pytest.param(
        ("connections", "create", "c", "--app", "koyeb", "--credentials-file", "-"),
        (APPS,),
        5,
        "cloud, idp",
        id="an app that nobody offers",
    ),
    pytest.param(
        ("connections", "create", "c", "--app", "idp", "--rotate-every", "3", "--rotate-at", "24:00"),
        (),
        2,
        "is no HH:MM",
        id="a time of day that is none",
    ),
    pytest.param(
        ("connections", "create", "c", "--app", "idp", "--rotate-at", "03:00"),
        (),
        2,
        "needs --rotate-every",
        id="a time of day without days",
    ),
    pytest.param(("connections", "update", "c"), (), 2, "nothing to change", id="a connection, no change"),
    pytest.param(
        ("connections", "update", "c", "--no-rotation", "--rotate-every", "3"),
        (),
        2,
        "exclude each other",
        id="rotation, on and off",
    ),
    pytest.param(
        ("connections", "get", "no-such"),
        (CONNECTIONS,),
        5,
        "--organization",
        id="a connection that isn't there",
    ),
    pytest.param(("connections", "delete", "c"), (), 2, "--yes", id="a connection deleted, nobody to ask"),
    pytest.param(("syncs", "update", "s", "-p", PROJECT), (), 2, "nothing to change", id="a sync, no change"),
    pytest.param(
        ("syncs", "get", "no-such", "-p", PROJECT),
        (SYNCS,),
        5,
        "keybearer syncs list",
        id="a sync that isn't there",
    ),
    pytest.param(
        ("syncs", "create", "s", "--to", "moon", "--connection", "c", "-p", PROJECT, "-e", "dev"),
        (DESTINATIONS,),
        5,
        "keybearer syncs options",
        id="a destination that nobody offers",
    ),
    pytest.param(
        (
            "syncs",
            "create",
            "s",
            "--to",
            "cloud-parameter-store",
            "--connection",
            "c",
            "-p",
            PROJECT,
            "-e",
            "dev",
        ),
        (DESTINATIONS, CONNECTIONS),
        5,
        "keybearer connections create c --app cloud",
        id="a connection that may not be used",
    ),
    pytest.param(("syncs", "delete", "s", "-p", PROJECT), (), 2, "--yes", id="a sync deleted, nobody to ask"),
    pytest.param(
        ("syncs", "remove", "s", "-p", PROJECT), (), 2, "--yes", id="secrets removed, nobody to ask"
    ),
]


@pytest.mark.parametrize(("arguments", "replies", "status", "said"), REFUSED)
async def test_what_can_not_be_done_is_told_with_what_to_do(
    tmp_path: Path, arguments: tuple[str, ...], replies: tuple[Reply, ...], status: int, said: str
) -> None:
    given = {"stdin": '{"a": "cnry-secret"}'} if "-" in arguments else {}
    asked = await run(tmp_path, *arguments, replies=replies or (Reply(500),), **given)
    assert asked.answer.status == status
    assert said in asked.answer.stderr
    assert "cnry-" not in asked.answer.stderr
    assert "Traceback" not in asked.answer.stderr
    assert len(asked.lines) == len(replies)


async def test_connections_are_shown_as_tables(tmp_path: Path) -> None:
    listed = await run(tmp_path, "connections", "list", "--app", "cloud", replies=(CONNECTIONS,))
    assert listed.lines == ["GET app-connections/cloud"]
    heading, _, row = (line.split() for line in listed.answer.stdout.splitlines())
    assert heading == ["NAME", "APP", "METHOD", "ROTATION", "UPDATED", "ID"]
    assert row == ["account", "cloud", "access-key", "failed;", "next", "2026-02-02T03:30:00Z", "c-1"]
    allowed = Reply(body={"allowedUse": {"projectIds": [PROJECT], "places": None}})
    got = await run(tmp_path, "connections", "get", "account", replies=(CONNECTIONS, allowed))
    rows = dict(
        line.strip().split(maxsplit=1) for line in got.answer.stdout.splitlines() if " " in line.strip()
    )
    assert (rows["accessKeyId"], rows["project"], rows["id"]) == ("AKIA", "of the organization", "c-1")
    assert "last rotation" in got.answer.stdout
    assert f"used in projects  {PROJECT}" in got.answer.stdout
    options = await run(tmp_path, "connections", "options", replies=(APPS,))
    assert "assume-role, access-key" in options.answer.stdout
    as_json = await run(tmp_path, "connections", "list", "-o", "json", replies=(CONNECTIONS,))
    assert [found["name"] for found in as_json.answer.json] == ["other", "account"]


async def test_organization_goes_before_the_project_of_the_environment(tmp_path: Path) -> None:
    for arguments, query in ((("--organization",), ""), ((), f"?projectId={PROJECT}")):
        asked = await run(
            tmp_path, "connections", "list", *arguments, replies=(CONNECTIONS,), KEYBEARER_PROJECT=PROJECT
        )
        assert asked.lines == [f"GET app-connections{query}"]


async def test_connections_are_changed_by_name(tmp_path: Path) -> None:
    answer = Reply(body={"appConnection": CONNECTION})
    changed = await run(
        tmp_path,
        "connections",
        "update",
        "account",
        "--description",
        "",
        "--no-rotation",
        replies=(CONNECTIONS, answer),
    )
    assert changed.lines[-1] == "PATCH app-connections/cloud/c-1"
    assert changed.bodies[-1] == {"description": None, "isAutoRotationEnabled": False}
    renewed = await run(
        tmp_path,
        *("connections", "update", "c-1", "--new-credentials"),
        replies=(CONNECTIONS, answer),
        KEYBEARER_APP_CREDENTIALS='{"secretAccessKey": "cnry-secret"}',
    )
    assert renewed.bodies[-1] == {"credentials": {"secretAccessKey": "cnry-secret"}}
    rotated = await run(tmp_path, "connections", "rotate", "account", replies=(CONNECTIONS, answer))
    assert rotated.lines[-1] == "POST app-connections/cloud/c-1/rotate-credentials"
    deleted = await run(tmp_path, "connections", "delete", "account", "--yes", replies=(CONNECTIONS, answer))
    assert deleted.lines[-1] == "DELETE app-connections/cloud/c-1"


async def test_a_new_sync_names_its_connection(tmp_path: Path) -> None:
    asked = await run(
        tmp_path,
        *("syncs", "create", "push", "--to", "cloud-parameter-store", "--connection", "account"),
        *(
            "-p",
            PROJECT,
            "-e",
            "dev",
            "--path",
            "/app",
            "--no-auto",
            "--key-schema",
            "A_{{secretKey}}",
            "--keep",
        ),
        *(
            "--config",
            "region=eu-central-1",
            "--config",
            "path=/app/",
            "--option",
            'tags:=[{"key": "a", "value": "b"}]',
        ),
        replies=(DESTINATIONS, CONNECTIONS, one()),
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines == [
        "GET secret-syncs/options",
        f"GET app-connections/cloud/available?projectId={PROJECT}",
        "POST secret-syncs/cloud-parameter-store",
    ]
    assert asked.bodies[-1] == {
        "name": "push",
        "projectId": PROJECT,
        "connectionId": "c-1",
        "environment": "dev",
        "secretPath": "/app",
        "isAutoSyncEnabled": False,
        "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
        "syncOptions": {
            "initialSyncBehavior": "overwrite-destination",
            "keySchema": "A_{{secretKey}}",
            "disableSecretDeletion": True,
            "tags": [{"key": "a", "value": "b"}],
        },
    }


async def test_published_names_mean_the_same_app_and_destination(tmp_path: Path) -> None:
    asked = await run(
        tmp_path,
        *("syncs", "create", "push", "--to", "aws-parameter-store", "--connection", "account"),
        *("-p", PROJECT, "-e", "dev", "--config", "region=eu-central-1", "--config", "path=/app/"),
        replies=(DESTINATIONS, CONNECTIONS, one()),
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[-1] == "POST secret-syncs/aws-parameter-store"
    made = Reply(body={"appConnection": {**CONNECTION, "app": "auth0"}})
    asked = await run(
        tmp_path,
        *("connections", "create", "tenant", "--app", "auth0", "--credentials-file", "-"),
        replies=(APPS, made),
        stdin='{"clientSecret": "cnry-secret"}',
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[-1] == "POST app-connections/auth0"


async def test_a_change_keeps_fields_that_it_does_not_name(tmp_path: Path) -> None:
    asked = await run(
        tmp_path,
        *("syncs", "update", "push", "-p", PROJECT, "--config", "path=/b/", "--option", "keySchema:=null"),
        replies=(SYNCS, one()),
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[-1] == "PATCH secret-syncs/cloud-parameter-store/s-1"
    assert asked.bodies[-1] == {
        "destinationConfig": {"region": "eu-central-1", "path": "/b/"},
        "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
    }
    paused = await run(
        tmp_path, "syncs", "update", "push", "-p", PROJECT, "--no-auto", replies=(SYNCS, one())
    )
    assert paused.bodies[-1] == {"isAutoSyncEnabled": False}


async def test_syncs_are_shown_as_tables(tmp_path: Path) -> None:
    failed = {**SYNC, "syncStatus": "failed", "lastSyncMessage": "the remote refuses", "environment": None}
    listed = await run(
        tmp_path, "syncs", "list", "-p", PROJECT, replies=(Reply(body={"secretSyncs": [SYNC, failed]}),)
    )
    first, second = listed.answer.stdout.splitlines()[1:]
    assert "dev:/app" in first
    assert "cloud-parameter-store (account)" in first
    assert ("succeeded" in first, "failed" in second, "a folder that is gone" in second) == (True, True, True)
    got = await run(
        tmp_path, "syncs", "get", "s-1", "-p", PROJECT, replies=(Reply(body={"secretSyncs": [failed]}),)
    )
    assert "failed; last at 2026-01-02T03:04:05Z; the remote refuses" in got.answer.stdout
    assert "region" in got.answer.stdout
    assert "A_{{secretKey}}" in got.answer.stdout
    options = await run(tmp_path, "syncs", "options", "-o", "json", replies=(DESTINATIONS,))
    assert [found["destination"] for found in options.answer.json] == ["cloud-parameter-store"]


@pytest.mark.parametrize(
    ("arguments", "sent", "field"),
    [
        (("run", "push"), "POST secret-syncs/cloud-parameter-store/s-1/sync-secrets", "sync"),
        (
            ("import", "push", "--prefer", "destination"),
            "POST secret-syncs/cloud-parameter-store/s-1/import-secrets?importBehavior=prioritize-destination",
            "import",
        ),
        (("remove", "push", "--yes"), "POST secret-syncs/cloud-parameter-store/s-1/remove-secrets", "remove"),
    ],
    ids=["run", "import", "remove"],
)
@pytest.mark.parametrize(
    ("end", "status", "said"), [("succeeded", 0, "succeeded"), ("failed", 1, "the remote refuses")]
)
async def test_a_job_is_followed_to_its_end_and_the_status_tells_it(
    tmp_path: Path, arguments: tuple[str, ...], sent: str, field: str, end: str, status: int, said: str
) -> None:
    message = {f"last{field.capitalize()}Message": "the remote refuses"} if end == "failed" else {}
    ended = one(**{f"{field}Status": end}, **message)
    begun, going = one(**{f"{field}Status": "pending"}), one(**{f"{field}Status": "running"})
    asked = await run(
        tmp_path, "syncs", *arguments, "-p", PROJECT, "--wait", replies=(SYNCS, begun, going, ended)
    )
    assert (asked.answer.status, said in asked.answer.stderr) == (status, True)
    assert asked.lines[1] == sent
    assert asked.lines[2:] == ["GET secret-syncs/cloud-parameter-store/s-1"] * 2
    assert asked.answer.stdout == ""
    at_once = await run(tmp_path, "syncs", *arguments, "-p", PROJECT, replies=(SYNCS, begun))
    assert (at_once.answer.status, f"{field} is pending" in at_once.answer.stderr) == (0, True)


async def test_what_a_push_found_of_others_is_told_and_goes_only_where_somebody_says_yes(
    tmp_path: Path,
) -> None:
    ended = one(syncStatus="succeeded", lastSyncMessage="2 secrets came from elsewhere and stayed")
    told = await run(tmp_path, "syncs", "run", "push", "-p", PROJECT, "--wait", replies=(SYNCS, ended))
    assert "sync succeeded. 2 secrets came from elsewhere and stayed." in told.answer.stderr
    arguments = ("syncs", "run", "push", "-p", PROJECT, "--remove-foreign")
    refused = await run(tmp_path, *arguments, replies=())
    assert refused.answer.status != 0
    assert refused.lines == []
    asked = await run(tmp_path, *arguments, "--yes", replies=(SYNCS, one(syncStatus="pending")))
    assert asked.answer.status == 0
    assert asked.bodies[-1] == {"removeForeign": True}


async def test_each_secret_of_a_sync_is_shown_with_its_state(tmp_path: Path) -> None:
    body = {
        "secrets": [
            {"name": "APP_A", "secretKey": "A", "state": "failed", "message": "the value has 5,000 bytes"},
            {"name": "OTHER", "secretKey": None, "state": "foreign", "message": None},
        ]
    }
    listed, arguments = Reply(body=body), ("syncs", "secrets", "push", "-p", PROJECT)
    asked = await run(tmp_path, *arguments, replies=(SYNCS, listed))
    assert asked.lines[-1] == "GET secret-syncs/cloud-parameter-store/s-1/secrets"
    first, second = (" ".join(line.split()) for line in asked.answer.stdout.splitlines()[1:])
    assert first == "APP_A A failed the value has 5,000 bytes"
    assert second == "OTHER foreign"
    asked = await run(tmp_path, *arguments, "-o", "json", replies=(SYNCS, listed))
    assert orjson.loads(asked.answer.stdout)[0]["state"] == "failed"


async def test_programs_get_how_a_run_ended_also_where_it_failed(tmp_path: Path) -> None:
    failed = one(syncStatus="failed", lastSyncMessage="the remote refuses")
    asked = await run(
        tmp_path, "syncs", "run", "push", "-p", PROJECT, "--wait", "-o", "json", replies=(SYNCS, failed)
    )
    assert (asked.answer.status, asked.answer.json["sync_status"]) == (1, "failed")
    assert asked.answer.json["last_sync_message"] == "the remote refuses"


async def test_a_run_that_takes_too_long_is_left_to_itself(tmp_path: Path) -> None:
    running = one(syncStatus="running")
    asked = await run(
        tmp_path, "syncs", "run", "push", "-p", PROJECT, "--wait", "--timeout", "1", replies=(SYNCS, running)
    )
    assert (asked.answer.status, "still running after 1 s" in asked.answer.stderr) == (6, True)


@pytest.mark.parametrize(("flags", "query"), [((), "false"), (("--remove-secrets",), "true")])
async def test_what_a_deleted_sync_pushed_goes_only_when_asked_for(
    tmp_path: Path, flags: tuple[str, ...], query: str
) -> None:
    asked = await run(
        tmp_path, "syncs", "delete", "push", "-p", PROJECT, "--yes", *flags, replies=(SYNCS, one())
    )
    assert asked.answer.status == 0
    assert asked.lines[-1] == f"DELETE secret-syncs/cloud-parameter-store/s-1?removeSecrets={query}"


async def test_a_project_and_a_place_are_added_to_what_a_connection_allows(tmp_path: Path) -> None:
    present = Reply(body={"allowedUse": {"projectIds": ["p-0"], "places": ["kv/a", "kv/b"]}})
    changed = Reply(body={"allowedUse": {"projectIds": ["p-0", PROJECT], "places": ["kv/b", "kv/c/**"]}})
    asked = await run(
        tmp_path,
        *("connections", "allow", "account", "--to", PROJECT, "--place", "kv/c/**", "--not-place", "kv/a"),
        replies=(CONNECTIONS, present, changed),
    )
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[-1] == "PATCH app-connections/cloud/c-1/allowed-use"
    assert asked.bodies[-1] == {"projectIds": ["p-0", PROJECT], "places": ["kv/b", "kv/c/**"]}
    assert "kv/b, kv/c/**" in asked.answer.stdout
    assert "stop" not in asked.answer.stderr


async def test_a_narrower_use_tells_which_syncs_stop(tmp_path: Path) -> None:
    present = Reply(body={"allowedUse": {"projectIds": None, "places": ["kv/a", "kv/b"]}})
    stopping = [{"id": f"s-{number}", "name": f"sync-{number}", "projectId": PROJECT} for number in range(21)]
    changed = Reply(body={"allowedUse": {"projectIds": None, "places": ["kv/b"]}, "stoppingSyncs": stopping})
    arguments = ("connections", "allow", "account", "--not-place", "kv/a")
    asked = await run(tmp_path, *arguments, replies=(CONNECTIONS, present, changed))
    assert asked.answer.status == 0
    assert "21 syncs stop at their next run" in asked.answer.stderr
    assert f"sync-0 (project {PROJECT})" in asked.answer.stderr
    assert "sync-20" not in asked.answer.stderr
    assert "and 1 more" in asked.answer.stderr


@pytest.mark.parametrize(
    "arguments",
    [(), ("--any-project", "--to", PROJECT), ("--any-place", "--not-place", "kv/a")],
    ids=["nothing", "every project and one", "every place but one"],
)
async def test_what_contradicts_itself_is_not_allowed(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    asked = await run(tmp_path, "connections", "allow", "account", *arguments, replies=())
    assert asked.answer.status == 2
