"""Whatever is sent to whichever route, the service answers in its own shape and never fails."""

from __future__ import annotations

import random
from typing import Any
from urllib.parse import quote

import pytest

from keybearer.wire.errors import ErrorBody
from support.service_fixtures import ProjectSecrets, Service

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

TRIES = 40
JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    2**31,
    2**63,
    10**400,
    1.5,
    "",
    " ",
    "0",
    "true",
    "cnry-text",
    "a/b",
    "..",
    "\0",
    "\n",
    "é" * 300,
    "x" * 5000,
    "${dev.A}",
    "'; DROP TABLE secrets; --",
    "00000000-0000-4000-8000-000000000000",
    "2026-01-02T03:04:05Z",
    [],
    [None],
    ["cnry-text"],
    [[[]]],
    {},
    {"key": "cnry-key"},
    [{"secretKey": "A", "secretValue": "cnry-a"}],
    [{"secretKey": "A", "secretValue": 1}],
    [{"id": "x", "name": "y", "environment": "dev"}],
    [{"role": "viewer"}],
    [{"ipAddress": "1.2.3.4"}],
]


def properties(document: dict[str, Any], operation: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    reference = content.get("schema", {}).get("$ref", "")
    schema = document["components"]["schemas"].get(reference.rpartition("/")[2], {})
    return [*schema.get("properties", {})]


def test_no_request_makes_the_service_fail(service: Service, secrets: ProjectSecrets) -> None:
    document = secrets.client.json("GET", "/api/docs/json")
    secrets.create("A", "cnry-a")
    folder = secrets.folder("/f")
    sensible: list[Any] = [secrets.project.id, secrets.project.slug, "dev", "/", "A", folder["id"], "shared"]
    chance = random.Random(20260102)  # noqa: S311 - the same requests in every run
    # An identity of its own: some of these requests delete what they find.
    identity = service.create_identity(organization_role="member", roles={secrets.project.id: "member"})
    client = service.client(service.login(identity))

    def value() -> Any:  # noqa: ANN401 - anything at all is the point
        return chance.choice(sensible if chance.random() < 0.5 else JUNK)

    failed = []
    for template, methods in document["paths"].items():
        for method, operation in methods.items():
            for _ in range(TRIES):
                path, query = template, {}
                for parameter in operation.get("parameters", []):
                    if parameter["in"] == "path":
                        path = path.replace(f"{{{parameter['name']}}}", quote(str(value()), safe=""))
                    elif chance.random() < 0.6:
                        query[parameter["name"]] = str(value())
                names = [name for name in properties(document, operation) if chance.random() < 0.8]
                body = {name: value() for name in names}
                response = client.request(method, path, params=query, json=body if names else None)
                if response.status_code >= 500:
                    failed.append((method, template, response.status_code))
                elif response.status_code >= 400:
                    ErrorBody.model_validate(response.json())
    assert failed == []


@pytest.mark.parametrize(
    "header",
    [
        pytest.param({"if-none-match": "x" * 8000}, id="a long tag"),
        pytest.param({"if-none-match": '"' + ".AAAA" * 1000 + '"'}, id="a tag of many projects"),
        pytest.param({"if-none-match": ".n.n.n"}, id="a tag of names"),
        pytest.param({"content-type": "text/plain"}, id="another type"),
    ],
)
def test_headers_do_no_harm(secrets: ProjectSecrets, header: dict[str, str]) -> None:
    response = secrets.client.get("/api/v4/secrets", params=secrets.at(), headers=header)
    assert response.status_code == 200
