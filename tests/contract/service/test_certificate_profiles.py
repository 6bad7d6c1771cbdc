"""Certificate profiles (interface.md sections 2.6 and 4.7, wire.md section 5.4)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from support.pki_house import Pki, pki_of
from support.rows import each_row
from support.service_fixtures import Service

pytestmark = pytest.mark.every_database

DEFAULTS: dict[str, Any] = {
    "ttlDays": 30,
    "commonName": "www.example.com",
    "keyAlgorithm": "EC_prime256v1",
    "signatureAlgorithm": "ECDSA-SHA256",
    "keyUsages": ["digital_signature"],
    "extendedKeyUsages": ["server_auth", "client_auth"],
    "basicConstraints": {"isCA": False},
    "organization": "Example Inc",
    "organizationalUnit": "Web",
    "country": "DE",
    "state": "Hessen",
    "locality": "Fulda",
    "subjectAltNames": [{"type": "dns_name", "value": "www.example.com"}],
    "domainComponents": ["example", "com"],
}
EVERY_FIELD = {
    "id",
    "certificatePolicyId",
    "slug",
    "enrollmentType",
    "createdAt",
    "updatedAt",
    "caId",
    "description",
    "estConfigId",
    "apiConfigId",
    "acmeConfigId",
    "scepConfigId",
    "issuerType",
    "externalConfigs",
    "defaults",
}
EST = {"passphrase": "cnry-passphrase", "disableBootstrapCaValidation": True}


@pytest.fixture
def pki(service: Service) -> Pki:
    return pki_of(service)


class TestMaking:
    def test_a_profile_with_every_field(self, pki: Pki) -> None:
        made = pki.profile(
            slug="web-1",
            description="of the web",
            defaults=DEFAULTS,
            externalConfigs={"template": "WebServer"},
            apiConfig={"autoRenew": True, "renewBeforeDays": 7},
            estConfig=EST,
            acmeConfig={},
            scepConfig={"challengePassword": "cnry-challenge"},
        )
        assert set(made) == EVERY_FIELD
        assert made["defaults"] == DEFAULTS
        assert made["externalConfigs"] == {"template": "WebServer"}
        assert made["enrollmentType"] == "api"
        assert made["issuerType"] == "ca"
        assert pki.call("GET", "/certificate-profiles/slug/web-1", params={"projectId": pki.project_id}) == {
            "certificateProfile": made
        }

    def test_what_a_profile_doesnt_have_isnt_there(self, pki: Pki) -> None:
        made = pki.profile(issuerType="self-signed")
        assert set(made) == {
            "id",
            "certificatePolicyId",
            "slug",
            "enrollmentType",
            "createdAt",
            "updatedAt",
            "issuerType",
        }

    def test_it_is_shown_with_what_it_refers_to(self, pki: Pki) -> None:
        authority, policy = pki.authority(), pki.policy(description="why")
        made = pki.profile(
            caId=authority["id"],
            certificatePolicyId=policy["id"],
            enrollmentType="est",
            estConfig=EST,
        )
        shown = pki.call("GET", f"/certificate-profiles/{made['id']}")
        assert shown == {
            "certificateProfile": made,
            "certificateAuthority": {
                "id": authority["id"],
                "projectId": pki.project_id,
                "status": "active",
                "name": authority["name"],
                "isExternal": False,
            },
            "certificatePolicy": {
                "id": policy["id"],
                "projectId": pki.project_id,
                "name": policy["name"],
                "description": "why",
            },
            "estConfig": {"id": made["estConfigId"], "disableBootstrapCaValidation": True, "caChain": None},
        }

    def test_the_policy_says_which_project_is_meant(self, service: Service, pki: Pki) -> None:
        other = pki_of(service)
        made = other.profile(projectId=None)
        listed = other.call("GET", "/certificate-profiles", params={"projectId": other.project_id})
        assert [one["id"] for one in listed["certificateProfiles"]] == [made["id"]]
        pki.profile(certificatePolicyId=other.policy()["id"], status=404)

    def test_the_policy_has_an_older_name(self, pki: Pki) -> None:
        body = {
            "projectId": pki.project_id,
            "slug": "older",
            "certificateTemplateId": pki.policy()["id"],
            "caId": pki.authority()["id"],
        }
        pki.call("POST", "/certificate-profiles", json=body)

    def test_names_of_defaults_get_the_kind_they_look_like(self, pki: Pki) -> None:
        names = [{"value": "10.0.0.1"}, {"value": "a@example.com"}, {"value": "https://x"}, {"value": "x.y"}]
        made = pki.profile(defaults={"subjectAltNames": names})
        kinds = [name["type"] for name in made["defaults"]["subjectAltNames"]]
        assert kinds == ["ip_address", "email", "uri", "dns_name"]

    def test_old_spellings_come_back_in_the_new_one(self, pki: Pki) -> None:
        given = {
            "keyUsages": ["cRLSign"],
            "extendedKeyUsages": ["serverAuth"],
            "keyAlgorithm": "ECDSA-P384",
            "signatureAlgorithm": "SHA384-ECDSA",
        }
        assert pki.profile(defaults=given)["defaults"] == {
            "keyUsages": ["crl_sign"],
            "extendedKeyUsages": ["server_auth"],
            "keyAlgorithm": "EC_secp384r1",
            "signatureAlgorithm": "ECDSA-SHA384",
        }

    def test_a_slug_that_is_taken_is_403(self, pki: Pki) -> None:
        pki.profile(slug="same")
        refused = pki.profile(slug="same", status=403)
        assert refused["message"] == "Certificate profile with this name already exists in project"
        assert refused["error"] == "ForbiddenError"

    def test_what_it_refers_to_must_be_there(self, pki: Pki) -> None:
        assert (
            pki.profile(certificatePolicyId=str(uuid4()), status=404)["message"]
            == "Certificate policy not found"
        )
        assert pki.profile(caId=str(uuid4()), status=404)["message"] == "Certificate authority not found"


SAID: dict[str, tuple[dict[str, Any], str]] = {
    "an authority that is missing": ({"caId": None}, "CA issuer type requires a CA ID"),
    "an authority of one that signs itself": (
        {"issuerType": "self-signed", "caId": str(uuid4())},
        "Self-signed issuer type cannot have a CA ID",
    ),
    "EST of one that signs itself": (
        {"issuerType": "self-signed", "enrollmentType": "est", "estConfig": EST},
        "Self-signed issuer type only supports API enrollment",
    ),
    "API without its configuration": (
        {"enrollmentType": "api"},
        "API enrollment type requires API configuration",
    ),
    "EST without its configuration": (
        {"enrollmentType": "est"},
        "EST enrollment type requires EST configuration",
    ),
    "ACME without its configuration": (
        {"enrollmentType": "acme"},
        "ACME enrollment type requires ACME configuration",
    ),
    "API with that of EST": (
        {"enrollmentType": "api", "apiConfig": {}, "estConfig": EST},
        "API enrollment type cannot have EST configuration",
    ),
    "SCEP with that of API": (
        {"enrollmentType": "scep", "scepConfig": {}, "apiConfig": {}},
        "SCEP enrollment type cannot have API configuration",
    ),
}


@each_row(("fields", "said"), SAID.values(), ids=SAID)
def test_what_doesnt_go_together_is_422(pki: Pki, fields: dict[str, Any], said: str) -> None:
    refused = pki.profile(status=422, **fields)
    assert [issue["message"] for issue in refused["message"]] == [said]


WRONG: dict[str, dict[str, Any]] = {
    "no slug": {"slug": ""},
    "capital letters": {"slug": "Web"},
    "a slug of 256": {"slug": "x" * 256},
    "a description of 1001": {"description": "x" * 1001},
    "an unknown issuer": {"issuerType": "acme"},
    "an unknown enrollment": {"enrollmentType": "cmp"},
    "no policy": {"certificatePolicyId": None},
    "a policy by name": {"certificatePolicyId": "web"},
    "a day of none": {"defaults": {"ttlDays": -1}},
    "an unknown key": {"defaults": {"keyAlgorithm": "Ed25519"}},
    "an unknown usage": {"defaults": {"keyUsages": ["sign"]}},
    "a name of 256": {"defaults": {"commonName": "x" * 256}},
    "days beyond 30": {"apiConfig": {"renewBeforeDays": 31}},
    "no days": {"apiConfig": {"renewBeforeDays": -1}},
    "EST without a passphrase": {"estConfig": {"disableBootstrapCaValidation": True}},
    "EST without a chain": {"estConfig": {"passphrase": "cnry-p"}},
}


@each_row("fields", WRONG.values(), ids=WRONG)
def test_what_no_profile_holds_is_422(pki: Pki, fields: dict[str, Any]) -> None:
    pki.profile(status=422, **fields)


@pytest.mark.parametrize(("field", "most"), [("slug", 255), ("description", 1000)])
def test_a_text_has_a_longest(pki: Pki, field: str, most: int) -> None:
    for length in (1, most - 1, most):
        fields: dict[str, Any] = {field: "x" * length}
        assert pki.profile(**fields)[field] == "x" * length
    pki.profile(status=422, **{field: "x" * (most + 1)})


@pytest.mark.parametrize(("days", "status"), [(-1, 422), (0, 200), (1, 200), (30, 200), (31, 422)])
def test_days_before_renewal_have_edges(pki: Pki, days: int, status: int) -> None:
    pki.profile(status=status, apiConfig={"renewBeforeDays": days})


@pytest.mark.parametrize(("days", "status"), [(-1, 422), (0, 200), (1, 200), (36500, 200), (36501, 422)])
def test_days_of_a_lifetime_have_edges(pki: Pki, days: int, status: int) -> None:
    pki.profile(status=status, defaults={"ttlDays": days})


class TestChanging:
    def test_what_isnt_named_stays(self, pki: Pki) -> None:
        made = pki.profile(description="d", defaults=DEFAULTS, externalConfigs={"template": "T"})
        path = f"/certificate-profiles/{made['id']}"
        changed = pki.call("PATCH", path, json={"slug": "new-slug"})["certificateProfile"]
        assert changed == {**made, "slug": "new-slug", "updatedAt": changed["updatedAt"]}
        body = {"description": None, "defaults": None, "externalConfigs": None}
        bare = pki.call("PATCH", path, json=body)["certificateProfile"]
        assert not {"description", "defaults", "externalConfigs"} & set(bare)

    def test_policy_and_authority_change(self, pki: Pki) -> None:
        made, authority, policy = pki.profile(), pki.authority(), pki.policy()
        body = {"caId": authority["id"], "certificatePolicyId": policy["id"]}
        changed = pki.call("PATCH", f"/certificate-profiles/{made['id']}", json=body)["certificateProfile"]
        assert changed["caId"] == authority["id"]
        assert changed["certificatePolicyId"] == policy["id"]
        for wrong in ({"caId": str(uuid4())}, {"certificatePolicyId": str(uuid4())}):
            pki.call("PATCH", f"/certificate-profiles/{made['id']}", status=404, json=wrong)

    def test_another_way_of_enrollment_ends_the_one_before(self, pki: Pki) -> None:
        made = pki.profile(enrollmentType="api", apiConfig={"autoRenew": True})
        path = f"/certificate-profiles/{made['id']}"
        refused = pki.call("PATCH", path, status=422, json={"enrollmentType": "est"})
        assert refused["message"][0]["message"] == "EST enrollment type requires EST configuration"
        body = {"enrollmentType": "est", "estConfig": EST}
        changed = pki.call("PATCH", path, json=body)["certificateProfile"]
        assert "apiConfigId" not in changed
        again = {"estConfig": {**EST, "caChain": "PEM"}}
        assert (
            pki.call("PATCH", path, json=again)["certificateProfile"]["estConfigId"] == changed["estConfigId"]
        )

    def test_issuer_and_authority_stay_together(self, pki: Pki) -> None:
        signed, own = pki.profile(), pki.profile(issuerType="self-signed")
        for made, issuer in ((signed, "self-signed"), (own, "ca")):
            body = {"issuerType": issuer}
            pki.call("PATCH", f"/certificate-profiles/{made['id']}", status=422, json=body)

    def test_a_slug_that_is_taken_is_403(self, pki: Pki) -> None:
        pki.profile(slug="taken")
        made = pki.profile()
        pki.call("PATCH", f"/certificate-profiles/{made['id']}", status=403, json={"slug": "taken"})


class TestDeleting:
    def test_the_profile_itself_is_answered(self, pki: Pki) -> None:
        made = pki.profile(defaults=DEFAULTS)
        path = f"/certificate-profiles/{made['id']}"
        assert pki.call("DELETE", path) == {"certificateProfile": made}
        assert pki.call("DELETE", path, status=404)["message"] == "Certificate profile not found"
        assert pki.call("GET", path, status=404)["message"] == "Certificate profile not found"

    def test_one_in_use_goes_and_its_certificates_live_on(self, pki: Pki) -> None:
        made = pki.profile()
        issued = pki.issue(made["id"])
        pki.call("DELETE", f"/certificate-profiles/{made['id']}")
        found = pki.call("GET", f"/certificates/{issued['certificate']['certificateId']}")["certificate"]
        assert found["status"] == "active"
        assert found["profileId"] is None
        search = {"projectId": pki.project_id}
        listed = pki.call("POST", "/certificates/certificate-requests/search", json=search)
        assert "profileId" not in listed["certificateRequests"][0]

    def test_only_ids_name_profiles(self, pki: Pki) -> None:
        made = pki.profile(slug="by-slug")
        for given in ("by-slug", made["id"][:-1], f"{made['id']}0"):
            pki.call("DELETE", f"/certificate-profiles/{given}", status=422)


class TestLists:
    def test_every_filter(self, pki: Pki) -> None:
        authority = pki.authority()
        web = pki.profile(slug="web", caId=authority["id"])
        mail = pki.profile(slug="mail", issuerType="self-signed")
        est = pki.profile(slug="web-est", enrollmentType="est", estConfig=EST)

        def found(**query: object) -> list[str]:
            answer = pki.call("GET", "/certificate-profiles", params={"projectId": pki.project_id, **query})
            return [one["id"] for one in answer["certificateProfiles"]]

        assert found() == [mail["id"], web["id"], est["id"]]
        assert found(search="WEB") == [web["id"], est["id"]]
        assert found(issuerType="self-signed") == [mail["id"]]
        assert found(enrollmentType="est") == [est["id"]]
        assert found(caId=authority["id"]) == [web["id"]]
        assert found(limit=1, offset=1) == [web["id"]]


class TestCertificatesOfAProfile:
    def test_they_are_listed_with_every_filter(self, pki: Pki) -> None:
        made, other = pki.profile(), pki.profile()
        first = pki.issue(made["id"], attributes={"commonName": "a.example.com", "ttl": "1h"})["certificate"]
        second = pki.issue(made["id"])["certificate"]
        pki.issue(other["id"])

        def found(**query: object) -> list[str]:
            answer = pki.call("GET", f"/certificate-profiles/{made['id']}/certificates", params=query)
            return [one["id"] for one in answer["certificates"]]

        assert found() == [second["certificateId"], first["certificateId"]]
        assert found(search="a.example") == [first["certificateId"]]
        assert found(status="revoked") == []
        assert found(status="active", limit=1) == [second["certificateId"]]

    def test_the_latest_bundle(self, pki: Pki) -> None:
        made = pki.profile()
        path = f"/certificate-profiles/{made['id']}/certificates/latest-active-bundle"
        assert set(pki.call("GET", path).values()) == {None}
        pki.issue(made["id"])
        issued = pki.issue(made["id"])["certificate"]
        bundle = pki.call("GET", path)
        assert bundle["serialNumber"] == issued["serialNumber"]
        assert bundle["privateKey"] == issued["privateKey"]
        assert bundle["certificateChain"] == issued["certificateChain"]


class TestRights:
    def test_members_write_and_viewers_read(self, service: Service, pki: Pki) -> None:
        made = pki.profile(acmeConfig={})

        def acting(role: str) -> Pki:
            identity = service.create_identity(roles={pki.project_id: role})
            return Pki(service.client(service.login(identity)), pki.project_id)

        member, viewer = acting("member"), acting("viewer")
        path = f"/certificate-profiles/{made['id']}"
        assert viewer.call("GET", path)["certificateProfile"] == made
        body = {"slug": "x", "certificatePolicyId": made["certificatePolicyId"], "caId": made["caId"]}
        for method, at, sent in (
            ("POST", "/certificate-profiles", body),
            ("PATCH", path, {}),
            ("DELETE", path, None),
            ("GET", f"{path}/acme/eab-secret/reveal", None),
        ):
            viewer.call(method, at, status=403, json=sent)
        assert member.call("PATCH", path, json={"description": "mine"})["certificateProfile"]["description"]
        pki.issue(made["id"])
        latest = f"{path}/certificates/latest-active-bundle"
        assert viewer.call("GET", latest)["privateKey"] is None
        assert member.call("GET", latest)["privateKey"].startswith("-----BEGIN")

    def test_what_acme_clients_need_is_shown_and_noted(self, service: Service, pki: Pki) -> None:
        made = pki.profile(acmeConfig={"skipEabBinding": True})
        path = f"/certificate-profiles/{made['id']}/acme/eab-secret/reveal"
        shown = pki.call("GET", path)
        assert shown["eabKid"] == made["acmeConfigId"]
        assert pki.call("GET", path) == shown
        logs = service.admin_client().json(
            "GET", "/api/v1/organization/audit-logs", params={"projectId": pki.project_id}
        )["auditLogs"]
        assert logs[0]["event"]["type"] == "reveal-certificate-profile-acme-eab-secret"
        assert shown["eabSecret"] not in str(logs)
        bare = pki.profile()
        pki.call("GET", f"/certificate-profiles/{bare['id']}/acme/eab-secret/reveal", status=404)

    def test_other_organizations_have_none_of_it(self, pki: Pki) -> None:
        made = pki.profile()
        pki.client.headers["authorization"], kept = "Bearer nonsense", pki.client.headers["authorization"]
        try:
            pki.call("GET", f"/certificate-profiles/{made['id']}", status=401)
        finally:
            pki.client.headers["authorization"] = kept
