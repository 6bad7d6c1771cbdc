"""Who may do what with secret syncs: what they read, what they may bring back, and which connections they use."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from pydantic import JsonValue

from keybearer.base.ids import IdentityId
from keybearer.domain.authorization import OrganizationRole, Principal
from keybearer.domain.errors import NotFoundError
from keybearer.domain.syncs.requests import SyncChange
from keybearer.wire.destination_forms import ImportBehavior
from support.quiet_service import IN_ONE_LOOP, AsyncClient, QuietService
from support.sync_bodies import IMPORTING, OVERWRITING, new_sync
from support.sync_house import SYNCS, House, open_house

pytestmark = IN_ONE_LOOP


@pytest_asyncio.fixture(loop_scope="module")
async def house(quiet: QuietService) -> House:
    return await open_house(quiet)


VAULT = "hashicorp-vault"
IMPORT = "import-secrets?importBehavior=prioritize-source"
IMPORT_OVER = "import-secrets?importBehavior=prioritize-destination"


def told(action: str) -> str:
    return f"You are not allowed to {action} on secret-syncs"


async def deny(house: House, client: AsyncClient, *actions: str, path: str = "/**") -> None:
    """Take these actions on secrets of dev from the client's identity."""
    grant = {
        "identityId": client.identity_id,
        "effect": "deny",
        "actions": actions,
        "environment": "dev",
        "secretPath": path,
    }
    await house.quiet.admin.json("POST", f"/api/v1/projects/{house.project}/grants", json=grant)


async def create(
    house: House, client: AsyncClient, *, status: int = 200, **changes: object
) -> dict[str, Any]:
    body = new_sync(VAULT, house.project, house.connection, **changes)
    return await client.json("POST", f"{SYNCS}/{VAULT}", status=status, json=body)


async def test_a_viewer_sees_and_changes_nothing(house: House) -> None:
    sync = await house.create(name="one")
    viewer = await house.quiet.member({house.project: "viewer"})
    params = {"projectId": house.project}
    one = house.path(sync)
    for path in (SYNCS, f"{SYNCS}/{VAULT}", f"{SYNCS}/{VAULT}/sync-name/one", one, f"{SYNCS}/options"):
        await viewer.json("GET", path, params=params)
    assert (await create(house, viewer, status=403, name="two"))["message"] == told("create")
    for method, path, action in (
        ("PATCH", one, "edit"),
        ("DELETE", one, "delete"),
        ("DELETE", f"{one}?removeSecrets=true", "delete"),
        ("POST", f"{one}/sync-secrets", "edit"),
        ("POST", f"{one}/{IMPORT}", "edit"),
        ("POST", f"{one}/remove-secrets", "edit"),
    ):
        refusal = await viewer.json(method, path, status=403, json={})
        assert refusal["message"] == told(action), path
        assert refusal["error"] == "PermissionDenied"
        assert refusal["details"] == [
            {"action": action, "inverted": False, "subject": "secret-syncs", "conditions": {}}
        ]
    assert await house.get(sync) == sync


async def readable(house: House) -> dict[str, Any]:
    """Return a sync whose connection has the form that its app takes."""
    credentials: dict[str, JsonValue] = {
        "instanceUrl": "https://vault.example.com",
        "accessToken": "cnry-token-of-the-vault",
    }
    connection = await house.quiet.connection(method="access-token", credentials=credentials)
    return await house.create(name="one", connectionId=connection)


async def test_who_may_not_see_names_in_the_folder_sees_no_states_of_them(house: House) -> None:
    sync = await readable(house)
    viewer = await house.quiet.member({house.project: "viewer"})
    path = f"{house.path(sync)}/secrets"
    assert await viewer.json("GET", path) == {"secrets": []}
    await deny(house, viewer, "read")
    refusal = await viewer.json("GET", path, status=403)
    assert refusal["details"][0]["subject"] == "secrets"
    nobody = await house.quiet.member({house.project: "no-access"})
    assert (await nobody.json("GET", path, status=403))["message"] == told("read")


async def test_what_is_imported_from_where_one_may_not_look_is_left_out_of_the_states(house: House) -> None:
    admin, viewer = house.quiet.admin, await house.quiet.member({house.project: "viewer"})
    place = {"projectId": house.project, "environment": "dev"}
    await admin.json("POST", "/api/v1/folders", json={**place, "name": "hidden", "path": "/"})
    hidden = {"secretPath": "/hidden", "secretValue": "cnry-1"}
    await admin.json("POST", "/api/v4/secrets/HIDDEN", json={**place, **hidden})
    await admin.json(
        "POST", "/api/v4/secrets/OPEN", json={**place, "secretPath": "/", "secretValue": "cnry-2"}
    )
    imported = {"path": "/", "import": {"environment": "dev", "path": "/hidden"}}
    await admin.json("POST", "/api/v1/secret-imports", json={**place, **imported})
    path = f"{house.path(await readable(house))}/secrets"
    everything = (await admin.json("GET", path))["secrets"]
    assert [(one["name"], one["state"]) for one in everything] == [("HIDDEN", "pending"), ("OPEN", "pending")]
    await deny(house, viewer, "read", path="/hidden")
    assert [one["name"] for one in (await viewer.json("GET", path))["secrets"]] == ["OPEN"]


async def test_states_of_a_sync_without_its_folder_or_of_another_destination_are_refused(
    house: House,
) -> None:
    sync = await house.create(name="one")
    other = f"{SYNCS}/codehost/{sync['id']}/secrets"
    assert (
        "is not configured for GitHub" in (await house.quiet.admin.json("GET", other, status=400))["message"]
    )
    await house.quiet.admin.json("GET", f"{SYNCS}/{VAULT}/{uuid4()}/secrets", status=404)


@pytest.mark.parametrize("roles", ["no-access", None])
async def test_who_has_no_access_sees_nothing(house: House, roles: str | None) -> None:
    sync = await house.create(name="one")
    nobody = await house.quiet.member({} if roles is None else {house.project: roles})
    params = {"projectId": house.project}
    for path in (SYNCS, f"{SYNCS}/{VAULT}", f"{SYNCS}/{VAULT}/sync-name/one", house.path(sync)):
        assert (await nobody.json("GET", path, params=params, status=403))["message"] == told("read")
    check = {"projectId": house.project, "destinationConfig": sync["destinationConfig"]}
    refusal = await nobody.json("POST", f"{SYNCS}/{VAULT}/check-destination", json=check, status=403)
    assert refusal["message"] == told("read")
    await nobody.json("GET", f"{SYNCS}/options")


async def test_a_member_does_it_all(house: House) -> None:
    member = await house.quiet.member({house.project: "member"})
    sync = (await create(house, member, syncOptions=IMPORTING))["secretSync"]
    one = house.path(sync)
    await member.json("PATCH", one, json={"syncOptions": OVERWRITING})
    for what in ("sync-secrets", IMPORT, IMPORT_OVER, "remove-secrets"):
        await member.json("POST", f"{one}/{what}")
    await member.json("DELETE", f"{one}?removeSecrets=true")
    await member.json("DELETE", one)


async def test_for_another_organization_a_sync_is_not_there(house: House) -> None:
    other = await house.quiet.other_organization()
    stranger = Principal(IdentityId(str(uuid4())), other, OrganizationRole.ADMIN, 1, "token")
    syncs, asking = house.quiet.context.secret_syncs, house.quiet.context.sync_requests
    sync = await house.create(name="one")
    stored = await house.quiet.stored(sync["id"])
    for asked in (
        syncs.list(stranger, house.project),
        syncs.get(stranger, VAULT, sync["id"]),
        syncs.named(stranger, VAULT, house.project, "one"),
        syncs.update(stranger, VAULT, sync["id"], SyncChange(name="two")),
        syncs.delete(stranger, VAULT, sync["id"], remove_secrets=False),
        asking.sync(stranger, VAULT, sync["id"]),
        asking.bring_back(stranger, VAULT, sync["id"], ImportBehavior.PRIORITIZE_SOURCE),
        asking.remove(stranger, VAULT, sync["id"]),
    ):
        with pytest.raises(NotFoundError):
            await asked
    assert await house.quiet.stored(sync["id"]) == stored
    async with house.quiet.database.reading() as unit:
        assert stored is not None
        assert await unit.secret_syncs.to_same_place(other, stored.record.destination_digest) == []


@pytest.mark.parametrize("denied", [["read-value"], ["read", "read-value"]])
async def test_who_may_not_read_the_values_may_not_push_them(house: House, denied: list[str]) -> None:
    for path in ("/open", "/hidden"):
        await house.quiet.folder(house.project, path)
    member = await house.quiet.member({house.project: "member"})
    await deny(house, member, *denied, path="/hidden/**")
    hidden = "You do not have permission to read secrets at path /hidden"
    refusal = await create(house, member, status=403, secretPath="/hidden/")
    assert refusal["message"] == hidden
    assert refusal["details"][0]["conditions"] == {"environment": "dev", "secretPath": "/hidden"}
    missing = await create(house, member, status=403, secretPath="/hidden/deeper")
    assert "permission to read secrets at path /hidden/deeper" in missing["message"]
    sync = (await create(house, member, secretPath="/open"))["secretSync"]
    moving = await member.json("PATCH", house.path(sync), status=403, json={"secretPath": "/hidden"})
    assert moving["message"] == hidden
    other = await house.create(name="of-others", secretPath="/hidden")
    for change in (
        {"destinationConfig": {"mount": "mine", "path": "mine"}},
        {"syncOptions": {**OVERWRITING, "keySchema": "X{{secretKey}}"}},
        {"connectionId": await house.quiet.connection(used_in=house.project)},
    ):
        refusal = await member.json("PATCH", house.path(other), status=403, json=change)
        assert refusal["message"] == hidden
    await member.json("PATCH", house.path(other), json={"description": "d"})


@pytest.mark.parametrize(
    ("denied", "behavior", "status"),
    [
        ("create", "import-prioritize-source", 403),
        ("create", "import-prioritize-destination", 403),
        ("create", "overwrite-destination", 200),
        ("edit", "import-prioritize-source", 200),
        ("edit", "import-prioritize-destination", 403),
        ("edit", "overwrite-destination", 200),
    ],
)
async def test_who_may_not_write_secrets_brings_none_back(
    house: House, denied: str, behavior: str, status: int
) -> None:
    member = await house.quiet.member({house.project: "member"})
    await deny(house, member, denied)
    await create(house, member, status=status, syncOptions={"initialSyncBehavior": behavior})
    sync = await house.create(name="of-others")
    change = {"syncOptions": {"initialSyncBehavior": behavior}}
    refusal = await member.json("PATCH", house.path(sync), status=status, json=change)
    assert status == 200 or refusal["message"] == f"You are not allowed to {denied} on secrets"
    if behavior.startswith("import-"):
        query = f"importBehavior={behavior.removeprefix('import-')}"
        await member.json("POST", f"{house.path(sync)}/import-secrets?{query}", status=status)


async def test_connections_of_the_organization_that_name_no_project_are_for_its_admins(house: House) -> None:
    own = await house.quiet.connection(project_id=house.project)
    shared = await house.quiet.connection()
    guest = await house.quiet.member({house.project: "member"}, organization_role="no-access")
    refusal = await create(house, guest, status=403, connectionId=shared)
    assert "You are not allowed to connect on app-connections" in refusal["message"]
    sync = (await create(house, guest, connectionId=own))["secretSync"]
    refusal = await guest.json("PATCH", house.path(sync), status=403, json={"connectionId": shared})
    assert "You are not allowed to connect on app-connections" in refusal["message"]
    over = await house.create(name="over-the-organizations", connectionId=shared)
    elsewhere = {"destinationConfig": {"mount": "mine", "path": "mine"}}
    await guest.json("PATCH", house.path(over), status=403, json=elsewhere)
    await guest.json("POST", f"{house.path(over)}/sync-secrets", status=403)


async def test_the_audit_log_tells_who_did_what(house: House) -> None:
    member = await house.quiet.member({house.project: "member"})
    sync = (await create(house, member, isAutoSyncEnabled=False))["secretSync"]
    one = house.path(sync)
    await member.json("PATCH", one, json={"name": "renamed"})
    for what in ("sync-secrets", IMPORT, "remove-secrets"):
        await member.json("POST", f"{one}/{what}")
    await member.json("DELETE", f"{one}?removeSecrets=true")
    query = {"projectId": house.project}
    logs = await house.quiet.admin.json("GET", "/api/v1/organization/audit-logs", params=query)
    ours = [line for line in logs["auditLogs"] if "syncId" in line["event"]["metadata"]]
    assert {line["actor"]["metadata"]["identityId"] for line in ours} == {member.identity_id}
    common = {
        "syncId": sync["id"],
        "destination": VAULT,
        "connectionId": house.connection,
        "environment": "dev",
        "secretPath": "/",
    }
    assert [(line["event"]["type"], line["event"]["metadata"]) for line in reversed(ours)] == [
        ("create-secret-sync", {**common, "name": "to-there"}),
        ("update-secret-sync", {**common, "name": "renamed"}),
        ("request-secret-sync-job", {**common, "name": "renamed", "job": "sync"}),
        (
            "request-secret-sync-job",
            {**common, "name": "renamed", "job": "import", "importBehavior": "prioritize-source"},
        ),
        ("request-secret-sync-job", {**common, "name": "renamed", "job": "remove"}),
        ("delete-secret-sync", {**common, "name": "renamed", "removeSecrets": True}),
    ]


class TestWhatASyncLeadsTo:
    """A sync pushes nothing that who says where it goes may not read (wire.md 2.6 and 3.4)."""

    @pytest_asyncio.fixture(loop_scope="module")
    async def member(self, house: House) -> AsyncClient:
        """A member who is denied all of /secret in dev; /pub imports it, and refers to it in another way."""
        admin, place = house.quiet.admin, {"projectId": house.project, "environment": "dev"}
        for name in ("secret", "pub", "named"):
            await admin.json("POST", "/api/v1/folders", json={**place, "name": name, "path": "/"})
        for key, path, value in (
            ("DENIED", "/secret", "cnry-denied"),
            ("NAMED", "/named", "${dev.secret.DENIED}"),
        ):
            body = {**place, "secretPath": path, "secretValue": value}
            await admin.json("POST", f"/api/v4/secrets/{key}", json=body)
        imported = {"path": "/pub", "import": {"environment": "dev", "path": "/secret"}}
        await admin.json("POST", "/api/v1/secret-imports", json={**place, **imported})
        member = await house.quiet.member({house.project: "member"})
        await deny(house, member, "read", "read-value", path="/secret/**")
        return member

    @pytest.mark.parametrize("path", ["/pub", "/named", "/secret"])
    async def test_who_may_not_read_it_makes_no_sync_of_it(
        self, house: House, member: AsyncClient, path: str
    ) -> None:
        refusal = await create(house, member, status=403, name="one", secretPath=path)

        assert "cnry" not in str(refusal)
        listed = await house.quiet.admin.json("GET", SYNCS, params={"projectId": house.project})
        assert listed["secretSyncs"] == []

    @pytest.mark.parametrize("path", ["/pub", "/named"])
    async def test_nor_changes_one_to_it_nor_where_it_goes_nor_brings_back(
        self, house: House, member: AsyncClient, path: str
    ) -> None:
        own = (await create(house, member, name="own", secretPath="/"))["secretSync"]
        await member.json("PATCH", house.path(own), status=403, json={"secretPath": path})
        of_admin = await house.create(name="theirs", secretPath=path)
        elsewhere = {"destinationConfig": {**of_admin["destinationConfig"], "path": "mine"}}
        await member.json("PATCH", house.path(of_admin), status=403, json=elsewhere)
        await member.json("POST", f"{house.path(of_admin)}/{IMPORT}", status=403)
        # What isn't about pushing stays theirs to change.
        await member.json("PATCH", house.path(of_admin), json={"description": "of the admin"})

        assert (await house.get(own))["folder"]["path"] == "/"
