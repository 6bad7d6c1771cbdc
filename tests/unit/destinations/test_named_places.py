"""The texts by which connections are limited to places of a destination."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from keybearer.base.ids import OrganizationId
from keybearer.destinations.catalogue import CATALOGUE
from keybearer.domain.connections.use import checked_place_patterns, place_of, require_place
from keybearer.domain.errors import ForbiddenError
from keybearer.wire.key_schema import KeyNaming
from support.connection_rows import connection_row
from support.rows import each_row

CASES: list[tuple[str, dict[str, Any], str | None, str]] = [
    ("hashicorp-vault", {"mount": "/kv/", "path": "shop/dev/"}, None, "kv/shop/dev"),
    ("cloud-parameter-store", {"region": "eu-west-1", "path": "/"}, None, "eu-west-1/*"),
    (
        "cloud-parameter-store",
        {"region": "eu-west-1", "path": "/shop/"},
        "a/{{secretKey}}",
        "eu-west-1/shop/a/*",
    ),
    (
        "cloud-secrets-manager",
        {"region": "eu-west-1", "mappingBehavior": "one-to-one"},
        "{{environment}}-{{secretKey}}",
        "eu-west-1/dev-*",
    ),
    (
        "cloud-secrets-manager",
        {"region": "eu-west-1", "mappingBehavior": "many-to-one", "secretName": "shop/all"},
        None,
        "eu-west-1/shop/all",
    ),
    ("codehost", {"scope": "organization", "org": "Acme", "visibility": "all"}, None, "acme"),
    ("codehost", {"scope": "repository", "owner": "Acme", "repo": "Shop"}, None, "acme/shop"),
    (
        "codehost",
        {"scope": "repository-environment", "owner": "acme", "repo": "shop", "env": "Prod"},
        None,
        "acme/shop/prod",
    ),
    ("gitlab", {"scope": "project", "projectId": "7"}, None, "projects/7"),
    ("gitlab", {"scope": "group", "groupId": "Acme/Web"}, None, "groups/acme/web"),
    ("gcp-secret-manager", {"scope": "global", "projectId": "shop-123456"}, None, "shop-123456/*"),
    (
        "gcp-secret-manager",
        {"scope": "region", "projectId": "shop-123456", "locationId": "europe-west3"},
        "x-{{secretKey}}",
        "shop-123456/europe-west3/x-*",
    ),
    (
        "azure-key-vault",
        {"vaultBaseUrl": "https://Shop.vault.azure.net/"},
        "a_{{secretKey}}",
        "shop.vault.azure.net/a-*",
    ),
    ("external-infisical", {"projectId": "p", "environment": "dev", "secretPath": "/"}, None, "p/dev"),
    (
        "external-infisical",
        {"projectId": "p", "environment": "dev", "secretPath": "/a/b/"},
        None,
        "p/dev/a/b",
    ),
]


@pytest.mark.parametrize(("destination", "config", "key_schema", "expected"), CASES)
def test_a_place_has_a_name(
    destination: str, config: dict[str, Any], key_schema: str | None, expected: str
) -> None:
    kind = CATALOGUE.kind(destination)
    assert kind is not None
    named = place_of(kind, kind.config.validate_python(config), KeyNaming.of(key_schema, "dev"))
    assert named == expected


def test_every_destination_has_names_for_its_places() -> None:
    assert {kind.name for kind in CATALOGUE.kinds} == {case[0] for case in CASES}


@each_row(
    ("pattern", "place", "allowed"),
    [
        pytest.param("kv/shop/**", "kv/shop/dev", True, id="what is beneath"),
        pytest.param("kv/shop/**", "kv/shop", True, id="the place itself"),
        pytest.param("kv/shop/**", "kv/shops", False, id="a neighbour"),
        pytest.param("kv/*", "kv/shop/dev", False, id="a star is within a name"),
        pytest.param("**", "kv/shop/dev", True, id="everything"),
        pytest.param("**", "kv/../dev", False, id="nothing that leads up"),
        pytest.param("**", "kv//dev", False, id="nothing with an empty name"),
        pytest.param("eu-west-1/shop-*", "eu-west-1/shop-*", True, id="a prefix of names"),
        pytest.param("eu-west-1/shop/**", "eu-west-1/shop*", False, id="names beside a prefix"),
        pytest.param("eu-west-1/shop/**", "eu-west-1/*", False, id="all names of a region"),
    ],
)
def test_a_pattern_allows_places(pattern: str, place: str, *, allowed: bool) -> None:

    row = connection_row(OrganizationId("o"), None, "vault", "hashicorp-vault", "x", datetime.now(UTC))
    connection = replace(row, allowed_places=checked_place_patterns([pattern], CATALOGUE.kinds))
    if allowed:
        require_place(connection, lambda: place)
    else:
        with pytest.raises(ForbiddenError, match="does not allow the place"):
            require_place(connection, lambda: place)


def test_a_destination_without_names_is_refused_once_places_are_limited() -> None:

    row = connection_row(OrganizationId("o"), None, "vault", "hashicorp-vault", "x", datetime.now(UTC))
    require_place(row, lambda: None)
    with pytest.raises(ForbiddenError, match="has no names for its places"):
        require_place(replace(row, allowed_places=("**",)), lambda: None)
