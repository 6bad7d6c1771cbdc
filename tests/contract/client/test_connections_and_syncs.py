"""Connections and syncs from the first credential to the last trace, with both clients and a running service.

What is pushed goes to another project of the very same service: to a sync, that is another server of this API.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from contract.client.house import Client, House, nothing_shown, of
from keybearer.client import (
    BadRequest,
    NotFound,
    PermissionDenied,
    SecretSync,
    UserAuth,
    ValidationFailed,
)
from support.async_waiting import until
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Service, ServiceProcess

APP = "external-infisical"


@pytest.fixture
def service(calling_service: ServiceProcess) -> ServiceProcess:
    return calling_service


@dataclass
class Place:
    """Where secrets are pushed to, and what with."""

    credentials: dict[str, Any]
    config: dict[str, Any]


@pytest.fixture
def place(service: Service) -> Place:
    project = service.create_project(name="other")
    who = service.create_identity(roles={project.id: "member"})
    return Place(
        credentials={
            "instanceUrl": service.url,
            "machineIdentityClientId": who.client_id,
            "machineIdentityClientSecret": who.client_secret,
        },
        config={"projectId": project.id, "environment": "dev", "secretPath": "/"},
    )


async def ended(client: Client, sync: SecretSync, field: str) -> SecretSync:
    """Return the sync once the job of that field is over."""

    async def has_ended() -> bool:
        nonlocal sync
        sync = await of(client.secret_syncs.get(sync.id, destination=sync.destination))
        return getattr(sync, field) not in {"pending", "running"}

    await until(has_ended, awaited="an end of the job")
    return sync


async def test_a_connection_is_proved_changed_and_deleted(client: Client, house: House, place: Place) -> None:
    groups, project_id = client.app_connections, house.project.id
    assert {APP, "idp", "cloud", "codehost"} <= {one.app for one in await of(groups.options())}
    wrong = {**place.credentials, "machineIdentityClientSecret": "cnry-wrong-secret"}
    with pytest.raises(BadRequest) as refused:
        await of(
            groups.create(
                "away", app=APP, method="machine-identity", credentials=wrong, project_id=project_id
            )
        )
    nothing_shown(str(refused.value), repr(refused.value.details))
    with pytest.raises(ValidationFailed) as misspelt:
        await of(
            groups.create(
                "away",
                app=APP,
                method="machine-identity",
                credentials={"secret": "cnry-wrong-secret"},
                project_id=project_id,
            )
        )
    nothing_shown(str(misspelt.value), repr(misspelt.value.details))
    made = await of(
        groups.create(
            "other",
            app=APP,
            method="machine-identity",
            credentials=place.credentials,
            description="d",
            project_id=project_id,
        )
    )
    assert (made.name, made.app, made.method, made.description) == ("other", APP, "machine-identity", "d")
    assert made.credentials.keys() == {"instanceUrl", "machineIdentityClientId"}
    assert made.project is not None
    assert (made.project.id, made.version) == (project_id, 1)
    nothing_shown(repr(made))
    assert await of(groups.get(made.id, app=APP)) == made
    assert await of(groups.get_by_name("other", app=APP, project_id=project_id)) == made
    assert await of(groups.list(project_id=project_id)) == [made]
    assert await of(groups.list(app=APP, project_id=project_id)) == [made]
    assert await of(groups.list(app="idp", project_id=project_id)) == []
    available = await of(groups.available(app=APP, project_id=project_id))
    assert (made.id, made.name) in {(one.id, one.name) for one in available}
    changed = await of(groups.update(made.id, app=APP, name="renamed", description=""))
    assert (changed.name, changed.description, changed.version) == ("renamed", "", 2)
    proved = await of(groups.update(made.id, app=APP, credentials=place.credentials))
    assert proved.credentials_hash != made.credentials_hash
    with pytest.raises(BadRequest):
        await of(groups.rotate_credentials(made.id, app=APP))
    with pytest.raises(PermissionDenied):
        await of(groups.usage(made.id, app=APP))  # people only
    assert (await of(groups.delete(made.id, app=APP))).id == made.id
    with pytest.raises(NotFound):
        await of(groups.get(made.id, app=APP))


async def test_a_sync_pushes_imports_removes_and_goes(client: Client, house: House, place: Place) -> None:
    project_id, groups = house.project.id, client.secret_syncs
    there: dict[str, Any] = {"destination": APP}
    remote = house.client(house.admin)
    far: dict[str, Any] = {"project_id": place.config["projectId"], "environment": "dev"}
    await of(client.secrets.create("A", "cnry-a", **house.place))
    connection = await of(
        client.app_connections.create(
            "other",
            app=APP,
            method="machine-identity",
            credentials=place.credentials,
            project_id=project_id,
        )
    )
    options = {one.destination: one for one in await of(groups.options())}
    assert (len(options), options[APP].connection, options[APP].can_import_secrets) == (48, APP, True)
    sync = await of(
        groups.create(
            "push",
            destination=APP,
            connection_id=connection.id,
            destination_config=place.config,
            is_auto_sync_enabled=False,
            **house.place,
        )
    )
    assert (sync.sync_status, sync.destination_config) == (None, place.config)
    assert sync.environment is not None
    assert sync.folder is not None
    assert (sync.environment.slug, sync.folder.path, sync.connection.name) == ("dev", "/", "other")
    assert await of(groups.get(sync.id, **there)) == sync
    assert await of(groups.get_by_name("push", project_id=project_id, **there)) == sync
    assert await of(groups.list(project_id=project_id)) == [sync]
    assert await of(groups.list(project_id=project_id, destination="codehost")) == []
    check: dict[str, Any] = {"destination_config": place.config, "project_id": project_id, **there}
    assert (await of(groups.check_destination(**check))).has_duplicate
    assert not (await of(groups.check_destination(exclude_sync_id=sync.id, **check))).has_duplicate
    done = await ended(client, await of(groups.sync(sync.id, **there)), "sync_status")
    assert (done.sync_status, done.last_sync_message) == ("succeeded", None)
    assert (await of(remote.secrets.get("A", **far))).secret_value == "cnry-a"
    await of(remote.secrets.create("B", "cnry-b", **far))
    told = await of(groups.import_secrets(sync.id, behavior="prioritize-source", **there))
    assert (await ended(client, told, "import_status")).import_status == "succeeded"
    assert (await of(client.secrets.get("B", **house.place))).secret_value == "cnry-b"
    told = await of(groups.remove_secrets(sync.id, **there))
    assert (await ended(client, told, "remove_status")).remove_status == "succeeded"
    assert await of(remote.secrets.list(**far)) == []
    changed = await of(
        groups.update(
            sync.id,
            name="renamed",
            description="d",
            sync_options={"initialSyncBehavior": "overwrite-destination", "keySchema": "X_{{secretKey}}"},
            **there,
        )
    )
    assert (changed.name, changed.description, changed.sync_options["keySchema"]) == (
        "renamed",
        "d",
        "X_{{secretKey}}",
    )
    with pytest.raises(BadRequest, match="existing connections"):
        await of(client.app_connections.delete(connection.id, app=APP))
    assert (await of(groups.delete(sync.id, **there))).id == sync.id
    assert await of(groups.list(project_id=project_id)) == []
    await of(client.app_connections.delete(connection.id, app=APP))


async def test_people_are_told_what_uses_a_connection(client: Client, house: House, place: Place) -> None:
    person = house.service.create_user(roles={house.project.id: "admin"})
    asking = house.client(UserAuth(person.email, person.password))
    connection = await of(
        client.app_connections.create(
            "other",
            app=APP,
            method="machine-identity",
            credentials=place.credentials,
            project_id=house.project.id,
        )
    )
    sync = await of(
        client.secret_syncs.create(
            "push",
            destination=APP,
            connection_id=connection.id,
            destination_config=place.config,
            is_auto_sync_enabled=False,
            **house.place,
        )
    )
    (use,) = await of(asking.app_connections.usage(connection.id, app=APP))
    assert (use.id, [one.id for one in use.resources.secret_syncs]) == (house.project.id, [sync.id])


async def test_a_connection_to_the_identity_provider_is_made_and_listed_as_the_interface_has_it(
    client: Client, house: House, identity_provider: IdentityProviderCopy
) -> None:
    given = identity_provider.credentials()
    made = await of(
        client.app_connections.create(
            "tenant",
            app="idp",
            method="client-credentials",
            credentials=given,
            description="of the shop",
            project_id=house.project.id,
        )
    )
    shown = {name: text for name, text in given.items() if name != "clientSecret"}
    assert (made.app, made.method, made.credentials, made.description) == (
        "idp",
        "client-credentials",
        shown,
        "of the shop",
    )
    assert (made.is_platform_managed_credentials, made.is_auto_rotation_enabled) == (False, False)
    assert await of(client.app_connections.list(app="idp", project_id=house.project.id)) == [made]
    with pytest.raises(BadRequest) as refused:
        await of(
            client.app_connections.update(
                made.id, app="idp", credentials={**given, "clientSecret": "cnry-wrong-secret"}
            )
        )
    nothing_shown(str(refused.value), repr(refused.value.details))
    published = await of(client.app_connections.get(made.id, app="auth0"))
    assert (published.id, published.app) == (made.id, "auth0")
