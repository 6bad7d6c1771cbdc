"""Revocation lists and OCSP as certificates name them, read by an independent library."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID

from support.pki_house import PKI, Pki, later, pki_of
from support.service_fixtures import PUBLIC_URL, Service, Starter

pytestmark = pytest.mark.every_database


@pytest.fixture
def pki(service: Service) -> Pki:
    return pki_of(service)


def leaf(pki: Pki, profile: dict[str, Any]) -> tuple[dict[str, Any], x509.Certificate]:
    issued: dict[str, Any] = pki.issue(profile["id"])["certificate"]
    return issued, x509.load_pem_x509_certificate(issued["certificate"].encode())


def path_of(url: str) -> str:
    assert url.startswith(f"{PUBLIC_URL}/api/v1/cert-manager/")
    return url.removeprefix(PUBLIC_URL)


def list_url(certificate: x509.Certificate) -> str:
    points = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
    names = points[0].full_name
    assert names is not None
    return str(names[0].value)


def access_url(certificate: x509.Certificate, method: x509.ObjectIdentifier) -> str:
    found = certificate.extensions.get_extension_for_class(x509.AuthorityInformationAccess).value
    return next(str(one.access_location.value) for one in found if one.access_method == method)


def read_list(service: Service, url: str) -> x509.CertificateRevocationList:
    answer = service.client().get(path_of(url))
    assert answer.headers["content-type"] == "application/pkix-crl"
    return x509.load_der_x509_crl(answer.content)


def revoke(pki: Pki, issued: dict[str, Any], reason: str) -> None:
    pki.call("POST", f"/certificates/{issued['certificateId']}/revoke", json={"revocationReason": reason})


def asked(
    service: Service, certificate: x509.Certificate, issuer: x509.Certificate, how: str
) -> ocsp.OCSPResponse:
    url = path_of(access_url(certificate, AuthorityInformationAccessOID.OCSP))
    request = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer, SHA256()).build()
    der = request.public_bytes(Encoding.DER)
    if how == "GET":
        answer = service.client().get(f"{url}/{quote(base64.b64encode(der).decode(), safe='')}")
    else:
        answer = service.client().post(url, content=der, headers={"content-type": "application/ocsp-request"})
    assert answer.headers["content-type"] == "application/ocsp-response"
    return ocsp.load_der_ocsp_response(answer.content)


def issuer_of(issued: dict[str, Any]) -> x509.Certificate:
    return x509.load_pem_x509_certificate(issued["issuingCaCertificate"].encode())


def test_a_certificate_says_where_its_issuer_is_found(service: Service, pki: Pki) -> None:
    issued, certificate = leaf(pki, pki.profile())
    url = access_url(certificate, AuthorityInformationAccessOID.CA_ISSUERS)
    found = service.client().get(path_of(url))
    assert x509.load_der_x509_certificate(found.content) == issuer_of(issued)


def test_an_intermediate_says_where_its_parent_is_found(service: Service, pki: Pki) -> None:
    root = pki.authority()
    middle = pki.intermediate(root["id"])
    own = pki.call("GET", f"/ca/internal/{middle['id']}/certificate")["certificate"]
    certificate = x509.load_pem_x509_certificate(own.encode())
    url = access_url(certificate, AuthorityInformationAccessOID.CA_ISSUERS)
    assert root["configuration"]["activeCaCertId"] in url
    assert len(read_list(service, list_url(certificate))) == 0


def test_a_list_holds_what_was_revoked_the_moment_before(service: Service, pki: Pki) -> None:
    profile = pki.profile()
    first, certificate = leaf(pki, profile)
    second, _ = leaf(pki, profile)
    url = list_url(certificate)
    numbers = []
    after = read_list(service, url)
    for revoked in (first, second):
        before = read_list(service, url)
        numbers.append(before.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number)
        assert before.get_revoked_certificate_by_serial_number(int(revoked["serialNumber"], 16)) is None
        revoke(pki, revoked, "KEY_COMPROMISE")
        after = read_list(service, url)
        entry = after.get_revoked_certificate_by_serial_number(int(revoked["serialNumber"], 16))
        assert entry is not None
        reason = entry.extensions.get_extension_for_class(x509.CRLReason).value.reason
        assert reason is x509.ReasonFlags.key_compromise
        numbers.append(after.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number)
    assert numbers[0] < numbers[1] <= numbers[2] < numbers[3]
    issuer = issuer_of(first)
    assert after.is_signature_valid(issuer.public_key())  # type: ignore[arg-type] # an authority has no other
    assert after.issuer == issuer.subject
    assert after.next_update_utc is not None
    assert after.next_update_utc - datetime.now(UTC) > timedelta(days=6)
    assert read_list(service, url) == after


def test_a_list_outlives_the_renewal_of_its_authority(service: Service, pki: Pki) -> None:
    authority = pki.authority()
    profile = pki.profile(caId=authority["id"])
    issued, certificate = leaf(pki, profile)
    read_list(service, list_url(certificate))
    pki.call("POST", f"/ca/internal/{authority['id']}/renew", json={"notAfter": later(5000)})
    revoke(pki, issued, "SUPERSEDED")
    _, renewed = leaf(pki, profile)
    assert list_url(renewed) != list_url(certificate)
    for one in (certificate, renewed):
        assert len(read_list(service, list_url(one))) == 1


@pytest.mark.parametrize("how", ["GET", "POST"])
def test_ocsp_tells_good_revoked_and_unknown(service: Service, pki: Pki, how: str) -> None:
    profile = pki.profile()
    issued, certificate = leaf(pki, profile)
    issuer = issuer_of(issued)
    good = asked(service, certificate, issuer, how)
    assert good.certificate_status is ocsp.OCSPCertStatus.GOOD
    assert good.serial_number == certificate.serial_number
    revoke(pki, issued, "CESSATION_OF_OPERATION")
    revoked = asked(service, certificate, issuer, how)
    assert revoked.certificate_status is ocsp.OCSPCertStatus.REVOKED
    assert revoked.revocation_reason is x509.ReasonFlags.cessation_of_operation
    other, unknown = leaf(pki, profile)
    pki.call("DELETE", f"/certificates/{other['certificateId']}")
    assert asked(service, unknown, issuer, how).certificate_status is ocsp.OCSPCertStatus.UNKNOWN


def test_ocsp_knows_authorities_below(service: Service, pki: Pki) -> None:
    root = pki.authority()
    middle = pki.intermediate(root["id"])
    own, above = (
        x509.load_pem_x509_certificate(
            pki.call("GET", f"/ca/internal/{one['id']}/certificate")["certificate"].encode()
        )
        for one in (middle, root)
    )
    assert asked(service, own, above, "POST").certificate_status is ocsp.OCSPCertStatus.GOOD


def test_ocsp_answers_no_question_about_another_issuer(service: Service, pki: Pki) -> None:
    _, certificate = leaf(pki, pki.profile())
    stranger, other = leaf(pki, pki.profile())
    url = path_of(access_url(certificate, AuthorityInformationAccessOID.OCSP))
    request = ocsp.OCSPRequestBuilder().add_certificate(other, issuer_of(stranger), SHA256()).build()
    answer = service.client().post(url, content=request.public_bytes(Encoding.DER))
    status = ocsp.load_der_ocsp_response(answer.content).response_status
    assert status is ocsp.OCSPResponseStatus.UNAUTHORIZED


@pytest.mark.parametrize("body", [b"", b"nonsense", b"0" * 5000])
def test_ocsp_refuses_what_is_no_question(service: Service, pki: Pki, body: bytes) -> None:
    authority = pki.authority()
    path = f"{PKI}/ocsp/{authority['configuration']['activeCaCertId']}"
    for answer in (
        service.client().post(path, content=body),
        service.client().get(f"{path}/{body.decode() or 'x'}"),
    ):
        status = ocsp.load_der_ocsp_response(answer.content).response_status
        assert status is ocsp.OCSPResponseStatus.MALFORMED_REQUEST


def test_what_isnt_there_is_404(service: Service, pki: Pki) -> None:
    assert service.client().get(f"{PKI}/crl/{uuid4()}").status_code == 404
    assert service.client().get(f"{PKI}/crl/nonsense").status_code == 422
    assert service.client().get(f"{PKI}/crl/{pki.project_id}").status_code == 404


def test_lists_of_an_authority_are_shown_as_text(pki: Pki) -> None:
    authority, waiting = pki.authority(), pki.authority(type="intermediate")
    (shown,) = pki.call("GET", f"/ca/internal/{authority['id']}/crls")
    assert x509.load_pem_x509_crl(shown["crl"].encode()).next_update_utc
    assert pki.call("GET", f"/ca/internal/{waiting['id']}/crls") == []
    pki.call("GET", f"/ca/internal/{uuid4()}/crls", status=404)


def test_own_addresses_stand_beside_ours_or_alone(pki: Pki) -> None:
    own = ["http://crl.example.org/own.crl"]
    for only_own in (False, True):
        authority = pki.authority(
            crlDistributionPointUrls=own, disableManagedCrlDistributionPointUrl=only_own
        )
        _, certificate = leaf(pki, pki.profile(caId=authority["id"]))
        points = certificate.extensions.get_extension_for_class(x509.CRLDistributionPoints).value
        names = [str(name.value) for point in points for name in point.full_name or ()]
        assert names[-1:] == own
        assert len(names) == (1 if only_own else 2)


def test_without_a_public_url_certificates_say_nothing(start: Starter, tmp_path: Path) -> None:
    own = start(tmp_path / "data")
    pki = pki_of(own)
    _, certificate = leaf(pki, pki.profile())
    for kind in (x509.CRLDistributionPoints, x509.AuthorityInformationAccess):
        with pytest.raises(x509.ExtensionNotFound):
            certificate.extensions.get_extension_for_class(kind)
    own.kill()


@pytest.mark.parametrize("given", ["pki.example.com", "ftp://x", "http://x/?q", "http://ü", "http://x y"])
def test_what_cant_stand_in_certificates_is_refused_at_start(
    start: Starter, tmp_path: Path, given: str
) -> None:
    with pytest.raises(RuntimeError, match="public-url"):
        start(tmp_path / "data", "--public-url", given)


@pytest.fixture
def below(pki: Pki) -> dict[str, Any]:
    """Return an intermediate that a root of ours signed."""
    return pki.intermediate(pki.authority()["id"])


def revoke_authority(pki: Pki, authority: dict[str, Any], *, status: int = 200) -> dict[str, Any]:
    number = authority["configuration"]["activeCaCertId"]
    path = f"/ca/internal/{authority['id']}/certificates/{number}/revoke"
    answer: dict[str, Any] = pki.call("POST", path, status=status, json={"revocationReason": "CA_COMPROMISE"})
    return answer


def certificate_of(pki: Pki, authority: dict[str, Any]) -> x509.Certificate:
    shown = pki.call("GET", f"/ca/internal/{authority['id']}/certificate")
    return x509.load_pem_x509_certificate(shown["certificate"].encode())


def test_a_revoked_authority_stands_in_the_list_of_the_one_above(
    service: Service, pki: Pki, below: dict[str, Any]
) -> None:
    certificate = certificate_of(pki, below)
    assert len(read_list(service, list_url(certificate))) == 0
    revoked = revoke_authority(pki, below)
    assert int(revoked["serialNumber"], 16) == certificate.serial_number
    for _ in ("while it is there", "after it was deleted"):
        entry = read_list(service, list_url(certificate)).get_revoked_certificate_by_serial_number(
            certificate.serial_number
        )
        assert entry is not None
        assert entry.extensions.get_extension_for_class(x509.CRLReason).value.reason is (
            x509.ReasonFlags.ca_compromise
        )
        pki.client.request("DELETE", f"{PKI}/ca/internal/{below['id']}")


def test_a_revoked_authority_signs_nothing_until_it_has_another_certificate(
    service: Service, pki: Pki, below: dict[str, Any]
) -> None:
    profile = pki.profile(caId=below["id"])
    _, before = leaf(pki, profile)
    parent = pki.call(
        "GET", f"/ca/internal/{below['id']}/certificate/{below['configuration']['activeCaCertId']}"
    )
    revoke_authority(pki, below)
    refusal = pki.issue(profile["id"], status=400)
    assert "pending-certificate" in refusal["message"]
    # What it signed before is still asked about.
    assert len(read_list(service, list_url(before))) == 0
    body = {"notAfter": later(100), "parentCaId": parent["parentCaId"]}
    pki.call("POST", f"/ca/internal/{below['id']}/certificate", json=body)
    issued, _ = leaf(pki, profile)
    assert issuer_of(issued) == certificate_of(pki, below)


def test_an_authority_is_revoked_once_and_a_root_never(pki: Pki, below: dict[str, Any]) -> None:
    revoke_authority(pki, below)
    assert "before: CA_COMPROMISE" in revoke_authority(pki, below, status=400)["message"]
    assert "trust it no more" in revoke_authority(pki, pki.authority(), status=400)["message"]
    other = {**pki.authority(), "configuration": below["configuration"]}
    assert revoke_authority(pki, other, status=404)["error"] == "NotFound"


def test_a_revoked_authority_that_was_disabled_stays_so(pki: Pki, below: dict[str, Any]) -> None:
    pki.call("PATCH", f"/ca/internal/{below['id']}", json={"status": "disabled"})
    revoke_authority(pki, below)
    assert pki.call("GET", f"/ca/internal/{below['id']}")["status"] == "disabled"


def test_an_authority_of_somebody_else_is_revoked_like_a_leaf(service: Service, pki: Pki) -> None:
    root, stranger = pki.authority(), pki.authority(type="intermediate")
    csr = pki.call("GET", f"/ca/internal/{stranger['id']}/csr")["csr"]
    signed = pki.call(
        "POST", f"/ca/internal/{root['id']}/sign-intermediate", json={"csr": csr, "notAfter": later(100)}
    )
    certificate = x509.load_pem_x509_certificate(signed["certificate"].encode())
    listed = pki.client.json("GET", f"{PKI}/certificates", params={"projectId": pki.project_id})
    (found,) = [one for one in listed["certificates"] if one["serialNumber"] == signed["serialNumber"]]
    pki.call("POST", f"/certificates/{found['id']}/revoke", json={"revocationReason": "SUPERSEDED"})
    assert len(read_list(service, list_url(certificate))) == 1


def test_caches_may_keep_lists_and_answers_for_minutes(service: Service, pki: Pki) -> None:
    issued, certificate = leaf(pki, pki.profile())
    url = path_of(access_url(certificate, AuthorityInformationAccessOID.OCSP))
    question = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer_of(issued), SHA256()).build()
    packed = quote(base64.b64encode(question.public_bytes(Encoding.DER)).decode(), safe="")
    list_path, answer_path = path_of(list_url(certificate)), f"{url}/{packed}"
    service.client().get(list_path)  # the first list of an authority is made anew once
    for path in (list_path, answer_path):
        first, second = (service.client().get(path) for _ in range(2))
        assert first.content == second.content
        again = service.client().get(path, headers={"if-none-match": second.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert "max-age=300" in again.headers["cache-control"]
        if path == list_path:
            told = x509.load_der_x509_crl(second.content)
            times = (told.last_update_utc, told.next_update_utc)
        else:
            answer = ocsp.load_der_ocsp_response(second.content)
            times = (answer.this_update_utc, answer.next_update_utc)
        shown = [parsedate_to_datetime(second.headers[name]) for name in ("last-modified", "expires")]
        assert shown == [*times]
        assert shown[0] < datetime.now(UTC) < shown[1]


def test_an_answer_with_a_nonce_is_for_one_alone(service: Service, pki: Pki) -> None:
    issued, certificate = leaf(pki, pki.profile())
    url = path_of(access_url(certificate, AuthorityInformationAccessOID.OCSP))
    question = (
        ocsp.OCSPRequestBuilder()
        .add_certificate(certificate, issuer_of(issued), SHA256())
        .add_extension(x509.OCSPNonce(b"once" * 8), critical=False)
        .build()
        .public_bytes(Encoding.DER)
    )
    packed = quote(base64.b64encode(question).decode(), safe="")
    for answer in (service.client().post(url, content=question), service.client().get(f"{url}/{packed}")):
        assert answer.headers["cache-control"] == "no-store"
        told = ocsp.load_der_ocsp_response(answer.content)
        assert told.extensions.get_extension_for_class(x509.OCSPNonce).value.nonce == b"once" * 8


def test_a_body_that_is_too_long_is_not_read(service: Service, pki: Pki) -> None:
    path = f"{PKI}/ocsp/{pki.authority()['configuration']['activeCaCertId']}"
    assert service.client().post(path, content=b"0" * 2_000_000).status_code == 413
