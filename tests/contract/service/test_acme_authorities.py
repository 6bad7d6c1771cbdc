"""Certificates of an authority elsewhere that speaks ACME: a real one, which asks the service for its answers."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keybearer.base.certificate_terms import KeyAlgorithm, NameType
from keybearer.pki.certificates import parse_certificate, parse_certificates
from keybearer.pki.keys import generate_private_key, load_private_key
from support.acme_house import ACME, AcmeHouse, acme_house, ended, is_challenge, reached
from support.canary import Canary
from support.issuing_house import PKI, REQUESTS, IssuingHouse, csr_of
from support.pebble import BINDING_KEY, BINDING_SECRET, LOOKS
from support.service_fixtures import start_service
from tools.local.postgres import PostgresServer
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

HOST = "front.example.com"


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AcmeHouse]:
    with acme_house(tmp_path_factory.mktemp("acme")) as house:
        yield house


@pytest.fixture(scope="module")
def bound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AcmeHouse]:
    """Yield a service beside an authority that knows its clients, refuses nonces, and may be away for a while."""
    with acme_house(tmp_path_factory.mktemp("bound"), needs_binding=True, refused_nonces=20) as house:
        yield house


@pytest.fixture(scope="module")
def house(acme: AcmeHouse) -> IssuingHouse:
    return acme.project()


def attributes(*hosts: str, **more: object) -> dict[str, Any]:
    names = [{"type": "dns_name", "value": host} for host in hosts or (HOST,)]
    return {"altNames": names, "keyAlgorithm": "EC_prime256v1", **more}


class TestIssuing:
    def test_a_key_of_the_service_gets_its_certificate(self, house: IssuingHouse) -> None:
        asked = house.issue(attributes(HOST, "back.example.com"))
        assert (asked["status"], asked["certificate"]) == ("pending", None)
        done = ended(house, asked["certificateRequestId"])
        assert (done["status"], done["errorMessage"]) == ("issued", None)
        read = parse_certificate(done["certificate"])
        assert {name.value for name in read.alternative_names} == {HOST, "back.example.com"}
        assert load_private_key(done["privateKey"]).public_key == read.public_key
        assert done["serialNumber"] == read.serial

    def test_a_signing_request_gets_its_certificate_and_the_chain_above_it(self, house: IssuingHouse) -> None:
        key = generate_private_key(KeyAlgorithm.EC_P256)
        done = ended(house, house.issue(csr=csr_of(HOST, key=key))["certificateRequestId"])
        assert parse_certificate(done["certificate"]).public_key == key.public_key
        [above] = parse_certificates(done["certificateChain"])
        assert parse_certificate(done["certificate"]).issuer == above.subject
        shown = house.certificate(done["certificateId"])
        assert shown["extendedKeyUsages"] == ["server_auth"]

    def test_the_template_of_a_profile_is_what_the_authority_calls_a_kind_of_certificate(
        self, acme: AcmeHouse
    ) -> None:
        short = acme.project(externalConfigs={"template": "shortlived"})
        done = ended(short, short.issue(attributes())["certificateRequestId"])
        read = parse_certificate(done["certificate"])
        assert (read.not_after - read.not_before).days == 5

    def test_a_request_shows_how_far_it_came(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        with acme.proxy.holding(is_challenge) as hold:
            asked = house.issue(attributes("slow.example.com"))
            hold.wait_caught()
            waiting = house.request(asked["certificateRequestId"])
            assert (waiting["status"], waiting["certificate"]) == ("pending_validation", None)
            [listed] = house.search(status="pending_validation")["certificateRequests"]
            assert "slow.example.com" in listed["pendingMessage"]
            hold.release()
            assert ended(house, asked["certificateRequestId"])["status"] == "issued"

    def test_requests_and_revocations_wait_for_an_authority_that_is_away(self, bound: AcmeHouse) -> None:
        house = bound.project(is_bound=True)
        issued = ended(house, house.issue(attributes())["certificateRequestId"])["certificateId"]
        bound.pebble.stop()
        try:
            refused = house.client.json("POST", f"{PKI}/certificates/{issued}/revoke", json={}, status=400)
            assert "did not revoke the certificate" in refused["message"]
            assert house.certificate(issued)["status"] == "active"
            asked = house.issue(attributes())

            def told() -> str | None:
                [listed] = house.search(status="pending")["certificateRequests"]
                return listed["pendingMessage"] if "asked again" in listed["pendingMessage"] else None

            message = eventually(told, awaited="word of the authority")
            assert "can't be reached" in message
            assert house.request(asked["certificateRequestId"])["status"] == "pending"
        finally:
            bound.pebble.start()

    def test_a_name_that_leads_elsewhere_fails_with_what_the_authority_saw(
        self, acme: AcmeHouse, house: IssuingHouse
    ) -> None:
        with acme.proxy.answering(is_challenge, 404, {"message": "nobody here"}):
            asked = house.issue(attributes("elsewhere.example.com"))
            done = ended(house, asked["certificateRequestId"])
        assert done["status"] == "failed"
        assert "could not validate elsewhere.example.com" in done["errorMessage"]
        assert "404" in done["errorMessage"]

    def test_a_name_that_the_authority_refuses_fails_with_its_words(self, house: IssuingHouse) -> None:
        done = ended(house, house.issue(attributes("blocked.example.com"))["certificateRequestId"])
        assert done["status"] == "failed"
        assert "blocked.example.com" in done["errorMessage"]

    def test_what_was_issued_is_held_against_the_policy(self, house: IssuingHouse) -> None:
        policy_id = house.policy({"validity": {"max": "30d"}})
        # Without a template Pebble takes any of its kinds.
        profile_id = house.profile(certificatePolicyId=policy_id, externalConfigs={"template": "default"})
        done = ended(house, house.issue(attributes(), profileId=profile_id)["certificateRequestId"])
        assert done["status"] == "failed"
        assert "30d" in done["errorMessage"]

    def test_a_request_that_is_cancelled_ends(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        with acme.proxy.holding(is_challenge) as hold:
            request_id = house.issue(attributes("given-up.example.com"))["certificateRequestId"]
            hold.wait_caught()
            assert house.client.json("POST", f"{REQUESTS}/{request_id}/cancel")["cancelled"] is True
        assert house.request(request_id)["status"] == "failed"


class TestWhatItCannotHonour:
    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ({"ttl": "30d"}, "leave out ttl"),
            ({"notAfter": "2099-01-01T00:00:00Z"}, "notAfter"),
            ({"organization": "Example"}, "leave out organization"),
            ({"basicConstraints": {"isCA": True}}, "basicConstraints"),
            ({"signatureAlgorithm": "ECDSA-SHA256"}, "signatureAlgorithm"),
            ({"keyAlgorithm": "ML-DSA-44"}, "RSA and EC keys"),
            ({"extendedKeyUsages": ["code_signing"]}, "leave out code_signing"),
            ({"keyUsages": ["key_cert_sign"]}, "leave out key_cert_sign"),
            ({"altNames": [{"type": "email", "value": "a@example.com"}]}, "not email a@example.com"),
            ({"altNames": [{"type": "dns_name", "value": "*.example.com"}]}, "can't be validated over HTTP"),
            ({"altNames": []}, "at least one host name"),
            ({"commonName": "Some Body"}, "not email Some Body"),
        ],
        ids=lambda given: next(iter(given)) if isinstance(given, dict) else "",
    )
    def test_it_is_refused_when_it_is_asked_for(
        self, acme: AcmeHouse, house: IssuingHouse, given: dict[str, Any], told: str
    ) -> None:
        before = acme.pebble.orders()
        answer = house.issue(attributes(**given), status=400)
        assert told in answer["message"]
        assert acme.pebble.orders() == before

    def test_a_default_of_the_profile_is_refused_as_well(self, house: IssuingHouse) -> None:
        profile_id = house.profile(defaults={"ttlDays": 30})
        answer = house.issue(attributes(), profileId=profile_id, status=400)
        assert "ttlDays" in answer["message"]

    def test_nothing_is_filled_into_a_signing_request(self, house: IssuingHouse) -> None:
        names = [{"type": NameType.DNS_NAME, "value": "other.example.com"}]
        profile_id = house.profile(defaults={"subjectAltNames": names})
        answer = house.issue(csr=csr_of(common_name=HOST), profileId=profile_id, status=400)
        assert "the CSR itself has to name other.example.com" in answer["message"]


class TestLater:
    def test_a_revocation_reaches_the_authority(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        done = ended(house, house.issue(attributes())["certificateRequestId"])
        assert acme.pebble.status_of(done["serialNumber"]) == "Valid"
        path = f"{PKI}/certificates/{done['certificateId']}/revoke"
        house.client.json("POST", path, json={"revocationReason": "SUPERSEDED"})
        assert acme.pebble.status_of(done["serialNumber"]) == "Revoked"
        assert house.certificate(done["certificateId"])["status"] == "revoked"

    def test_a_certificate_renews_with_a_new_key(self, house: IssuingHouse) -> None:
        done = ended(house, house.issue(attributes())["certificateRequestId"])
        path = f"{PKI}/certificates/{done['certificateId']}/renew"
        renewed = house.client.json("POST", path, json={})
        again = ended(house, renewed["certificateRequestId"])
        assert again["status"] == "issued"
        assert (
            parse_certificate(again["certificate"]).public_key
            != parse_certificate(done["certificate"]).public_key
        )
        refused = house.client.json("POST", path, json={}, status=400)
        assert again["certificateId"] in refused["message"]


class TestMaking:
    def test_an_authority_shows_its_account_and_no_secret(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        made = acme.authority(house)
        assert made["type"] == "acme"
        assert made["status"] == "active"
        shown = made["configuration"]
        assert shown["accountUrl"].startswith(f"https://127.0.0.1:{acme.pebble.port}/")
        assert shown["termsOfService"] is not None
        path = f"{ACME}/{made['id']}"
        assert house.client.json("GET", path) == made
        listed = house.client.get(ACME, params={"projectId": house.project_id}).json()
        assert made in listed
        changed = house.client.json("PATCH", path, json={"status": "disabled"})
        assert changed["status"] == "disabled"
        assert house.client.json("DELETE", path)["id"] == made["id"]
        house.client.json("GET", path, status=404)

    def test_the_audit_log_tells_whom_an_authority_may_prove_itself_with(
        self, acme: AcmeHouse, house: IssuingHouse
    ) -> None:
        made = acme.authority(house)
        house.client.json("PATCH", f"{ACME}/{made['id']}", json={"configuration": {"caCertificates": ""}})
        query = {"projectId": house.project_id, "limit": 100}
        logs = acme.service.admin_client().json("GET", "/api/v1/organization/audit-logs", params=query)[
            "auditLogs"
        ]
        told = [
            one["event"]["metadata"].get("caCertificates")
            for one in logs
            if one["event"]["metadata"].get("caId") == made["id"]
        ]
        [trusted] = parse_certificates(made["configuration"]["caCertificates"])
        assert told == [[], [trusted.fingerprint]]

    def test_one_that_is_used_stays(self, house: IssuingHouse) -> None:
        answer = house.client.json("DELETE", f"{ACME}/{house.authority_id}", status=400)
        assert "in use" in answer["message"]

    def test_terms_have_to_be_agreed_to(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        answer = acme.authority(house, termsOfServiceAgreed=False, status=400)
        assert "termsOfServiceAgreed" in answer["message"]

    def test_a_server_that_cannot_prove_itself_is_refused(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        answer = acme.authority(house, caCertificates="", status=400)
        assert "No account could be made" in answer["message"]

    def test_a_directory_inside_is_refused_by_the_gate(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        # Pebble's management port: on this machine as well, and not on the list.
        answer = acme.authority(house, directoryUrl="https://127.0.0.1:1/dir", status=400)
        assert "--allow-outbound" in answer["message"]

    def test_what_is_no_acme_authority_is_told(self, acme: AcmeHouse, house: IssuingHouse) -> None:
        url = acme.pebble.directory_url.replace("/dir", "/nonce-plz")
        answer = acme.authority(house, directoryUrl=url, status=400)
        assert "No account could be made" in answer["message"]

    @pytest.mark.parametrize(
        "configuration",
        [
            {"directoryUrl": "http://127.0.0.1/dir"},
            {"directoryUrl": "https://user:cnry-word@127.0.0.1/dir"},
            {"eabKid": "kid"},
            {"dnsAppConnectionId": "x"},
            {"accountEmail": "nobody"},
        ],
        ids=["without TLS", "with a password", "half a binding", "dns-01", "no email"],
    )
    def test_what_has_another_form_is_refused(
        self, acme: AcmeHouse, house: IssuingHouse, configuration: dict[str, Any]
    ) -> None:
        answer = acme.authority(house, status=422, **configuration)
        assert "cnry-word" not in str(answer)

    def test_an_authority_that_knows_its_clients_needs_a_binding(
        self, bound: AcmeHouse, canary: Canary
    ) -> None:
        canary.watch("log of keybearer serve", bound.service.log.read_text)
        house = bound.bare_project()
        assert "eabKid" in bound.authority(house, status=400)["message"]
        wrong = base64.urlsafe_b64encode(os.urandom(32)).decode()
        refused = bound.authority(house, eabKid=BINDING_KEY, eabHmacKey=wrong, status=400)
        assert "No account could be made" in refused["message"]
        made = bound.authority(house, eabKid=BINDING_KEY, eabHmacKey=BINDING_SECRET)
        assert made["configuration"]["eabKid"] == BINDING_KEY
        assert BINDING_SECRET not in str(made)

    def test_nonces_that_are_refused_are_replaced(self, bound: AcmeHouse) -> None:
        # One of five is refused here: without another try four of five orders would fail. All ten tries come
        # to nothing with one request in ten million; where two of five are refused it is one in ten thousand.
        house = bound.project(is_bound=True)
        for number in range(3):
            done = ended(house, house.issue(attributes(f"n-{number}.example.com"))["certificateRequestId"])
            assert done["status"] == "issued"


class TestChallenges:
    def test_a_token_of_nobody_is_unknown_without_a_login(self, acme: AcmeHouse) -> None:
        answer = acme.service.client().get("/.well-known/acme-challenge/" + "a" * 43)
        assert answer.status_code == 404

    @pytest.mark.parametrize(
        ("token", "status"),
        [("a" * 128, 404), ("a" * 129, 422), ("a%20b", 422), ("a.b", 422)],
        ids=["the longest", "longer", "with a blank", "with a dot"],
    )
    def test_what_is_no_token_is_refused(self, acme: AcmeHouse, token: str, status: int) -> None:
        answer = acme.service.client().get(f"/.well-known/acme-challenge/{token}")
        assert answer.status_code == status

    def test_an_answer_is_there_as_long_as_its_request_waits(
        self, acme: AcmeHouse, house: IssuingHouse
    ) -> None:
        mark = acme.proxy.mark()
        with acme.proxy.holding(is_challenge) as hold:
            request_id = house.issue(attributes("brief.example.com"))["certificateRequestId"]
            hold.wait_caught()
        assert ended(house, request_id)["status"] == "issued"
        [seen] = {one.path for one in acme.proxy.requests(is_challenge, since=mark)}
        assert acme.service.client().get(seen).status_code == 404


def test_one_order_is_made_though_the_service_is_killed_meanwhile(tmp_path: Path) -> None:
    with acme_house(tmp_path) as acme:
        house = acme.project()
        with acme.proxy.holding(is_challenge) as hold:
            request_id = house.issue(attributes())["certificateRequestId"]
            # None of its looks may meet a service that is away: that would be the end of its order.
            eventually(lambda: hold.count == LOOKS, awaited="all looks of the authority")
            reached(house, request_id, "pending_validation")
            acme.kill()
        # It goes on with what it has seen, while nobody is there, for as long as a start takes.
        acme.start()
        house.client = acme.service.admin_client()
        done = ended(house, request_id)
        assert (done["status"], acme.pebble.orders()) == ("issued", 1), done
        listed = house.client.json("GET", f"{PKI}/certificates", params={"projectId": house.project_id})
        assert listed["totalCount"] == 1


def test_two_processes_on_one_database_make_one_order(tmp_path: Path, postgres: PostgresServer) -> None:
    key = {"KEYBEARER_ROOT_KEY": base64.b64encode(os.urandom(32)).decode()}
    name = postgres.create()
    try:
        with acme_house(tmp_path, environment=key, database_url=postgres.url(name)) as acme:
            other = start_service(
                tmp_path / "other", *acme.flags[1:], environment=key, database_url=postgres.url(name)
            )
            try:
                house = acme.project()
                asked = [
                    house.issue(attributes(f"host-{number}.example.com"))["certificateRequestId"]
                    for number in range(4)
                ]
                assert {ended(house, request_id)["status"] for request_id in asked} == {"issued"}
                assert acme.pebble.orders() == len(asked)
            finally:
                other.stop()
    finally:
        postgres.drop(name)
