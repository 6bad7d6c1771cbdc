"""Connections and syncs to the cloud through a running service, with moto behind a strict proxy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from support.canary import Canary
from support.push_house import CONNECTIONS, SYNCS, House
from support.remotes.moto import CloudFixture, CloudProxy
from support.service_fixtures import Client, Project, ProjectSecrets, ServiceProcess, start_service
from tools.local.moto import Moto

STORE = {"region": "eu-west-1", "path": "/shop/"}
ONE = {"region": "eu-west-1", "mappingBehavior": "one-to-one"}
MANY = {"region": "eu-west-1", "mappingBehavior": "many-to-one", "secretName": "shop/all"}


@pytest.fixture(scope="session")
def standing_proxy(moto: Moto) -> Iterator[CloudProxy]:
    with CloudProxy(moto) as proxy:
        yield proxy


@pytest.fixture(scope="session")
def own_key() -> AccessKeyCredentials:
    """Return the service's own access key: the cloud's others may be forgotten, this one is made anew."""
    return AccessKeyCredentials(
        access_key_id="AKIASERVICEOWNKEY000", secret_access_key="cnry-own-key-of-the-service"
    )


@pytest.fixture(scope="session")
def pushing_process(
    standing_proxy: CloudProxy, own_key: AccessKeyCredentials, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServiceProcess]:
    home = tmp_path_factory.mktemp("pushing-to-the-cloud")
    own = home / "own.json"
    own.write_text(own_key.model_dump_json(by_alias=True))
    running = start_service(
        home / "data", "--app-endpoint", f"cloud={standing_proxy.url}", "--app-credentials", f"cloud={own}"
    )
    yield running
    running.stop()


@pytest.fixture
def service(pushing_process: ServiceProcess, canary: Canary) -> ServiceProcess:
    """Return a service that calls moto; its log is searched for marked values after the test."""
    canary.watch("log of keybearer serve", pushing_process.log.read_text)
    return pushing_process


@pytest.fixture
def house(admin: Client, project: Project, canary: Canary) -> House:
    return House(admin, project, canary)


@pytest.fixture
def cloud(moto: Moto, standing_proxy: CloudProxy, own_key: AccessKeyCredentials) -> Iterator[CloudFixture]:
    """Yield an empty account that knows the service's own key."""
    moto.ask("fresh")
    key = moto.ask("user", name="keybearer", actions=["*"], partition="aws")
    moto.ask(
        "user",
        name="service",
        actions=["sts:AssumeRole"],
        partition="aws",
        key=own_key.model_dump(by_alias=True),
    )
    standing_proxy.calls.clear()
    yield CloudFixture(moto, standing_proxy, AccessKeyCredentials.model_validate(key))
    standing_proxy.get_well()
    assert not standing_proxy.issues


def key_of(cloud: CloudFixture) -> dict[str, str]:
    return cloud.credentials.model_dump(by_alias=True)


@pytest.fixture
def connection(house: House, cloud: CloudFixture) -> dict[str, Any]:
    return house.connect("cloud", "access-key", key_of(cloud))


def test_a_key_is_proved_and_shown_without_its_secret(house: House, cloud: CloudFixture) -> None:
    wrong = {**key_of(cloud), "secretAccessKey": "cnry-wrong"}
    answer = house.connect("cloud", "access-key", wrong, status=400)
    assert "SignatureDoesNotMatch" in answer["message"]
    made = house.connect("aws", "access-key", key_of(cloud))
    assert (made["app"], made["credentials"]) == ("aws", {"accessKeyId": cloud.credentials.access_key_id})


def test_a_role_is_assumed_in_the_name_of_the_organization(
    house: House, secrets: ProjectSecrets, cloud: CloudFixture
) -> None:
    organization = house.admin.json("GET", "/api/v1/organization")["organizations"][0]["id"]
    made = house.connect("cloud", "assume-role", {"roleArn": cloud.role("carrier", organization, "ssm:*")})
    assert made["credentials"] == {}
    secrets.create("ONE", "cnry-1")
    house.ended(house.sync("cloud-parameter-store", made, STORE), "succeeded")
    assert cloud.parameter_values() == {"/shop/ONE": "cnry-1"}
    refused = house.connect(
        "cloud", "assume-role", {"roleArn": cloud.role("other", "elsewhere", "*")}, status=400
    )
    assert "may not assume the role" in refused["message"]
    assert "(AccessDenied)" in refused["message"]


def test_a_sync_that_its_owner_may_no_longer_read_goes_on_with_another(
    house: House,
    service: ServiceProcess,
    connection: dict[str, Any],
    secrets: ProjectSecrets,
    cloud: CloudFixture,
) -> None:
    project = house.project.id
    heir = service.create_identity(organization_role="member", roles={project: "member"})
    use = f"{CONNECTIONS}/cloud/{connection['id']}/allowed-use"
    house.admin.json("PATCH", use, json={"projectIds": [project]})
    secrets.create("ONE", "cnry-1")
    sync = house.ended(house.sync("cloud-parameter-store", connection, STORE), "succeeded")
    path = f"{SYNCS}/cloud-parameter-store/{sync['id']}/owner"
    first = house.admin.json("GET", path)["owner"]
    house.admin.json("PATCH", path, json={"ownerId": heir.identity_id})
    sync = house.ended(sync, "succeeded", after=sync["lastSyncJobId"])
    membership = f"/api/v1/projects/{project}/memberships/identities/{heir.identity_id}"
    house.admin.json("DELETE", membership)
    secrets.update("ONE", secretValue="cnry-2")
    sync = house.ended(sync, "failed", after=sync["lastSyncJobId"])
    shown = house.admin.json("GET", path)["owner"]
    assert (shown["id"], shown["canReadSource"]) == (heir.identity_id, False)
    assert shown["message"] == sync["lastSyncMessage"]
    assert cloud.parameter_values() == {"/shop/ONE": "cnry-1"}
    owned = house.admin.json("GET", f"{SYNCS}/owned", params={"ownerId": heir.identity_id})["secretSyncs"]
    assert [one["id"] for one in owned] == [sync["id"]]
    house.admin.json("PATCH", path, json={"ownerId": first["id"]})
    house.ended(sync, "succeeded", after=sync["lastSyncJobId"])
    assert cloud.parameter_values() == {"/shop/ONE": "cnry-2"}


def test_a_key_is_rotated(
    house: House, connection: dict[str, Any], secrets: ProjectSecrets, cloud: CloudFixture
) -> None:
    path = f"{CONNECTIONS}/cloud/{connection['id']}"
    rotated = house.admin.json("POST", f"{path}/rotate-credentials")["appConnection"]
    keys = cloud.moto.ask("keys", name="keybearer", partition="aws")
    assert keys == [rotated["credentials"]["accessKeyId"]]
    assert keys != [cloud.credentials.access_key_id]
    secrets.create("ONE", "cnry-1")
    house.ended(house.sync("cloud-parameter-store", connection, STORE), "succeeded")


def test_tags_are_those_of_the_options_and_of_the_secret(
    house: House, connection: dict[str, Any], secrets: ProjectSecrets, cloud: CloudFixture
) -> None:
    secrets.create("ONE", "cnry-1", secretMetadata=[{"key": "owner", "value": "ann"}])
    tags: dict[str, Any] = {"tags": [{"key": "team", "value": "web"}], "syncSecretMetadataAsTags": True}
    sync = house.sync("cloud-secrets-manager", connection, ONE, **tags)
    done = house.ended(sync, "succeeded")
    assert done["syncOptions"]["tags"] == tags["tags"]
    assert cloud.secrets()["ONE"]["tags"] == {"owner": "ann", "team": "web"}
    secrets.update("ONE", secretMetadata=[{"key": "owner", "value": "bob"}])
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert cloud.secrets()["ONE"]["tags"] == {"owner": "bob", "team": "web"}


def test_tags_edited_by_hand_are_set_right_when_somebody_asks(
    house: House, connection: dict[str, Any], secrets: ProjectSecrets, cloud: CloudFixture
) -> None:
    secrets.create("ONE", "cnry-1")
    sync = house.sync("cloud-secrets-manager", connection, ONE, tags=[{"key": "team", "value": "web"}])
    done = house.ended(sync, "succeeded")
    cloud.moto.ask("untag_secrets", region="eu-west-1")
    house.admin.json("POST", f"{SYNCS}/cloud-secrets-manager/{sync['id']}/sync-secrets")
    house.ended(sync, "succeeded", after=done["lastSyncJobId"])
    assert cloud.secrets()["ONE"]["tags"] == {"team": "web"}


@pytest.mark.parametrize(
    ("destination", "config", "options", "path", "said"),
    [
        ("cloud-parameter-store", {**STORE, "path": "shop"}, {}, ["destinationConfig", "path"], None),
        ("cloud-parameter-store", {**STORE, "region": "mars"}, {}, ["destinationConfig", "region"], None),
        ("cloud-parameter-store", STORE, {"keyId": ""}, ["syncOptions", "keyId"], None),
        (
            "cloud-parameter-store",
            STORE,
            {"keySchema": "x"},
            ["syncOptions", "keySchema"],
            "Key schema must include exactly one {{secretKey}} placeholder.",
        ),
        ("cloud-secrets-manager", {**MANY, "secretName": ""}, {}, ["destinationConfig", "secretName"], None),
        (
            "cloud-secrets-manager",
            {**ONE, "secretName": "x"},
            {},
            ["destinationConfig", "secretName"],
            "many-to-one",
        ),
        (
            "cloud-secrets-manager",
            MANY,
            {"syncSecretMetadataAsTags": True},
            ["syncOptions"],
            'Syncing secret metadata is not supported with "Many-to-One" mapping behavior.',
        ),
    ],
)
def test_what_is_wrong_is_told_by_its_field(
    house: House,
    connection: dict[str, Any],
    destination: str,
    config: dict[str, str],
    options: dict[str, Any],
    path: list[str],
    said: str | None,
) -> None:
    (issue,) = house.sync(destination, connection, config, status=422, **options)["message"]
    assert issue["path"][: len(path)] == path
    assert said is None or said in issue["message"]
