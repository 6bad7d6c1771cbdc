"""What a certificate is to hold: from attributes or a CSR and the defaults of the profile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType
from keybearer.domain.certificates.asked import (
    BACKDATING,
    Asked,
    asked_of_attributes,
    asked_of_request,
    validity_of,
)
from keybearer.domain.errors import InvalidError
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import AlternativeName, Subject, alternative_name
from keybearer.pki.signing_requests import SigningRequest, build_signing_request, parse_signing_request
from keybearer.wire.certificates.attributes import CertificateAttributes
from keybearer.wire.certificates.profiles import GivenProfileDefaults

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = generate_private_key(KeyAlgorithm.EC_P256)
DEFAULTS = {
    "ttlDays": 10,
    "commonName": "default",
    "organization": "Home",
    "organizationalUnit": "Unit",
    "country": "DE",
    "state": "State",
    "locality": "Town",
    "domainComponents": ["example"],
    "keyAlgorithm": "EC_prime256v1",
    "keyUsages": ["digital_signature"],
    "extendedKeyUsages": ["server_auth"],
    "subjectAltNames": [{"value": "default.example.com"}],
    "basicConstraints": {"isCA": False},
}


def _defaults(**more: object) -> GivenProfileDefaults:
    return GivenProfileDefaults.model_validate({**DEFAULTS, **more})


def _of(attributes: dict[str, Any], **defaults: object) -> Asked:
    return asked_of_attributes(CertificateAttributes.model_validate(attributes), _defaults(**defaults))


def _csr(
    subject: Subject,
    *,
    names: tuple[AlternativeName, ...] = (),
    key_usages: frozenset[KeyUsage] = frozenset(),
    extended_key_usages: tuple[ExtendedKeyUsage, ...] = (),
    path_length: int | None = None,
) -> SigningRequest:
    """Return a signing request; of an authority where there is a path length."""
    written = build_signing_request(
        KEY,
        subject,
        alternative_names=names,
        key_usages=key_usages,
        extended_key_usages=extended_key_usages,
        is_ca=path_length is not None,
        path_length=path_length,
    )
    return parse_signing_request(written)


def _signed(request: SigningRequest, attributes: dict[str, Any] | None = None) -> Asked:
    return asked_of_request(request, CertificateAttributes.model_validate(attributes or {}), _defaults())


def test_what_is_absent_is_taken_from_the_profile() -> None:
    asked = _of({})
    assert str(asked.subject) == "CN=default,OU=Unit,O=Home,L=Town,ST=State,C=DE,DC=example"
    assert asked.alt_names == "default.example.com"
    assert asked.key_usages == frozenset({KeyUsage.DIGITAL_SIGNATURE})
    assert asked.extended_key_usages == (ExtendedKeyUsage.SERVER_AUTH,)
    assert asked.lifetime == timedelta(days=10)


@pytest.mark.parametrize(
    "field", ["commonName", "organization", "organizationalUnit", "country", "state", "locality"]
)
def test_null_clears_a_field_of_the_subject_and_so_does_nothing_at_all(field: str) -> None:
    for nothing in (None, ""):
        assert len(_of({field: nothing}).subject.attributes) == len(_of({}).subject.attributes) - 1


def test_null_clears_lists() -> None:
    asked = _of({"altNames": None, "keyUsages": None, "extendedKeyUsages": None, "domainComponents": None})
    assert asked.alternative_names == ()
    assert (asked.key_usages, asked.extended_key_usages) == (frozenset(), ())
    assert not asked.subject.values("domain_component")


def test_what_nobody_says_is_left_to_the_policy_and_keys_are_rsa() -> None:
    asked = asked_of_attributes(CertificateAttributes(), GivenProfileDefaults())
    assert (asked.key_usages, asked.extended_key_usages) == (None, None)
    assert asked.key_algorithm is KeyAlgorithm.RSA_2048
    assert (asked.lifetime, asked.not_after) == (None, None)


def test_a_name_without_a_kind_is_of_the_kind_it_looks_like_and_doubles_count_once() -> None:
    names = ["a.example.com", "10.0.0.1", "me@example.com", "https://example.com", "A.example.com"]
    asked = _of({"altNames": [{"value": name} for name in names]})
    assert [name.type for name in asked.alternative_names] == [
        NameType.DNS_NAME,
        NameType.IP_ADDRESS,
        NameType.EMAIL,
        NameType.URI,
    ]


def test_a_signing_request_stands_in_for_attributes() -> None:
    request = _csr(
        Subject.of("asked"),
        names=(alternative_name(NameType.DNS_NAME, "asked.example.com"),),
        key_usages=frozenset({KeyUsage.KEY_AGREEMENT}),
        extended_key_usages=(ExtendedKeyUsage.CLIENT_AUTH,),
    )
    ignored = {"commonName": "ignored", "keyUsages": ["crl_sign"], "altNames": [{"value": "ignored"}]}
    asked = _signed(request, {**ignored, "ttl": "1h"})
    assert asked.subject.common_name == "asked"
    assert asked.alt_names == "asked.example.com"
    assert asked.key_usages == frozenset({KeyUsage.KEY_AGREEMENT})
    assert asked.extended_key_usages == (ExtendedKeyUsage.CLIENT_AUTH,)
    assert asked.lifetime == timedelta(hours=1)
    # What it doesn't hold is filled in, the most general first.
    assert str(asked.subject) == "CN=asked,OU=Unit,O=Home,L=Town,ST=State,C=DE,DC=example"


def test_null_keeps_the_default_from_a_signing_request() -> None:
    cleared = dict.fromkeys(
        ("organization", "organizationalUnit", "country", "state", "locality", "domainComponents", "altNames")
    )
    asked = _signed(_csr(Subject.of("asked")), {**cleared, "keyUsages": None})
    assert str(asked.subject) == "CN=asked"
    assert asked.alternative_names == ()
    assert asked.key_usages == frozenset()


@pytest.mark.parametrize(
    ("in_csr", "attribute", "expected"),
    [
        pytest.param(1, None, (True, 1), id="as the request says"),
        pytest.param(None, None, (False, None), id="nobody says"),
        pytest.param(None, {"isCA": True, "pathLength": 0}, (True, 0), id="as the attribute says"),
        pytest.param(1, {"isCA": False}, (False, None), id="the attribute before the request"),
    ],
)
def test_basic_constraints_of_a_signing_request(
    in_csr: int | None, attribute: dict[str, Any] | None, expected: tuple[bool, int | None]
) -> None:
    request = _csr(Subject.of("a"), path_length=in_csr)
    asked = _signed(request, {} if attribute is None else {"basicConstraints": attribute})
    assert (asked.is_ca, asked.path_length) == expected


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        pytest.param({"ttl": "2h"}, (NOW - BACKDATING, NOW + timedelta(hours=2)), id="from now on"),
        pytest.param(
            {"notAfter": "2026-03-02T00:00:00Z"},
            (NOW - BACKDATING, datetime(2026, 3, 2, tzinfo=UTC)),
            id="until then",
        ),
        pytest.param(
            {"notBefore": "2026-04-01"},
            (datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 4, 11, tzinfo=UTC)),
            id="from then on, as long as usual",
        ),
        pytest.param(
            {"notBefore": "2026-02-01", "notAfter": "2026-04-01"},
            (datetime(2026, 2, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)),
            id="both",
        ),
    ],
)
def test_when_it_is_valid(attributes: dict[str, Any], expected: tuple[datetime, datetime]) -> None:
    validity = validity_of(_of(attributes), NOW, None)
    assert (validity.not_before, validity.not_after) == expected


def test_the_lifetime_that_counts_is_the_one_asked_for() -> None:
    assert validity_of(_of({"ttl": "10d"}), NOW, None).lifetime == timedelta(days=10)


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        pytest.param({"notAfter": "2026-02-01"}, "earlier than", id="over before it begins"),
        pytest.param({"notBefore": "2026-01-01", "notAfter": "2026-02-01"}, "expired already", id="over"),
        pytest.param({"notBefore": "9999-12-30"}, "9999", id="beyond the calendar"),
    ],
)
def test_when_it_cannot_be_valid(attributes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidError, match=words):
        validity_of(_of(attributes), NOW, None)


def test_somebody_must_say_how_long() -> None:
    with pytest.raises(InvalidError, match="TTL is required"):
        validity_of(asked_of_attributes(CertificateAttributes(), GivenProfileDefaults()), NOW, None)


_INSTANTS = st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - bounds are naive there


@given(
    asked=st.builds(
        Asked,
        subject=st.builds(Subject.of, st.none() | st.text(min_size=1, max_size=9)),
        alternative_names=st.lists(
            st.builds(AlternativeName, st.sampled_from(NameType), st.text(max_size=9)), max_size=3
        ).map(tuple),
        key_algorithm=st.sampled_from(KeyAlgorithm),
        key_usages=st.none() | st.frozensets(st.sampled_from(KeyUsage)),
        extended_key_usages=st.none() | st.lists(st.sampled_from(ExtendedKeyUsage), max_size=3).map(tuple),
        is_ca=st.booleans(),
        path_length=st.none() | st.integers(0, 255),
        lifetime=st.none() | st.integers(1, 10**12).map(lambda ms: timedelta(milliseconds=ms)),
        not_before=st.none() | _INSTANTS,
        not_after=st.none() | _INSTANTS,
    )
)
def test_what_is_kept_of_it_is_read_again(asked: Asked) -> None:
    assert Asked.read(asked.written()) == asked
