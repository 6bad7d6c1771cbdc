from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from keybearer.kube.connection import Connection
from keybearer.kube.errors import ForbiddenError, InvalidError, LeaseLostError, UnavailableError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import (
    CLUSTER_TRUST_BUNDLES,
    NAMESPACES,
    SECRET_SYNCS,
    SECRETS,
    JsonObject,
    ObjectKey,
)
from support.scripted_server import Reply, ScriptedServer, write_kubeconfig

DB = ObjectKey("team-a", "db")
METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"


def allow() -> None:
    """Agree to every write."""


def refuse() -> None:
    raise LeaseLostError("not ours")


@asynccontextmanager
async def gateway_to(
    tmp_path: Path, *replies: Reply, may_write: Callable[[], None] = allow
) -> AsyncIterator[tuple[Gateway, ScriptedServer]]:
    async with ScriptedServer(*replies) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            yield Gateway(connection, may_write=may_write), server


STORED = Reply(body={"kind": "PartialObjectMetadata", "metadata": {"uid": "u1", "resourceVersion": "7"}})


async def test_apply_names_the_object_and_us_and_asks_for_metadata_only(tmp_path: Path) -> None:
    body: JsonObject = {"metadata": {"labels": {"a": "b"}}, "data": {"k": "djE="}}
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        answer = await gateway.apply(SECRETS, DB, body, uid="u1")

    (seen,) = server.seen
    assert (seen.method, seen.path) == ("PATCH", "/api/v1/namespaces/team-a/secrets/db")
    assert seen.query == {"fieldManager": "keybearer", "force": "true"}
    assert seen.headers["Content-Type"] == "application/apply-patch+yaml"
    assert seen.headers["Accept"] == METADATA
    assert seen.json == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"labels": {"a": "b"}, "name": "db", "namespace": "team-a", "uid": "u1"},
        "data": {"k": "djE="},
    }
    assert answer["metadata"] == {"uid": "u1", "resourceVersion": "7"}
    assert body == {"metadata": {"labels": {"a": "b"}}, "data": {"k": "djE="}}, "the caller's body stays"


async def test_apply_may_leave_the_fields_of_others_alone_and_go_by_another_name(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        await gateway.apply(SECRETS, DB, {}, force=False, manager="keybearer/a&b")

    assert server.seen[0].query == {"fieldManager": "keybearer/a&b"}
    assert server.seen[0].json == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "db", "namespace": "team-a"},
    }


async def test_a_status_goes_to_its_subresource(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        await gateway.apply_status(SECRET_SYNCS, DB, {"observedGeneration": 2}, uid="u1")

    assert server.seen[0].path == "/apis/keybearer.dev/v1alpha1/namespaces/team-a/secretsyncs/db/status"
    assert server.seen[0].json == {
        "apiVersion": "keybearer.dev/v1alpha1",
        "kind": "SecretSync",
        "metadata": {"name": "db", "namespace": "team-a", "uid": "u1"},
        "status": {"observedGeneration": 2},
    }


async def test_create_posts_to_the_collection(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        await gateway.create(SECRETS, DB, {"data": {}})

    (seen,) = server.seen
    assert (seen.method, seen.path) == ("POST", "/api/v1/namespaces/team-a/secrets")
    assert seen.query == {"fieldManager": "keybearer"}
    assert seen.headers["Accept"] == METADATA


async def test_an_object_outside_of_namespaces_names_none(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        await gateway.create(NAMESPACES, ObjectKey("", "team-a"), {})

    assert server.seen[0].json == {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}


async def test_a_merge_patch_carries_its_guards(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        await gateway.merge_patch(
            SECRETS,
            DB,
            {"data": {"k": None}, "metadata": {"labels": {"a": None}}},
            uid="u1",
            resource_version="7",
        )
        await gateway.merge_patch(SECRETS, DB, {"data": {"k": None}})

    assert server.seen[0].headers["Content-Type"] == "application/merge-patch+json"
    assert server.seen[0].json == {
        "data": {"k": None},
        "metadata": {"labels": {"a": None}, "uid": "u1", "resourceVersion": "7"},
    }
    assert server.seen[1].json == {"data": {"k": None}, "metadata": {}}


async def test_delete_carries_preconditions_and_tells_whether_there_was_anything(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, Reply(body={}), Reply(404)) as (gateway, server):
        assert await gateway.delete(SECRETS, DB, uid="u1", resource_version="7")
        assert not await gateway.delete(SECRETS, DB, uid="u1")

    assert server.seen[0].json == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "preconditions": {"uid": "u1", "resourceVersion": "7"},
        "propagationPolicy": "Background",
    }


async def test_what_is_absent_reads_as_none(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, Reply(404), Reply(body={"data": {}})) as (gateway, server):
        assert await gateway.get(SECRETS, DB) is None
        assert await gateway.get(SECRETS, DB, metadata_only=True) == {"data": {}}

    assert [seen.headers["Accept"] for seen in server.seen] == ["application/json", METADATA]


WRITES: list[Callable[[Gateway], Awaitable[object]]] = [
    lambda gateway: gateway.create(SECRETS, DB, {}),
    lambda gateway: gateway.apply(SECRETS, DB, {}),
    lambda gateway: gateway.apply_status(SECRETS, DB, {}),
    lambda gateway: gateway.merge_patch(SECRETS, DB, {}),
    lambda gateway: gateway.delete(SECRETS, DB, uid="u1"),
]


@pytest.mark.parametrize("write", WRITES, ids=["create", "apply", "apply_status", "merge_patch", "delete"])
async def test_no_write_is_sent_without_leave(
    tmp_path: Path, write: Callable[[Gateway], Awaitable[object]]
) -> None:
    async with gateway_to(tmp_path, STORED, may_write=refuse) as (gateway, server):
        with pytest.raises(LeaseLostError):
            await write(gateway)
        assert await gateway.get(SECRETS, DB) is not None, "reads need none"

    assert [seen.method for seen in server.seen] == ["GET"]


async def test_only_who_may_write_passes_as_the_leader(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, _):
        gateway.require_lead()
    async with gateway_to(tmp_path, STORED, may_write=refuse) as (gateway, server):
        with pytest.raises(LeaseLostError):
            gateway.require_lead()

    assert server.seen == []


async def test_a_name_that_is_none_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        with pytest.raises(InvalidError):
            await gateway.get(SECRETS, ObjectKey("team-a", "../kube-system/secrets/x"))

    assert server.seen == []


async def test_a_token_is_asked_for_with_its_audience(tmp_path: Path) -> None:
    granted = Reply(201, {"status": {"token": "cnry-token", "expirationTimestamp": "2026-03-01T12:10:00Z"}})
    async with gateway_to(tmp_path, granted) as (gateway, server):
        token = await gateway.token_request(
            "team-a", "app", audience="keybearer", lifetime=timedelta(minutes=10)
        )

    assert server.seen[0].path == "/api/v1/namespaces/team-a/serviceaccounts/app/token"
    assert server.seen[0].json == {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"audiences": ["keybearer"], "expirationSeconds": 600},
    }
    assert (token.token, token.expires_at) == ("cnry-token", datetime(2026, 3, 1, 12, 10, tzinfo=UTC))
    assert "cnry" not in repr(token)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"status": {}}, id="without a token"),
        pytest.param(b"cnry-page", id="no JSON"),
        pytest.param(b'["cnry-list"]', id="no object"),
    ],
)
async def test_an_answer_that_is_not_the_api_servers_is_unavailable(tmp_path: Path, body: object) -> None:
    async with gateway_to(tmp_path, Reply(201, body)) as (gateway, _):
        with pytest.raises(UnavailableError) as caught:
            await gateway.token_request("a", "b", audience="c", lifetime=timedelta(minutes=10))

    assert "cnry" not in str(caught.value)
    assert caught.value.__cause__ is None


async def test_the_version_is_the_servers(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, Reply(body={"gitVersion": "v1.36.3"})) as (gateway, _):
        assert await gateway.server_version() == "v1.36.3"


async def test_a_merge_patch_may_go_to_a_subresource(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, STORED) as (gateway, server):
        await gateway.merge_patch(SECRET_SYNCS, DB, {"status": {"a": 1}}, uid="u1", subresource="status")

    assert server.seen[0].path == "/apis/keybearer.dev/v1alpha1/namespaces/team-a/secretsyncs/db/status"
    assert server.seen[0].json == {"metadata": {"uid": "u1"}, "status": {"a": 1}}


@pytest.mark.parametrize(
    ("status", "allowed"),
    [({"allowed": True}, True), ({"allowed": False}, False), ({"allowed": True, "denied": True}, False)],
)
async def test_the_access_of_a_user_is_reviewed(tmp_path: Path, status: JsonObject, *, allowed: bool) -> None:
    async with gateway_to(tmp_path, Reply(body={"status": status})) as (gateway, server):
        assert await gateway.review_access({"user": "ann"}) is allowed

    assert server.seen[0].path == "/apis/authorization.k8s.io/v1/subjectaccessreviews"
    assert server.seen[0].json == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {"user": "ann"},
    }


async def test_our_own_access_is_reviewed(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, Reply(body={"status": {"allowed": True}})) as (gateway, server):
        assert await gateway.review_own_access({"verb": "create", "resource": "secrets"})

    assert server.seen[0].path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert server.seen[0].json == {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "create", "resource": "secrets"}},
    }


async def test_a_review_without_a_decision_allows_nothing(tmp_path: Path) -> None:
    async with gateway_to(tmp_path, Reply(body={"status": {}})) as (gateway, _):
        with pytest.raises(UnavailableError, match="no decision"):
            await gateway.review_access({"user": "ann"})


async def test_what_a_group_has_in_a_version_is_named_by_plurals(tmp_path: Path) -> None:
    found: JsonObject = {
        "resources": [{"name": "clustertrustbundles"}, {"name": "certificatesigningrequests/status"}, "odd"]
    }
    missing = Reply(404, body=b"404 page not found\n")
    replies = (Reply(body=found), missing, Reply(403))
    async with gateway_to(tmp_path, *replies) as (gateway, server):
        first = await gateway.plurals_beside(CLUSTER_TRUST_BUNDLES)
        assert first == {"clustertrustbundles", "certificatesigningrequests/status"}
        assert await gateway.plurals_beside(CLUSTER_TRUST_BUNDLES) == frozenset()
        with pytest.raises(ForbiddenError):
            await gateway.plurals_beside(CLUSTER_TRUST_BUNDLES)

    assert {one.path for one in server.seen} == {"/apis/certificates.k8s.io/v1"}
