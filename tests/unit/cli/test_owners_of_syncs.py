"""What the commands that show, transfer and remove owners of syncs ask of a service, and say of its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.scripted_server import Reply
from unit.cli.test_connections_and_syncs import PROJECT, SYNC, SYNCS, run

LEAVER = "00000000-0000-4000-8000-00000000000a"
HEIR = "00000000-0000-4000-8000-00000000000b"
OWNER: dict[str, Any] = {
    "id": HEIR,
    "name": "deployer",
    "kind": "machine",
    "canReadSource": True,
    "message": None,
}
OWNED = Reply(body={"secretSyncs": [SYNC, {**SYNC, "id": "s-2", "name": "second"}]})
NONE_OWNED = Reply(body={"secretSyncs": []})
GIVEN = Reply(body={"owner": OWNER})
REFUSED = Reply(
    status=400,
    body={"statusCode": 400, "message": "deployer lacks rights", "error": "BadRequest", "reqId": "r-1"},
)
TAKEN_OUT = Reply(
    body={"identityMembership": {"id": "m-1", "projectId": PROJECT, "identityId": LEAVER, "roles": []}}
)
KNOWN = Reply(body={"identities": [{"id": LEAVER, "name": "leaver"}, {"id": HEIR, "name": "deployer"}]})
DELETED = Reply(body={"identity": {"id": LEAVER, "name": "leaver", "role": "member"}})
USER = {"id": LEAVER, "email": "ada@example.com", "role": "member"}
MEMBERSHIPS = Reply(
    body={
        "memberships": [
            {"id": "m-1", "projectId": PROJECT, "userId": LEAVER, "roles": [], "user": USER},
            {
                "id": "m-2",
                "projectId": PROJECT,
                "userId": HEIR,
                "roles": [],
                "user": {**USER, "id": HEIR, "email": "b@example.com"},
            },
        ]
    }
)


async def test_the_owner_of_a_sync_is_shown_with_what_is_missing(tmp_path: Path) -> None:
    lost = {**OWNER, "canReadSource": False, "message": "may not read /app"}
    arguments = ("syncs", "owner", "push", "-p", PROJECT)
    asked = await run(tmp_path, *arguments, replies=(SYNCS, Reply(body={"owner": lost})))
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[-1] == "GET secret-syncs/cloud-parameter-store/s-1/owner"
    assert "deployer" in asked.answer.stdout
    assert "no; may not read /app" in asked.answer.stdout
    as_json = await run(tmp_path, *arguments, "-o", "json", replies=(SYNCS, GIVEN))
    assert as_json.answer.json["can_read_source"] is True


async def test_a_sync_is_transferred_to_an_id_or_an_email(tmp_path: Path) -> None:
    arguments = ("syncs", "transfer", "push", "-p", PROJECT, "--to")
    asked = await run(tmp_path, *arguments, "deployer", replies=(SYNCS, KNOWN, GIVEN))
    assert (asked.answer.status, "acts for deployer" in asked.answer.stderr) == (0, True)
    assert asked.lines[-1] == "PATCH secret-syncs/cloud-parameter-store/s-1/owner"
    assert asked.bodies[-1] == {"ownerId": HEIR}
    by_email = await run(tmp_path, *arguments, "b@example.com", replies=(SYNCS, MEMBERSHIPS, GIVEN))
    assert by_email.bodies[-1] == {"ownerId": HEIR}
    nobody = await run(tmp_path, *arguments, "c@example.com", replies=(SYNCS, MEMBERSHIPS))
    assert (nobody.answer.status, "keybearer members list" in nobody.answer.stderr) == (5, True)


async def test_who_leaves_a_project_is_said_to_stop_syncs(tmp_path: Path) -> None:
    arguments = ("members", "remove", LEAVER, "-p", PROJECT)
    asked = await run(tmp_path, *arguments, "--yes", replies=(KNOWN, OWNED, TAKEN_OUT))
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[1] == f"GET secret-syncs/owned?ownerId={LEAVER}&projectId={PROJECT}"
    assert "owns 2 syncs, which will stop: push" in asked.answer.stderr
    assert "second" in asked.answer.stderr
    unconfirmed = await run(tmp_path, *arguments, replies=(KNOWN, OWNED))
    assert (unconfirmed.answer.status, len(unconfirmed.lines)) == (2, 2)
    assert "which will stop" in unconfirmed.answer.stderr
    free = await run(tmp_path, *arguments, "--yes", replies=(KNOWN, NONE_OWNED, TAKEN_OUT))
    assert "sync" not in free.answer.stderr


async def test_a_service_without_owners_of_syncs_still_removes(tmp_path: Path) -> None:
    unknown = Reply(status=404, body={"message": "Route not found", "error": "Not Found", "statusCode": 404})
    asked = await run(
        tmp_path, "members", "remove", LEAVER, "-p", PROJECT, "--yes", replies=(unknown, unknown, TAKEN_OUT)
    )
    assert asked.answer.status == 0, asked.answer.stderr


@pytest.mark.parametrize(
    ("arguments", "before", "removal"),
    [
        (("members", "remove", LEAVER, "-p", PROJECT), (KNOWN,), TAKEN_OUT),
        (("identities", "delete", LEAVER), (KNOWN,), DELETED),
        (("users", "delete", LEAVER), (Reply(body={"user": USER}),), Reply(body={"user": USER})),
    ],
    ids=["out of a project", "an identity", "a person"],
)
async def test_syncs_go_to_the_heir_before_the_owner_goes(
    tmp_path: Path, arguments: tuple[str, ...], before: tuple[Reply, ...], removal: Reply
) -> None:
    options = ("--transfer-syncs-to", HEIR, "--yes")
    asked = await run(tmp_path, *arguments, *options, replies=(*before, OWNED, KNOWN, GIVEN, GIVEN, removal))
    assert asked.answer.status == 0, asked.answer.stderr
    assert asked.lines[-3:-1] == [
        f"PATCH secret-syncs/cloud-parameter-store/{sync}/owner" for sync in ("s-1", "s-2")
    ]
    assert asked.bodies[-3:-1] == [{"ownerId": HEIR}] * 2
    assert asked.lines[-1].startswith("DELETE ")
    assert f"{HEIR} owns 2 more syncs" in asked.answer.stderr
    refused = await run(tmp_path, *arguments, *options, replies=(*before, OWNED, KNOWN, GIVEN, REFUSED))
    assert refused.answer.status != 0
    assert "1 of 2 were. Nobody was removed" in refused.answer.stderr
    assert "deployer lacks rights" in refused.answer.stderr
    assert not any(line.startswith("DELETE ") for line in refused.lines)


async def test_syncs_do_not_go_to_who_is_removed(tmp_path: Path) -> None:
    arguments = ("identities", "delete", LEAVER, "--transfer-syncs-to", LEAVER, "--yes")
    asked = await run(tmp_path, *arguments, replies=(KNOWN, OWNED, KNOWN))
    assert (asked.answer.status, "about to be removed" in asked.answer.stderr) == (2, True)
    assert not any(line.startswith(("PATCH ", "DELETE ")) for line in asked.lines)
