"""The service's own description, and a project that requests made from it can find."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

import httpx

from keybearer.destinations.catalogue import CATALOGUE
from keybearer.server.app import create_app
from keybearer.server.context import ServiceContext
from support.pki_house import Pki
from support.service_fixtures import Client, Credentials, Service

__all__ = ["Surroundings", "described_here", "surround"]

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
    """Return the document of this source: all that it needs of the application are its routes."""

    async def ask() -> dict[str, Any]:
        transport = httpx.ASGITransport(
            create_app(cast("ServiceContext", SimpleNamespace(catalogue=CATALOGUE)))
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            document: dict[str, Any] = (await client.get("/api/docs/json")).json()
            return document

    return asyncio.run(ask())


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
