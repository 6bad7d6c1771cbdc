"""The remote is asked about credentials before any are kept, and what it says against them is told."""

from __future__ import annotations

import hashlib
from uuid import uuid4

import pytest
from aiohttp import web

from contract.service.app_connections.provider_connections import IDP, Connections
from support.remotes.identity_provider import IdentityProviderCopy
from support.remotes.serving import ATTEMPTS
from support.service_fixtures import Client


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
            "Unable to validate connection: verify credentials: the identity provider doesn't take the credentials; "
            "check clientId, clientSecret and audience (access_denied)"
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
            (
                web.Response(status=302, headers={"location": "http://169.254.169.254/"}),
                "the place was moved",
            ),
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
            times=ATTEMPTS,
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
