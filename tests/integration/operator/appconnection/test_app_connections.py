"""AppConnections against a real cluster and a real service; what they lead to is another service."""

from __future__ import annotations

import json
import shlex

import pytest

from support.connection_objects import MANAGER, Connections, open_connections
from support.operator_fixtures import Installation
from support.secretsync_objects import condition, identity_secret, message_of
from support.tenant import Tenant
from tools.local.kube_api import Body, RefusedError

pytestmark = pytest.mark.integration

_APP = "external-infisical"


@pytest.fixture
def connections(tenant: Tenant, installation: Installation) -> Connections:
    return open_connections(tenant, installation)


def _of_service(connections: Connections, installation: Installation) -> list[Body]:
    """The project's connections as the service tells of them."""
    path = f"/api/v1/app-connections/{_APP}?projectId={connections.tenant.project.id}"
    listed: list[Body] = installation.admin.send("GET", path)["appConnections"]
    return listed


def test_a_connection_is_made_and_told_of(connections: Connections, installation: Installation) -> None:
    connections.keep_login()
    connections.create("store", description="Where releases go")

    found = connections.until_reason("store", "Connected")

    (there,) = _of_service(connections, installation)
    status = found["status"]
    assert (status["id"], status["method"], status["credentialsHash"], status["version"]) == (
        there["id"],
        there["method"],
        there["credentialsHash"],
        there["version"],
    )
    assert there["name"] == "store"
    assert there["description"].startswith("Where releases go [keybearer ")
    assert there["credentials"]["instanceUrl"] == connections.url


def test_a_refused_connection_of_the_organization_is_told_apart_from_one_of_a_project(
    connections: Connections,
) -> None:
    connections.keep_login()
    connections.create("store", projectId=None)

    refused = connections.until_reason("store", "PermissionDenied", saying="is of the organization")

    diagnosis = refused["status"]["diagnosis"]
    assert diagnosis["about"] == "spec.projectSlug"
    assert diagnosis["command"].startswith(
        f"kubectl -n {connections.tenant.namespace} patch appconnection store"
    )
    patch = shlex.split(diagnosis["command"])[-1].replace("PROJECT", connections.tenant.project.slug)
    connections.tenant.api.patch("AppConnection", connections.tenant.namespace, "store", json.loads(patch))
    connections.until_reason("store", "Connected")


def test_any_order_of_manifests_comes_to_the_same(connections: Connections) -> None:
    tenant = connections.tenant
    connections.create("store", identityRef={"name": "comes-last"})
    connections.until_reason("store", "CredentialsNotFound", saying="create it, or correct spec.credentials")
    connections.keep_login()
    connections.until_reason("store", "IdentityNotFound")
    held = tenant.api.get("Secret", tenant.namespace, MANAGER)["data"]
    tenant.api.create({**identity_secret(tenant.namespace, "comes-last", {}), "data": held})

    connections.until_reason("store", "Connected")


def test_wrong_credentials_are_told_and_corrected_ones_acted_on_at_once(connections: Connections) -> None:
    connections.keep_login(clientSecret="cnry-wrong-secret")
    connections.create("store")
    refused = connections.until_reason("store", "ConnectionRefused")
    assert "cnry" not in message_of(refused)

    connections.keep_login()

    connections.until_reason("store", "Connected")


def test_changed_credentials_are_given_to_the_service(
    connections: Connections, installation: Installation
) -> None:
    connections.keep_login()
    connections.create("store")
    before = connections.until_reason("store", "Connected")["status"]
    other = installation.far.admin.new_login(connections.far_project.id, role="member")

    connections.keep_login(**other.as_secret())

    changed = connections.until(
        "store", lambda found: found["status"]["fingerprint"] != before["fingerprint"], "another fingerprint"
    )
    (there,) = _of_service(connections, installation)
    assert there["credentials"]["machineIdentityClientId"] == other.client_id
    assert changed["status"]["credentialsHash"] == there["credentialsHash"] != before["credentialsHash"]
    assert changed["status"]["id"] == before["id"]


def test_what_others_changed_in_the_service_is_put_right_on_request(
    connections: Connections, installation: Installation
) -> None:
    connections.keep_login()
    connections.create("store")
    connection_id = connections.until_reason("store", "Connected")["status"]["id"]
    path = f"/api/v1/app-connections/{_APP}/{connection_id}"
    installation.admin.send("PATCH", path, {"name": "renamed-by-hand"})

    annotations = {"keybearer.dev/requestedAt": "now"}
    connections.tenant.api.patch(
        "AppConnection", connections.tenant.namespace, "store", {"metadata": {"annotations": annotations}}
    )

    connections.until(
        "store", lambda found: found["status"].get("lastHandledRequestedAt") == "now", "an answer"
    )
    assert [one["name"] for one in _of_service(connections, installation)] == ["store"]


def test_a_connection_of_others_is_left_alone_until_it_may_be_adopted(
    connections: Connections, installation: Installation
) -> None:
    connections.keep_login()
    tenant = connections.tenant
    body = {
        "name": "store",
        "projectId": tenant.project.id,
        "method": "machine-identity",
        "credentials": {
            "instanceUrl": connections.url,
            "machineIdentityClientId": connections.login.client_id,
            "machineIdentityClientSecret": connections.login.client_secret,
        },
    }
    made = installation.admin.send("POST", f"/api/v1/app-connections/{_APP}", body)["appConnection"]
    connections.create("store")
    connections.until_reason("store", "ConnectionConflict", saying="set adopt: true")

    tenant.api.patch("AppConnection", tenant.namespace, "store", {"spec": {"adopt": True}})

    assert connections.until_reason("store", "Connected")["status"]["id"] == made["id"]
    connections.create("rival", name="store", adopt=True)
    connections.until_reason("rival", "ConnectionConflict", saying="another object")


def test_a_deleted_connection_goes_from_the_service_too(
    connections: Connections, installation: Installation
) -> None:
    connections.keep_login()
    connections.create("store")
    connections.create("kept", onDelete="Retain")
    for name in ("store", "kept"):
        connections.until_reason(name, "Connected")

    for name in ("store", "kept"):
        connections.tenant.api.delete("AppConnection", connections.tenant.namespace, name)
        connections.tenant.until_gone("AppConnection", name)

    assert [one["name"] for one in _of_service(connections, installation)] == ["kept"]


@pytest.mark.deep
def test_a_connection_that_syncs_use_stays_and_says_so_until_its_deadline(
    connections: Connections, installation: Installation
) -> None:
    connections.keep_login()
    connections.create("store", deletionDeadline="12s")
    tenant = connections.tenant
    body = {
        "name": "uses-it",
        "projectId": tenant.project.id,
        "connectionId": connections.until_reason("store", "Connected")["status"]["id"],
        "environment": "dev",
        "secretPath": "/",
        "isAutoSyncEnabled": False,
        "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
        "destinationConfig": {
            "projectId": connections.far_project.id,
            "environment": "dev",
            "secretPath": "/",
        },
    }
    installation.admin.send("POST", f"/api/v1/secret-syncs/{_APP}", body)

    tenant.api.delete("AppConnection", tenant.namespace, "store")

    connections.until_reason("store", "InUse", saying="Cannot delete App Connection")
    tenant.until_gone("AppConnection", "store")
    assert [one["name"] for one in _of_service(connections, installation)] == ["store"]


@pytest.mark.parametrize(
    ("spec", "reason", "saying"),
    [
        pytest.param({"app": "cloudy"}, "UnknownApp", "is none of", id="an unknown app"),
        pytest.param({"method": "oauth"}, "UnknownApp", "spec.method oauth is none", id="an unknown method"),
        pytest.param({"name": "x" * 64 + "y"}, "", "", id="a name that is too long"),
        pytest.param(
            {"credentials": {"instanceUrl": {"value": "https://secrets.example.com"}}},
            "CredentialsInvalid",
            "spec.credentials.machineIdentityClientId is required",
            id="a missing field",
        ),
        pytest.param(
            {"credentials": {"machineIdentityClientSecret": {"value": "cnry-in-clear"}}},
            "CredentialsInvalid",
            "machineIdentityClientSecret is secret",
            id="a secret in clear",
        ),
        pytest.param(
            {"projectId": None, "projectSlug": "no-such-project"},
            "ProjectNotFound",
            "correct projectSlug",
            id="an unknown project",
        ),
    ],
)
def test_bad_input_is_told_with_what_to_change(
    connections: Connections, spec: Body, reason: str, saying: str
) -> None:
    connections.keep_login()
    if not reason:
        with pytest.raises(RefusedError, match=r"spec\.name"):
            connections.create("store", **spec)
        return
    connections.create("store", **spec)
    connections.until_reason("store", reason, saying=saying)


def test_a_name_that_the_service_does_not_take_is_told(connections: Connections) -> None:
    connections.keep_login()
    connections.create("store.of.web")

    told = connections.until_reason("store.of.web", "SpecInvalid", saying="no connection named store.of.web")

    assert "set spec.name to" in message_of(told)
    assert (condition(told, "Stalled") or {})["status"] == "True"
    patch: Body = {"spec": {"name": "store-of-web"}}
    connections.tenant.api.patch("AppConnection", connections.tenant.namespace, "store.of.web", patch)
    connections.until_reason("store.of.web", "Connected")


def test_a_connection_can_t_move_to_another_project(
    connections: Connections, installation: Installation
) -> None:
    connections.keep_login()
    connections.create("store")
    before = connections.until_reason("store", "Connected")["status"]["id"]
    tenant, other = (
        connections.tenant,
        installation.admin.new_project(f"other-{connections.tenant.namespace}"),
    )

    tenant.api.patch("AppConnection", tenant.namespace, "store", {"spec": {"projectId": other.id}})

    told = connections.until_reason("store", "ImmutableField", saying="the project of connection store")
    assert "delete this object and create another one" in message_of(told)
    assert (condition(told, "Stalled") or {})["status"] == "True"
    assert [one["id"] for one in _of_service(connections, installation)] == [before]
    tenant.api.patch("AppConnection", tenant.namespace, "store", {"spec": {"projectId": tenant.project.id}})
    assert connections.until_reason("store", "Connected")["status"]["id"] == before
