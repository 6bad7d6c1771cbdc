"""The requests about certificates, as values."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import httpx
import orjson
import pytest

from keybearer.client.certificate_enrollments import (
    AcmeEnrollment,
    ApiEnrollment,
    EstEnrollment,
    ScepEnrollment,
)
from keybearer.client.certificates import (
    CertificateAttributes,
)
from keybearer.client.errors import DecodeError, InvalidArgument
from keybearer.client.messages import Response
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations import (
    acme_authorities,
    certificate_applications,
    certificate_approvals,
    certificate_authorities,
    certificate_authority_certificates,
    certificate_issuing,
    certificate_policies,
    certificate_profile_certificates,
    certificate_profiles,
    certificate_requests,
    certificate_subscribers,
    certificates,
    policy_binding,
)
from keybearer.client.operations.certificate_issuing import IssueCertificate
from support.rows import each_row
from unit.client.harness import FakeService, Runner, Sent, sent
from unit.client.requests_of_certificate_holders import OF_APPLICATIONS, OF_APPROVALS, OF_SUBSCRIBERS
from unit.client.requests_of_certificate_setup import (
    AUTHORITIES,
    OF_AUTHORITIES,
    OF_POLICIES,
    OF_PROFILES,
    POLICIES,
)
from unit.client.requests_of_certificates import KEY, OF_CERTIFICATES, OF_REQUESTS

REQUESTED = [
    *OF_CERTIFICATES,
    *OF_REQUESTS,
    *OF_PROFILES,
    *OF_POLICIES,
    *OF_AUTHORITIES,
    *OF_APPROVALS,
    *OF_APPLICATIONS,
    *OF_SUBSCRIBERS,
]
MODULES = (
    certificate_issuing,
    certificates,
    certificate_requests,
    certificate_profiles,
    certificate_profile_certificates,
    certificate_policies,
    policy_binding,
    certificate_authorities,
    certificate_authority_certificates,
    acme_authorities,
    certificate_approvals,
    certificate_applications,
    certificate_subscribers,
)


@each_row(("operation", "expected"), [case[1:] for case in REQUESTED], ids=[case[0] for case in REQUESTED])
def test_a_request_is_built_as_the_interface_says(operation: Operation[Any], expected: Sent) -> None:
    assert sent(operation) == expected
    # What writes is never sent twice, unless it surely never arrived; a search writes nothing.
    reads = expected[0] == "GET" or isinstance(operation, certificate_requests.SearchCertificateRequests)
    assert operation.repeat is (Repeat.FREELY if reads else Repeat.UNSENT_ONLY)
    assert "cnry-" not in repr(operation)


def test_every_operation_is_among_the_requests() -> None:
    asked = {type(operation) for _, operation, _ in REQUESTED}
    offered = {
        value
        for module in MODULES
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    }
    assert asked == {
        one for one in offered if issubclass(one, Operation) and not one.__name__.startswith("_")
    }


DURATIONS = [
    (timedelta(days=30), "30d"),
    (timedelta(hours=24), "1d"),
    (timedelta(hours=36), "36h"),
    (timedelta(minutes=90), "5400s"),
    (timedelta(seconds=1), "1s"),
    ("90 days", "90 days"),
]


@pytest.mark.parametrize(("given", "text"), DURATIONS)
def test_a_lifetime_is_written_without_minutes_which_some_take_for_months(
    given: timedelta | str, text: str
) -> None:
    body = sent(IssueCertificate("p-1", attributes=CertificateAttributes(ttl=given)))[3]
    assert body["attributes"] == {"ttl": text}


@pytest.mark.parametrize(
    "given", [timedelta(0), timedelta(days=-1), timedelta(milliseconds=1500)], ids=["none", "less", "parts"]
)
def test_a_lifetime_that_the_wire_has_no_word_for_is_refused(given: timedelta) -> None:
    with pytest.raises(InvalidArgument, match=r"attributes\.ttl"):
        IssueCertificate("p-1", attributes=CertificateAttributes(ttl=given)).request()


NAIVE = datetime(2026, 1, 2)  # noqa: DTZ001 - what is refused
REFUSED: list[tuple[str, Operation[Any], str]] = [
    ("no page", certificate_requests.SearchCertificateRequests(limit=0), "limit"),
    ("too long a page", certificate_requests.SearchCertificateRequests(limit=101), "limit"),
    ("before the first", certificate_requests.SearchCertificateRequests(offset=-1), "offset"),
    ("no zone", certificate_requests.SearchCertificateRequests(from_date=NAIVE), "from_date"),
    (
        "no zone of a certificate",
        IssueCertificate("p-1", attributes=CertificateAttributes(not_after=NAIVE)),
        r"attributes\.not_after",
    ),
    ("neither", certificates.ConfigureCertificate("c-1"), "one of the two"),
    (
        "both",
        certificates.ConfigureCertificate("c-1", renew_before_days=1, enable_auto_renewal=True),
        "one of the two",
    ),
    ("another path", certificates.GetCertificate(".."), "path"),
    ("no slug", certificate_profiles.CreateCertificateProfile("", policy_id="y-1"), "slug"),
    (
        "too late a renewal",
        certificate_profiles.UpdateCertificateProfile("f-1", api_config=ApiEnrollment(renew_before_days=31)),
        "renew_before_days",
    ),
    ("no name", certificate_policies.CreateCertificatePolicy(""), "name"),
    (
        "too long a name",
        certificate_authorities.CreateInternalAuthority("n" * 65, type="root", common_name="R"),
        "name",
    ),
]


@each_row(("operation", "said"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_the_wire_has_no_room_for_is_refused(operation: Operation[Any], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        operation.request()


CONFIDENTIAL: list[tuple[str, Operation[Any], set[str]]] = [
    (
        "a key, and each of its lines",
        certificates.ImportCertificate("pem", private_key=KEY),
        {KEY, *KEY.splitlines()},
    ),
    ("no key", certificates.ImportCertificate("pem"), set()),
    (
        "passwords of a new profile",
        certificate_profiles.CreateCertificateProfile(
            "d",
            policy_id="y-1",
            est_config=EstEnrollment(passphrase="cnry-pass"),
            scep_config=ScepEnrollment(challenge_password="cnry-word"),
        ),
        {"cnry-pass", "cnry-word"},
    ),
    (
        "passwords of a profile",
        certificate_profiles.UpdateCertificateProfile(
            "f-1", est_config=EstEnrollment(passphrase="cnry-pass")
        ),
        {"cnry-pass"},
    ),
    (
        "the password of an application",
        certificate_applications.SetApplicationEnrollment(
            "a-1", "f-1", ScepEnrollment(challenge_password="cnry-word")
        ),
        {"cnry-word"},
    ),
    (
        "none",
        certificate_applications.SetApplicationEnrollment("a-1", "f-1", AcmeEnrollment()),
        set(),
    ),
]


@pytest.mark.parametrize(
    ("operation", "expected"), [case[1:] for case in CONFIDENTIAL], ids=[case[0] for case in CONFIDENTIAL]
)
def test_what_no_error_may_repeat_is_known(operation: Operation[Any], expected: set[str]) -> None:
    assert set(operation.confidential()) == expected


def answer(body: object) -> Response:
    return Response(200, {}, orjson.dumps(body))


def test_no_repr_of_an_answer_shows_a_private_key() -> None:
    pem = {"certificate": "pem", "serialNumber": "01", "privateKey": KEY}
    answers = (
        IssueCertificate("p-1").read(answer({"certificateRequestId": "r-1", "certificate": pem})),
        certificates.GetCertificateBundle("c-1").read(answer(pem)),
        certificates.RenewCertificate("c-1").read(answer(pem)),
        certificate_requests.GetCertificateRequest("r-1").read(
            answer({"status": "issued", "privateKey": KEY})
        ),
    )
    for read in answers:
        assert "cnry-" not in repr(read)


def policies(first: int, count: int, total: int) -> httpx.Response:
    named = [{"id": f"y-{n}", "name": f"web-{n}"} for n in range(first, first + count)]
    return httpx.Response(200, json={"certificatePolicies": named, "totalCount": total})


@pytest.mark.parametrize(
    ("name", "found", "offsets"),
    [("web-3", "y-3", ["0"]), ("web-120", "y-120", ["0", "100"]), ("web", None, ["0", "100"])],
)
async def test_a_policy_is_looked_for_on_all_pages(
    runner: Runner, service: FakeService, name: str, found: str | None, offsets: list[str]
) -> None:
    service.on(POLICIES, policies(0, 100, 150), policies(100, 50, 150))
    client = runner.client()
    policy = await runner.of(client.certificate_policies.find(name, project_id="p-1"))
    assert (policy.id if policy else None) == found
    asked = [dict(request.url.params) for request in service.seen if request.url.path == POLICIES]
    assert [one["offset"] for one in asked] == offsets
    assert all((one["search"], one["projectId"]) == (name, "p-1") for one in asked)


async def test_an_authority_is_found_by_its_whole_name(runner: Runner, service: FakeService) -> None:
    listed = [{"id": "ca-1", "name": "root-2"}, {"id": "ca-2", "name": "root"}]
    service.on(AUTHORITIES, httpx.Response(200, json={"certificateAuthorities": listed}))
    client = runner.client()
    found = await runner.of(client.certificate_authorities.find("root"))
    assert found is not None
    assert found.id == "ca-2"
    assert await runner.of(client.certificate_authorities.find("oot")) is None


def test_a_private_key_is_read_as_it_stands() -> None:
    asked = certificates.GetCertificatePrivateKey("c-1")
    assert asked.read(Response(200, {}, KEY.encode())) == KEY
    for body in (b"", b"<html>", b"-----BEGIN \xff"):
        with pytest.raises(DecodeError, match="no PEM"):
            asked.read(Response(200, {}, body))


def test_a_certificate_in_der_is_read_as_it_stands() -> None:
    asked = certificate_authority_certificates.GetAuthorityCertificateDer("ca-1", "cc-1")
    assert not asked.authenticated
    assert asked.read(Response(200, {}, b"\x30\x03\x02\x01\x00")) == b"\x30\x03\x02\x01\x00"
    with pytest.raises(DecodeError, match="no DER"):
        asked.read(Response(200, {}, b"<html>"))
