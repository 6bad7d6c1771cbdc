from __future__ import annotations

import pytest
from pydantic import JsonValue

from keybearer.kube.errors import InvalidError
from keybearer.kube.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    CLUSTER_TRUST_BUNDLES,
    DEPLOYMENTS,
    NAMESPACES,
    SECRET_SYNCS,
    SECRETS,
    ObjectKey,
    Resource,
)
from support.rows import each_row


@pytest.mark.parametrize(
    ("resource", "key", "path"),
    [
        pytest.param(
            SECRETS, ObjectKey("team-a", "db"), "/api/v1/namespaces/team-a/secrets/db", id="of the core group"
        ),
        pytest.param(
            DEPLOYMENTS,
            ObjectKey("team-a", "web"),
            "/apis/apps/v1/namespaces/team-a/deployments/web",
            id="of a named group",
        ),
        pytest.param(
            NAMESPACES, ObjectKey("", "team-a"), "/api/v1/namespaces/team-a", id="outside of namespaces"
        ),
    ],
)
def test_an_object_has_a_path(resource: Resource, key: ObjectKey, path: str) -> None:
    assert resource.path(key) == path


def test_a_subresource_follows_the_name() -> None:
    path = SECRET_SYNCS.path(ObjectKey("a", "b"), "status")

    assert path == "/apis/keybearer.dev/v1alpha1/namespaces/a/secretsyncs/b/status"


@pytest.mark.parametrize(
    ("namespace", "path"),
    [
        pytest.param(None, "/api/v1/secrets", id="of all namespaces"),
        pytest.param("team-a", "/api/v1/namespaces/team-a/secrets", id="of one namespace"),
    ],
)
def test_a_collection_has_a_path(namespace: str | None, path: str) -> None:
    assert SECRETS.collection_path(namespace) == path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="empty"),
        pytest.param("..", id="a step up"),
        pytest.param("../../kube-system/secrets/root", id="a way into another namespace"),
        pytest.param("db/status", id="a subresource"),
        pytest.param("db?force=true", id="a query"),
        pytest.param("db%2f..", id="an encoded slash"),
        pytest.param("db#x", id="a fragment"),
        pytest.param("db\n", id="a line break at the end"),
        pytest.param("a" * 254, id="too long"),
    ],
)
def test_a_name_that_could_change_the_path_is_refused(name: str) -> None:
    with pytest.raises(InvalidError):
        SECRETS.path(ObjectKey("team-a", name))
    with pytest.raises(InvalidError):
        SECRETS.path(ObjectKey(name, "db"))


@pytest.mark.parametrize("name", ["db", "db.prod", "system:node-1", "0", "a" * 253])
def test_names_of_kubernetes_are_accepted(name: str) -> None:
    assert SECRETS.path(ObjectKey("a", name)).endswith(f"/secrets/{name}")


@each_row(
    ("name", "written"),
    [
        pytest.param("ann@example.com", "ann%40example.com", id="an address"),
        pytest.param("ann?x#y z", "ann%3Fx%23y%20z", id="what a URL would cut off"),
        pytest.param("größe", "gr%C3%B6%C3%9Fe", id="not ASCII"),
        pytest.param("system:node-1", "system:node-1", id="colons, as in names of signers"),
        pytest.param("a" * 400, "a" * 400, id="long"),
    ],
)
@each_row("resource", [CERTIFICATE_SIGNING_REQUESTS, CLUSTER_TRUST_BUNDLES])
def test_names_that_kubernetes_leaves_free_are_quoted(resource: Resource, name: str, written: str) -> None:
    assert resource.path(ObjectKey("", name), "status").endswith(f"/{resource.plural}/{written}/status")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../secrets", "a%2fb", "a\n", "a" * 1025])
def test_no_free_name_changes_the_path_either(name: str) -> None:
    with pytest.raises(InvalidError):
        CERTIFICATE_SIGNING_REQUESTS.path(ObjectKey("", name))


def test_a_key_reads_as_people_write_it() -> None:
    assert str(ObjectKey("team-a", "db")) == "team-a/db"
    assert str(ObjectKey("", "team-a")) == "team-a"


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        pytest.param({"namespace": "a", "name": "b"}, ObjectKey("a", "b"), id="in a namespace"),
        pytest.param({"name": "b"}, ObjectKey("", "b"), id="of the cluster"),
        pytest.param({"namespace": None, "name": 1}, ObjectKey("", ""), id="no texts"),
        pytest.param([], ObjectKey("", ""), id="no object"),
    ],
)
def test_the_key_of_an_object_is_in_its_metadata(metadata: JsonValue, key: ObjectKey) -> None:
    assert ObjectKey.of({"metadata": metadata}) == key
    assert ObjectKey.of({}) == ObjectKey("", "")
