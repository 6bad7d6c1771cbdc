"""The requests that published clients make, sent to a real service, and what they need of its answers."""

from __future__ import annotations

import httpx
import orjson
import pytest
from pydantic import JsonValue

from golden.reading import Exchange, GoldenClient, at, clients, fill_in, unmet
from support.service_fixtures import Service
from tools.local.plain_http import plain_client


def _send(http: httpx.Client, exchange: Exchange, values: dict[str, str]) -> httpx.Response:
    request = exchange.request
    headers = {name: str(fill_in(value, values)) for name, value in request.headers.items()}
    if request.bearer and "token" in values:
        headers.setdefault("Authorization", f"Bearer {values['token']}")
    if request.body is not None:
        headers.setdefault("Content-Type", "application/json")
    return http.request(
        request.method,
        str(fill_in(request.path, values)),
        params={name: str(fill_in(value, values)) for name, value in request.query.items()} or None,
        headers=headers,
        content=None if request.body is None else orjson.dumps(fill_in(request.body, values)),
    )


@pytest.mark.parametrize("golden", clients(), ids=lambda golden: golden.client)
def test_a_published_client_gets_what_it_needs(golden: GoldenClient, service: Service) -> None:
    project = service.create_project()
    # Half the default life: a token at its longest is not renewed (wire.md section 1.3).
    who = service.create_identity(
        organization_role=golden.organizationRole, roles={project.id: "admin"}, accessTokenTTL=1296000
    )
    values = {
        "organizationId": service.organization_id,
        "userEmail": service.create_user().email,
        "projectId": project.id,
        "projectSlug": project.slug,
        "clientId": who.client_id,
        "clientSecret": who.client_secret,
    }
    missing: list[str] = []
    with plain_client(service.url) as http:
        for exchange in golden.exchanges:
            answer = _send(http, exchange, values)
            body: JsonValue = orjson.loads(answer.content) if answer.content else None
            missed = unmet(exchange, answer.status_code, answer.headers, body, values)
            missing += [f"{exchange.name}: {line}" for line in missed]
            for name, path in exchange.keeps.items():
                kept = answer.headers.get(path[7:]) if path.startswith("header:") else at(body, path)
                assert isinstance(kept, str), f"{exchange.name}: {path} is missing: {missing}"
                values[name] = kept
    assert not missing, "\n".join(missing)
