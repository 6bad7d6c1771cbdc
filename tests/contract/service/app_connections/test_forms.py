"""What a request says of a connection is trimmed, folded, bounded, and refused where it fits none."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from contract.service.app_connections.provider_connections import IDP, UNKNOWN, Connections
from support.remotes.identity_provider import IdentityProviderCopy
from support.service_fixtures import Client


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
