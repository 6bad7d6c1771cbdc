"""Secret syncs as they are made, seen, changed and deleted (interface.md 2.1, 4.1 and 4.2, wire.md 3.1 to 3.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from keybearer.destinations.catalogue import CATALOGUE
from keybearer.destinations.form import UnbuiltDestination
from keybearer.wire.limits import SECRET_SYNCS_MAX
from support.quiet_service import IN_ONE_LOOP, QuietService
from support.strict_syncs import OFFERED, expected_options
from support.sync_bodies import CONFIGS, IMPORTING, OVERWRITING, app_of, new_sync
from support.sync_house import House, open_house

pytestmark = IN_ONE_LOOP


@pytest_asyncio.fixture(loop_scope="module")
async def house(quiet: QuietService) -> House:
    return await open_house(quiet)


ROOT = "/api/v1/secret-syncs"
UNKNOWN = "00000000-0000-4000-8000-000000000000"
VAULT = "hashicorp-vault"


class TestMaking:
    @pytest.mark.every_database
    @pytest.mark.parametrize("destination", [model.name for model in CATALOGUE.kinds])
    async def test_a_sync_can_be_made_to_every_destination_with_a_driver(
        self, house: House, destination: str
    ) -> None:
        sync = await house.create(destination)
        assert sync["destination"] == destination
        assert sync["connection"]["app"] == app_of(destination)
        assert sync["syncOptions"] == OVERWRITING
        assert CONFIGS[destination].items() <= sync["destinationConfig"].items()

    @pytest.mark.every_database
    async def test_a_sync_tells_all_its_fields(self, house: House) -> None:
        folder = await house.quiet.folder(house.project, "/shop")
        options = {**IMPORTING, "keySchema": "{{environment}}_{{secretKey}}", "disableSecretDeletion": True}
        sync = await house.create(
            name=" My-Sync ", description="d", secretPath="/shop/", syncOptions=options, environment="DEV"
        )
        assert sync["name"] == "my-sync"
        assert sync["description"] == "d"
        assert sync["isAutoSyncEnabled"] is True
        assert sync["version"] == 1
        assert sync["projectId"] == house.project
        assert sync["folderId"] == folder
        assert sync["folder"] == {"id": folder, "path": "/shop"}
        assert (sync["environment"]["slug"], sync["environment"]["name"]) == ("dev", "Development")
        assert sync["connectionId"] == house.connection == sync["connection"]["id"]
        assert sync["syncOptions"] == options
        assert sync["createdAt"] == sync["updatedAt"]

    @pytest.mark.every_database
    async def test_with_auto_sync_the_first_run_is_queued(self, house: House) -> None:
        sync = await house.create()
        assert sync["syncStatus"] == "pending"
        assert (sync["lastSyncJobId"], sync["lastSyncedAt"]) == (None, None)
        (job,) = await house.quiet.jobs(sync["id"])
        assert (job.kind, job.is_running, job.connection_id) == ("sync", False, house.connection)

    @pytest.mark.every_database
    async def test_without_auto_sync_nothing_is_queued(self, house: House) -> None:
        sync = await house.create(isAutoSyncEnabled=False)
        assert (sync["isAutoSyncEnabled"], sync["syncStatus"]) == (False, None)
        assert await house.quiet.jobs(sync["id"]) == []

    @pytest.mark.every_database
    async def test_a_name_is_taken_once_in_a_project(self, house: House) -> None:
        await house.create(name="twice")
        refusal = await house.create("codehost", name="TWICE", status=400)
        assert refusal["message"] == (
            f'A Secret Sync with the name "twice" already exists for the project with ID "{house.project}"'
        )
        other = await house.beside()
        await other.create(name="twice")

    @pytest.mark.every_database
    async def test_a_project_has_only_so_many(self, house: House) -> None:
        first = await house.quiet.stored((await house.create(name="first"))["id"])
        assert first is not None
        async with house.quiet.database.writing() as unit:
            for number in range(SECRET_SYNCS_MAX - 2):
                await unit.secret_syncs.add(replace(first.record, id=str(uuid4()), name=f"s{number}"))
        await house.create(name="last")
        refusal = await house.create(name="too-many", status=400)
        assert refusal["message"] == f"A project has at most {SECRET_SYNCS_MAX} secret syncs"
        params = {"projectId": house.project}
        listed = (await house.quiet.admin.json("GET", ROOT, params=params))["secretSyncs"]
        assert len(listed) == SECRET_SYNCS_MAX

    @pytest.mark.every_database
    async def test_a_destination_without_a_driver_is_refused(self, house: House) -> None:
        driven = {model.name for model in CATALOGUE.kinds}
        undriven = [(title, name) for title, _, name, _ in OFFERED if name not in driven]
        assert len(undriven) == len(OFFERED) - len(driven)
        for title, name in undriven:
            for method, path in (
                ("POST", name),
                ("PATCH", f"{name}/{UNKNOWN}"),
                ("POST", f"{name}/check-destination"),
            ):
                refusal = await house.quiet.admin.json(method, f"{ROOT}/{path}", status=400, json={})
                assert refusal["message"].startswith(f"{title} is not supported yet"), path

    async def test_a_connection_to_the_app_of_such_a_destination_is_refused_with_that_reason(
        self, house: House
    ) -> None:
        offered = {one.connection for one in CATALOGUE.destinations if isinstance(one, UnbuiltDestination)}
        for app in sorted(offered - {one.name for one in CATALOGUE.apps}):
            body = {"name": "one", "method": "api-token", "credentials": {}}
            path = f"/api/v1/app-connections/{app}"
            refusal = await house.quiet.admin.json("POST", path, status=400, json=body)
            assert "is not supported yet: this version can't push to it" in refusal["message"], app
        await house.quiet.admin.json("POST", "/api/v1/app-connections/nowhere", status=404, json={})

    @pytest.mark.every_database
    async def test_an_unknown_destination_is_an_unknown_route(self, house: House) -> None:
        for method, path in (("POST", ""), ("GET", ""), ("GET", f"/{UNKNOWN}"), ("PATCH", f"/{UNKNOWN}")):
            params = {"projectId": house.project}
            refusal = await house.quiet.admin.json(
                method, f"{ROOT}/nowhere{path}", status=404, params=params, json={}
            )
            assert refusal["message"] == f"Route {method}:{ROOT}/nowhere{path} not found"

    @pytest.mark.every_database
    @pytest.mark.parametrize(
        ("environment", "path"), [("dev", "/nowhere"), ("nowhere", "/"), ("nowhere", "/nowhere")]
    )
    async def test_the_source_must_be_there(self, house: House, environment: str, path: str) -> None:
        refusal = await house.create(environment=environment, secretPath=path, status=400)
        assert refusal["message"] == (
            f'Could not find folder with path "{path}" in environment "{environment}" '
            f'for project with ID "{house.project}"'
        )

    @pytest.mark.every_database
    async def test_the_connection_must_be_of_the_app_of_the_destination(self, house: House) -> None:
        refusal = await house.create("codehost", connectionId=house.connection, status=400)
        assert refusal["message"] == (
            'GitHub Syncs need a connection of App "codehost"; '
            f'App Connection with ID {house.connection} is for App "hashicorp-vault"'
        )

    @pytest.mark.every_database
    async def test_the_connection_must_be_of_the_organization(self, house: House) -> None:
        other = await house.quiet.other_organization()
        foreign = await house.quiet.connection(organization_id=other)
        for connection in (UNKNOWN, foreign):
            refusal = await house.create(connectionId=connection, status=404)
            assert refusal["message"] == f"Could not find App Connection with ID {connection}"

    @pytest.mark.every_database
    async def test_a_connection_of_a_project_is_used_only_there(self, house: House) -> None:
        own = await house.quiet.connection(project_id=house.project)
        elsewhere = await house.quiet.connection(project_id=await house.quiet.project())
        assert (await house.create(connectionId=own))["connectionId"] == own
        refusal = await house.create(name="other", connectionId=elsewhere, status=403)
        assert "belongs to another project" in refusal["message"]


class TestForms:
    """What a schema forbids is answered 422, and names the field."""

    @pytest.mark.every_database
    @pytest.mark.parametrize(
        ("changes", "path"),
        [
            pytest.param({"name": "a b"}, ["name"], id="a name that is no slug"),
            pytest.param({"name": "a--b"}, ["name"], id="two hyphens in a name"),
            pytest.param({"name": None}, ["name"], id="no name"),
            pytest.param({"projectId": ""}, ["projectId"], id="an empty project"),
            pytest.param({"connectionId": "c"}, ["connectionId"], id="a connection that is no uuid"),
            pytest.param({"environment": "a b"}, ["environment"], id="an environment that is no slug"),
            pytest.param({"secretPath": ""}, ["secretPath"], id="an empty path"),
            pytest.param({"isAutoSyncEnabled": "yes"}, ["isAutoSyncEnabled"], id="a flag as text"),
            pytest.param({"syncOptions": {}}, ["syncOptions", "initialSyncBehavior"], id="no behavior"),
            pytest.param(
                {"syncOptions": {"initialSyncBehavior": "other"}},
                ["syncOptions", "initialSyncBehavior"],
                id="an unknown behavior",
            ),
            pytest.param(
                {"syncOptions": {**OVERWRITING, "recursive": True}},
                ["syncOptions", "recursive"],
                id="an unknown option",
            ),
            pytest.param(
                {"destinationConfig": {**CONFIGS[VAULT], "other": 1}},
                ["destinationConfig", "other"],
                id="an unknown part of the configuration",
            ),
            pytest.param({"destinationConfig": None}, ["destinationConfig"], id="no configuration"),
        ],
    )
    async def test_a_field_of_another_form_is_refused(
        self, house: House, changes: dict[str, Any], path: list[str]
    ) -> None:
        refusal = await house.create(**changes, status=422)
        assert path in [issue["path"] for issue in refusal["message"]]

    @pytest.mark.every_database
    async def test_unknown_fields_of_the_body_itself_are_ignored(self, house: House) -> None:
        await house.create(App="vault", ID="x")

    @pytest.mark.every_database
    @pytest.mark.parametrize(
        "schema",
        [
            " ",
            "{{environment}}",
            "{{secretKey}}{{secretKey}}",
            "{{environment}}{{secretKey}}{{environment}}",
            "a b{{secretKey}}",
            "{{secretkey}}",
            "{secretKey}",
            "{{secretKey}}.",
        ],
    )
    async def test_a_key_schema_of_another_form_is_refused(self, house: House, schema: str) -> None:
        options = {**OVERWRITING, "keySchema": schema}
        refusal = await house.create(syncOptions=options, status=422)
        (issue,) = refusal["message"]
        assert issue["path"] == ["syncOptions", "keySchema"]
        assert issue["message"].startswith("Key schema must include exactly one {{secretKey}} placeholder.")

    @pytest.mark.every_database
    @pytest.mark.parametrize(
        "schema", ["{{secretKey}}", "{{environment}}/{{secretKey}}", "a_B-1/{{secretKey}}_{{environment}}"]
    )
    async def test_a_key_schema_can_be_given(self, house: House, schema: str) -> None:
        sync = await house.create(syncOptions={**OVERWRITING, "keySchema": schema})
        assert sync["syncOptions"]["keySchema"] == schema

    @pytest.mark.every_database
    @pytest.mark.parametrize("destination", [model.name for model in CATALOGUE.kinds])
    async def test_only_destinations_that_can_be_read_take_what_they_hold(
        self, house: House, destination: str
    ) -> None:
        can_import = next(flag for _, _, name, flag in OFFERED if name == destination)
        for behavior in ("import-prioritize-source", "import-prioritize-destination"):
            options = {"initialSyncBehavior": behavior}
            answer = await house.create(
                destination, name=behavior, syncOptions=options, status=200 if can_import else 422
            )
            if can_import:
                assert answer["syncOptions"] == options
            else:
                assert answer["message"][0]["path"] == ["syncOptions", "initialSyncBehavior"]

    @pytest.mark.every_database
    @pytest.mark.parametrize("destination", [model.name for model in CATALOGUE.kinds])
    async def test_terraform_names_no_key_schema_by_an_empty_text(
        self, house: House, destination: str
    ) -> None:
        options = {**OVERWRITING, "disableSecretDeletion": False, "keySchema": ""}
        sync = await house.create(destination, description="", syncOptions=options)
        assert sync["syncOptions"] == {**OVERWRITING, "disableSecretDeletion": False}
        changed = await house.patch(sync, syncOptions={**options, "keySchema": "A_{{secretKey}}"})
        assert changed["syncOptions"]["keySchema"] == "A_{{secretKey}}"
        again = await house.patch(changed, description="", syncOptions=options)
        assert again["syncOptions"] == sync["syncOptions"]

    @pytest.mark.every_database
    async def test_a_flag_that_is_null_counts_as_absent(self, house: House) -> None:
        options = {**OVERWRITING, "keySchema": None, "disableSecretDeletion": None}
        assert (await house.create(syncOptions=options))["syncOptions"] == OVERWRITING


class TestSeeing:
    @pytest.mark.every_database
    async def test_lists_are_sorted_by_name_and_may_be_of_one_destination(self, house: House) -> None:
        for destination, name in (("codehost", "b"), (VAULT, "c"), (VAULT, "a")):
            await house.create(destination, name=name)
        admin, params = house.quiet.admin, {"projectId": house.project}
        listed = (await admin.json("GET", ROOT, params=params))["secretSyncs"]
        assert [(sync["name"], sync["destination"]) for sync in listed] == [
            ("a", VAULT),
            ("b", "codehost"),
            ("c", VAULT),
        ]
        of_one = (await admin.json("GET", f"{ROOT}/{VAULT}", params=params))["secretSyncs"]
        assert of_one == [listed[0], listed[2]]
        assert (await admin.json("GET", f"{ROOT}/1password", params=params))["secretSyncs"] == []

    @pytest.mark.every_database
    async def test_a_list_needs_a_project(self, house: House) -> None:
        for path in (ROOT, f"{ROOT}/{VAULT}", f"{ROOT}/{VAULT}/sync-name/a"):
            for query in ("", "?projectId="):
                refusal = await house.quiet.admin.json("GET", f"{path}{query}", status=422)
                assert refusal["message"][0]["path"] == ["projectId"]
        await house.quiet.admin.json("GET", f"{ROOT}?projectId={UNKNOWN}", status=404)

    @pytest.mark.every_database
    async def test_one_is_found_by_id_and_by_name(self, house: House) -> None:
        sync = await house.create(name="one")
        admin, params = house.quiet.admin, {"projectId": house.project}
        assert await admin.json("GET", f"{ROOT}/{VAULT}/{sync['id']}") == {"secretSync": sync}
        assert await admin.json("GET", f"{ROOT}/{VAULT}/sync-name/one", params=params) == {"secretSync": sync}

    @pytest.mark.every_database
    async def test_what_is_not_there_is_told(self, house: House) -> None:
        admin, params = house.quiet.admin, {"projectId": house.project}
        refusal = await admin.json("GET", f"{ROOT}/codehost/{UNKNOWN}", status=404)
        assert refusal["message"] == f'Could not find GitHub Sync with ID "{UNKNOWN}"'
        refusal = await admin.json("GET", f"{ROOT}/codehost/sync-name/none", status=404, params=params)
        assert refusal["message"] == 'Could not find GitHub Sync with name "none"'

    @pytest.mark.every_database
    async def test_a_sync_is_found_below_its_own_destination_only(self, house: House) -> None:
        sync = await house.create(name="one")
        admin, params = house.quiet.admin, {"projectId": house.project}
        told = f'Secret sync with ID "{sync["id"]}" is not configured for GitHub'
        path = f"{ROOT}/codehost/{sync['id']}"
        for method, at in (
            ("GET", path),
            ("GET", f"{ROOT}/codehost/sync-name/one"),
            ("PATCH", path),
            ("DELETE", path),
            ("POST", f"{path}/sync-secrets"),
            ("POST", f"{path}/remove-secrets"),
            ("POST", f"{path}/import-secrets?importBehavior=prioritize-source"),
        ):
            given = params if "sync-name" in at else None
            answer = await admin.request(method, at, params=given, json={} if method == "PATCH" else None)
            assert (answer.status_code, answer.json()["message"]) == (400, told), at

    @pytest.mark.every_database
    async def test_an_id_is_a_uuid(self, house: House) -> None:
        for method, path in (("GET", "x"), ("PATCH", "x"), ("DELETE", "x"), ("POST", "x/sync-secrets")):
            await house.quiet.admin.json(method, f"{ROOT}/{VAULT}/{path}", status=422, json={})

    @pytest.mark.every_database
    async def test_options_name_the_forty_eight_destinations(self, house: House) -> None:
        answer = await house.quiet.admin.json("GET", f"{ROOT}/options")
        assert answer == {"secretSyncOptions": expected_options()}
        assert len(expected_options()) == 48


class TestVocabulary:
    """A path may use the published words; the answer uses those of the request."""

    @pytest.mark.every_database
    @pytest.mark.parametrize(
        ("word", "own", "app"),
        [
            ("aws-parameter-store", "cloud-parameter-store", "aws"),
            ("aws-secrets-manager", "cloud-secrets-manager", "aws"),
            ("github", "codehost", "github"),
        ],
    )
    async def test_published_words_are_understood_and_answered(
        self, house: House, word: str, own: str, app: str
    ) -> None:
        admin, params = house.quiet.admin, {"projectId": house.project}
        body = new_sync(own, house.project, await house.quiet.connection(app_of(own)))
        sync = (await admin.json("POST", f"{ROOT}/{word}", json=body))["secretSync"]
        assert (sync["destination"], sync["connection"]["app"]) == (word, app)
        one = f"{ROOT}/{word}/{sync['id']}"
        changed = (await admin.json("PATCH", one, json={"description": "d"}))["secretSync"]
        assert (changed["destination"], changed["connection"]["app"]) == (word, app)
        for path in (one, f"{ROOT}/{word}/sync-name/to-there"):
            found = (await admin.json("GET", path, params=params))["secretSync"]
            assert (found["destination"], found["connection"]["app"]) == (word, app)
        (listed,) = (await admin.json("GET", f"{ROOT}/{word}", params=params))["secretSyncs"]
        assert listed["destination"] == word
        (listed,) = (await admin.json("GET", ROOT, params=params))["secretSyncs"]
        assert (listed["destination"], listed["connection"]["app"]) == (own, app_of(own))
        check = {"projectId": house.project, "destinationConfig": body["destinationConfig"]}
        assert await admin.json("POST", f"{ROOT}/{word}/check-destination", json=check) == {
            "hasDuplicate": True,
            "duplicateProjectId": house.project,
        }
        deleted = (await admin.json("DELETE", one))["secretSync"]
        assert deleted["destination"] == word
