"""The requests about app connections and secret syncs, as values."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from keybearer.client.connections import RotationTerms
from keybearer.client.errors import InvalidArgument
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations import (
    allowed_use,
    app_connection_writes,
    app_connections,
    secret_syncs,
    sync_owners,
)
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import CATALOGUE
from support.rows import each_row
from unit.client.harness import Sent, sent

CONNECTIONS = "/api/v1/app-connections"
SYNCS = "/api/v1/secret-syncs"
IDP: dict[str, Any] = {"app": "idp"}
STORE: dict[str, Any] = {"destination": "cloud-parameter-store"}
CREDENTIALS = {
    "domain": "tenant.example.com",
    "clientId": "client",
    "clientSecret": "cnry-secret",
    "audience": "https://tenant.example.com/api/",
}
CONFIG = {"region": "eu-central-1", "path": "/app/"}


REQUESTS: list[tuple[str, Operation[Any], Sent]] = [
    ("all connections", app_connections.ListAppConnections(), ("GET", CONNECTIONS, {}, None)),
    (
        "the connections of a project to an app",
        app_connections.ListAppConnections(app="idp", project_id="p-1"),
        ("GET", f"{CONNECTIONS}/idp", {"projectId": "p-1"}, None),
    ),
    (
        "connections that may be used",
        app_connections.ListAvailableAppConnections(app="cloud", project_id="p-1"),
        ("GET", f"{CONNECTIONS}/cloud/available", {"projectId": "p-1"}, None),
    ),
    (
        "apps",
        app_connections.ListAppConnectionOptions(),
        ("GET", f"{CONNECTIONS}/options", {}, None),
    ),
    (
        "a connection",
        app_connections.GetAppConnection("c-1", **IDP),
        ("GET", f"{CONNECTIONS}/idp/c-1", {}, None),
    ),
    (
        "a connection by name",
        app_connections.GetAppConnectionByName("tenant", project_id="p-1", **IDP),
        ("GET", f"{CONNECTIONS}/idp/connection-name/tenant", {"projectId": "p-1"}, None),
    ),
    (
        "what a connection allows",
        allowed_use.GetAllowedUse("c-1", **IDP),
        ("GET", f"{CONNECTIONS}/idp/c-1/allowed-use", {}, None),
    ),
    (
        "another project",
        allowed_use.ChangeAllowedUse("c-1", project_ids=["p-1"], **IDP),
        ("PATCH", f"{CONNECTIONS}/idp/c-1/allowed-use", {}, {"projectIds": ["p-1"]}),
    ),
    (
        "places, and no projects named",
        allowed_use.ChangeAllowedUse("c-1", any_project=True, places=["kv/**"], **IDP),
        ("PATCH", f"{CONNECTIONS}/idp/c-1/allowed-use", {}, {"projectIds": None, "places": ["kv/**"]}),
    ),
    (
        "a new connection",
        app_connection_writes.CreateAppConnection(
            "tenant", method="client-credentials", credentials=CREDENTIALS, **IDP
        ),
        (
            "POST",
            f"{CONNECTIONS}/idp",
            {},
            {"name": "tenant", "method": "client-credentials", "credentials": CREDENTIALS},
        ),
    ),
    (
        "a new connection of a project that is rotated",
        app_connection_writes.CreateAppConnection(
            "account",
            app="cloud",
            method="access-key",
            credentials={"accessKeyId": "AKIA", "secretAccessKey": "cnry-key"},
            description="of the shop",
            project_id="p-1",
            is_auto_rotation_enabled=True,
            rotation=RotationTerms(interval_days=30, hours=3, minutes=15),
        ),
        (
            "POST",
            f"{CONNECTIONS}/cloud",
            {},
            {
                "name": "account",
                "description": "of the shop",
                "projectId": "p-1",
                "method": "access-key",
                "credentials": {"accessKeyId": "AKIA", "secretAccessKey": "cnry-key"},
                "isAutoRotationEnabled": True,
                "rotation": {"rotationInterval": 30, "rotateAtUtc": {"hours": 3, "minutes": 15}},
            },
        ),
    ),
    (
        "a connection's other name",
        app_connection_writes.UpdateAppConnection("c-1", name="other", **IDP),
        ("PATCH", f"{CONNECTIONS}/idp/c-1", {}, {"name": "other"}),
    ),
    (
        "a connection's description taken away",
        app_connection_writes.UpdateAppConnection("c-1", description="", **IDP),
        ("PATCH", f"{CONNECTIONS}/idp/c-1", {}, {"description": None}),
    ),
    (
        "a connection's other credentials and terms",
        app_connection_writes.UpdateAppConnection(
            "c-1",
            credentials=CREDENTIALS,
            is_auto_rotation_enabled=False,
            rotation=RotationTerms(interval_days=1),
            **IDP,
        ),
        (
            "PATCH",
            f"{CONNECTIONS}/idp/c-1",
            {},
            {
                "credentials": CREDENTIALS,
                "isAutoRotationEnabled": False,
                "rotation": {"rotationInterval": 1, "rotateAtUtc": {"hours": 0, "minutes": 0}},
            },
        ),
    ),
    (
        "a connection that goes",
        app_connections.DeleteAppConnection("c-1", **IDP),
        ("DELETE", f"{CONNECTIONS}/idp/c-1", {}, None),
    ),
    (
        "a connection whose credentials are made anew",
        app_connections.RotateAppConnection("c-1", app="cloud"),
        ("POST", f"{CONNECTIONS}/cloud/c-1/rotate-credentials", {}, None),
    ),
    (
        "what uses a connection",
        app_connections.GetAppConnectionUsage("c-1", **IDP),
        ("GET", f"{CONNECTIONS}/idp/c-1/usage", {}, None),
    ),
    (
        "the syncs of a project",
        secret_syncs.ListSecretSyncs(project_id="p-1"),
        ("GET", SYNCS, {"projectId": "p-1"}, None),
    ),
    (
        "the syncs to a destination",
        secret_syncs.ListSecretSyncs(project_id="p-1", **STORE),
        ("GET", f"{SYNCS}/cloud-parameter-store", {"projectId": "p-1"}, None),
    ),
    ("destinations", secret_syncs.ListSecretSyncOptions(), ("GET", f"{SYNCS}/options", {}, None)),
    (
        "a sync",
        secret_syncs.GetSecretSync("s-1", **STORE),
        ("GET", f"{SYNCS}/cloud-parameter-store/s-1", {}, None),
    ),
    (
        "a sync by name",
        secret_syncs.GetSecretSyncByName("push", project_id="p-1", **STORE),
        ("GET", f"{SYNCS}/cloud-parameter-store/sync-name/push", {"projectId": "p-1"}, None),
    ),
    (
        "a new sync",
        secret_syncs.CreateSecretSync(
            "push",
            project_id="p-1",
            connection_id="c-1",
            environment="dev",
            destination_config=CONFIG,
            **STORE,
        ),
        (
            "POST",
            f"{SYNCS}/cloud-parameter-store",
            {},
            {
                "name": "push",
                "projectId": "p-1",
                "connectionId": "c-1",
                "environment": "dev",
                "secretPath": "/",
                "isAutoSyncEnabled": True,
                "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
                "destinationConfig": CONFIG,
            },
        ),
    ),
    (
        "a new sync, with options that this client knows nothing of",
        secret_syncs.CreateSecretSync(
            "push",
            project_id="p-1",
            connection_id="c-1",
            environment="dev",
            secret_path="/app",
            description="d",
            is_auto_sync_enabled=False,
            sync_options={"initialSyncBehavior": "import-prioritize-source", "recursive": True},
            destination_config={"a": {"b": [1, None]}},
            destination="koyeb",
        ),
        (
            "POST",
            f"{SYNCS}/koyeb",
            {},
            {
                "name": "push",
                "projectId": "p-1",
                "description": "d",
                "connectionId": "c-1",
                "environment": "dev",
                "secretPath": "/app",
                "isAutoSyncEnabled": False,
                "syncOptions": {"initialSyncBehavior": "import-prioritize-source", "recursive": True},
                "destinationConfig": {"a": {"b": [1, None]}},
            },
        ),
    ),
    (
        "a sync that is told to wait",
        secret_syncs.UpdateSecretSync("s-1", is_auto_sync_enabled=False, **STORE),
        ("PATCH", f"{SYNCS}/cloud-parameter-store/s-1", {}, {"isAutoSyncEnabled": False}),
    ),
    (
        "a sync of which everything changes",
        secret_syncs.UpdateSecretSync(
            "s-1",
            name="other",
            description="",
            connection_id="c-2",
            environment="prod",
            secret_path="/b",
            is_auto_sync_enabled=True,
            sync_options={"initialSyncBehavior": "overwrite-destination"},
            destination_config=CONFIG,
            **STORE,
        ),
        (
            "PATCH",
            f"{SYNCS}/cloud-parameter-store/s-1",
            {},
            {
                "name": "other",
                "description": None,
                "connectionId": "c-2",
                "environment": "prod",
                "secretPath": "/b",
                "isAutoSyncEnabled": True,
                "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
                "destinationConfig": CONFIG,
            },
        ),
    ),
    (
        "a sync that goes",
        secret_syncs.DeleteSecretSync("s-1", **STORE),
        ("DELETE", f"{SYNCS}/cloud-parameter-store/s-1", {"removeSecrets": "false"}, None),
    ),
    (
        "a sync that goes with what it pushed",
        secret_syncs.DeleteSecretSync("s-1", remove_secrets=True, **STORE),
        ("DELETE", f"{SYNCS}/cloud-parameter-store/s-1", {"removeSecrets": "true"}, None),
    ),
    (
        "states of secrets",
        secret_syncs.ListSyncedSecrets("s-1", **STORE),
        ("GET", f"{SYNCS}/cloud-parameter-store/s-1/secrets", {}, None),
    ),
    (
        "syncs of an owner",
        sync_owners.ListOwnedSyncs("i-1"),
        ("GET", f"{SYNCS}/owned", {"ownerId": "i-1"}, None),
    ),
    (
        "syncs of an owner in a project",
        sync_owners.ListOwnedSyncs("i-1", project_id="p-1"),
        ("GET", f"{SYNCS}/owned", {"ownerId": "i-1", "projectId": "p-1"}, None),
    ),
    (
        "an owner",
        sync_owners.GetSyncOwner("s-1", **STORE),
        ("GET", f"{SYNCS}/cloud-parameter-store/s-1/owner", {}, None),
    ),
    (
        "another owner",
        sync_owners.ChangeSyncOwner("s-1", owner_id="i-1", **STORE),
        ("PATCH", f"{SYNCS}/cloud-parameter-store/s-1/owner", {}, {"ownerId": "i-1"}),
    ),
    (
        "a run",
        secret_syncs.SyncSecrets("s-1", **STORE),
        ("POST", f"{SYNCS}/cloud-parameter-store/s-1/sync-secrets", {}, None),
    ),
    (
        "a run that removes what came from elsewhere",
        secret_syncs.SyncSecrets("s-1", remove_foreign=True, **STORE),
        ("POST", f"{SYNCS}/cloud-parameter-store/s-1/sync-secrets", {}, {"removeForeign": True}),
    ),
    (
        "an import",
        secret_syncs.ImportIntoFolder("s-1", behavior="prioritize-source", **STORE),
        (
            "POST",
            f"{SYNCS}/cloud-parameter-store/s-1/import-secrets",
            {"importBehavior": "prioritize-source"},
            None,
        ),
    ),
    (
        "a removal",
        secret_syncs.RemoveFromDestination("s-1", **STORE),
        ("POST", f"{SYNCS}/cloud-parameter-store/s-1/remove-secrets", {}, None),
    ),
    (
        "whose a place is",
        secret_syncs.CheckDestination(
            destination_config=CONFIG, project_id="p-1", exclude_sync_id="s-1", connection_id="c-1", **STORE
        ),
        (
            "POST",
            f"{SYNCS}/cloud-parameter-store/check-destination",
            {},
            {
                "destinationConfig": CONFIG,
                "projectId": "p-1",
                "excludeSyncId": "s-1",
                "connectionId": "c-1",
            },
        ),
    ),
]


@each_row(("operation", "expected"), [case[1:] for case in REQUESTS], ids=[case[0] for case in REQUESTS])
def test_a_request_is_built_as_the_interface_says(operation: Operation[Any], expected: Sent) -> None:
    assert sent(operation) == expected
    # What writes is never sent twice, unless it surely never arrived; a check writes nothing.
    reads = expected[0] == "GET" or isinstance(operation, secret_syncs.CheckDestination)
    assert operation.repeat is (Repeat.FREELY if reads else Repeat.UNSENT_ONLY)
    assert "cnry-" not in repr(operation)


def test_every_operation_is_among_the_requests() -> None:
    asked = {type(operation).__name__ for _, operation, _ in REQUESTS}
    modules = (allowed_use, app_connections, app_connection_writes, secret_syncs, sync_owners)
    assert asked == {name for module in modules for name in module.__all__} - {"ImportBehavior"}


SECRETS: list[tuple[str, dict[str, Any], set[str]]] = [
    ("a secret is one", CREDENTIALS, {"cnry-secret"}),
    (
        "a field that this client doesn't know is one",
        {"host": "h.example.com", "novel": "cnry-novel"},
        {"cnry-novel"},
    ),
    (
        "a secret may be repeated without the space around it",
        {"code": " cnry-code "},
        {" cnry-code ", "cnry-code"},
    ),
    (
        "so is what is within a field",
        {"serviceAccount": {"private_key": "cnry-key", "uses": ["cnry-use", 1, None]}},
        {"cnry-key", "cnry-use"},
    ),
    ("of numbers and nothing there is none", {"port": 1, "token": None}, set()),
]


@pytest.mark.parametrize(
    ("credentials", "expected"), [case[1:] for case in SECRETS], ids=[case[0] for case in SECRETS]
)
def test_what_no_error_may_repeat_is_known(credentials: dict[str, Any], expected: set[str]) -> None:
    made = app_connection_writes.CreateAppConnection("c", method="m", credentials=credentials, **IDP)
    changed = app_connection_writes.UpdateAppConnection("c-1", credentials=credentials, **IDP)
    assert set(made.confidential()) == set(changed.confidential()) == expected


def test_a_change_without_credentials_holds_nothing_confidential() -> None:
    assert app_connection_writes.UpdateAppConnection("c-1", name="n", **IDP).confidential() == ()


@pytest.mark.parametrize("app", CATALOGUE.apps, ids=lambda app: app.name)
def test_nothing_that_the_service_hides_may_be_repeated(app: App) -> None:
    for method in app.methods.values():
        hidden = {to_camel(name) for name, field in method.given.model_fields.items() if not field.repr}
        made = app_connection_writes.CreateAppConnection(
            "c", app=app.name, method="m", credentials={name: f"cnry-{name}" for name in hidden}
        )
        assert set(made.confidential()) == {f"cnry-{name}" for name in hidden}


def test_what_the_wire_has_no_room_for_is_refused_without_showing_it() -> None:
    with pytest.raises(InvalidArgument, match="name") as refused:
        app_connection_writes.CreateAppConnection(
            "n" * 65, method="m", credentials={"token": "cnry-token"}, **IDP
        ).request()
    assert "cnry-" not in str(refused.value)
    with pytest.raises(InvalidArgument, match="hours"):
        app_connection_writes.UpdateAppConnection(
            "c-1", rotation=RotationTerms(interval_days=1, hours=24), **IDP
        ).request()


def test_a_sync_that_would_name_another_path_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="path"):
        secret_syncs.GetSecretSync("..", **STORE).request()
