from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.controllers.signers.asked import SOURCES, Approval
from keybearer.controllers.signers.reading import read_asked
from keybearer.controllers.signers.usages import read_usages
from keybearer.kube.resources import ObjectKey
from support.rows import each_row
from support.signing_objects import certificate_request, pod_request, request_pem, signing_request
from tools.local.kube_api import Body

_SIGNER = "certificateprofiles.keybearer.dev/team-a.web"
_PEM = request_pem("web.example.com")
_BODIES = {
    "CertificateRequest": certificate_request("team-a", "one", _PEM, profile="web"),
    "CertificateSigningRequest": signing_request("one", _PEM, signer=_SIGNER),
    "PodCertificateRequest": pod_request("team-a", "one", request_pem(), signer=_SIGNER),
}
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", SOURCES)
def test_all_kinds_come_to_one_shape(kind: str) -> None:
    asked = read_asked(kind, _BODIES[kind])

    assert asked is not None
    assert asked.profile == ObjectKey("team-a", "web")
    assert asked.csr_pem.startswith("-----BEGIN CERTIFICATE REQUEST-----")
    assert asked.flaw is None
    assert (asked.key.kind, asked.key.namespace, asked.key.name) == (kind, "team-a", "one")
    assert asked.approval is (Approval.GIVEN if kind == "PodCertificateRequest" else Approval.AWAITED)


@each_row(
    ("kind", "status"),
    [
        ("CertificateRequest", {"conditions": [{"type": "Ready", "status": "True", "reason": "Issued"}]}),
        ("CertificateRequest", {"conditions": [{"type": "Ready", "status": "False", "reason": "Failed"}]}),
        ("CertificateRequest", {"conditions": [{"type": "Ready", "status": "False", "reason": "Denied"}]}),
        ("CertificateRequest", {"conditions": [{"type": "InvalidRequest", "status": "True"}]}),
        ("CertificateSigningRequest", {"certificate": "AAAA"}),
        ("CertificateSigningRequest", {"conditions": [{"type": "Failed", "status": "True"}]}),
        ("CertificateSigningRequest", {"conditions": [{"type": "Denied", "status": "True"}]}),
        ("PodCertificateRequest", {"conditions": [{"type": "Issued", "status": "True"}]}),
        ("PodCertificateRequest", {"conditions": [{"type": "Denied", "status": "True"}]}),
        ("PodCertificateRequest", {"conditions": [{"type": "Failed", "status": "True"}]}),
    ],
)
def test_what_has_its_answer_asks_nothing(kind: str, status: Body) -> None:
    assert read_asked(kind, {**_BODIES[kind], "status": status}) is None


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("2160h0m0s", timedelta(days=90)),
        ("1h30m", timedelta(minutes=90)),
        ("90s", timedelta(seconds=90)),
        ("1.5h", timedelta(minutes=90)),
        ("0s", None),
        ("", None),
        ("-1h", None),
        ("90 days", None),
        ("999999999999h999999999999h", None),
    ],
)
def test_durations_are_read_as_go_writes_them(text: str, length: timedelta | None) -> None:
    body = certificate_request("team-a", "one", _PEM, profile="web", spec={"duration": text})
    asked = read_asked("CertificateRequest", body)

    assert asked is not None
    assert asked.lifetime == length


def test_usages_are_told_in_the_services_words() -> None:
    usages = read_usages(["signing", "digital signature", "cert sign", "s/mime", "any", "ipsec user", "x"])

    assert usages.key == {KeyUsage.DIGITAL_SIGNATURE, KeyUsage.KEY_CERT_SIGN}
    assert usages.extended == {ExtendedKeyUsage.EMAIL_PROTECTION, ExtendedKeyUsage.ANY_PURPOSE}
    assert usages.unknown == ("ipsec user", "x")


@pytest.mark.parametrize(
    "request_", ["\x80", "%", "AAAAA", "gIA="], ids=["no ASCII", "no base64", "cut off", "bytes"]
)
@pytest.mark.parametrize("kind", ["CertificateRequest", "CertificateSigningRequest"])
def test_a_request_that_is_no_text_in_base64_is_told(kind: str, request_: str) -> None:
    body = copy.deepcopy(_BODIES[kind])
    body["spec"]["request"] = request_
    asked = read_asked(kind, body)

    assert asked is not None
    assert asked.flaw is not None
    assert asked.flaw.reason == "RequestInvalid"


@settings(max_examples=150)
@given(data=st.data(), kind=st.sampled_from(sorted(SOURCES)))
def test_whatever_an_object_holds_reading_it_never_fails(data: st.DataObject, kind: str) -> None:
    body: Any = copy.deepcopy(_BODIES[kind])
    part = data.draw(st.sampled_from(["spec", "status", "metadata"]))
    fields = sorted({*body.get(part, {}), "conditions", "certificate", "extra", "groups", "duration", "isCA"})
    name = data.draw(st.sampled_from([*fields, None]))
    junk = data.draw(_JSON)
    if name is None:
        body[part] = junk
    else:
        body.setdefault(part, {})[name] = junk

    read_asked(kind, body)
