"""Internal certificate authorities (wire.md section 5.6)."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm, KeyUsage
from keybearer.pki.certificates import certificate_of, parse_certificate, parse_certificates
from keybearer.pki.keys import generate_private_key, is_supported
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request, parse_signing_request
from support.pki_house import Pki, later, pki_of
from support.rows import each_row
from support.service_fixtures import Service, Starter

pytestmark = pytest.mark.every_database

SUBJECT: dict[str, Any] = {
    "commonName": "Root",
    "organization": "Example Inc",
    "ou": "PKI",
    "country": "DE",
    "province": "Hessen",
    "locality": "Fulda",
}


@pytest.fixture
def pki(service: Service) -> Pki:
    return pki_of(service)


def certificate(pki: Pki, authority_id: str) -> dict[str, Any]:
    found: dict[str, Any] = pki.call("GET", f"/ca/internal/{authority_id}/certificate")
    return found


def waiting(pki: Pki, made: dict[str, Any]) -> dict[str, Any]:
    """Return an authority as it is read, once it has no certificate."""
    found: dict[str, Any] = pki.call("GET", f"/ca/internal/{made['id']}")
    assert found["status"] == "pending-certificate"
    assert found["configuration"]["activeCaCertId"] is None
    return found


class TestRoots:
    def test_a_root_that_is_told_until_when_is_active_at_once(self, pki: Pki) -> None:
        made = pki.authority("my-root", **SUBJECT, maxPathLength=3)
        assert made["status"] == "active"
        assert made["configuration"]["dn"] == "CN=Root,OU=PKI,O=Example Inc,L=Fulda,ST=Hessen,C=DE"
        assert made["configuration"]["maxPathLength"] == 3
        own = parse_certificate(certificate(pki, made["id"])["certificate"])
        assert own.is_ca
        assert own.path_length == 3
        assert own.subject == own.issuer
        assert own.serial == made["configuration"]["serialNumber"]
        assert {KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN} <= (own.key_usages or set())
        assert certificate(pki, made["id"])["certificateChain"] == ""
        assert pki.call("GET", f"/ca/internal/{made['id']}") == made

    def test_a_root_that_isnt_told_waits_for_its_certificate(self, pki: Pki) -> None:
        made = waiting(pki, pki.authority(notAfter=None))
        assert made["configuration"]["activeCaCertId"] is None
        refused = pki.call("GET", f"/ca/internal/{made['id']}/certificate", status=404)
        assert "no certificate" in refused["message"]
        body = {"notAfter": later()}
        given = pki.call("POST", f"/ca/internal/{made['id']}/certificate", json=body)
        assert given == certificate(pki, made["id"])
        assert pki.call("GET", f"/ca/internal/{made['id']}")["status"] == "active"

    def test_one_that_was_made_disabled_stays_so(self, pki: Pki) -> None:
        body = {
            "projectId": pki.project_id,
            "name": "off",
            "status": "disabled",
            "configuration": {"type": "root", "commonName": "x", "keyAlgorithm": "EC_prime256v1"},
        }
        made = waiting(pki, pki.call("POST", "/ca/internal", json=body))
        pki.call("POST", f"/ca/internal/{made['id']}/certificate", json={"notAfter": later()})
        assert pki.call("GET", f"/ca/internal/{made['id']}")["status"] == "disabled"
        on = pki.call("PATCH", f"/ca/internal/{made['id']}", json={"status": "active"})
        assert on["status"] == "active"

    @pytest.mark.parametrize("algorithm", [kind for kind in KeyAlgorithm if not kind.value.startswith("SLH")])
    def test_each_kind_of_key_is_made_or_clearly_refused(self, pki: Pki, algorithm: KeyAlgorithm) -> None:
        if not is_supported(algorithm):
            refused = pki.authority(keyAlgorithm=algorithm.value, status=400)
            assert algorithm.value in refused["message"]
            return
        made = pki.authority(keyAlgorithm=algorithm.value)
        key = parse_certificate(certificate(pki, made["id"])["certificate"]).public_key
        assert key is not None
        assert key.algorithm is algorithm

    def test_dates_are_kept_to(self, pki: Pki) -> None:
        made = pki.authority(notBefore="2026-01-01", notAfter="2056-01-01T00:00:00+02:00")
        assert made["configuration"]["notBefore"] == "2026-01-01T00:00:00.000Z"
        assert made["configuration"]["notAfter"] == "2055-12-31T22:00:00.000Z"

    def test_a_root_has_no_parent_and_no_request(self, pki: Pki) -> None:
        root, other = pki.authority(), pki.authority()
        path = f"/ca/internal/{root['id']}"
        body = {"notAfter": later(), "parentCaId": other["id"]}
        assert "root" in pki.call("POST", f"{path}/certificate", status=400, json=body)["message"]
        assert "root" in pki.call("GET", f"{path}/csr", status=400)["message"]


class TestIntermediates:
    def test_a_chain_of_three(self, pki: Pki) -> None:
        root = pki.authority()
        middle = pki.intermediate(root["id"], commonName="Middle")
        last = pki.intermediate(middle["id"], commonName="Last", days=30)
        assert middle["status"] == "active"
        assert middle["configuration"]["parentCaId"] == root["id"]
        own = certificate(pki, last["id"])
        chain = parse_certificates(own["certificateChain"])
        assert [str(one.subject) for one in chain] == ["CN=Middle", "CN=Root of Tests"]
        assert parse_certificate(own["certificate"]).issuer == chain[0].subject
        profile = pki.profile(caId=last["id"])
        issued = pki.issue(profile["id"])["certificate"]
        above = parse_certificates(issued["certificateChain"])
        assert [str(one.subject) for one in above] == ["CN=Last", "CN=Middle", "CN=Root of Tests"]

    def test_one_needs_a_parent(self, pki: Pki) -> None:
        made = waiting(pki, pki.authority(type="intermediate"))
        path, body = f"/ca/internal/{made['id']}/certificate", {"notAfter": later()}
        assert "parent CA ID" in pki.call("POST", path, status=400, json=body)["message"]
        elsewhere = {**body, "parentCaId": str(uuid4())}
        assert pki.call("POST", path, status=404, json=elsewhere)["message"] == "Parent CA not found"

    def test_none_outlives_its_parent(self, pki: Pki) -> None:
        root = pki.authority(notAfter=later(10))
        made = pki.authority(type="intermediate")
        body = {"notAfter": later(11), "parentCaId": root["id"]}
        refused = pki.call("POST", f"/ca/internal/{made['id']}/certificate", status=400, json=body)
        assert "valid until" in refused["message"]

    def test_the_path_gets_shorter_on_the_way_down(self, pki: Pki) -> None:
        root = pki.authority(maxPathLength=1)
        middle = pki.intermediate(root["id"])
        assert middle["configuration"]["maxPathLength"] == 0
        made = pki.authority(type="intermediate")
        body = {"notAfter": later(30), "parentCaId": middle["id"]}
        refused = pki.call("POST", f"/ca/internal/{made['id']}/certificate", status=400, json=body)
        assert "path length" in refused["message"]
        too_long = {"notAfter": later(30), "parentCaId": root["id"], "maxPathLength": 1}
        pki.call("POST", f"/ca/internal/{made['id']}/certificate", status=400, json=too_long)

    def test_none_stands_above_itself(self, pki: Pki) -> None:
        root = pki.authority()
        above = pki.intermediate(root["id"])
        below = pki.intermediate(above["id"], days=30)
        for parent in (above, below):
            body = {"notAfter": later(10), "parentCaId": parent["id"]}
            refused = pki.call("POST", f"/ca/internal/{above['id']}/certificate", status=400, json=body)
            assert refused["message"] == "A certificate authority can't stand above itself"

    def test_a_parent_that_is_disabled_signs_nothing(self, pki: Pki) -> None:
        root, made = pki.authority(), pki.authority(type="intermediate")
        pki.call("PATCH", f"/ca/internal/{root['id']}", json={"status": "disabled"})
        body = {"notAfter": later(10), "parentCaId": root["id"]}
        refused = pki.call("POST", f"/ca/internal/{made['id']}/certificate", status=400, json=body)
        assert "not active" in refused["message"]

    def test_somebody_elses_authority_signs_the_request(self, pki: Pki) -> None:
        theirs, ours = (
            pki.authority(commonName="Theirs"),
            pki.authority(type="intermediate", commonName="Ours"),
        )
        path = f"/ca/internal/{ours['id']}"
        csr = pki.call("GET", f"{path}/csr")["csr"]
        assert parse_signing_request(csr).is_ca
        body = {"csr": csr, "notAfter": later(100), "maxPathLength": 0}
        signed = pki.call("POST", f"/ca/internal/{theirs['id']}/sign-intermediate", json=body)
        assert signed["issuingCaCertificate"] == certificate(pki, theirs["id"])["certificate"]
        assert signed["certificateChain"] == signed["issuingCaCertificate"]
        bringing = {
            "certificate": signed["certificate"],
            "certificateChain": signed["certificateChain"],
        }
        answer = pki.call("POST", f"{path}/import-certificate", json=bringing)
        assert answer == {"message": "Successfully imported certificate to CA", "caId": ours["id"]}
        assert pki.call("GET", path)["status"] == "active"
        assert pki.call("GET", path)["configuration"]["parentCaId"] is None
        issued = pki.issue(pki.profile(caId=ours["id"])["id"])["certificate"]
        assert issued["issuingCaCertificate"] == signed["certificate"]
        refused = pki.call(
            "POST", f"{path}/renew", status=400, json={"type": "existing", "notAfter": later()}
        )
        assert "signed elsewhere" in refused["message"]

    def test_what_doesnt_fit_isnt_imported(self, pki: Pki) -> None:
        root, ours = pki.authority(), pki.authority(type="intermediate")
        other = pki.intermediate(root["id"])
        path = f"/ca/internal/{ours['id']}/import-certificate"
        csr = pki.call("GET", f"/ca/internal/{ours['id']}/csr")["csr"]
        body = {"csr": csr, "notAfter": later(100)}
        fitting = pki.call("POST", f"/ca/internal/{root['id']}/sign-intermediate", json=body)
        stranger = certificate(pki, pki.authority(commonName="Stranger")["id"])["certificate"]
        for given, said in (
            ({"certificate": "nonsense", "certificateChain": ""}, "CERTIFICATE"),
            (certificate(pki, other["id"]), "isn't for the key"),
            ({**fitting, "certificateChain": ""}, "chain must hold"),
            ({**fitting, "certificateChain": stranger}, "chain must hold"),
        ):
            refused = pki.call("POST", path, status=400, json=given)
            assert said in refused["message"], said
        pki.call("POST", path, json=fitting)

    def test_a_signed_authority_of_somebody_else_is_among_the_certificates(self, pki: Pki) -> None:
        root = pki.authority()
        key = generate_private_key(KeyAlgorithm.EC_P384)
        csr = build_signing_request(key, Subject.of("Their CA", organization="They"))
        body = {"csr": csr, "notAfter": later(100), "maxPathLength": -1}
        signed = pki.call("POST", f"/ca/internal/{root['id']}/sign-intermediate", json=body)
        listed = pki.call("GET", "/certificates", params={"projectId": pki.project_id})["certificates"]
        assert [one["serialNumber"] for one in listed] == [signed["serialNumber"]]
        assert listed[0]["basicConstraints"]["isCA"] is True
        assert listed[0]["subjectOrganization"] == "They"

    @pytest.mark.parametrize(
        "csr", ["x", "-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----"]
    )
    def test_a_request_that_cant_be_read_is_400(self, pki: Pki, csr: str) -> None:
        root = pki.authority()
        body = {"csr": csr, "notAfter": later(100)}
        pki.call("POST", f"/ca/internal/{root['id']}/sign-intermediate", status=400, json=body)


class TestRenewal:
    def test_a_root_keeps_its_key_and_its_former_certificates(self, pki: Pki) -> None:
        root = pki.authority(maxPathLength=2)
        path = f"/ca/internal/{root['id']}"
        before = certificate(pki, root["id"])
        renewed = pki.call("POST", f"{path}/renew", json={"type": "existing", "notAfter": later(5000)})
        after = certificate(pki, root["id"])
        assert after["serialNumber"] == renewed["serialNumber"] != before["serialNumber"]
        old, new = (parse_certificate(one["certificate"]) for one in (before, after))
        assert old.public_key == new.public_key
        assert old.subject == new.subject
        assert new.path_length == 2
        all_of_them = pki.call("GET", f"{path}/ca-certificates")
        assert [(one["version"], one["serialNumber"]) for one in all_of_them] == [
            (1, before["serialNumber"]),
            (2, after["serialNumber"]),
        ]
        shown = pki.call("GET", f"{path}/certificate/{before['certId']}")
        assert shown["certificate"] == before["certificate"]
        assert shown["parentCaId"] is None
        assert shown["maxPathLength"] == 2

    def test_an_intermediate_is_signed_by_the_same_parent(self, pki: Pki) -> None:
        root = pki.authority()
        middle = pki.intermediate(root["id"], days=10)
        pki.call(
            "POST", f"/ca/internal/{middle['id']}/renew", json={"type": "existing", "notAfter": later(20)}
        )
        found = pki.call("GET", f"/ca/internal/{middle['id']}")
        assert found["configuration"]["parentCaId"] == root["id"]
        assert found["configuration"]["notAfter"] > middle["configuration"]["notAfter"]

    def test_what_has_no_certificate_isnt_renewed(self, pki: Pki) -> None:
        made = pki.authority(type="intermediate")
        pki.call("POST", f"/ca/internal/{made['id']}/renew", status=400, json={"notAfter": later()})

    @pytest.mark.parametrize("not_after", ["2020-01-01", "2020-01-01T00:00:00Z"])
    def test_none_ends_in_the_past(self, pki: Pki, not_after: str) -> None:
        root = pki.authority()
        path = f"/ca/internal/{root['id']}/renew"
        assert "past" in pki.call("POST", path, status=400, json={"notAfter": not_after})["message"]


class TestKeeping:
    def test_lists_show_all_by_name(self, pki: Pki) -> None:
        second, first = pki.authority("b"), pki.authority("a")
        query = {"projectId": pki.project_id}
        bare = pki.call("GET", "/ca/internal", params=query)
        assert bare == [first, second]
        listed = pki.call("GET", "/ca", params=query)["certificateAuthorities"]
        assert [one["id"] for one in listed] == [first["id"], second["id"]]
        assert {one["type"] for one in listed} == {"internal"}

    def test_name_status_and_addresses_change(self, pki: Pki) -> None:
        made = pki.authority()
        urls = ["http://crl.example.com/1.crl"]
        body = {
            "name": "Other-Name",
            "status": "disabled",
            "enableDirectIssuance": False,
            "configuration": {"friendlyName": "Friend", "crlDistributionPointUrls": urls},
        }
        changed = pki.call("PATCH", f"/ca/internal/{made['id']}", json=body)
        assert changed["name"] == "other-name"
        assert changed["status"] == "disabled"
        assert changed["enableDirectIssuance"] is False
        assert changed["configuration"]["friendlyName"] == "Friend"
        assert changed["configuration"]["crlDistributionPointUrls"] == urls
        assert changed["configuration"]["commonName"] == made["configuration"]["commonName"]
        profile = pki.profile(caId=made["id"])
        assert "not active" in pki.issue(profile["id"], status=400)["message"]

    @pytest.mark.parametrize("wanted", ["active", "disabled"])
    def test_the_status_of_one_without_a_certificate_is_what_it_becomes_with_it(
        self, pki: Pki, wanted: str
    ) -> None:
        made = pki.authority(notAfter=None)
        changed = pki.call("PATCH", f"/ca/internal/{made['id']}", json={"name": "other", "status": wanted})
        assert (changed["name"], changed["status"]) == ("other", "pending-certificate")
        pki.call("POST", f"/ca/internal/{made['id']}/certificate", json={"notAfter": later()})
        assert pki.call("GET", f"/ca/internal/{made['id']}")["status"] == wanted

    def test_making_one_answers_the_status_that_was_asked_for_and_reading_the_one_that_it_has(
        self, pki: Pki
    ) -> None:
        for kind in ("root", "intermediate"):
            body = {"projectId": pki.project_id, "name": kind, "configuration": {"type": kind, "ou": "x"}}
            said_nothing = pki.call("POST", "/ca/internal", json={**body, "name": f"silent-{kind}"})
            assert said_nothing["status"] == "pending-certificate"
            for wanted in ("active", "disabled"):
                asked = {**body, "name": f"{wanted}-{kind}", "status": wanted}
                made = pki.call("POST", "/ca/internal", json=asked)
                assert made["status"] == wanted
                assert waiting(pki, made)["status"] == "pending-certificate"

    def test_a_name_is_taken_once(self, pki: Pki) -> None:
        pki.authority("same")
        assert "already exists" in pki.authority("same", status=400)["message"]
        other = pki.authority("other")
        pki.call("PATCH", f"/ca/internal/{other['id']}", status=400, json={"name": "same"})

    def test_deletion_waits_for_profiles(self, pki: Pki) -> None:
        made = pki.authority()
        profile = pki.profile(caId=made["id"])
        refused = pki.call("DELETE", f"/ca/internal/{made['id']}", status=400)
        assert "in use" in refused["message"]
        issued = pki.issue(profile["id"])["certificate"]
        pki.call("DELETE", f"/certificate-profiles/{profile['id']}")
        assert pki.call("DELETE", f"/ca/internal/{made['id']}?force=true") == made
        pki.call("GET", f"/ca/internal/{made['id']}", status=404)
        left = pki.call("GET", f"/certificates/{issued['certificateId']}")["certificate"]
        assert left["caId"] is None
        assert left["profileId"] is None

    def test_one_that_is_still_needed_is_deleted_by_force_only(self, pki: Pki) -> None:
        root = pki.authority("root")
        middle = pki.intermediate(root["id"])
        profile = pki.profile(caId=middle["id"])
        first, second = (pki.issue(profile["id"])["certificate"] for _ in range(2))
        pki.call("DELETE", f"/certificate-profiles/{profile['id']}")

        refused = pki.call("DELETE", f"/ca/internal/{root['id']}", status=400)["message"]
        assert f"authorities stand below it: {middle['name']}." in refused
        refused = pki.call("DELETE", f"/ca/internal/{middle['id']}?force=false", status=400)["message"]
        assert "still valid: 2." in refused
        pki.call("GET", f"/ca/internal/{middle['id']}")

        # What was revoked needs nobody to revoke it, and what was deleted nobody asks about.
        revocation = {"revocationReason": "SUPERSEDED"}
        pki.call("POST", f"/certificates/{first['certificateId']}/revoke", json=revocation)
        pki.call("DELETE", f"/certificates/{second['certificateId']}")
        pki.call("DELETE", f"/ca/internal/{middle['id']}")
        pki.call("DELETE", f"/ca/internal/{root['id']}")

    def test_an_authority_signs_for_strangers_and_is_needed_by_them(self, pki: Pki) -> None:
        root = pki.authority("root")
        other = pki.authority("other", type="intermediate")
        csr = pki.call("GET", f"/ca/internal/{other['id']}/csr")["csr"]
        pki.call(
            "POST", f"/ca/internal/{root['id']}/sign-intermediate", json={"csr": csr, "notAfter": later(10)}
        )

        assert "still valid: 1." in pki.call("DELETE", f"/ca/internal/{root['id']}", status=400)["message"]
        pki.call("DELETE", f"/ca/internal/{root['id']}?force=true")

    def test_anybody_may_have_the_certificate_itself(self, service: Service, pki: Pki) -> None:
        made = pki.authority()
        path = f"/api/v1/cert-manager/ca/internal/{made['id']}/certificates"
        found = service.client().get(f"{path}/{made['configuration']['activeCaCertId']}/der")
        assert found.headers["content-type"] == "application/pkix-cert"
        assert certificate_of(found.content).serial == made["configuration"]["serialNumber"]
        assert service.client().get(f"{path}/{uuid4()}/der").status_code == 404
        assert service.client().get(f"{path}/nonsense/der").status_code == 422

    @pytest.mark.parametrize(
        "path", ["", "/certificate", "/ca-certificates", "/csr", f"/certificate/{UUID(int=1)}"]
    )
    def test_one_that_isnt_there_is_404(self, pki: Pki, path: str) -> None:
        assert "not found" in pki.call("GET", f"/ca/internal/{uuid4()}{path}", status=404)["message"]
        pki.call("GET", f"/ca/internal/nonsense{path}", status=422)

    def test_who_may_only_read_changes_nothing(self, service: Service, pki: Pki) -> None:
        made = pki.authority()
        credentials = service.create_identity(roles={pki.project_id: "viewer"})
        viewer = Pki(service.client(service.login(credentials)), pki.project_id)
        assert viewer.call("GET", f"/ca/internal/{made['id']}") == made
        for method, path, body in (
            (
                "POST",
                "/ca/internal",
                {
                    "name": "x",
                    "projectId": pki.project_id,
                    "configuration": {"type": "root", "commonName": "x"},
                },
            ),
            ("PATCH", f"/ca/internal/{made['id']}", {"name": "y"}),
            ("DELETE", f"/ca/internal/{made['id']}", None),
            ("POST", f"/ca/internal/{made['id']}/certificate", {"notAfter": later()}),
            ("POST", f"/ca/internal/{made['id']}/renew", {"notAfter": later()}),
            ("POST", f"/ca/internal/{made['id']}/sign-intermediate", {"csr": "x", "notAfter": later()}),
            ("POST", f"/ca/internal/{made['id']}/import-certificate", {"certificate": "x"}),
        ):
            refused = viewer.call(method, path, status=403, json=body)
            assert refused["details"][0]["subject"] == "certificate-authorities"

    def test_each_change_is_in_the_audit_log(self, service: Service, pki: Pki) -> None:
        root = pki.authority()
        middle = pki.intermediate(root["id"], days=10)
        pki.call("POST", f"/ca/internal/{middle['id']}/renew", json={"notAfter": later(20)})
        urls = ["http://lists.example.com/a.crl"]
        change = {"name": "renamed", "configuration": {"crlDistributionPointUrls": urls}}
        pki.call("PATCH", f"/ca/internal/{middle['id']}", json=change)
        pki.call("DELETE", f"/ca/internal/{middle['id']}")
        query = {"projectId": pki.project_id}
        logs = service.admin_client().json("GET", "/api/v1/organization/audit-logs", params=query)[
            "auditLogs"
        ]
        kinds = [log["event"]["type"] for log in logs]
        assert kinds[:6] == [
            "delete-certificate-authority",
            "update-certificate-authority",
            "renew-certificate-authority",
            "generate-certificate-authority-certificate",
            "create-certificate-authority",
            "create-certificate-authority",
        ]
        told = logs[1]["event"]["metadata"]
        assert (told["status"], told["crlDistributionPointUrls"]) == ("active", urls)


WRONG: dict[str, dict[str, Any]] = {
    "no subject": {"commonName": ""},
    "a blank subject": {"commonName": "  "},
    "a country in words": {"country": "Germany"},
    "a country in small letters": {"country": "de"},
    "SLH-DSA": {"keyAlgorithm": "SLH-DSA-SHA2-128f"},
    "an unknown key": {"keyAlgorithm": "Ed25519"},
    "a path below none": {"maxPathLength": -2},
    "no date": {"notAfter": "tomorrow"},
    "the end before the beginning": {"notBefore": "2030-01-01", "notAfter": "2029-01-01"},
    "no URL": {"crlDistributionPointUrls": ["ftp://x"]},
    "an unknown type": {"type": "leaf"},
    "a long name": {"commonName": "x" * 256},
}


@each_row("configuration", WRONG.values(), ids=WRONG)
def test_what_a_configuration_forbids_is_422(pki: Pki, configuration: dict[str, Any]) -> None:
    pki.authority(status=422, **configuration)


@pytest.mark.parametrize(("length", "status"), [(0, 422), (1, 200), (63, 200), (64, 200), (65, 422)])
def test_a_name_has_edges(pki: Pki, length: int, status: int) -> None:
    body = {
        "projectId": pki.project_id,
        "name": "x" * length,
        "status": "active",
        "configuration": {"type": "root", "commonName": "x", "keyAlgorithm": "EC_prime256v1"},
    }
    pki.call("POST", "/ca/internal", status=status, json=body)


@pytest.mark.parametrize(("length", "status"), [(-2, 422), (-1, 200), (0, 200), (255, 200), (256, 422)])
def test_a_path_has_edges(pki: Pki, length: int, status: int) -> None:
    made = pki.authority(status=status, maxPathLength=length)
    if status == 200:
        assert made["configuration"]["maxPathLength"] == length


def test_a_long_common_name_that_x509_forbids_is_400(pki: Pki) -> None:
    assert "64" in pki.authority(status=400, commonName="x" * 65)["message"]


def test_without_a_project_the_oldest_for_certificates_is_meant(start: Starter, tmp_path: Path) -> None:
    own = start(tmp_path / "data")
    admin, path = own.admin_client(), "/api/v1/cert-manager/certificate-policies"
    body = {"name": "any"}
    own.create_project()
    refused = admin.json("POST", path, status=400, json=body)
    assert refused["message"].startswith("This organization has no Certificate Manager project")
    first, second = pki_of(own), pki_of(own)
    assert admin.json("POST", path, json=body)["certificatePolicy"]["projectId"] == first.project_id
    assert admin.json("GET", path)["totalCount"] == 1
    assert admin.json("GET", path, params={"projectId": second.project_id})["totalCount"] == 0
    own.kill()
