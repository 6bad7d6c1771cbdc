"""App connections on the wire, with the identity provider as the remote (interface.md 2.3, 4.3 and 4.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from aiohttp import web

from keybearer.wire.app_connections import (
    AppConnectionAnswer,
    AppConnectionList,
    AppConnectionOptionList,
    AppConnectionUsage,
    AvailableAppConnectionList,
)
from keybearer.wire.limits import APP_CONNECTIONS_MAX
from support.canary import Canary
from support.databases import OwnDatabase
from support.postgres import PostgresServer
from support.remotes.beside import served_beside, tls_of
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Client, Project, ServiceProcess, Starter, Strict, start_service

ALL = "/api/v1/app-connections"
IDP = f"{ALL}/idp"
SEALED_WITH = "SELECT DISTINCT hex(substr(credentials, 2, 20)) FROM app_connections"
SEALED_WITH_POSTGRES = "SELECT DISTINCT encode(substr(credentials, 2, 20), 'hex') FROM app_connections"
# Copies of the first, made by the database: a thousand requests would tell nothing more.
COPIED = """WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < {count})
    INSERT INTO app_connections (id, name, organization_id, app, method, credentials, credentials_hash, shown,
    version, is_auto_rotation_enabled, created_at, updated_at) SELECT {uuid}, name || i, organization_id, app, method,
    credentials, credentials_hash, shown, version, is_auto_rotation_enabled, created_at, updated_at
    FROM app_connections, n"""
UUIDS = {
    "sqlite": "substr('00000000-0000-4000-8000-000000000000', 1, 36 - length(i)) || i",
    "postgresql": "gen_random_uuid()::text",
}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture(scope="session")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[IdentityProviderCopy, Path]]:
    """Yield an identity provider with TLS, and the file of who vouches for it."""
    tls, ca_file = tls_of(tmp_path_factory.mktemp("provider"))
    copy = IdentityProviderCopy()
    with served_beside(copy, tls):
        yield copy, ca_file


@pytest.fixture(scope="session")
def outgoing_process(
    provider: tuple[IdentityProviderCopy, Path],
    database_kind: str,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServiceProcess]:
    url = None
    if database_kind == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.url(server.create())
    running = start_service(
        tmp_path_factory.mktemp("outgoing") / "data",
        *("--allow-outbound", "127.0.0.0/8", "--outbound-ca", str(provider[1])),
        database_url=url,
    )
    yield running
    running.stop()


@pytest.fixture
def service(outgoing_process: ServiceProcess, canary: Canary) -> ServiceProcess:
    """Return a service that may call loopback; its log is searched for marked values after the test."""
    start = outgoing_process.log.stat().st_size

    def written() -> str:
        with outgoing_process.log.open("rb") as log:
            log.seek(start)
            return log.read().decode(errors="replace")

    canary.watch("log of keybearer serve", written)
    return outgoing_process


@pytest.fixture
def idp(provider: tuple[IdentityProviderCopy, Path]) -> Iterator[IdentityProviderCopy]:
    copy = provider[0]
    copy.visits.asked.clear()
    yield copy
    copy.visits.get_well()
    copy.token_type = "Bearer"


@dataclass
class Connections:
    """Makes connections to the identity provider, by names of their own."""

    client: Client
    idp: IdentityProviderCopy

    def body(self, **more: object) -> dict[str, Any]:
        return {
            "name": f"c-{uuid4()}",
            "method": "client-credentials",
            "credentials": self.idp.credentials(),
            **more,
        }

    def make(self, *, status: int = 200, path: str = IDP, **more: object) -> dict[str, Any]:
        answer = self._post(status, path, more)
        return answer["appConnection"] if status == 200 else answer

    def _post(self, status: int, path: str, more: Mapping[str, object]) -> dict[str, Any]:
        return self.client.json("POST", path, status=status, json={**self.body(), **more})

    def refuse(
        self, given: Mapping[str, object] | None = None, **more: object
    ) -> list[tuple[list[str | int], str]]:
        """Return place and text of each issue."""
        return [
            (issue["path"], issue["message"])
            for issue in self._post(422, IDP, {**(given or {}), **more})["message"]
        ]


@pytest.fixture
def connections(admin: Client, idp: IdentityProviderCopy) -> Connections:
    return Connections(admin, idp)


def test_a_connection_is_made_read_changed_and_deleted(
    admin: Client, service: ServiceProcess, connections: Connections, strict: Strict
) -> None:
    body = connections.body(
        description="a tenant", gatewayId=None, App="idp", isPlatformManagedCredentials=False
    )
    made = strict(AppConnectionAnswer, admin.json("POST", IDP, json=body)).app_connection
    assert (made.name, made.description, made.app, made.method) == (
        body["name"],
        "a tenant",
        "idp",
        "client-credentials",
    )
    assert made.credentials == {
        key: value for key, value in body["credentials"].items() if key != "clientSecret"
    }
    assert (made.version, made.org_id, made.project_id) == (1, service.organization_id, None)
    assert (made.is_auto_rotation_enabled, made.rotation) == (False, None)
    path = f"{IDP}/{made.id}"
    assert strict(AppConnectionAnswer, admin.json("GET", path)).app_connection == made
    assert admin.json("GET", f"{IDP}/connection-name/{made.name}")["appConnection"]["id"] == made.id
    change = {"name": f"d-{made.id}", "description": None}
    changed = strict(AppConnectionAnswer, admin.json("PATCH", path, json=change)).app_connection
    assert (changed.name, changed.description, changed.version) == (f"d-{made.id}", None, 2)
    assert changed.credentials_hash == made.credentials_hash
    assert changed.updated_at >= made.updated_at
    assert strict(AppConnectionAnswer, admin.json("DELETE", path)).app_connection == changed
    assert (
        admin.json("GET", path, status=404)["message"] == f"Could not find App Connection with ID {made.id}"
    )


def test_the_remote_is_asked_once_before_a_connection_is_kept(
    connections: Connections, idp: IdentityProviderCopy
) -> None:
    connections.make()
    assert idp.visits.lines() == ["POST /oauth/token"]


class TestRefusedByTheRemote:
    def test_wrong_credentials_are_told_without_them_and_nothing_is_kept(
        self, admin: Client, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        credentials = {**idp.credentials(), "clientSecret": "cnry-wrong-secret"}
        name = f"c-{uuid4()}"
        refusal = connections.make(status=400, name=name, credentials=credentials)
        assert refusal["message"] == (
            "Unable to validate connection: verify credentials: the identity provider refuses them (access_denied); "
            "see to clientId, clientSecret and audience"
        )
        missing = admin.json("GET", f"{IDP}/connection-name/{name}", status=404)
        assert missing["message"] == f"Could not find App Connection with name {name}"

    def test_an_audience_that_the_provider_does_not_know_is_refused(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        credentials = {**idp.credentials(), "audience": "https://other.example.com/"}
        assert "audience" in connections.make(status=400, credentials=credentials)["message"]

    def test_a_token_of_another_type_is_refused(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        idp.token_type = "mac"
        assert "of type Bearer" in connections.make(status=400)["message"]

    def test_a_host_that_is_no_provider_is_told(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        idp.visits.answer_instead("POST", "/oauth/token", lambda: web.Response(status=404))
        assert "is it the identity provider's?" in connections.make(status=400)["message"]

    @pytest.mark.parametrize(
        ("answer", "told"),
        [
            (web.Response(status=503), "the identity provider answers 503"),
            (web.Response(text="cnry-page"), "something other than JSON"),
            (web.Response(status=302, headers={"location": "http://169.254.169.254/"}), "answers 302"),
        ],
        ids=["an outage", "a page", "a redirect"],
    )
    def test_bad_days_of_the_provider_are_told(
        self, connections: Connections, idp: IdentityProviderCopy, answer: web.Response, told: str
    ) -> None:
        headers = {name: value for name, value in answer.headers.items() if name.lower() == "location"}
        idp.visits.answer_instead(
            "POST",
            "/oauth/token",
            lambda: web.Response(status=answer.status, body=answer.body, headers=headers),
        )
        assert told in connections.make(status=400)["message"]

    def test_throttling_is_waited_for(self, connections: Connections, idp: IdentityProviderCopy) -> None:
        idp.visits.answer_instead(
            "POST", "/oauth/token", lambda: web.Response(status=429, headers={"retry-after": "1"})
        )
        connections.make()
        assert len(idp.visits.asked) == 2

    @pytest.mark.parametrize("domain", ["169.254.169.254", "10.0.0.1", "[::1]", "localhost.invalid"])
    def test_a_domain_that_may_not_be_called_is_refused(
        self, connections: Connections, idp: IdentityProviderCopy, domain: str
    ) -> None:
        credentials = {**idp.credentials(), "domain": domain}
        refusal = connections.make(status=400, credentials=credentials)["message"]
        assert refusal.startswith("Unable to validate connection: the host")

    def test_changed_credentials_are_proven_too(
        self, admin: Client, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}"
        wrong = {**idp.credentials(), "clientSecret": "cnry-wrong-secret"}
        admin.json("PATCH", path, status=400, json={"credentials": wrong})
        assert admin.json("GET", path)["appConnection"] == made
        idp.visits.asked.clear()
        right = idp.credentials("another", "cnry-another-secret")
        changed = admin.json("PATCH", path, json={"credentials": right})["appConnection"]
        assert changed["credentials"]["clientId"] == "another"
        assert changed["credentialsHash"] != made["credentialsHash"]
        assert len(idp.visits.asked) == 1
        admin.json("PATCH", path, json={"name": f"e-{made['id']}"})
        assert len(idp.visits.asked) == 1, "a new name is nothing to the remote"

    def test_the_hash_changes_with_every_write_of_credentials(
        self, admin: Client, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}"
        again = admin.json("PATCH", path, json={"credentials": idp.credentials()})["appConnection"]
        assert again["credentialsHash"] != made["credentialsHash"]
        known = hashlib.sha256(idp.credentials()["clientSecret"].encode()).hexdigest()
        assert known not in (made["credentialsHash"], again["credentialsHash"])


class TestForms:
    def test_fields_are_trimmed_and_names_folded(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        credentials = {name: f"  {value} " for name, value in idp.credentials().items()}
        made = connections.make(name=f"  Upper-{uuid4()} ", credentials=credentials)
        assert made["name"] == made["name"].lower().strip()
        assert made["credentials"]["domain"] == idp.domain

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("", "name field must be at least 1 character"),
            ("  ", "name field must be at least 1 character"),
            ("a" * 65, "name field must be at most 64 characters"),
            *(
                (name, "name field can only contain letters, numbers, and hyphens")
                for name in ("a b", "a--b", "-a", "a-", "a_b", "a.b", "\N{LATIN SMALL LETTER E WITH ACUTE}")
            ),
        ],
    )
    def test_a_name_is_a_slug(self, connections: Connections, name: str, told: str) -> None:
        assert connections.refuse(name=name) == [(["name"], told)]

    @pytest.mark.parametrize("length", [1, 2, 63, 64])
    def test_a_name_of_any_length_within_its_limits_is_taken(
        self, connections: Connections, length: int
    ) -> None:
        name = uuid4().hex.ljust(length, "x")[:length]
        assert connections.make(name=name)["name"] == name

    @pytest.mark.parametrize(("length", "status"), [(0, 200), (255, 200), (256, 200), (257, 422)])
    def test_a_description_is_bounded(self, connections: Connections, length: int, status: int) -> None:
        answer = connections.make(status=status, description="d" * length)
        if status == 200:
            assert answer["description"] == "d" * length
        else:
            assert answer["message"][0]["path"] == ["description"]

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("isPlatformManagedCredentials", True),
            ("isPlatformManagedCredentials", None),
            ("gatewayId", UNKNOWN),
            ("gatewayPoolId", UNKNOWN),
            ("isAutoRotationEnabled", True),
            ("rotation", {"rotationInterval": 30, "rotateAtUtc": {"hours": 1, "minutes": 2}}),
            ("rotation", {}),
        ],
    )
    def test_what_no_such_connection_has_is_refused(
        self, admin: Client, connections: Connections, field: str, value: object
    ) -> None:
        told = [([field], "Not supported for Identity Provider Connections")]
        assert connections.refuse({field: value}) == told
        made = connections.make()
        answer = admin.json("PATCH", f"{IDP}/{made['id']}", status=422, json={field: value})
        assert [(issue["path"], issue["message"]) for issue in answer["message"]] == told

    def test_what_says_nothing_of_them_is_taken(self, connections: Connections) -> None:
        made = connections.make(
            isPlatformManagedCredentials=False,
            gatewayId=None,
            gatewayPoolId=None,
            isAutoRotationEnabled=False,
            rotation=None,
        )
        assert made.keys().isdisjoint({"gatewayId", "gatewayPoolId", "rotation"})

    @pytest.mark.parametrize("missing", ["name", "method", "credentials"])
    def test_a_field_that_is_needed_is_missed(
        self, admin: Client, connections: Connections, missing: str
    ) -> None:
        body = {key: value for key, value in connections.body().items() if key != missing}
        assert admin.json("POST", IDP, status=422, json=body)["message"][0]["path"] == [missing]

    @pytest.mark.parametrize("missing", ["domain", "clientId", "clientSecret", "audience"])
    @pytest.mark.parametrize("blank", [None, "", "  "])
    def test_credentials_are_whole(
        self, connections: Connections, idp: IdentityProviderCopy, missing: str, blank: str | None
    ) -> None:
        given: dict[str, Any] = idp.credentials()
        credentials = {key: value for key, value in given.items() if key != missing}
        if blank is not None:
            credentials[missing] = blank
        assert [path for path, _ in connections.refuse(credentials=credentials)] == [["credentials", missing]]

    @pytest.mark.parametrize(
        "domain",
        ["https://tenant.example.com", "tenant.example.com/x", "a b", "a@b", "a:b", "a?b", "a#b", ".a"],
    )
    def test_a_domain_is_a_host(
        self, connections: Connections, idp: IdentityProviderCopy, domain: str
    ) -> None:
        credentials = {**idp.credentials(), "domain": domain}
        assert [path for path, _ in connections.refuse(credentials=credentials)] == [
            ["credentials", "domain"]
        ]

    def test_an_audience_is_a_url(self, connections: Connections, idp: IdentityProviderCopy) -> None:
        credentials = {**idp.credentials(), "audience": "tenant"}
        assert [path for path, _ in connections.refuse(credentials=credentials)] == [
            ["credentials", "audience"]
        ]

    def test_a_field_that_no_credentials_have_is_refused(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        credentials = {**idp.credentials(), "password": "cnry-password"}
        assert [path for path, _ in connections.refuse(credentials=credentials)] == [
            ["credentials", "password"]
        ]

    def test_another_method_is_refused(self, connections: Connections) -> None:
        assert [path for path, _ in connections.refuse(method="oauth")] == [["method"]]

    def test_large_credentials_are_refused(self, connections: Connections, idp: IdentityProviderCopy) -> None:
        credentials = idp.credentials("large", "cnry-" + "x" * 70_000)
        message = connections.make(status=400, credentials=credentials)["message"]
        assert message == "The credentials have more than 64 KiB"


class TestNames:
    def test_a_name_is_taken_once_in_the_organization_and_once_in_each_project(
        self, admin: Client, connections: Connections, project: Project
    ) -> None:
        made = connections.make()
        told = f'An App Connection with the name "{made["name"]}" already exists'
        assert connections.make(status=400, name=made["name"].upper())["message"] == told
        inside = connections.make(name=made["name"], projectId=project.id)
        assert connections.make(status=400, name=made["name"], projectId=project.id)["message"] == told
        other = connections.make()
        change = {"name": made["name"]}
        assert admin.json("PATCH", f"{IDP}/{other['id']}", status=400, json=change)["message"] == told
        admin.json("PATCH", f"{IDP}/{made['id']}", json={"name": made["name"]})
        query = {"projectId": project.id}
        by_name = f"{IDP}/connection-name/{made['name']}"
        assert admin.json("GET", by_name)["appConnection"]["id"] == made["id"]
        assert admin.json("GET", by_name, params=query)["appConnection"]["id"] == inside["id"]

    def test_a_taken_name_is_told_before_the_remote_is_asked(
        self, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        made = connections.make()
        idp.visits.asked.clear()
        connections.make(status=400, name=made["name"])
        assert idp.visits.asked == []


class TestProjects:
    def test_a_connection_of_a_project_tells_its_project(
        self, connections: Connections, project: Project
    ) -> None:
        made = connections.make(projectId=project.id)
        assert made["projectId"] == project.id
        assert made["project"] == {
            "id": project.id,
            "name": "project",
            "type": "secret-manager",
            "slug": project.slug,
        }

    def test_lists_are_of_the_organization_or_of_one_project(
        self, admin: Client, connections: Connections, project: Project, strict: Strict
    ) -> None:
        own = connections.make()
        inside = [connections.make(name=name, projectId=project.id) for name in ("b", "a")]
        query = {"projectId": project.id}
        for path in (ALL, IDP):
            listed = strict(AppConnectionList, admin.json("GET", path, params=query)).app_connections
            assert [one.id for one in listed] == [one["id"] for one in reversed(inside)]
            found = admin.json("GET", path)["appConnections"]
            assert own["id"] in {one["id"] for one in found}
            assert all("projectId" not in one for one in found)
            assert [one["name"] for one in found] == sorted(one["name"] for one in found)
        assert admin.json("GET", f"{ALL}/cloud", params=query)["appConnections"] == []
        available = strict(AvailableAppConnectionList, admin.json("GET", f"{IDP}/available", params=query))
        names = [one.name for one in available.app_connections]
        assert {"a", "b", own["name"]} <= set(names)
        assert names == sorted(names)
        assert "a" not in {one["name"] for one in admin.json("GET", f"{IDP}/available")["appConnections"]}

    def test_an_unknown_project_is_not_found(self, admin: Client, connections: Connections) -> None:
        connections.make(status=404, projectId=UNKNOWN)
        admin.json("GET", IDP, status=404, params={"projectId": UNKNOWN})

    def test_connections_go_with_their_project(
        self, admin: Client, connections: Connections, project: Project
    ) -> None:
        made = connections.make(projectId=project.id)
        admin.json("DELETE", f"/api/v1/projects/{project.id}")
        admin.json("GET", f"{IDP}/{made['id']}", status=404)


class TestApps:
    def test_the_published_name_is_answered_in_its_words(
        self, admin: Client, connections: Connections
    ) -> None:
        made = connections.make(path=f"{ALL}/auth0")
        assert made["app"] == "auth0"
        path = f"{ALL}/auth0/{made['id']}"
        assert admin.json("GET", path)["appConnection"] == made
        assert admin.json("GET", f"{IDP}/{made['id']}")["appConnection"] == {**made, "app": "idp"}
        assert admin.json("PATCH", path, json={"description": "x"})["appConnection"]["app"] == "auth0"
        assert {one["app"] for one in admin.json("GET", f"{ALL}/auth0")["appConnections"]} == {"auth0"}
        assert {one["app"] for one in admin.json("GET", f"{ALL}/auth0/available")["appConnections"]} == {
            "auth0"
        }
        assert admin.json("DELETE", path)["appConnection"]["app"] == "auth0"

    def test_published_names_are_not_described(self, service: ServiceProcess) -> None:
        paths = service.client().json("GET", "/api/docs/json")["paths"]
        words = {path.split("/")[4] for path in paths if path.startswith(f"{ALL}/")}
        assert words.isdisjoint({"aws", "github", "auth0"})
        assert "idp" in words

    def test_a_connection_to_another_app_is_told(self, admin: Client, connections: Connections) -> None:
        made = connections.make()
        for method, path in (
            ("GET", f"{ALL}/cloud/{made['id']}"),
            ("GET", f"{ALL}/cloud/connection-name/{made['name']}"),
            ("DELETE", f"{ALL}/cloud/{made['id']}"),
            ("PATCH", f"{ALL}/cloud/{made['id']}"),
        ):
            body: dict[str, Any] | None = {} if method == "PATCH" else None
            told = admin.json(method, path, status=400, json=body)["message"]
            assert told == f'App Connection with ID {made["id"]} is not for App "cloud"'

    @pytest.mark.any_database
    def test_an_app_that_nobody_knows_is_no_route(self, admin: Client) -> None:
        for path in (f"{ALL}/unknown", f"{ALL}/unknown/available", f"{ALL}/unknown/{UNKNOWN}"):
            assert admin.json("GET", path, status=404)["error"] == "Not Found"

    @pytest.mark.any_database
    def test_an_id_that_is_none_is_refused(self, admin: Client) -> None:
        assert admin.json("GET", f"{IDP}/x", status=422)["message"][0]["path"] == ["connection_id"]

    @pytest.mark.any_database
    def test_options_tell_apps_and_methods(self, admin: Client, strict: Strict) -> None:
        answer = admin.json("GET", f"{ALL}/options", params={"projectType": "secret-manager"})
        options = strict(AppConnectionOptionList, answer).app_connection_options
        assert [option.methods for option in options if option.app == "idp"] == [["client-credentials"]]
        titles = [option.name.lower() for option in options]
        assert titles == sorted(titles)

    def test_an_app_without_rotation_says_so(self, admin: Client, connections: Connections) -> None:
        made = connections.make()
        refusal = admin.json("POST", f"{IDP}/{made['id']}/rotate-credentials", status=400)
        assert refusal["message"] == (
            "Rotation is not supported for Identity Provider Connections with method client-credentials"
        )


class TestRights:
    def test_members_of_the_organization_see_its_connections_and_only_admins_change_them(
        self, service: ServiceProcess, connections: Connections, idp: IdentityProviderCopy
    ) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}"
        member = service.client(service.login(service.create_identity(organization_role="member")))
        assert member.json("GET", path)["appConnection"] == made
        member.json("GET", IDP)
        idp.visits.asked.clear()
        other = Connections(member, idp)
        assert other.make(status=403)["message"] == "You are not allowed to create on app-connections"
        refusal = member.json("PATCH", path, status=403, json={"credentials": idp.credentials()})
        assert refusal["details"][0]["subject"] == "app-connections"
        member.json("DELETE", path, status=403)
        member.json("POST", f"{path}/rotate-credentials", status=403)
        assert idp.visits.asked == []
        nobody = service.client(service.login(service.create_identity()))
        nobody.json("GET", path, status=403)
        nobody.json("GET", ALL, status=403)

    @pytest.mark.parametrize("role", ["admin", "member", "viewer", "no-access"])
    def test_roles_of_a_project_decide_about_its_connections(
        self,
        service: ServiceProcess,
        connections: Connections,
        idp: IdentityProviderCopy,
        project: Project,
        role: str,
    ) -> None:
        made = connections.make(projectId=project.id)
        path = f"{IDP}/{made['id']}"
        client = service.client(service.login(service.create_identity(roles={project.id: role})))
        reads = 403 if role == "no-access" else 200
        writes = 200 if role == "admin" else 403
        client.json("GET", path, status=reads)
        client.json("GET", IDP, status=reads, params={"projectId": project.id})
        client.json("GET", f"{IDP}/available", status=reads, params={"projectId": project.id})
        Connections(client, idp).make(status=writes, projectId=project.id)
        client.json("PATCH", path, status=writes, json={"description": "x"})
        client.json("DELETE", path, status=writes)

    def test_grants_speak_of_connections(
        self, service: ServiceProcess, admin: Client, connections: Connections, project: Project
    ) -> None:
        made = connections.make(projectId=project.id)
        path = f"{IDP}/{made['id']}"
        viewer = service.create_identity(roles={project.id: "viewer"})
        client = service.client(service.login(viewer))
        whole = {"identityId": viewer.identity_id, "environment": "*", "subjects": ["app-connections"]}
        grants = f"/api/v1/projects/{project.id}/grants"
        client.json("PATCH", path, status=403, json={"description": "x"})
        admin.json("POST", grants, json={**whole, "actions": ["edit"]})
        client.json("PATCH", path, json={"description": "x"})
        admin.json("POST", grants, json={**whole, "effect": "deny", "actions": ["read"]})
        client.json("GET", path, status=403)
        client.json("GET", IDP, status=403, params={"projectId": project.id})

    def test_usage_is_for_users(
        self, service: ServiceProcess, admin: Client, connections: Connections, strict: Strict
    ) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}/usage"
        admin.json("GET", path, status=403)
        person = service.client(service.login_user(service.create_user(organization_role="admin")))
        assert strict(AppConnectionUsage, person.json("GET", path)).projects == []

    def test_changes_are_audited_without_credentials(self, admin: Client, connections: Connections) -> None:
        made = connections.make()
        path = f"{IDP}/{made['id']}"
        admin.json("PATCH", path, json={"description": "x"})
        admin.json("DELETE", path)
        lines = admin.json("GET", "/api/v1/organization/audit-logs", params={"limit": "50"})["auditLogs"]
        ours = [line for line in lines if line["event"]["metadata"].get("connectionId") == made["id"]]
        assert {line["event"]["type"] for line in ours} == {
            "create-app-connection",
            "update-app-connection",
            "delete-app-connection",
        }
        assert all("cnry" not in str(line) for line in ours)


class TestUse:
    """By syncs to a second service, which is this one."""

    @pytest.fixture
    def used(self, service: ServiceProcess, admin: Client, project: Project) -> tuple[str, str]:
        """Return a connection of the project and a sync that uses it."""
        machine = service.create_identity(roles={project.id: "member"})
        body = {
            "name": "other",
            "method": "machine-identity",
            "projectId": project.id,
            "credentials": {
                "instanceUrl": service.url,
                "machineIdentityClientId": machine.client_id,
                "machineIdentityClientSecret": machine.client_secret,
            },
        }
        connection = admin.json("POST", f"{ALL}/external-infisical", json=body)["appConnection"]
        sync = {
            "name": "out",
            "projectId": project.id,
            "connectionId": connection["id"],
            "environment": "dev",
            "secretPath": "/",
            "isAutoSyncEnabled": False,
            "syncOptions": {"initialSyncBehavior": "overwrite-destination"},
            "destinationConfig": {"projectId": project.id, "environment": "prod", "secretPath": "/"},
        }
        path = "/api/v1/secret-syncs/external-infisical"
        return connection["id"], admin.json("POST", path, json=sync)["secretSync"]["id"]

    def test_a_connection_that_a_sync_uses_is_not_deleted(self, admin: Client, used: tuple[str, str]) -> None:
        connection_id, sync_id = used
        path = f"{ALL}/external-infisical/{connection_id}"
        assert admin.json("DELETE", path, status=400)["message"] == (
            "Cannot delete App Connection with existing connections. "
            "Remove all existing connections and try again."
        )
        admin.json("DELETE", f"/api/v1/secret-syncs/external-infisical/{sync_id}")
        admin.json("DELETE", path)

    def test_usage_tells_projects_and_syncs(
        self, service: ServiceProcess, project: Project, used: tuple[str, str], strict: Strict
    ) -> None:
        connection_id, sync_id = used
        path = f"{ALL}/external-infisical/{connection_id}/usage"
        person = service.client(service.login_user(service.create_user(roles={project.id: "viewer"})))
        (use,) = strict(AppConnectionUsage, person.json("GET", path)).projects
        assert (use.id, use.slug) == (project.id, project.slug)
        assert [(sync.id, sync.name) for sync in use.resources.secret_syncs] == [(sync_id, "out")]

    def test_a_project_goes_with_connections_and_syncs(
        self, admin: Client, project: Project, used: tuple[str, str]
    ) -> None:
        admin.json("DELETE", f"/api/v1/projects/{project.id}")
        admin.json("GET", f"{ALL}/external-infisical/{used[0]}", status=404)


class TestOwnService:
    """What needs a database that no other test has."""

    @pytest.fixture
    def own(
        self, start: Starter, provider: tuple[IdentityProviderCopy, Path], tmp_path: Path
    ) -> Iterator[ServiceProcess]:
        running = start(
            tmp_path / "data", "--allow-outbound", "127.0.0.0/8", "--outbound-ca", str(provider[1])
        )
        yield running
        running.kill()

    def test_credentials_are_sealed_anew_while_connections_are_changed(
        self, own: ServiceProcess, own_database: OwnDatabase, idp: IdentityProviderCopy
    ) -> None:
        connections = Connections(own.admin_client(), idp)
        made = [connections.make() for _ in range(30)]
        before = self._keys(own_database, own.data_dir)
        keys = "/api/v1/admin/keys"
        connections.client.json("POST", f"{keys}/rotate-data", json={})
        number = 0
        while connections.client.json("GET", keys)["credentialRotation"] is not None:
            path = f"{IDP}/{made[number % len(made)]['id']}"
            connections.client.json("PATCH", path, json={"description": f"d{number}"})
            number += 1
        after = self._keys(own_database, own.data_dir)
        assert len(before) == len(after) == 1
        assert before != after
        hashes = {one["id"]: one["credentialsHash"] for one in made}
        listed = connections.client.json("GET", IDP)["appConnections"]
        assert {one["id"]: one["credentialsHash"] for one in listed} == hashes, "nobody changed any"
        count = "SELECT count(*) FROM server_keys WHERE name LIKE 'auth methods%'"
        assert own_database.execute(own.data_dir, count).strip() == "1"

    def _keys(self, database: OwnDatabase, data_dir: Path) -> set[str]:
        # The name of the key in an envelope, as `sealing.envelope` lays it out.
        statement = SEALED_WITH if database.server is None else SEALED_WITH_POSTGRES
        return set(database.execute(data_dir, statement).lower().split())

    def test_no_credential_lies_in_the_database(
        self, own: ServiceProcess, own_database: OwnDatabase, idp: IdentityProviderCopy
    ) -> None:
        Connections(own.admin_client(), idp).make()
        own.stop()
        for file in own_database.files(own.data_dir):
            assert b"cnry-client-secret" not in file.read_bytes()

    def test_there_are_only_so_many(
        self, own: ServiceProcess, own_database: OwnDatabase, idp: IdentityProviderCopy
    ) -> None:
        connections = Connections(own.admin_client(), idp)
        connections.make()
        kind = "sqlite" if own_database.server is None else "postgresql"
        copied = COPIED.format(count=APP_CONNECTIONS_MAX - 1, uuid=UUIDS[kind])
        own_database.execute(own.data_dir, copied)
        connections.make()
        told = f"An organization has at most {APP_CONNECTIONS_MAX} app connections"
        assert connections.make(status=400)["message"] == told
        assert len(connections.client.json("GET", IDP)["appConnections"]) == APP_CONNECTIONS_MAX
        project = own.create_project()
        connections.make(projectId=project.id)

    def test_of_two_that_take_a_name_at_the_same_moment_one_is_told_so(
        self, own: ServiceProcess, idp: IdentityProviderCopy
    ) -> None:
        connections = Connections(own.admin_client(), idp)
        tokens = [own.login(own.admin) for _ in range(8)]

        def make(token: str) -> tuple[int, object]:
            with httpx.Client(base_url=own.url, trust_env=False, timeout=30) as client:
                headers = {"authorization": f"Bearer {token}"}
                answer = client.post(IDP, headers=headers, json=connections.body(name="same"))
                return answer.status_code, answer.json().get("message")

        with ThreadPoolExecutor(len(tokens)) as pool:
            answers = list(pool.map(make, tokens))
        assert sorted(status for status, _ in answers) == [200, *[400] * 7]
        assert {message for status, message in answers if status == 400} == {
            'An App Connection with the name "same" already exists'
        }
        assert len(idp.visits.asked) <= len(tokens), "nobody asks the remote twice"


def test_instants_are_of_now(connections: Connections) -> None:
    made = connections.make()
    assert made["createdAt"] == made["updatedAt"]
    assert abs((datetime.fromisoformat(made["createdAt"]) - datetime.now().astimezone()).total_seconds()) < 60
