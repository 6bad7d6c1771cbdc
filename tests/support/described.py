"""The service's own description, and requests that are made from it."""

from __future__ import annotations

import asyncio
import random
import warnings
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx
from pydantic.warnings import UnsupportedFieldAttributeWarning
from schemathesis import Case
from schemathesis.checks import CheckContext
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.transport import Response
from schemathesis.generation.meta import TestPhase

from keybearer.server.app import create_app
from keybearer.server.context import ServiceContext
from support.pki_house import Pki
from support.service_fixtures import Client, Credentials, Service
from support.strict_answers import check_answer

__all__ = ["Surroundings", "answers_as_written_down", "described_here", "is_left_to_long_runs", "surround"]

_ONE_SENT_OF = 5
_BODY_OF_SHORT_RUNS = 50_000
"""Characters. A batch of a thousand secrets, as bounds ask for, takes seconds."""
_PROJECT = "/api/v1/projects/{project_id}"
_STANDING = (
    "/api/v1/identities",
    f"{_PROJECT}/environments/{{environment_id}}",
    f"{_PROJECT}/environments/slug/dev",
    f"{_PROJECT}/environments/slug/prod",
    f"{_PROJECT}/tags/{{tag_id}}",
    f"{_PROJECT}/grants/{{grant_id}}",
    "/api/v1/projects/slug/{projectSlug}",
    "/api/v2/folders/{folder_id}",
    "/api/v2/secret-imports/{import_id}",
    "/api/v4/secrets/id/{secret_id}",
    "/api/v1/auth/universal-auth/identities/{identity_id}/client-secrets/{client_secret_id}",
)
_CONNECTION = "/api/v1/app-connections/{app}/{connection_id}"


def described_here() -> dict[str, Any]:
    """Return the document of this source: it names the tests while they are collected, before any service runs."""

    async def ask() -> dict[str, Any]:
        # All that the document needs of the application are its routes.
        transport = httpx.ASGITransport(create_app(cast("ServiceContext", None)))
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            document: dict[str, Any] = (await client.get("/api/docs/json")).json()
            return document

    with warnings.catch_warnings():
        # The framework gives bodies an alias that pydantic has no use for.
        warnings.simplefilter("ignore", UnsupportedFieldAttributeWarning)
        return asyncio.run(ask())


def is_left_to_long_runs(case: Case[Any]) -> bool:
    """Return whether it is very large, or among four in five of the systematic requests, always the same ones."""
    if len(repr(case.body)) > _BODY_OF_SHORT_RUNS:
        return True
    if case.meta is None or case.meta.phase.name is not TestPhase.COVERAGE:
        return False
    return _digest(case) % _ONE_SENT_OF != 0


@dataclass(frozen=True)
class Surroundings:
    """What is there for one test: who asks, and what parameters and fields of a name may hold to find something."""

    client: Client
    token: str
    known: Mapping[str, tuple[object, ...]]

    def stand(self) -> bool:
        """Return whether requests so far have left all of it."""
        known = {name: values[0] for name, values in self.known.items()}
        paths = (*_STANDING, _CONNECTION) if "connection_id" in known else _STANDING
        return all(self.client.get(path.format(**known)).status_code == 200 for path in paths)

    def settle(self, case: Case[Any]) -> None:
        """Aim most of what was drawn as right at what exists; drawn names lead nowhere."""
        chance = random.Random(_digest(case))  # noqa: S311 - the same choice for the same request
        for location, fields in (
            (ParameterLocation.PATH, case.path_parameters),
            (ParameterLocation.QUERY, case.query),
            (ParameterLocation.BODY, case.body),
        ):
            is_right = case.meta is not None and not case.meta.is_negative_at(location)
            if is_right and isinstance(fields, dict):
                self._aim(fields, chance)

    def _aim(self, fields: dict[str, Any], chance: random.Random) -> None:
        for name, given in fields.items():
            if name in self.known and given is not None and chance.random() < 0.8:
                fields[name] = chance.choice(self.known[name])


def answers_as_written_down(_: CheckContext, response: Response, __: Case[Any]) -> bool | None:
    """Hold an answer of schemathesis' client against the shapes that tests wrote down from the documents."""
    check_answer(
        httpx.Response(
            response.status_code,
            headers={name: ", ".join(values) for name, values in response.headers.items()},
            content=response.content,
            # Without its query: that may be longer than this client lets one be.
            request=httpx.Request(str(response.request.method), str(response.request.url).partition("?")[0]),
        )
    )
    return None


def surround(service: Service, *, calls_itself: bool = False) -> Surroundings:
    """Return a project with one of everything, and an admin whom a request may well take away.

    Args:
        service: to make it in.
        calls_itself: whether it may call loopback; then there is a connection as well, to itself.
    """
    project = service.create_project()
    me = service.create_identity(organization_role="admin", roles={project.id: "admin"})
    other = service.create_identity(roles={project.id: "viewer"})
    token = service.login(me)
    client = service.client(token)
    at = {"projectId": project.id, "environment": "dev"}
    base, auth = f"/api/v1/projects/{project.id}", "/api/v1/auth/universal-auth/identities"
    folder = client.json("POST", "/api/v2/folders", json={**at, "name": "f"})["folder"]
    secret = client.json("POST", "/api/v4/secrets/A", json={**at, "secretValue": "a value"})["secret"]
    source = {"environment": "prod", "path": "/"}
    imported = client.json("POST", "/api/v2/secret-imports", json={**at, "import": source})["secretImport"]
    tag = client.json("POST", f"{base}/tags", json={"slug": "t"})["tag"]
    given = {"identityId": other.identity_id, "actions": ["read"], "environment": "dev"}
    grant = client.json("POST", f"{base}/grants", json=given)["grant"]
    environments = client.json("GET", base)["project"]["environments"]
    listed = client.json("GET", f"{auth}/{other.identity_id}/client-secrets")["clientSecretData"]
    projects, places = (project.id,), ("/", "/f")
    known: dict[str, tuple[object, ...]] = {
        **dict.fromkeys(("project_id", "projectId", "workspaceId"), projects),
        **dict.fromkeys(("projectSlug", "workspaceSlug"), (project.slug,)),
        **dict.fromkeys(("environment", "sourceEnvironment", "destinationEnvironment"), ("dev", "prod")),
        **dict.fromkeys(("path", "secretPath", "sourceSecretPath", "destinationSecretPath"), places),
        **dict.fromkeys(("identity_id", "identityId"), (other.identity_id,)),
        **dict.fromkeys(("organization_id", "organizationId"), (service.organization_id,)),
        "environment_id": tuple(each["id"] for each in environments),
        "secret_name": ("A", "B"),
        "kubernetesHost": ("https://cluster.example",),
        "url": ("ldaps://directory.example",),
        "secret_id": (secret["id"],),
        "secretIds": ([secret["id"]],),
        "folder_id": (folder["id"],),
        "id_or_name": (folder["id"], "f"),
        "import_id": (imported["id"],),
        "tag_id": (tag["id"],),
        "grant_id": (grant["id"],),
        "client_secret_id": (listed[0]["id"],),
        **_certificates(Pki(client, project.id)),
    }
    if calls_itself:
        connection = _connection(service, client, me, project.id)
        ids = dict.fromkeys(("connection_id", "connectionId"), (connection["id"],))
        known |= {**ids, "app": (connection["app"],), "connection_name": (connection["name"],)}
    return Surroundings(client, token, known)


def _certificates(pki: Pki) -> dict[str, tuple[object, ...]]:
    """Return what parameters and fields about certificates may hold, once there is one of everything."""
    authority, policy = pki.authority(), pki.policy()
    profile = pki.profile(caId=authority["id"], certificatePolicyId=policy["id"])["id"]
    application = pki.application(profile)["id"]
    issued = pki.issue(profile)
    certificate, own = issued["certificate"]["certificateId"], authority["configuration"]["activeCaCertId"]
    return {
        **dict.fromkeys(("authority_id", "caId", "parentCaId"), (authority["id"],)),
        **dict.fromkeys(("policy_id", "certificatePolicyId"), (policy["id"],)),
        **dict.fromkeys(("profile_id", "profileId"), (profile,)),
        **dict.fromkeys(("application_id", "applicationId"), (application,)),
        "profileIds": ([profile],),
        "certificate_id": (certificate, own),
        "request_id": (issued["certificateRequestId"],),
    }


def _connection(service: Service, client: Client, login: Credentials, project_id: str) -> dict[str, Any]:
    body = {
        "name": f"itself-{project_id}",
        "method": "machine-identity",
        "credentials": {
            "instanceUrl": service.url,
            "machineIdentityClientId": login.client_id,
            "machineIdentityClientSecret": login.client_secret,
        },
    }
    made: dict[str, Any] = client.json("POST", "/api/v1/app-connections/external-infisical", json=body)[
        "appConnection"
    ]
    return made


def _digest(case: Case[Any]) -> int:
    drawn = repr((case.method, case.path, case.path_parameters, case.query, case.body))
    return zlib.crc32(drawn.encode("utf-8", "surrogatepass"))
