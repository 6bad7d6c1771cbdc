"""The shapes that every answer about secret syncs passes through must be able to fail (interface.md 2.1 and 2.2)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from support.rows import each_row
from support.strict_syncs import ONE_SYNC, OPTIONAL, SYNC_OPTIONS, expected_options

ID = "0b6f3c3e-7a55-4d2b-9a3f-0d6a5d1f0c11"
AT = "2026-01-02T03:04:05.678Z"
COMMON: dict[str, Any] = {
    "id": ID,
    "name": "a-sync",
    "description": None,
    "isAutoSyncEnabled": True,
    "version": 1,
    "projectId": ID,
    "folderId": ID,
    "connectionId": ID,
    "createdAt": AT,
    "updatedAt": AT,
    "syncStatus": "succeeded",
    "lastSyncJobId": ID,
    "lastSyncMessage": None,
    "lastSyncedAt": AT,
    "importStatus": None,
    "lastImportJobId": None,
    "lastImportMessage": None,
    "lastImportedAt": None,
    "removeStatus": "failed",
    "lastRemoveJobId": ID,
    "lastRemoveMessage": "because",
    "lastRemovedAt": None,
    "environment": {"slug": "dev", "name": "Development", "id": ID},
    "folder": {"id": ID, "path": "/"},
}
CLOUD = {
    "initialSyncBehavior": "import-prioritize-source",
    "keySchema": "{{environment}}/{{secretKey}}",
    "disableSecretDeletion": True,
    "keyId": "alias/key",
    "tags": [{"key": "k", "value": ""}],
    "syncSecretMetadataAsTags": False,
}
OVERWRITING = {"initialSyncBehavior": "overwrite-destination"}
MANY = {"region": "sa-east-1", "mappingBehavior": "many-to-one", "secretName": "n"}
ORGANIZATION = {"scope": "organization", "org": "o", "visibility": "selected", "selectedRepositoryIds": [1]}
RIGHT = {
    "parameter store": ("cloud-parameter-store", "cloud", CLOUD, {"region": "us-east-1", "path": "/"}),
    "one to one": (
        "cloud-secrets-manager",
        "cloud",
        CLOUD,
        {"region": "eu-west-1", "mappingBehavior": "one-to-one"},
    ),
    "many to one": ("cloud-secrets-manager", "cloud", CLOUD, MANY),
    "organization": ("codehost", "codehost", OVERWRITING, ORGANIZATION),
    "repository": ("codehost", "codehost", OVERWRITING, {"scope": "repository", "owner": "o", "repo": "r"}),
    "repository environment": (
        "codehost",
        "codehost",
        OVERWRITING,
        {"scope": "repository-environment", "owner": "o", "repo": "r", "env": "e"},
    ),
    "another": ("gitlab", "gitlab", {**OVERWRITING, "any": 1}, {"any": [1]}),
}


def sync(name: str) -> dict[str, Any]:
    """Return a sync that is as the documents tell it."""
    destination, app, options, config = RIGHT[name]
    return copy.deepcopy(
        {
            **COMMON,
            "destination": destination,
            "connection": {"app": app, "name": "c", "id": ID},
            "syncOptions": options,
            "destinationConfig": config,
        }
    )


def objects(of: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every object within."""
    if isinstance(of, dict):
        yield path
        for key, value in of.items():
            yield from objects(value, (*path, key))
    elif isinstance(of, list):
        for index, value in enumerate(of):
            yield from objects(value, (*path, index))


def at(of: Any, path: tuple[str | int, ...]) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    for part in path:
        of = of[part]
    found: dict[str, Any] = of
    return found


def passes(shown: dict[str, Any]) -> bool:
    try:
        ONE_SYNC.model_validate({"secretSync": shown})
    except ValueError:
        return False
    return True


@each_row("name", RIGHT)
def test_a_sync_as_the_documents_tell_it_passes(name: str) -> None:
    assert passes(sync(name))
    assert passes({**sync(name), "environment": None, "folder": None, "folderId": None})


@each_row("name", RIGHT)
def test_a_field_too_many_fails_at_every_level(name: str) -> None:
    ways = list(objects(sync(name)))
    if name == "another":  # of its own fields the documents are silent
        ways = [way for way in ways if not {"syncOptions", "destinationConfig"} & set(way)]
    assert len(ways) >= 4
    for way in ways:
        spoiled = sync(name)
        at(spoiled, way)["recursive"] = False
        assert not passes(spoiled), way


@each_row("name", [name for name in RIGHT if name != "another"])
def test_a_field_that_is_missing_fails_at_every_level(name: str) -> None:
    for way in objects(sync(name)):
        for field in at(sync(name), way):
            spoiled = sync(name)
            del at(spoiled, way)[field]
            assert passes(spoiled) == (field in OPTIONAL), (way, field)


@each_row(
    ("name", "way", "wrong"),
    [
        ("another", ("syncStatus",), "done"),
        ("another", ("importStatus",), ""),
        ("another", ("removeStatus",), "Pending"),
        ("another", ("lastSyncedAt",), "2026-01-02"),
        ("another", ("lastSyncJobId",), "x"),
        ("another", ("name",), "A"),
        ("another", ("name",), "a" * 257),
        ("another", ("description",), "a" * 257),
        ("another", ("version",), 0),
        ("another", ("version",), "1"),
        ("another", ("isAutoSyncEnabled",), "true"),
        ("another", ("id",), "x"),
        ("another", ("destination",), "nowhere"),
        ("another", ("destination",), "codehost"),
        ("another", ("connection", "app"), "nowhere"),
        ("another", ("environment",), "dev"),
        ("another", ("folder", "path"), "shop"),
        ("organization", ("connection", "app"), "cloud"),
        ("organization", ("syncOptions", "initialSyncBehavior"), "import-prioritize-source"),
        ("organization", ("destinationConfig", "visibility"), "some"),
        ("organization", ("destinationConfig", "scope"), "repository"),
        ("organization", ("destinationConfig", "org"), ""),
        ("organization", ("destinationConfig", "selectedRepositoryIds"), ["1"]),
        ("parameter store", ("syncOptions", "initialSyncBehavior"), "overwrite"),
        ("parameter store", ("syncOptions", "keySchema"), "KEY"),
        ("parameter store", ("syncOptions", "keySchema"), None),
        ("parameter store", ("syncOptions", "keyId"), ""),
        ("parameter store", ("syncOptions", "tags"), [{"key": "k", "value": "v"}] * 51),
        ("parameter store", ("syncOptions", "tags", 0, "key"), ""),
        ("parameter store", ("syncOptions", "tags", 0, "value"), "a" * 257),
        ("parameter store", ("syncOptions", "syncSecretMetadataAsTags"), 1),
        ("parameter store", ("destinationConfig", "region"), "eu-west-9"),
        ("parameter store", ("destinationConfig", "path"), ""),
        ("parameter store", ("connection", "app"), "codehost"),
        ("many to one", ("destinationConfig", "secretName"), ""),
        ("many to one", ("destinationConfig", "mappingBehavior"), "one-to-one"),
    ],
)
def test_a_field_of_another_kind_fails(name: str, way: tuple[str | int, ...], wrong: object) -> None:
    spoiled = sync(name)
    at(spoiled, way[:-1])[way[-1]] = wrong  # type: ignore[index] # of a list as well
    assert not passes(spoiled)


@pytest.mark.parametrize(
    "wrong", [{"canImportSecrets": None}, {"destination": "nowhere"}, {"enterprise": True}]
)
def test_an_option_is_held_to_its_shape(wrong: dict[str, object]) -> None:
    options = expected_options()
    SYNC_OPTIONS.model_validate({"secretSyncOptions": options})
    for spoiled in (options[1:], [{**options[0], **wrong}, *options[1:]]):
        with pytest.raises(ValueError, match="validation error"):
            SYNC_OPTIONS.model_validate({"secretSyncOptions": spoiled})
