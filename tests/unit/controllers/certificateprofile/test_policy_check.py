"""keybearer.controllers.certificateprofile.policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keybearer.base.certificate_terms import IssuerType, KeyAlgorithm, KeyUsage
from keybearer.client import (
    AlgorithmRule,
    BasicConstraints,
    CertificatePolicy,
    ConstraintRule,
    NameRule,
    ProfileDefaults,
    UsageRule,
    ValidityRule,
)
from keybearer.controllers.certificateprofile.desired import (
    DesiredCertificate,
    ProfileScope,
    describe_certificate,
)
from keybearer.controllers.certificateprofile.policy import Authority, violations_of
from keybearer.controllers.certificateprofile.spec_certificate import Certificate
from keybearer.controllers.issuance.service import PresentProfile
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import build_signing_request
from unit.controllers.fakes.certificate_service import new_authority

_PROFILE = PresentProfile("profile-1", "web", "policy-1", "ca-1", IssuerType.CA, None, None)
_AUTHORITY = Authority((new_authority("Root", datetime(2026, 3, 1, tzinfo=UTC)).certificate,))


def policy(**rules: object) -> CertificatePolicy:
    return CertificatePolicy(id="policy-1", name="policy", **rules)  # type: ignore[arg-type]


def described(
    *, csr: str | None = None, defaults: ProfileDefaults | None = None, **fields: object
) -> DesiredCertificate:
    entry = {"name": "front", "attributes": {"commonName": "front.example.com", "ttl": "30d"}, **fields}
    if csr is not None:
        entry |= {"csr": {"value": csr}, "attributes": {"ttl": "30d"}}
    return describe_certificate(Certificate.model_validate(entry), ProfileScope("p", None, defaults), csr)


def found(rules: CertificatePolicy, defaults: ProfileDefaults | None = None, **fields: object) -> list[str]:
    desired = described(defaults=defaults, **fields)  # type: ignore[arg-type]
    return violations_of(desired, rules, replace(_PROFILE, defaults=defaults), _AUTHORITY)


def test_what_the_profile_fills_in_is_judged_as_well() -> None:
    rules = policy(subject=(NameRule(type="common_name", allowed=["*"]),))

    assert found(rules) == []
    assert found(rules, ProfileDefaults(organization="Example")) == ["subject organization is not allowed"]


def test_usages_that_nobody_asks_for_fit_the_policy_as_in_the_service() -> None:
    rules = policy(
        key_usages=UsageRule(allowed=["crlSign"]), extended_key_usages=UsageRule(required=["client_auth"])
    )

    assert found(rules) == []
    asked = ProfileDefaults(key_usages=("digital_signature",), extended_key_usages=("server_auth",))
    assert found(rules, asked) == [
        "key usage digital_signature is not among the allowed ones",
        "extended key usage client_auth is required",
    ]


def test_keys_are_judged_by_the_policys_spelling() -> None:
    rules = policy(algorithms=AlgorithmRule(key_algorithm=["ECDSA-P256"]))

    assert found(rules) == []
    assert found(rules, privateKey={"algorithm": "RSA_4096"}) == [
        "key algorithm RSA_4096 is not among the allowed ones"
    ]


class TestSignatures:
    RULES = policy(algorithms=AlgorithmRule(signature=["SHA384-ECDSA"]))
    REFUSED = ("signature algorithm ECDSA-SHA256 is not among the allowed ones",)

    def test_what_the_authority_signs_with_is_judged(self) -> None:
        assert found(self.RULES) == [*self.REFUSED]

    def test_what_the_profile_says_stands_before_that(self) -> None:
        assert found(self.RULES, ProfileDefaults(signature_algorithm="ECDSA-SHA384")) == []

    def test_where_the_authority_cant_be_seen_nothing_is_said(self) -> None:
        assert violations_of(described(), self.RULES, _PROFILE, None) == []

    def test_what_signs_itself_signs_with_its_own_key(self) -> None:
        alone = replace(_PROFILE, issuer_type=IssuerType.SELF_SIGNED, ca_id=None)
        own = described(privateKey={"generatedBy": "Service", "algorithm": "EC_secp384r1"})

        assert violations_of(own, self.RULES, alone, None) == []
        assert violations_of(described(), self.RULES, alone, None) == [*self.REFUSED]


class TestConstraints:
    SIGNS = ProfileDefaults(basic_constraints=BasicConstraints(is_ca=True, path_length=2))

    def test_an_authority_is_judged_by_the_profiles_defaults(self) -> None:
        rules = policy(basic_constraints=ConstraintRule(is_ca="denied"))

        assert found(rules) == []
        assert found(rules, self.SIGNS) == ["basic constraints: a certificate authority (isCA) is denied"]

    def test_so_is_the_length_of_its_path(self) -> None:
        rules = policy(basic_constraints=ConstraintRule(is_ca="allowed", max_path_length=1))

        assert found(rules, self.SIGNS) == [
            "basic constraints: the path length must be at most 1, asked for is 2"
        ]

    def test_one_that_is_required_is_missed(self) -> None:
        rules = policy(basic_constraints=ConstraintRule(is_ca="required"))

        assert found(rules) == ["basic constraints: a certificate authority (isCA) is required"]


@pytest.fixture(scope="module")
def csr() -> str:
    key = generate_private_key(KeyAlgorithm.EC_P384)
    usages = frozenset({KeyUsage.KEY_AGREEMENT})
    return build_signing_request(key, Subject.of("else.example.com"), key_usages=usages)


class TestRequestsOfOthers:
    def test_what_a_request_says_is_judged(self, csr: str) -> None:
        rules = policy(
            subject=(NameRule(type="common_name", allowed=["*.internal"]),),
            key_usages=UsageRule(allowed=["digital_signature"]),
            algorithms=AlgorithmRule(key_algorithm=["EC_prime256v1"]),
        )

        assert found(rules, csr=csr) == [
            'subject common_name "else.example.com" is not among the allowed values',
            "key usage key_agreement is not among the allowed ones",
            "key algorithm EC_secp384r1 is not among the allowed ones",
        ]

    def test_what_it_leaves_out_is_the_profiles(self, csr: str) -> None:
        rules = policy(subject=(NameRule(type="common_name", allowed=["else.example.com"]),))
        filled = ProfileDefaults(common_name="other.example.com", country="DE")

        assert found(rules, filled, csr=csr) == ["subject country is not allowed"]


def test_a_lifetime_is_judged_where_one_is_asked_for() -> None:
    rules = policy(validity=ValidityRule(max="7d"))

    assert found(rules) == ["the lifetime (TTL) is longer than the longest that is allowed, 7d"]
    assert found(rules, attributes={"commonName": "front.example.com"}) == []


def test_words_of_a_newer_service_count_for_nothing() -> None:
    rules = policy(
        key_usages=UsageRule(denied=["quantum_signature"]),
        algorithms=AlgorithmRule(key_algorithm=["EC_prime256v1", "SIKE"]),
    )

    assert found(rules) == []
