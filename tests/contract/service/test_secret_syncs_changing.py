"""Secret syncs that change, are set off and go (wire.md 3.1, 3.3, 3.6), where what is queued stays queued."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from keybearer.domain.syncs.queueing import queue_look
from keybearer.store.pushes import Push
from keybearer.store.secret_syncs import JobKind, JobStatus, settled
from keybearer.store.sync_turns import Turns
from support.quiet_service import IN_ONE_LOOP, QuietService
from support.sync_bodies import CONFIGS, IMPORTING, OVERWRITING
from support.sync_house import SYNCS, House, open_house

pytestmark = [IN_ONE_LOOP, pytest.mark.every_database]


@pytest_asyncio.fixture(loop_scope="module")
async def house(quiet: QuietService) -> House:
    return await open_house(quiet)


VAULT = "hashicorp-vault"
BUSY = "A job for this sync is already in progress. Please try again shortly."
GONE = "Invalid source configuration: folder no longer exists. Please configure a valid source and try again."
IMPORT = "import-secrets?importBehavior=prioritize-source"


async def run(quiet: QuietService, sync: dict[str, Any]) -> None:
    """Claim what waits for the sync, as the engine of some process does."""
    now = quiet.database.clock.now()
    async with quiet.database.writing() as unit:
        claimed = await unit.sync_claims.claim(
            str(uuid4()),
            now=now,
            lease=timedelta(minutes=5),
            limit=1000,
            per_connection=5,
            turns=Turns(1000),
        )
        assert sync["id"] in {job.sync_id for job in claimed}


async def finish(quiet: QuietService, sync: dict[str, Any]) -> None:
    """Take all jobs of the sync away, as if they were done."""
    async with quiet.database.writing() as unit:
        for job in await unit.sync_jobs.of_syncs([sync["id"]]):
            if not job.is_running:
                continue
            await unit.sync_jobs.finish(job)
        await unit.secret_syncs.move([sync["id"]], JobKind.SYNC, {"status": JobStatus.SUCCEEDED})


async def settle(quiet: QuietService, sync: dict[str, Any]) -> None:
    """Have the sync look as after a run that ended well."""
    await run(quiet, sync)
    await finish(quiet, sync)
    async with quiet.database.writing() as unit:
        await unit.pushes.note(sync["id"], [Push("A", b"digest", "1")])
        known = settled(b"s", {"p": 1}, quiet.database.clock.now())
        await unit.secret_syncs.end(sync["id"], JobKind.SYNC, {"status": JobStatus.SUCCEEDED}, known)


async def known(quiet: QuietService, sync: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Return whether names that were pushed, the state of the remote, and what was carried are known."""
    async with quiet.database.reading() as unit:
        pushed = bool(await unit.pushes.of_sync(sync["id"]))
    stored = await quiet.stored(sync["id"])
    assert stored is not None
    record = stored.record
    assert (record.source_digest is None) == (not record.reached)
    return pushed, record.is_settled and record.listed_at is not None, record.source_digest is not None


async def left(quiet: QuietService, sync: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names that are still to be removed at former places, by connection."""
    async with quiet.database.reading() as unit:
        return {
            place.connection_id: sorted(await unit.former_places.pushes(place.id))
            for place in await unit.former_places.of_sync(sync["id"])
        }


class TestChanging:
    async def test_only_what_is_given_changes(self, house: House) -> None:
        sync = await house.create(description="d")
        changed = await house.patch(sync, name="Renamed")
        assert changed == {
            **sync,
            "name": "renamed",
            "version": 2,
            "updatedAt": changed["updatedAt"],
        }
        assert (await house.patch(sync, description=None))["description"] is None
        assert (await house.patch(sync, description="e", name=None, connectionId=None))["description"] == "e"
        assert (await house.get(sync))["version"] == 4

    async def test_everything_can_change_but_the_project(self, house: House) -> None:
        sync = await house.create()
        folder = await house.quiet.folder(house.project, "/shop", "prod")
        connection = await house.quiet.connection()
        changed = await house.patch(
            sync,
            projectId=await house.quiet.project(),
            connectionId=connection,
            environment="prod",
            secretPath="/shop/",
            isAutoSyncEnabled=False,
            syncOptions=IMPORTING,
            destinationConfig={"mount": "other", "path": "there"},
        )
        assert changed["projectId"] == house.project
        assert changed["connection"]["id"] == connection
        assert changed["environment"]["slug"] == "prod"
        assert changed["folder"] == {"id": folder, "path": "/shop"}
        assert changed["isAutoSyncEnabled"] is False
        assert changed["syncOptions"] == IMPORTING
        assert changed["destinationConfig"] == {"mount": "other", "path": "there"}

    async def test_environment_and_path_change_by_themselves(self, house: House) -> None:
        for environment in ("dev", "prod"):
            await house.quiet.folder(house.project, "/a", environment)
        sync = await house.create(secretPath="/a")
        assert (await house.patch(sync, environment="prod"))["folder"]["path"] == "/a"
        moved = await house.patch(sync, secretPath="/")
        assert (moved["environment"]["slug"], moved["folder"]["path"]) == ("prod", "/")

    async def test_the_rules_of_creation_hold(self, house: House) -> None:
        sync = await house.create()
        await house.create(name="taken")
        other = await house.quiet.connection("codehost")
        refusals: list[tuple[dict[str, Any], int]] = [
            ({"name": "taken"}, 400),
            ({"connectionId": other}, 400),
            ({"connectionId": str(uuid4())}, 404),
            ({"secretPath": "/nowhere"}, 400),
            ({"syncOptions": {}}, 422),
            ({"syncOptions": {**OVERWRITING, "recursive": True}}, 422),
            ({"destinationConfig": {"mount": "m"}}, 422),
            ({"destinationConfig": {"mount": "m", "path": "p", "other": 1}}, 422),
            ({"name": "a b"}, 422),
        ]
        for changes, status in refusals:
            await house.patch(sync, **changes, status=status)
        assert await house.get(sync) == sync
        assert (await house.patch(sync, name=sync["name"]))["version"] == 2

    async def test_options_and_configuration_must_go_together(self, house: House) -> None:
        many = {"region": "eu-west-1", "mappingBehavior": "many-to-one", "secretName": "all"}
        tagging = {**OVERWRITING, "syncSecretMetadataAsTags": True}
        told = 'Syncing secret metadata is not supported with "Many-to-One" mapping behavior.'
        at_once = await house.create(
            "cloud-secrets-manager", destinationConfig=many, syncOptions=tagging, status=422
        )
        assert at_once["message"][0]["message"] == told
        sync = await house.create("cloud-secrets-manager", syncOptions=tagging)
        later = await house.patch(sync, destinationConfig=many, status=422)
        assert later["message"][0]["message"] == told
        await house.patch(sync, destinationConfig=many, syncOptions=OVERWRITING)
        await house.patch(sync, syncOptions=tagging, status=422)

    async def test_with_auto_sync_a_change_queues_a_run(self, house: House) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        assert (await house.patch(sync, description="d"))["syncStatus"] is None
        assert await house.quiet.jobs(sync["id"]) == []
        assert (await house.patch(sync, isAutoSyncEnabled=True))["syncStatus"] == "pending"
        assert (await house.patch(sync, isAutoSyncEnabled=False))["syncStatus"] == "pending"
        (job,) = await house.quiet.jobs(sync["id"])
        assert job.kind == "sync"

    @pytest.mark.parametrize(
        ("changes", "left"),
        [
            pytest.param({"description": "d", "name": "n"}, (True, True, True), id="a name"),
            pytest.param(
                {
                    "syncOptions": OVERWRITING,
                    "destinationConfig": CONFIGS[VAULT],
                    "environment": "dev",
                    "secretPath": "/",
                },
                (True, True, True),
                id="everything as it was",
            ),
            pytest.param({"environment": "prod"}, (True, True, False), id="another source"),
            pytest.param(
                {"syncOptions": {**OVERWRITING, "disableSecretDeletion": True}},
                (True, False, False),
                id="whether names are removed",
            ),
            pytest.param({"syncOptions": IMPORTING}, (True, False, False), id="another beginning"),
            pytest.param(
                {"syncOptions": {**OVERWRITING, "keySchema": "X_{{secretKey}}"}},
                (True, False, False),
                id="other names",
            ),
            pytest.param(
                {"destinationConfig": {"mount": "kv", "path": "elsewhere"}},
                (False, False, False),
                id="another place",
            ),
        ],
    )
    async def test_what_is_known_of_the_remote_stays_where_it_still_holds(
        self, house: House, changes: dict[str, Any], left: tuple[bool, bool, bool]
    ) -> None:
        sync = await house.create()
        await settle(house.quiet, sync)
        assert await known(house.quiet, sync) == (True, True, True)
        await house.patch(sync, **changes)
        assert await known(house.quiet, sync) == left

    async def test_over_another_connection_nothing_is_known(self, house: House) -> None:
        sync = await house.create()
        await settle(house.quiet, sync)
        connection = await house.quiet.connection()
        await house.patch(sync, connectionId=connection)
        assert await known(house.quiet, sync) == (False, False, False)
        (job,) = await house.quiet.jobs(sync["id"])
        assert job.connection_id == connection

    async def test_how_something_is_written_at_the_same_place_can_change_without_forgetting_what_was(
        self, house: House
    ) -> None:
        place = {"scope": "organization", "org": "o"}
        sync = await house.create("codehost", destinationConfig={**place, "visibility": "all"})
        await settle(house.quiet, sync)
        await house.patch(sync, destinationConfig={**place, "visibility": "private"})
        assert await known(house.quiet, sync) == (True, False, False)
        assert await left(house.quiet, sync) == {}

    async def test_what_was_pushed_to_a_former_place_is_kept_for_its_removal_and_so_is_the_connection(
        self, house: House
    ) -> None:
        former = await house.quiet.connection()
        sync = await house.create(connectionId=former)
        await settle(house.quiet, sync)
        place = {"mount": "kv", "path": "elsewhere"}
        await house.patch(sync, connectionId=house.connection, destinationConfig=place)
        assert await left(house.quiet, sync) == {former: ["A"]}
        route = f"/api/v1/app-connections/hashicorp-vault/{former}"
        refused = await house.quiet.admin.json("DELETE", route, status=400)
        assert refused["message"] == (
            "Cannot delete App Connection with existing connections. "
            "Remove all existing connections and try again."
        )
        # Who doesn't want it removed says so.
        await house.patch(sync, syncOptions={**OVERWRITING, "disableSecretDeletion": True})
        assert await left(house.quiet, sync) == {}
        await house.quiet.admin.json("DELETE", route)

    async def test_a_project_goes_with_what_its_syncs_left(self, house: House) -> None:
        project = (await house.beside()).project
        former = await house.quiet.connection(project_id=project)
        sync = await house.create(projectId=project, connectionId=former)
        await settle(house.quiet, sync)
        await house.patch(sync, connectionId=house.connection)
        assert await left(house.quiet, sync) == {former: ["A"]}
        await house.quiet.admin.json("DELETE", f"/api/v1/projects/{project}")
        assert await left(house.quiet, sync) == {}

    async def test_nothing_is_kept_from_anybody_by_a_look(self, house: House) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        stored = await house.quiet.stored(sync["id"])
        assert stored is not None
        async with house.quiet.database.writing() as unit:
            now = house.quiet.database.clock.now()
            await queue_look(unit, stored, now, now)
        await run(house.quiet, sync)
        await house.patch(sync, syncOptions=IMPORTING)
        assert (await house.ask(sync, "sync-secrets"))["syncStatus"] == "pending"

    async def test_what_is_pushed_does_not_change_during_a_run(self, house: House) -> None:
        sync = await house.create()
        await run(house.quiet, sync)
        for changes in (
            {"destinationConfig": {"mount": "m", "path": "p"}},
            {"syncOptions": IMPORTING},
            {"environment": "prod"},
            {"secretPath": "/"},
            {"connectionId": house.connection},
        ):
            assert (await house.patch(sync, **changes, status=400))["message"] == BUSY
        assert (await house.patch(sync, description="d"))["syncStatus"] == "pending"
        assert [job.is_running for job in await house.quiet.jobs(sync["id"])] in (
            [True, False],
            [False, True],
        )

    async def test_of_two_that_take_a_name_at_once_one_is_refused(self, house: House) -> None:
        syncs = [await house.create(name=f"s{number}") for number in range(4)]
        body = {"name": "wanted"}
        answers = await asyncio.gather(
            *(house.quiet.admin.request("PATCH", house.path(sync), json=body) for sync in syncs)
        )
        assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]

    async def test_of_two_that_are_made_at_once_under_a_name_one_is_refused(self, house: House) -> None:
        outcomes = await asyncio.gather(
            *(house.create(name="wanted") for _ in range(4)), return_exceptions=True
        )
        refused = [outcome for outcome in outcomes if isinstance(outcome, AssertionError)]
        assert len(refused) == 3
        assert all("400" in str(outcome) and "already exists" in str(outcome) for outcome in refused)


class TestAsking:
    @pytest.mark.parametrize(
        ("what", "kind", "field"),
        [
            ("sync-secrets", "sync", "syncStatus"),
            (IMPORT, "import", "importStatus"),
            ("remove-secrets", "remove", "removeStatus"),
        ],
    )
    async def test_what_is_asked_for_is_queued(self, house: House, what: str, kind: str, field: str) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        asked = await house.ask(sync, what)
        assert asked == {**sync, field: "pending"}
        assert await house.ask(sync, what) == asked
        (job,) = await house.quiet.jobs(sync["id"])
        assert (job.kind, job.is_running) == (kind, False)

    async def test_a_run_that_is_asked_for_looks_at_the_remote(self, house: House) -> None:
        sync = await house.create()
        await settle(house.quiet, sync)
        await house.ask(sync, "sync-secrets")
        stored = await house.quiet.stored(sync["id"])
        assert stored is not None
        assert stored.record.listed_at is None

    @pytest.mark.parametrize("behavior", ["prioritize-source", "prioritize-destination"])
    async def test_the_newest_behavior_of_an_import_counts(self, house: House, behavior: str) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        await house.ask(sync, IMPORT)
        await house.ask(sync, f"import-secrets?importBehavior={behavior}")
        (job,) = await house.quiet.jobs(sync["id"])
        assert job.parameters == {"importBehavior": behavior}

    @pytest.mark.parametrize("query", ["", "?importBehavior=", "?importBehavior=other"])
    async def test_an_import_needs_a_behavior(self, house: House, query: str) -> None:
        sync = await house.create()
        refusal = await house.ask(sync, f"import-secrets{query}", status=422)
        assert refusal["message"][0]["path"] == ["importBehavior"]

    async def test_what_can_not_be_read_is_not_imported(self, house: House) -> None:
        sync = await house.create("codehost")
        refusal = await house.ask(sync, IMPORT, status=400)
        assert refusal["message"] == "GitHub does not support importing secrets."

    @pytest.mark.parametrize("what", ["sync-secrets", IMPORT, "remove-secrets"])
    async def test_nothing_is_queued_while_a_job_runs(self, house: House, what: str) -> None:
        sync = await house.create()
        await run(house.quiet, sync)
        assert (await house.ask(sync, what, status=400))["message"] == BUSY
        await finish(house.quiet, sync)
        await house.ask(sync, what)

    async def test_nothing_is_there_to_ask(self, house: House) -> None:
        sync = {"destination": "gitlab", "id": str(uuid4())}
        for what in ("sync-secrets", IMPORT, "remove-secrets"):
            refusal = await house.ask(sync, what, status=404)
            assert refusal["message"] == f'Could not find GitLab Sync with ID "{sync["id"]}"'


class TestGoing:
    async def test_a_sync_goes_at_once_with_its_jobs_and_its_ledger(self, house: House) -> None:
        sync = await house.create()
        await settle(house.quiet, sync)
        await house.ask(sync, "sync-secrets")
        deleted = await house.delete(sync)
        assert deleted["id"] == sync["id"]
        assert await house.quiet.stored(sync["id"]) is None
        assert await house.quiet.jobs(sync["id"]) == []
        async with house.quiet.database.reading() as unit:
            assert await unit.pushes.of_sync(sync["id"]) == {}
        await house.delete(sync, status=404)

    async def test_a_sync_goes_during_a_run(self, house: House) -> None:
        sync = await house.create()
        await run(house.quiet, sync)
        await house.delete(sync)
        assert await house.quiet.jobs(sync["id"]) == []

    async def test_with_its_secrets_it_stays_until_they_are_removed(self, house: House) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        deleted = await house.delete(sync, remove_secrets=True)
        assert deleted == {**sync, "removeStatus": "pending"}
        assert await house.get(sync) == deleted
        (job,) = await house.quiet.jobs(sync["id"])
        assert (job.kind, job.parameters) == ("remove", {"deletesSync": True})

    async def test_a_removal_that_is_asked_for_later_deletes_it_none_the_less(self, house: House) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        await house.ask(sync, "remove-secrets")
        assert [job.parameters for job in await house.quiet.jobs(sync["id"])] == [{"deletesSync": False}]
        await house.delete(sync, remove_secrets=True)
        await house.ask(sync, "remove-secrets")
        assert [job.parameters for job in await house.quiet.jobs(sync["id"])] == [{"deletesSync": True}]

    async def test_its_secrets_are_not_removed_while_a_job_runs(self, house: House) -> None:
        sync = await house.create()
        await run(house.quiet, sync)
        assert (await house.delete(sync, remove_secrets=True, status=400))["message"] == BUSY
        assert await house.get(sync)

    @pytest.mark.parametrize("text", ["true", "1", "yes"])
    async def test_a_query_says_so_in_several_ways(self, house: House, text: str) -> None:
        sync = await house.create()
        path = f"{house.path(sync)}?removeSecrets={text}"
        deleted = (await house.quiet.admin.json("DELETE", path))["secretSync"]
        assert deleted["removeStatus"] == "pending"

    async def test_a_project_goes_with_its_syncs_and_its_connections(self, house: House) -> None:
        own = await house.quiet.connection(project_id=house.project)
        syncs = [await house.create(name="a"), await house.create(name="b", connectionId=own)]
        await settle(house.quiet, syncs[1])
        await house.ask(syncs[1], "sync-secrets")
        await house.quiet.admin.json("DELETE", f"/api/v1/projects/{house.project}")
        for sync in syncs:
            assert await house.quiet.stored(sync["id"]) is None
            assert await house.quiet.jobs(sync["id"]) == []
        async with house.quiet.database.reading() as unit:
            assert await unit.app_connections.get(own) is None
            assert await unit.app_connections.get(house.connection) is not None


class TestSourcesThatGo:
    async def test_a_renamed_folder_and_environment_keep_the_sync(self, house: House) -> None:
        folder = await house.quiet.folder(house.project, "/old")
        sync = await house.create(secretPath="/old")
        admin = house.quiet.admin
        at = {"projectId": house.project, "environment": "dev"}
        await admin.json("PATCH", f"/api/v2/folders/{folder}", json={**at, "name": "new"})
        environment = f"/api/v1/projects/{house.project}/environments/{sync['environment']['id']}"
        await admin.json("PATCH", environment, json={"slug": "develop", "name": "Development 2"})
        found = await house.get(sync)
        assert found["folder"] == {"id": folder, "path": "/new"}
        assert found["environment"] == {
            "slug": "develop",
            "name": "Development 2",
            "id": sync["environment"]["id"],
        }

    @pytest.mark.parametrize("what", ["folder", "environment"])
    async def test_without_its_folder_a_sync_stays_and_does_nothing(self, house: House, what: str) -> None:
        folder = await house.quiet.folder(house.project, "/gone")
        sync = await house.create(secretPath="/gone", isAutoSyncEnabled=False)
        if what == "folder":
            at = {"projectId": house.project, "environment": "dev"}
            await house.quiet.admin.json("DELETE", f"/api/v2/folders/{folder}", json=at)
        else:
            environment = sync["environment"]["id"]
            path = f"/api/v1/projects/{house.project}/environments/{environment}"
            await house.quiet.admin.json("DELETE", path)
        found = await house.get(sync)
        assert (found["folderId"], found["folder"], found["environment"]) == (None, None, None)
        for asked in ("sync-secrets", IMPORT, "remove-secrets"):
            assert (await house.ask(sync, asked, status=400))["message"] == GONE
        assert (await house.delete(sync, remove_secrets=True, status=400))["message"] == GONE
        half = await house.patch(sync, secretPath="/", status=400)
        assert half["message"] == "Must specify both source environment and secret path"
        assert (await house.patch(sync, isAutoSyncEnabled=True))["syncStatus"] is None
        assert (await house.patch(sync, syncOptions=OVERWRITING))["folder"] is None
        back = await house.patch(sync, environment="prod", secretPath="/")
        assert (back["environment"]["slug"], back["syncStatus"]) == ("prod", "pending")
        await house.delete(sync)


class TestPlaces:
    async def check(self, house: House, config: dict[str, Any], **more: object) -> dict[str, Any]:
        body = {"projectId": house.project, "destinationConfig": config, **more}
        return await house.quiet.admin.json("POST", f"{SYNCS}/{VAULT}/check-destination", json=body)

    async def test_another_sync_to_a_place_is_found(self, house: House) -> None:
        config = {"mount": "kv", "path": house.project}
        assert await self.check(house, config) == {"hasDuplicate": False}
        sync = await house.create(destinationConfig=config)
        found = {"hasDuplicate": True, "duplicateProjectId": house.project}
        assert await self.check(house, config) == found
        assert await self.check(house, {"mount": "/kv/", "path": house.project}) == found
        assert await self.check(house, {"mount": "kv2", "path": house.project}) == {"hasDuplicate": False}
        assert await self.check(house, config, excludeSyncId=sync["id"]) == {"hasDuplicate": False}
        assert await self.check(house, config, connectionId=house.connection) == found
        other = await house.quiet.connection()
        assert await self.check(house, config, connectionId=other) == {"hasDuplicate": False}
        await house.patch(sync, destinationConfig={"mount": "kv", "path": "moved"})
        assert await self.check(house, config) == {"hasDuplicate": False}

    async def test_the_asked_project_is_told_before_others(self, house: House) -> None:
        config = {"mount": "kv", "path": house.project}
        other = await house.beside()
        await other.create(destinationConfig=config)
        assert (await self.check(house, config))["duplicateProjectId"] == other.project
        await house.create(destinationConfig=config)
        assert (await self.check(house, config))["duplicateProjectId"] == house.project
        assert (await self.check(other, config))["duplicateProjectId"] == other.project

    async def test_a_project_that_is_hidden_is_not_told(self, house: House) -> None:
        config = {"mount": "kv", "path": house.project}
        other = await house.beside()
        await other.create(destinationConfig=config)
        viewer = await house.quiet.member({house.project: "viewer"})
        body = {"projectId": house.project, "destinationConfig": config}
        answer = await viewer.json("POST", f"{SYNCS}/{VAULT}/check-destination", json=body)
        assert answer == {"hasDuplicate": True}

    async def test_a_place_that_can_not_be_is_refused(self, house: House) -> None:
        body = {"projectId": house.project, "destinationConfig": {"mount": "kv"}}
        path = f"{SYNCS}/{VAULT}/check-destination"
        await house.quiet.admin.json("POST", path, json=body, status=422)
        unknown = {"projectId": str(uuid4()), "destinationConfig": CONFIGS[VAULT]}
        await house.quiet.admin.json("POST", path, json=unknown, status=404)
