"""Whose rights a secret sync has: who sees it, who changes it, and what the new owner needs."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from keybearer.base.ids import IdentityId
from keybearer.domain.authorization import OrganizationRole, Principal
from keybearer.domain.errors import NotFoundError
from support.quiet_service import IN_ONE_LOOP, AsyncClient, QuietService
from support.sync_bodies import IMPORTING, new_sync
from support.sync_house import SYNCS, House, open_house

pytestmark = IN_ONE_LOOP
VAULT = "hashicorp-vault"
HIDDEN = "You do not have permission to read secrets at path /hidden"


@pytest_asyncio.fixture(loop_scope="module")
async def house(quiet: QuietService) -> House:
    house = await open_house(quiet)
    await quiet.folder(house.project, "/hidden")
    return house


async def member(house: House, role: str = "member", *, organization_role: str = "member") -> AsyncClient:
    return await house.quiet.member({house.project: role}, organization_role=organization_role)


async def deny(house: House, client: AsyncClient, *actions: str, path: str = "/hidden/**") -> None:
    """Take these actions on secrets of dev from the client's identity."""
    grant = {
        "identityId": client.identity_id,
        "effect": "deny",
        "actions": actions,
        "environment": "dev",
        "secretPath": path,
    }
    await house.quiet.admin.json("POST", f"/api/v1/projects/{house.project}/grants", json=grant)


async def made_by(house: House, client: AsyncClient, **changes: object) -> dict[str, Any]:
    body = new_sync(VAULT, house.project, house.connection, **changes)
    made: dict[str, Any] = (await client.json("POST", f"{SYNCS}/{VAULT}", json=body))["secretSync"]
    return made


async def owner_of(house: House, sync: dict[str, Any], client: AsyncClient | None = None) -> dict[str, Any]:
    answer = await (client or house.quiet.admin).json("GET", f"{house.path(sync)}/owner")
    owner: dict[str, Any] = answer["owner"]
    return owner


async def give(
    house: House, asking: AsyncClient, sync: dict[str, Any], owner_id: str, *, status: int = 200
) -> dict[str, Any]:
    answer: dict[str, Any] = await asking.json(
        "PATCH", f"{house.path(sync)}/owner", status=status, json={"ownerId": owner_id}
    )
    return answer


async def owned(asking: AsyncClient, owner_id: str, **query: str) -> list[str]:
    answer = await asking.json("GET", f"{SYNCS}/owned", params={"ownerId": owner_id, **query})
    return [sync["name"] for sync in answer["secretSyncs"]]


class TestSeeing:
    async def test_who_may_see_a_sync_sees_its_owner(self, house: House) -> None:
        maker, viewer = await member(house), await member(house, "viewer")
        sync = await made_by(house, maker, secretPath="/hidden")
        nobody = await member(house, "no-access")

        assert await owner_of(house, sync, viewer) == {
            "id": maker.identity_id,
            "name": "member",
            "kind": "machine",
            "canReadSource": True,
            "message": None,
        }
        refusal = await nobody.json("GET", f"{house.path(sync)}/owner", status=403)
        assert refusal["message"] == "You are not allowed to read on secret-syncs"

    async def test_an_owner_that_lost_a_right_is_shown_with_what_is_missing(self, house: House) -> None:
        maker = await member(house)
        sync = await made_by(house, maker, secretPath="/hidden")
        await deny(house, maker, "read-value")

        owner = await owner_of(house, sync)

        assert not owner["canReadSource"]
        assert HIDDEN in owner["message"]

    async def test_an_owner_that_is_gone_has_an_id_and_no_name(self, house: House) -> None:
        maker = await member(house)
        sync = await made_by(house, maker)
        await house.quiet.admin.json("DELETE", f"/api/v1/identities/{maker.identity_id}")

        owner = await owner_of(house, sync)

        assert (owner["id"], owner["name"], owner["kind"]) == (maker.identity_id, None, None)
        assert not owner["canReadSource"]
        assert "no owner" in owner["message"]

    async def test_syncs_of_an_owner_are_listed_for_who_may_see_them(self, house: House) -> None:
        maker, viewer, nobody = (
            await member(house),
            await member(house, "viewer"),
            await member(house, "no-access"),
        )
        other = await house.quiet.project()
        await made_by(house, maker, name="b")
        await made_by(house, maker, name="a")
        await house.create(name="of-the-admin")
        path = f"/api/v1/projects/{other}/memberships/identities/{maker.identity_id}"
        await house.quiet.admin.json("POST", path, json={"roles": [{"role": "member"}]})
        there = await house.quiet.connection(used_in=other)
        await maker.json("POST", f"{SYNCS}/{VAULT}", json=new_sync(VAULT, other, there, name="elsewhere"))

        assert sorted(await owned(house.quiet.admin, maker.identity_id)) == ["a", "b", "elsewhere"]
        assert await owned(house.quiet.admin, maker.identity_id, projectId=other) == ["elsewhere"]
        assert await owned(viewer, maker.identity_id) == ["a", "b"]
        assert await owned(nobody, maker.identity_id) == []
        assert await owned(house.quiet.admin, str(uuid4())) == []
        await house.quiet.admin.json("GET", f"{SYNCS}/owned", status=422)


class TestChanging:
    async def test_an_organizations_admin_names_a_member_that_reads_it_all(self, house: House) -> None:
        sync, heir = await house.create(name="one", secretPath="/hidden"), await member(house)

        given = await give(house, house.quiet.admin, sync, heir.identity_id)

        assert given["owner"] == await owner_of(house, sync)
        assert given["owner"]["id"] == heir.identity_id
        changed = await house.get(sync)
        assert (changed["version"], changed["syncStatus"]) == (sync["version"] + 1, "pending")

    async def test_or_a_user(self, house: House) -> None:
        email = f"{uuid4()}@example.com"
        body = {"email": email, "password": "cnry-correct horse", "role": "member"}
        user = (await house.quiet.admin.json("POST", "/api/v1/users", json=body))["user"]
        sync = await house.create(name="one")
        await give(house, house.quiet.admin, sync, user["id"], status=400)
        path = f"/api/v1/projects/{house.project}/memberships"
        await house.quiet.admin.json("POST", path, json={"emails": [email], "roleSlugs": ["member"]})

        given = await give(house, house.quiet.admin, sync, user["id"])

        assert (given["owner"]["id"], given["owner"]["kind"]) == (user["id"], "user")

    async def test_an_owner_that_may_not_read_it_all_is_refused_with_what_is_missing(
        self, house: House
    ) -> None:
        sync, heir = await house.create(name="one", secretPath="/hidden"), await member(house)
        await deny(house, heir, "read-value")
        before = await owner_of(house, sync)

        refusal = await give(house, house.quiet.admin, sync, heir.identity_id, status=400)

        assert HIDDEN in refusal["message"]
        assert await owner_of(house, sync) == before

    async def test_nor_one_that_may_not_read_what_is_imported(self, house: House) -> None:
        place = {"projectId": house.project, "environment": "dev"}
        imported = {"path": "/", "import": {"environment": "dev", "path": "/hidden"}}
        await house.quiet.admin.json("POST", "/api/v1/secret-imports", json={**place, **imported})
        sync, heir = await house.create(name="one"), await member(house)
        await deny(house, heir, "read", "read-value")

        await give(house, house.quiet.admin, sync, heir.identity_id, status=400)
        await give(house, heir, sync, heir.identity_id, status=403)

    async def test_nor_who_is_no_member_of_the_project_or_of_the_organization(self, house: House) -> None:
        sync, outsider = await house.create(name="one"), await house.quiet.member()

        refusal = await give(house, house.quiet.admin, sync, outsider.identity_id, status=400)
        assert "is no member of the sync's project" in refusal["message"]
        unknown = await give(house, house.quiet.admin, sync, str(uuid4()), status=400)
        assert "has no identity or user" in unknown["message"]

    async def test_nor_who_may_not_use_the_connection_or_write_what_it_brings_back(
        self, house: House
    ) -> None:
        sync = await house.create(name="one", syncOptions=IMPORTING)
        viewer = await member(house, "viewer")
        refusal = await give(house, house.quiet.admin, sync, viewer.identity_id, status=400)
        assert "connect on app-connections" in refusal["message"]
        heir = await member(house)
        await deny(house, heir, "create", path="/**")
        refusal = await give(house, house.quiet.admin, sync, heir.identity_id, status=400)
        assert "create on secrets" in refusal["message"]

    @pytest.mark.parametrize("role", ["admin", "member"])
    async def test_who_may_edit_it_takes_it_over_and_names_nobody_else(self, house: House, role: str) -> None:
        sync, editor, heir = await house.create(name="one"), await member(house, role), await member(house)

        refusal = await give(house, editor, sync, heir.identity_id, status=403)
        assert "Only an admin of the organization" in refusal["message"]
        await give(house, editor, sync, str(uuid4()), status=403)
        taken = await give(house, editor, sync, editor.identity_id)
        assert taken["owner"]["id"] == editor.identity_id

    async def test_who_takes_it_over_needs_all_rights(self, house: House) -> None:
        sync, editor = await house.create(name="one", secretPath="/hidden"), await member(house)
        await deny(house, editor, "read-value")

        refusal = await give(house, editor, sync, editor.identity_id, status=403)

        assert refusal["message"] == HIDDEN

    async def test_a_viewer_takes_none_over(self, house: House) -> None:
        sync, viewer = await house.create(name="one"), await member(house, "viewer")

        refusal = await give(house, viewer, sync, viewer.identity_id, status=403)

        assert refusal["message"] == "You are not allowed to edit on secret-syncs"

    async def test_for_another_organization_there_is_no_owner(self, house: House) -> None:
        sync = await house.create(name="one")
        other = await house.quiet.other_organization()
        stranger = Principal(IdentityId(str(uuid4())), other, OrganizationRole.ADMIN, 1, "token")
        owners, owner = house.quiet.context.sync_owners, await owner_of(house, sync)

        with pytest.raises(NotFoundError):
            await owners.get(stranger, VAULT, sync["id"])
        with pytest.raises(NotFoundError):
            await owners.change(stranger, VAULT, sync["id"], stranger.identity_id)
        assert await owners.owned(stranger, owner["id"]) == []

    async def test_a_sync_without_its_folder_or_of_another_destination_gets_none(self, house: House) -> None:
        admin, sync = house.quiet.admin, await house.create(name="one", secretPath="/hidden")
        owner = await owner_of(house, sync)
        other = {**sync, "destination": "codehost"}
        await give(house, admin, other, owner["id"], status=400)
        place = {"projectId": house.project, "environment": "dev", "path": "/"}
        await admin.json("DELETE", "/api/v1/folders/hidden", json=place)
        refusal = await give(house, admin, sync, owner["id"], status=400)
        assert "folder no longer exists" in refusal["message"]

    async def test_the_audit_log_names_both_owners(self, house: House) -> None:
        sync, heir = await house.create(name="one"), await member(house)
        former = await owner_of(house, sync)
        await give(house, house.quiet.admin, sync, heir.identity_id)

        query = {"projectId": house.project}
        logs = await house.quiet.admin.json("GET", "/api/v1/organization/audit-logs", params=query)

        (line,) = [one for one in logs["auditLogs"] if one["event"]["type"] == "update-secret-sync"]
        assert line["event"]["metadata"]["ownerId"] == heir.identity_id
        assert line["event"]["metadata"]["formerOwnerId"] == former["id"]
