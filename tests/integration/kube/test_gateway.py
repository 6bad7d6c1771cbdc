from __future__ import annotations

import asyncio
import base64
import json
from datetime import UTC, datetime, timedelta

import pytest

from keybearer.kube.connection import Connection
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    UnauthorizedError,
)
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS, JsonObject, ObjectKey
from tools.controlplane.controlplane import ControlPlane
from tools.local.marks import find_mark

pytestmark = pytest.mark.integration


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret(**data: str) -> JsonObject:
    return {"type": "Opaque", "data": {name: encoded(value) for name, value in data.items()}}


def meta(stored: JsonObject | None) -> JsonObject:
    assert stored is not None
    metadata = stored["metadata"]
    assert isinstance(metadata, dict)
    return metadata


def uid(stored: JsonObject | None) -> str:
    return str(meta(stored)["uid"])


def version(stored: JsonObject | None) -> str:
    return str(meta(stored)["resourceVersion"])


async def data(gateway: Gateway, key: ObjectKey) -> object:
    stored = await gateway.get(SECRETS, key)
    assert stored is not None
    return stored.get("data")


async def test_a_write_answers_without_the_values_it_wrote(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    created = await gateway.create(SECRETS, key, secret(password="cnry-one"))
    applied = await gateway.apply(SECRETS, key, secret(password="cnry-two"), uid=uid(created))
    patched = await gateway.merge_patch(SECRETS, key, {"data": {"more": encoded("cnry-three")}})

    assert {str(answer["kind"]) for answer in (created, applied, patched)} == {"PartialObjectMetadata"}
    assert find_mark(str([created, applied, patched])) is None
    assert uid(created) == uid(applied) == uid(patched)
    assert version(created) != version(applied) != version(patched)
    assert await data(gateway, key) == {"password": encoded("cnry-two"), "more": encoded("cnry-three")}


async def test_metadata_can_be_read_alone(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    created = await gateway.create(SECRETS, key, secret(password="cnry-one"))
    read = await gateway.get(SECRETS, key, metadata_only=True)

    assert version(read) == version(created)
    assert read is not None
    assert "data" not in read


async def test_creating_what_exists_is_refused_and_changes_nothing(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    await gateway.create(SECRETS, key, secret(password="cnry-one"))

    with pytest.raises(AlreadyExistsError, match=f"create Secret {namespace}/db: "):
        await gateway.create(SECRETS, key, secret(password="cnry-two"))
    assert await data(gateway, key) == {"password": encoded("cnry-one")}


async def test_creating_in_a_namespace_that_does_not_exist_is_not_found(gateway: Gateway) -> None:
    with pytest.raises(NotFoundError):
        await gateway.create(SECRETS, ObjectKey("no-such-namespace", "db"), secret())


async def test_an_apply_to_another_uid_is_a_conflict(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    await gateway.create(SECRETS, key, secret(password="cnry-one"))

    with pytest.raises(ConflictError) as caught:
        await gateway.apply(
            SECRETS, key, secret(password="cnry-two"), uid="11111111-2222-3333-4444-555555555555"
        )

    assert caught.value.managers == ()
    assert await data(gateway, key) == {"password": encoded("cnry-one")}


async def test_an_apply_with_a_uid_does_not_create_what_was_deleted(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    created = await gateway.create(SECRETS, key, secret(password="cnry-one"))
    assert await gateway.delete(SECRETS, key, uid=uid(created))

    with pytest.raises(ConflictError):
        await gateway.apply(SECRETS, key, secret(password="cnry-two"), uid=uid(created))
    assert await gateway.get(SECRETS, key) is None


async def test_an_apply_without_a_uid_creates(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    await gateway.apply(SECRETS, key, secret(password="cnry-one"))

    assert await data(gateway, key) == {"password": encoded("cnry-one")}


async def test_an_apply_without_force_names_the_manager_in_its_way(
    gateway: Gateway, namespace: str, control_plane: ControlPlane
) -> None:
    key = ObjectKey(namespace, "db")
    manifest = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "db"},
        "data": {"k": encoded("cnry-a")},
    }
    apply = (
        "apply",
        "--server-side",
        "--field-manager=somebody-else",
        f"--namespace={namespace}",
        "--filename=-",
    )
    await asyncio.to_thread(control_plane.kubectl, *apply, input=json.dumps(manifest))

    with pytest.raises(ConflictError, match="somebody-else") as caught:
        await gateway.apply(SECRETS, key, secret(k="cnry-b"), force=False)
    assert caught.value.managers == ("somebody-else",)
    assert [cause.field for cause in caught.value.causes] == [".data.k"]
    assert find_mark(str(caught.value)) is None

    await gateway.apply(SECRETS, key, secret(k="cnry-b"), force=True)
    assert await data(gateway, key) == {"k": encoded("cnry-b")}


async def test_two_field_managers_each_own_their_keys(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    await gateway.apply(SECRETS, key, secret(a="cnry-a"), manager="keybearer/one")
    await gateway.apply(SECRETS, key, secret(b="cnry-b"), manager="keybearer/two")
    await gateway.apply(SECRETS, key, {"data": {}}, manager="keybearer/one")

    assert await data(gateway, key) == {"b": encoded("cnry-b")}


async def test_delete_takes_only_the_object_that_was_meant(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    created = await gateway.create(SECRETS, key, secret(password="cnry-one"))

    with pytest.raises(ConflictError):
        await gateway.delete(SECRETS, key, uid="11111111-2222-3333-4444-555555555555")
    with pytest.raises(ConflictError):
        await gateway.delete(SECRETS, key, uid=uid(created), resource_version="1")
    assert await gateway.get(SECRETS, key) is not None
    assert await gateway.delete(SECRETS, key, uid=uid(created), resource_version=version(created))
    assert not await gateway.delete(SECRETS, key, uid=uid(created))


async def test_a_guarded_patch_takes_only_the_state_that_was_meant(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    created = await gateway.create(SECRETS, key, secret(a="cnry-a", b="cnry-b"))
    patched = await gateway.merge_patch(
        SECRETS, key, {"data": {"a": None}}, uid=uid(created), resource_version=version(created)
    )

    with pytest.raises(ConflictError):
        await gateway.merge_patch(SECRETS, key, {"data": {"b": None}}, resource_version=version(created))
    with pytest.raises(ConflictError):
        await gateway.merge_patch(
            SECRETS, key, {"data": {"b": None}}, uid="11111111-2222-3333-4444-555555555555"
        )
    assert await data(gateway, key) == {"b": encoded("cnry-b")}
    assert version(await gateway.get(SECRETS, key)) == version(patched)


async def test_a_patch_of_what_is_absent_is_not_found(gateway: Gateway, namespace: str) -> None:
    with pytest.raises(NotFoundError):
        await gateway.merge_patch(SECRETS, ObjectKey(namespace, "db"), {"data": {}})


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"data": {"not a key": encoded("cnry-value")}}, id="a key that is none"),
        pytest.param({"data": {"k": "cnry-not-base64"}}, id="a value that is no base64"),
        pytest.param({"data": {"k": {"cnry-deep": "cnry-value"}}}, id="an object where a text belongs"),
        pytest.param({"stringData": {"k": ["cnry-value"]}}, id="a list where a text belongs"),
        pytest.param(
            {"type": "kubernetes.io/tls", "data": {"tls.crt": encoded("cnry-value")}}, id="half a key pair"
        ),
        pytest.param(
            {"metadata": {"labels": {"cnry": "cnry value!"}}, "data": {}}, id="a label that is none"
        ),
        pytest.param({"data": {"k": encoded("cnry-" + "x" * 1_100_000)}}, id="more than a mebibyte"),
        pytest.param({"data": {"k": encoded("cnry-" + "x" * 3_000_000)}}, id="more than a request may hold"),
    ],
)
@pytest.mark.parametrize("verb", ["create", "apply"])
async def test_a_refused_secret_does_not_show_in_the_error(
    gateway: Gateway, namespace: str, body: JsonObject, verb: str
) -> None:
    key = ObjectKey(namespace, "db")
    with pytest.raises(InvalidError) as caught:
        await (gateway.create if verb == "create" else gateway.apply)(SECRETS, key, body)

    assert f"Secret {namespace}/db" in str(caught.value)
    assert "cnry-" not in str(caught.value) + repr(vars(caught.value))


async def test_an_immutable_secret_says_which_field(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "db")
    await gateway.apply(SECRETS, key, {**secret(k="cnry-one"), "immutable": True})

    with pytest.raises(InvalidError) as caught:
        await gateway.apply(SECRETS, key, {**secret(k="cnry-two"), "immutable": True})
    assert caught.value.fields == ("data",)


async def test_a_list_comes_in_pages_and_by_label(gateway: Gateway, namespace: str) -> None:
    for number in range(7):
        labels: JsonObject = {"parity": str(number % 2)}
        await gateway.create(
            CONFIG_MAPS, ObjectKey(namespace, f"c{number}"), {"metadata": {"labels": labels}}
        )

    found = [
        str(meta(item)["name"])
        async for item in gateway.list(
            CONFIG_MAPS, namespace, label_selector="parity=0", metadata_only=True, page_size=2
        )
    ]
    assert found == ["c0", "c2", "c4", "c6"]
    everywhere = [item async for item in gateway.list(CONFIG_MAPS, page_size=3)]
    assert {"c1", "c3", "c5"} <= {str(meta(item)["name"]) for item in everywhere}


async def test_a_token_is_for_its_audience_only(
    gateway: Gateway, namespace: str, control_plane: ControlPlane
) -> None:
    await gateway.create(SERVICE_ACCOUNTS, ObjectKey(namespace, "app"), {})
    token = await gateway.token_request(
        namespace, "app", audience="https://keybearer.example", lifetime=timedelta(minutes=10)
    )
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token.token}}
    review = await asyncio.to_thread(
        control_plane.kubectl,
        "create",
        "--raw=/apis/authentication.k8s.io/v1/tokenreviews",
        "--filename=-",
        input=json.dumps(body),
    )

    assert '"authenticated":true' not in review, "it must not open the API server"
    assert timedelta(minutes=9) < token.expires_at - datetime.now(UTC) < timedelta(minutes=11)


async def test_the_version_is_that_of_the_server(gateway: Gateway) -> None:
    assert (await gateway.server_version()).startswith("v1.")


async def test_an_account_without_rights_is_told_which_one_it_lacks(
    gateway: Gateway, namespace: str, control_plane: ControlPlane
) -> None:
    await gateway.create(SERVICE_ACCOUNTS, ObjectKey(namespace, "poor"), {})
    config = await asyncio.to_thread(control_plane.service_account_kubeconfig, namespace, "poor")
    async with await Connection.open(kubeconfig=str(config)) as connection:
        assert connection.namespace == namespace
        poor = Gateway(connection, may_write=lambda: None)
        with pytest.raises(
            ForbiddenError, match='cannot patch resource "secrets" in API group "" in the namespace'
        ):
            await poor.apply(SECRETS, ObjectKey(namespace, "db"), secret(k="cnry-one"))


async def test_a_token_that_is_none_is_unauthorized(
    gateway: Gateway, namespace: str, control_plane: ControlPlane
) -> None:
    await gateway.create(SERVICE_ACCOUNTS, ObjectKey(namespace, "nobody"), {})
    config = await asyncio.to_thread(control_plane.service_account_kubeconfig, namespace, "nobody")
    text = config.read_text()
    config.write_text(text.replace("token: ", "token: x"))
    async with await Connection.open(kubeconfig=str(config)) as connection:
        with pytest.raises(UnauthorizedError):
            await Gateway(connection, may_write=lambda: None).get(SECRETS, ObjectKey(namespace, "db"))


async def test_a_namespace_that_is_going_can_be_told_apart(gateway: Gateway, namespace: str) -> None:
    key = ObjectKey(namespace, "held")
    held = await gateway.create(CONFIG_MAPS, key, {"metadata": {"finalizers": ["keybearer.dev/test"]}})
    stored = await gateway.get(NAMESPACES, ObjectKey("", namespace))
    await gateway.delete(NAMESPACES, ObjectKey("", namespace), uid=uid(stored))

    with pytest.raises(ForbiddenError) as caught:
        await gateway.create(SECRETS, ObjectKey(namespace, "db"), secret(k="cnry-one"))
    assert caught.value.namespace_terminating
    await gateway.merge_patch(CONFIG_MAPS, key, {"metadata": {"finalizers": None}}, uid=uid(held))


async def test_more_requests_than_slots_are_all_answered(connection: Connection, namespace: str) -> None:
    narrow = Gateway(connection, may_write=lambda: None, max_in_flight=3)
    keys = [ObjectKey(namespace, f"c{number}") for number in range(30)]
    await asyncio.gather(*(narrow.apply(CONFIG_MAPS, key, {"data": {}}) for key in keys))

    assert len([item async for item in narrow.list(CONFIG_MAPS, namespace, label_selector="!x")]) >= 30
