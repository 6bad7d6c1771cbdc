"""Who may use an app connection, in which projects and for which places: by every road that uses one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import pytest_asyncio

from support.quiet_service import IN_ONE_LOOP, AsyncClient, QuietService
from support.sync_bodies import CONFIGS, OVERWRITING, new_sync
from support.sync_house import SYNCS

pytestmark = IN_ONE_LOOP

CONNECTIONS = "/api/v1/app-connections"
VAULT = "hashicorp-vault"
Json = dict[str, Any]


@dataclass
class Place:
    """A project and a connection."""

    quiet: QuietService
    project: str
    connection: str

    async def member(self, role: str = "member", *, organization_role: str = "member") -> AsyncClient:
        return await self.quiet.member({self.project: role}, organization_role=organization_role)

    async def create(self, who: AsyncClient, *, status: int = 200, **changes: object) -> Json:
        body = new_sync(VAULT, self.project, self.connection, **changes)
        answer = await who.json("POST", f"{SYNCS}/{VAULT}", status=status, json=body)
        found: Json = answer["secretSync"] if status == 200 else answer
        return found

    async def allow(self, who: AsyncClient | None = None, *, status: int = 200, **changes: object) -> Json:
        path = f"{CONNECTIONS}/{VAULT}/{self.connection}/allowed-use"
        answer = await (who or self.quiet.admin).json("PATCH", path, status=status, json=changes)
        found: Json = answer["allowedUse"] if status == 200 else answer
        return found

    async def allowed(self, who: AsyncClient | None = None, *, status: int = 200) -> Json:
        path = f"{CONNECTIONS}/{VAULT}/{self.connection}/allowed-use"
        answer = await (who or self.quiet.admin).json("GET", path, status=status)
        found: Json = answer["allowedUse"] if status == 200 else answer
        return found

    async def available(self, who: AsyncClient) -> list[str]:
        answer = await who.json("GET", f"{CONNECTIONS}/{VAULT}/available", params={"projectId": self.project})
        return [one["id"] for one in answer["appConnections"]]

    async def grant(self, who: AsyncClient, *actions: str, effect: str = "allow") -> None:
        body = {
            "identityId": who.identity_id,
            "effect": effect,
            "actions": actions,
            "subjects": ["app-connections"],
            "environment": "*",
            "secretPath": "/**",
        }
        await self.quiet.admin.json("POST", f"/api/v1/projects/{self.project}/grants", json=body)


@pytest_asyncio.fixture(loop_scope="module")
async def shared(quiet: QuietService) -> Place:
    """Return a connection of the organization, for which nothing is said yet."""
    return Place(quiet, await quiet.project(), await quiet.connection())


@pytest_asyncio.fixture(loop_scope="module")
async def own(quiet: QuietService) -> Place:
    """Return a connection of a project."""
    project = await quiet.project()
    return Place(quiet, project, await quiet.connection(project_id=project))


class TestConnectionsOfTheOrganization:
    async def test_a_member_who_makes_a_project_of_its_own_does_not_come_by_them(
        self, quiet: QuietService, shared: Place
    ) -> None:
        member = await quiet.member()
        body = {"projectName": "mine", "slug": f"mine-{member.identity_id[:8]}"}
        project = (await member.json("POST", "/api/v1/projects", json=body))["project"]["id"]
        mine = Place(quiet, project, shared.connection)

        refusal = await mine.create(member, status=403)

        assert refusal["error"] == "PermissionDenied"
        assert refusal["details"][0]["action"] == "connect"
        assert refusal["details"][0]["subject"] == "app-connections"
        assert "keybearer connections allow" in refusal["message"]
        assert await mine.available(member) == []

    async def test_a_member_still_sees_them(self, quiet: QuietService, shared: Place) -> None:
        member = await quiet.member()
        answer = await member.json("GET", CONNECTIONS)
        assert shared.connection in [one["id"] for one in answer["appConnections"]]
        assert await shared.allowed(member) == {"projectIds": None, "places": None}

    async def test_an_admin_of_the_organization_uses_them_in_every_project(self, shared: Place) -> None:
        await shared.create(shared.quiet.admin)
        assert shared.connection in await shared.available(shared.quiet.admin)

    async def test_an_admin_of_a_project_is_none_of_the_organization(self, shared: Place) -> None:
        admin = await shared.member("admin")
        await shared.create(admin, status=403)
        await shared.allow(admin, status=403, projectIds=[shared.project])

    @pytest.mark.parametrize("organization_role", ["member", "no-access"])
    async def test_members_of_a_project_that_is_named_use_them_there(
        self, shared: Place, organization_role: str
    ) -> None:
        member = await shared.member(organization_role=organization_role)
        assert await shared.allow(projectIds=[shared.project]) == {
            "projectIds": [shared.project],
            "places": None,
        }

        await shared.create(member)

        assert await shared.available(member) == [shared.connection]

    async def test_viewers_of_it_do_not(self, shared: Place) -> None:
        viewer = await shared.member("viewer")
        await shared.allow(projectIds=[shared.project])
        assert await shared.available(viewer) == []

    async def test_a_list_of_projects_binds_admins_as_well(self, quiet: QuietService, shared: Place) -> None:
        other = Place(quiet, await quiet.project(), shared.connection)
        await shared.allow(projectIds=[other.project])

        refusal = await shared.create(quiet.admin, status=403)
        await other.create(quiet.admin)

        assert "may not be used in this project" in refusal["message"]
        assert shared.connection not in await shared.available(quiet.admin)

    async def test_an_empty_list_names_no_project_and_null_takes_it_away(self, shared: Place) -> None:
        assert (await shared.allow(projectIds=[]))["projectIds"] == []
        await shared.create(shared.quiet.admin, status=403)
        assert (await shared.allow(projectIds=None))["projectIds"] is None
        await shared.create(shared.quiet.admin)

    async def test_one_that_no_project_may_use_is_available_nowhere(
        self, quiet: QuietService, shared: Place
    ) -> None:
        async def is_available() -> bool:
            answer = await quiet.admin.json("GET", f"{CONNECTIONS}/{VAULT}/available")
            return shared.connection in [one["id"] for one in answer["appConnections"]]

        assert await is_available()
        await shared.allow(projectIds=[shared.project])
        assert await is_available()
        await shared.allow(projectIds=[])
        assert not await is_available()

    async def test_only_projects_of_the_organization_are_named(self, shared: Place) -> None:
        missing = "00000000-0000-4000-8000-000000000000"
        refusal = await shared.allow(status=400, projectIds=[missing])
        assert missing in refusal["message"]

    async def test_what_a_change_leaves_out_stays(self, shared: Place) -> None:
        await shared.allow(projectIds=[shared.project], places=["kv/shop/**"])
        assert await shared.allow(places=None) == {"projectIds": [shared.project], "places": None}


class TestConnectionsOfAProject:
    async def test_its_members_use_them(self, own: Place) -> None:
        member = await own.member()
        await own.create(member)
        assert await own.available(member) == [own.connection]

    async def test_to_read_is_not_to_use(self, own: Place) -> None:
        member = await own.member()
        await own.grant(member, "connect", effect="deny")

        refusal = await own.create(member, status=403)

        assert refusal["details"][0]["action"] == "connect"
        assert await own.available(member) == []
        listed = await member.json("GET", CONNECTIONS, params={"projectId": own.project})
        assert [one["id"] for one in listed["appConnections"]] == [own.connection]

    async def test_who_may_not_read_does_not_use_either(self, own: Place) -> None:
        member = await own.member()
        await own.grant(member, "read", effect="deny")
        await own.create(member, status=403)

    async def test_a_grant_lets_a_viewer_use_them(self, own: Place) -> None:
        viewer = await own.member("viewer")
        assert await own.available(viewer) == []
        await own.grant(viewer, "connect")
        assert await own.available(viewer) == [own.connection]

    async def test_they_name_no_projects(self, own: Place) -> None:
        refusal = await own.allow(status=400, projectIds=[own.project])
        assert "of a project" in refusal["message"]


@dataclass(frozen=True)
class Road:
    """A request about a sync that uses its connection."""

    method: str
    suffix: str = ""
    body: Callable[[Place, AsyncClient], Json] | None = None

    async def take(self, place: Place, who: AsyncClient, sync: Json, *, status: int) -> Json:
        path = f"{SYNCS}/{VAULT}/{sync['id']}{self.suffix}"
        options = {} if self.body is None else {"json": self.body(place, who)}
        return await who.json(self.method, path, status=status, **options)


ROADS = [
    pytest.param(
        Road("PATCH", body=lambda place, _: {"connectionId": place.connection}), id="the connection of a sync"
    ),
    pytest.param(
        Road("PATCH", body=lambda *_: {"destinationConfig": CONFIGS[VAULT]}), id="the place of a sync"
    ),
    pytest.param(Road("PATCH", body=lambda *_: {"syncOptions": OVERWRITING}), id="the options of a sync"),
    pytest.param(Road("PATCH", body=lambda *_: {"isAutoSyncEnabled": True}), id="pushes from now on"),
    pytest.param(Road("POST", "/sync-secrets"), id="a push"),
    pytest.param(Road("POST", "/import-secrets?importBehavior=prioritize-destination"), id="an import"),
    pytest.param(Road("POST", "/remove-secrets"), id="a removal"),
    pytest.param(Road("DELETE", "?removeSecrets=true"), id="a deletion that removes"),
    pytest.param(
        Road("PATCH", "/owner", lambda _, who: {"ownerId": who.identity_id}), id="the owner of a sync"
    ),
]


class TestEveryRoad:
    @pytest.mark.parametrize("road", ROADS)
    async def test_who_may_not_use_the_connection_is_refused(self, own: Place, road: Road) -> None:
        sync = await own.create(own.quiet.admin, isAutoSyncEnabled=False)
        member = await own.member()
        await own.grant(member, "connect", effect="deny")
        await road.take(own, member, sync, status=403)

    @pytest.mark.parametrize("road", ROADS)
    async def test_who_may_use_it_is_not(self, own: Place, road: Road) -> None:
        sync = await own.create(own.quiet.admin, isAutoSyncEnabled=False)
        await road.take(own, await own.member(), sync, status=200)

    @pytest.mark.parametrize("road", ROADS)
    async def test_a_place_that_the_connection_does_not_allow_is_refused_to_admins(
        self, own: Place, road: Road
    ) -> None:
        sync = await own.create(own.quiet.admin, isAutoSyncEnabled=False)
        await own.allow(places=["kv/elsewhere/**"])
        await road.take(own, await own.member("admin"), sync, status=403)

    async def test_the_name_of_a_sync_is_changed_without(self, own: Place) -> None:
        sync = await own.create(own.quiet.admin, isAutoSyncEnabled=False)
        member = await own.member()
        await own.grant(member, "connect", effect="deny")
        path = f"{SYNCS}/{VAULT}/{sync['id']}"
        await member.json("PATCH", path, json={"description": "x", "isAutoSyncEnabled": False})
        await member.json("DELETE", path)


class TestPlaces:
    async def test_a_sync_writes_only_where_the_connection_allows(self, own: Place) -> None:
        await own.allow(places=["kv/shop/**", "kv/common"])
        await own.create(own.quiet.admin, name="a", destinationConfig={"mount": "kv", "path": "shop/dev"})
        await own.create(own.quiet.admin, name="b", destinationConfig={"mount": "/kv/", "path": "common"})

        refusal = await own.create(
            own.quiet.admin,
            status=403,
            name="c",
            destinationConfig={"mount": "kv", "path": "payments/prod"},
        )

        assert 'the place "kv/payments/prod"' in refusal["message"]
        assert "keybearer connections allow" in refusal["message"]

    async def test_an_app_without_places_takes_no_such_list(self, quiet: QuietService) -> None:
        connection = await quiet.connection("idp")
        path = f"{CONNECTIONS}/idp/{connection}/allowed-use"
        refusal = await quiet.admin.json("PATCH", path, status=400, json={"places": ["x"]})
        assert "no places" in refusal["message"]

    @pytest.mark.parametrize("pattern", ["", "/", "a//b", "../x", "a/./b", "x" * 1025])
    async def test_a_pattern_that_means_nothing_is_refused(self, own: Place, pattern: str) -> None:
        await own.allow(status=422, places=[pattern])


class TestSyncsThatStop:
    """A narrower use tells of the syncs that stop by it, and of no others."""

    async def change(self, place: Place, who: AsyncClient | None = None, **changes: object) -> list[Json]:
        path = f"{CONNECTIONS}/{VAULT}/{place.connection}/allowed-use"
        answer = await (who or place.quiet.admin).json("PATCH", path, json=changes)
        stopping: list[Json] = answer["stoppingSyncs"]
        return stopping

    async def test_those_of_a_project_that_is_no_longer_named(
        self, quiet: QuietService, shared: Place
    ) -> None:
        other = Place(quiet, await quiet.project(), shared.connection)
        sync, _ = [await place.create(quiet.admin, isAutoSyncEnabled=False) for place in (shared, other)]
        told = {"id": sync["id"], "name": sync["name"], "projectId": shared.project}
        assert await self.change(shared, projectIds=[other.project]) == [told]
        assert await self.change(shared, projectIds=[other.project]) == []
        assert await self.change(shared, projectIds=None) == []

    async def test_those_whose_owners_are_no_admins_where_no_project_is_named_any_more(
        self, shared: Place
    ) -> None:
        member = await shared.member()
        await shared.allow(projectIds=[shared.project])
        theirs = await shared.create(member, name="theirs", isAutoSyncEnabled=False)
        await shared.create(shared.quiet.admin, name="ours", isAutoSyncEnabled=False)
        assert [one["id"] for one in await self.change(shared, projectIds=None)] == [theirs["id"]]

    async def test_those_at_places_that_are_no_longer_allowed(self, own: Place) -> None:
        inside, outside = [
            await own.create(
                own.quiet.admin,
                name=name,
                isAutoSyncEnabled=False,
                destinationConfig={"mount": "kv", "path": f"{name}/x"},
            )
            for name in ("inside", "outside")
        ]
        assert [one["name"] for one in await self.change(own, places=["kv/inside/**"])] == ["outside"]
        assert [one["id"] for one in await self.change(own, places=[])] == [inside["id"]]
        assert await self.change(own, places=None) == []
        assert outside["name"] == "outside"

    async def test_only_those_that_whoever_asks_may_see(self, own: Place) -> None:
        await own.create(own.quiet.admin, isAutoSyncEnabled=False)
        editor = await own.member("no-access")
        await own.grant(editor, "read", "edit")
        assert await self.change(own, editor, places=[]) == []


async def test_the_change_is_in_the_audit_log(shared: Place) -> None:
    await shared.allow(projectIds=[shared.project])
    answer = await shared.quiet.admin.json("GET", "/api/v1/organization/audit-logs?limit=50")
    events = [line["event"] for line in answer["auditLogs"]]
    assert {"type": "update-app-connection-use"} in [{"type": event["type"]} for event in events]
