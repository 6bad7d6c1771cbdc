#!/usr/bin/env python3
"""Fills the projects that the examples use, and prints the identity Secrets that they name.

Reads an administrator's credentials from standard input: either the `admin.json` that `keybearer serve`
writes, or a Kubernetes Secret with `clientId` and `clientSecret` as `kubectl get secret -o json` prints it.
Writes a manifest of three Secrets to standard output, for `kubectl apply -f -`: `keybearer-identity` may read the
project of secrets, `keybearer-manager` may manage its connections and syncs as well, and `keybearer-issuer` may
ask for certificates in the project of certificates. Needs nothing but Python.

May be run again: what exists stays as it is, and fresh identities are made.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import secrets
import ssl
import sys
import time
from typing import TypeAlias
from urllib.parse import quote, urlsplit

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

PROJECT = "keybearer-demo"
POLICIES = "/api/v1/cert-manager/certificate-policies"
ENVIRONMENT = "dev"
FOLDERS: dict[str, dict[str, str]] = {
    "/": {"DB_HOST": "db.example.com", "DB_USER": "web", "DB_PASSWORD": secrets.token_urlsafe(18)},
    "/shared": {"LOG_LEVEL": "info", "FEATURES": '{"checkout": {"currency": "EUR"}}'},
    "/registry": {
        "REGISTRY_HOST": "registry.example.com",
        "REGISTRY_USER": "puller",
        "REGISTRY_PASSWORD": secrets.token_urlsafe(18),
    },
}
CERTIFICATES_PROJECT = "keybearer-demo-pki"
AUTHORITY: dict[str, Json] = {
    "type": "root",
    "commonName": "Keybearer demo",
    "keyAlgorithm": "EC_prime256v1",
    "maxPathLength": 0,
}
AUTHORITY_DAYS = 3650
POLICY: dict[str, Json] = {
    "subject": [{"type": "common_name", "allowed": ["*.demo.example"]}],
    "sans": [{"type": "dns_name", "allowed": ["*.demo.example"]}],
    "extendedKeyUsages": {"allowed": ["server_auth", "client_auth"]},
    "validity": {"max": "90d"},
}
IDENTITIES = {
    "keybearer-identity": (PROJECT, "viewer"),
    "keybearer-manager": (PROJECT, "admin"),
    "keybearer-issuer": (CERTIFICATES_PROJECT, "member"),
}
"""Names of the Secrets, and of the identities behind them the project and the role in it."""


class Refused(Exception):  # noqa: N818 - reads as what happened
    """The service answered with something other than 200."""

    def __init__(self, status: int, what: str, message: str) -> None:
        super().__init__(f"{what}: status {status}: {message}")
        self.status = status


class Service:
    """The service's interface, as far as this program needs it."""

    def __init__(self, url: str, ca_file: str | None) -> None:
        parts = urlsplit(url)
        host, self._prefix = parts.hostname or "", parts.path.rstrip("/")
        self._connection: http.client.HTTPConnection
        if parts.scheme == "https":
            context = ssl.create_default_context(cafile=ca_file)
            self._connection = http.client.HTTPSConnection(host, parts.port, timeout=30, context=context)
        elif parts.scheme == "http" and host in {"localhost", "127.0.0.1", "::1"}:
            self._connection = http.client.HTTPConnection(host, parts.port, timeout=30)
        else:
            raise SystemExit(f"{url}: give an https URL; plain http carries secrets in clear text")
        self._headers = {"Content-Type": "application/json"}

    def log_in(self, client_id: str, client_secret: str) -> None:
        """Make the next calls as this identity."""
        body: Json = {"clientId": client_id, "clientSecret": client_secret}
        answer = self.call("POST", "/api/v1/auth/universal-auth/login", body)
        self._headers["Authorization"] = f"Bearer {text(answer, 'accessToken')}"

    def call(self, method: str, path: str, body: Json = None) -> Json:
        """Return the answer's body."""
        payload = None if body is None else json.dumps(body)
        self._connection.request(method, self._prefix + path, payload, self._headers)
        response = self._connection.getresponse()
        raw = response.read()
        if response.status != http.HTTPStatus.OK:
            message = json.loads(raw).get("message", "") if raw.startswith(b"{") else ""
            raise Refused(response.status, f"{method} {path}", str(message))
        answer: Json = json.loads(raw)
        return answer


def text(answer: Json, *path: str) -> str:
    """Return a text from within an answer."""
    for name in path:
        if not isinstance(answer, dict) or name not in answer:
            raise SystemExit(f"the answer has no {'.'.join(path)}: is this a Keybearer service?")
        answer = answer[name]
    return str(answer)


def read_credentials(document: str) -> tuple[str, str]:
    """Return clientId and clientSecret of an admin.json or of a Kubernetes Secret."""
    given: Json = json.loads(document)
    if isinstance(given, dict) and isinstance(given.get("data"), dict):
        first, second = (
            base64.b64decode(text(given, "data", key)).decode() for key in ("clientId", "clientSecret")
        )
        return first, second
    return text(given, "clientId"), text(given, "clientSecret")


def make_project(service: Service, slug: str, name: str, kind: str) -> tuple[str, str]:
    """Make a project where it is missing; return the ids of project and owner."""
    try:
        project = service.call("GET", f"/api/v1/projects/slug/{slug}")
    except Refused as refusal:
        if refusal.status != http.HTTPStatus.NOT_FOUND:
            raise
        created = service.call("POST", "/api/v1/projects", {"projectName": name, "slug": slug, "type": kind})
        project = created["project"] if isinstance(created, dict) else None
    return text(project, "id"), text(project, "orgId")


def fill_project(service: Service, project_id: str) -> None:
    """Make folders and secrets where they are missing."""
    place: dict[str, Json] = {"projectId": project_id, "environment": ENVIRONMENT}
    for path, values in FOLDERS.items():
        if path != "/":
            unless_there(service, "/api/v2/folders", {**place, "name": path.removeprefix("/"), "path": "/"})
        for key, value in values.items():
            body: Json = {**place, "secretPath": path, "secretValue": value}
            unless_there(service, f"/api/v4/secrets/{quote(key)}", body)


def fill_certificates_project(service: Service, project_id: str) -> None:
    """Make an authority and a policy where they are missing."""
    ends = time.gmtime(time.time() + AUTHORITY_DAYS * 24 * 60 * 60)
    configuration: Json = {**AUTHORITY, "notAfter": time.strftime("%Y-%m-%dT%H:%M:%SZ", ends)}
    place: dict[str, Json] = {"projectId": project_id, "name": "demo"}
    authority: Json = {**place, "status": "active", "configuration": configuration}
    unless_there(service, "/api/v1/cert-manager/ca/internal", authority)
    unless_there(service, POLICIES, {**place, **POLICY})
    found = service.call("GET", f"{POLICIES}?projectId={project_id}&search=demo")
    policies = found["certificatePolicies"] if isinstance(found, dict) else None
    for policy in policies if isinstance(policies, list) else ():
        # The operator's identity is a member there, and makes the profiles that manifests describe.
        service.call("PATCH", f"{POLICIES}/{text(policy, 'id')}/binding", {"profilesBoundBy": "members"})


def unless_there(service: Service, path: str, body: Json) -> None:
    """Create something; the service answers 400 where it exists already."""
    try:
        service.call("POST", path, body)
    except Refused as refusal:
        if refusal.status != http.HTTPStatus.BAD_REQUEST or "already exists" not in str(refusal):
            raise


def make_identity(service: Service, project_id: str, organization_id: str, name: str, role: str) -> Json:
    """Make a machine identity with this role in the project and none beyond it; return its Secret's manifest."""
    wanted: Json = {"name": name, "organizationId": organization_id, "role": "no-access"}
    identity_id = text(service.call("POST", "/api/v1/identities", wanted), "identity", "id")
    membership = f"/api/v1/projects/{project_id}/memberships/identities/{identity_id}"
    service.call("POST", membership, {"roles": [{"role": role}]})
    login = f"/api/v1/auth/universal-auth/identities/{identity_id}"
    client_id = text(service.call("POST", login, {}), "identityUniversalAuth", "clientId")
    made = service.call("POST", f"{login}/client-secrets", {"description": "quick start"})
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "stringData": {"clientId": client_id, "clientSecret": text(made, "clientSecret")},
    }


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(
        description="Fills the projects of the examples; prints the identity Secrets."
    )
    parser.add_argument(
        "--url", required=True, help="where the service answers, for example https://localhost:8443"
    )
    parser.add_argument("--ca-file", help="PEM of the CA that signed its certificate")
    arguments = parser.parse_args()
    service = Service(arguments.url, arguments.ca_file)
    try:
        service.log_in(*read_credentials(sys.stdin.read()))
        projects = {
            PROJECT: make_project(service, PROJECT, "Keybearer demo", "secret-manager"),
            CERTIFICATES_PROJECT: make_project(
                service, CERTIFICATES_PROJECT, "Keybearer demo certificates", "cert-manager"
            ),
        }
        fill_project(service, projects[PROJECT][0])
        fill_certificates_project(service, projects[CERTIFICATES_PROJECT][0])
        items: list[Json] = [
            make_identity(service, *projects[project], name, role)
            for name, (project, role) in IDENTITIES.items()
        ]
    except (Refused, OSError) as error:
        raise SystemExit(str(error)) from error
    manifest: Json = {"apiVersion": "v1", "kind": "List", "items": items}
    json.dump(manifest, sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
