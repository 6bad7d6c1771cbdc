from __future__ import annotations

import re
from typing import Any

import pytest

from support.service_fixtures import Service

APP_CONNECTIONS = "/api/v1/app-connections"
SECRET_SYNCS = "/api/v1/secret-syncs"
PUBLIC = {
    ("/api/status", "get"),
    ("/api/v1/auth/universal-auth/login", "post"),
    ("/api/v1/auth/kubernetes-auth/login", "post"),
    ("/api/v1/auth/ldap-auth/login", "post"),
    ("/api/v3/auth/login", "post"),
    ("/api/v1/auth/token/renew", "post"),
    ("/api/v1/auth/token/revoke", "post"),
    ("/api/v1/cert-manager/ca/internal/{authority_id}/certificates/{certificate_id}/der", "get"),
    ("/api/v1/cert-manager/crl/{certificate_id}", "get"),
    ("/.well-known/acme-challenge/{token}", "get"),
    ("/api/v1/cert-manager/ocsp/{certificate_id}", "post"),
    ("/api/v1/cert-manager/ocsp/{certificate_id}/{question}", "get"),
}


@pytest.fixture
def document(service: Service) -> dict[str, Any]:
    return service.client().json("GET", "/api/docs/json")


def test_the_document_carries_the_interfaces_version_and_a_local_server(document: dict[str, Any]) -> None:
    assert document["info"]["version"] == "0.0.1"
    assert "http://localhost:8080" in {server["url"] for server in document["servers"]}


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def test_every_operation_says_whether_it_needs_a_token(document: dict[str, Any]) -> None:
    open_to_all = {
        (path, method) for path, method, operation in operations(document) if "security" not in operation
    }
    assert open_to_all == PUBLIC


def test_every_path_parameter_is_described(document: dict[str, Any]) -> None:
    for path, method, operation in operations(document):
        described = {item["name"] for item in operation.get("parameters", []) if item["in"] == "path"}
        assert described == {part[1:-1] for part in path.split("/") if part.startswith("{")}, (path, method)


def references(node: object) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(references(item) for item in node))
    return set()


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert references(document) <= known


def test_errors_are_described_in_the_shape_that_is_answered(document: dict[str, Any]) -> None:
    for _, _, operation in operations(document):
        for status in ("400", "401", "403", "404", "422", "500"):
            content = operation["responses"][status]["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/ErrorBody"}
    assert "HTTPValidationError" not in document["components"]["schemas"]


def test_operations_have_names_of_their_own(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(document)]
    assert len(names) == len(set(names))


def test_the_list_describes_its_query(document: dict[str, Any]) -> None:
    parameters = document["paths"]["/api/v4/secrets"]["get"]["parameters"]
    assert {"projectId", "environment", "secretPath", "recursive", "includeImports", "tagSlugs"} <= {
        item["name"] for item in parameters
    }
    assert {item["name"] for item in parameters if item["required"]} == {"projectId", "environment"}


def test_the_page_needs_nothing_from_elsewhere(service: Service) -> None:
    response = service.client().get("/api/docs")
    assert response.headers["content-type"].startswith("text/html")
    assert "https://" not in response.text
    assert "http://" not in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]


def test_published_names_of_apps_and_destinations_are_not_described(document: dict[str, Any]) -> None:
    words = {path.split("/")[4] for path in document["paths"] if path.startswith(f"{APP_CONNECTIONS}/")}
    assert words.isdisjoint({"aws", "github", "auth0"})
    assert "idp" in words
    paths = [path for path in document["paths"] if path.startswith(SECRET_SYNCS)]
    assert f"{SECRET_SYNCS}/codehost" in paths
    assert [path for path in paths if re.search(r"github|aws-", path)] == []
