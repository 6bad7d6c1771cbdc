"""Every kind of rule of a policy, held against content that fits it and content that doesn't."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    KEY_ALGORITHMS_BY_SPELLING,
    KEY_USAGES_BY_SPELLING,
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    SignatureAlgorithm,
)
from keybearer.pki.names import AlternativeName, Subject, SubjectAttribute
from keybearer.pki.policy_rules import CompiledRules, Content
from keybearer.wire.certificates.policies import PolicyRules
from support.rows import each_row

LEAF = Content(
    subject=Subject.of(
        "www.example.com",
        organization="Example Inc",
        organizational_unit="Web",
        country="DE",
        state="Hessen",
        locality="Fulda",
        domain_components=["example", "com"],
    ),
    alternative_names=(
        AlternativeName(NameType.DNS_NAME, "www.example.com"),
        AlternativeName(NameType.DNS_NAME, "api.example.com"),
        AlternativeName(NameType.IP_ADDRESS, "10.0.0.1"),
        AlternativeName(NameType.EMAIL, "Web@example.com"),
        AlternativeName(NameType.URI, "spiffe://example.com/web"),
        AlternativeName(NameType.UPN, "web@EXAMPLE"),
    ),
    key_usages=frozenset({KeyUsage.DIGITAL_SIGNATURE, KeyUsage.KEY_ENCIPHERMENT}),
    extended_key_usages=(ExtendedKeyUsage.SERVER_AUTH,),
    key_algorithm=KeyAlgorithm.EC_P256,
    signature_algorithm=SignatureAlgorithm.ECDSA_SHA256,
    lifetime=timedelta(days=90),
)
BARE = replace(LEAF, subject=Subject(), alternative_names=(), key_usages=frozenset(), extended_key_usages=())
AUTHORITY = replace(LEAF, is_ca=True, path_length=1)
RESPONDER = replace(LEAF, extended_key_usages=(ExtendedKeyUsage.OCSP_SIGNING,))
WILDCARD = replace(LEAF, alternative_names=(AlternativeName(NameType.DNS_NAME, "*.example.com"),))
ALL_NAMES = [{"type": kind.value, "allowed": ["*"]} for kind in NameType]


def names(*rules: dict[str, Any]) -> dict[str, Any]:
    """Return rules for alternative names: those given, and others that allow anything."""
    ruled = {rule["type"] for rule in rules}
    return {"sans": [*rules, *(rule for rule in ALL_NAMES if rule["type"] not in ruled)]}


def subject(*rules: dict[str, Any]) -> dict[str, Any]:
    """Return rules for a subject: those given, and others that allow anything."""
    kinds = (
        "common_name",
        "organization",
        "organizational_unit",
        "country",
        "state",
        "locality",
        "domain_component",
    )
    ruled = {rule["type"] for rule in rules}
    return {"subject": [*rules, *({"type": kind, "allowed": ["*"]} for kind in kinds if kind not in ruled)]}


def of(rules: dict[str, Any], content: Content = LEAF) -> list[str]:
    return CompiledRules(PolicyRules.model_validate(rules)).violations(content)


FITTING: dict[str, tuple[dict[str, Any], Content]] = {
    "a policy without rules": ({}, LEAF),
    "a subject field of an allowed value": (
        subject({"type": "common_name", "allowed": ["www.example.com"]}),
        LEAF,
    ),
    "a subject field under a wildcard": (
        subject({"type": "common_name", "allowed": ["*.example.com"]}),
        LEAF,
    ),
    "a subject field that is required": (subject({"type": "country", "required": ["DE"]}), LEAF),
    "a required value is allowed as well": (
        subject({"type": "country", "allowed": ["FR"], "required": ["DE"]}),
        LEAF,
    ),
    "a subject field that isn't denied": (subject({"type": "locality", "denied": ["Berlin"]}), LEAF),
    "each of several values": (subject({"type": "domain_component", "allowed": ["example", "com"]}), LEAF),
    "no subject under rules that require nothing": (subject({"type": "common_name", "allowed": ["x"]}), BARE),
    "no subject where none is allowed": ({"subject": []}, BARE),
    "no names where none are allowed": ({"sans": []}, BARE),
    "hosts in any case": (names({"type": "dns_name", "allowed": ["*.EXAMPLE.com"]}), LEAF),
    "mail hosts in any case": (names({"type": "email", "allowed": ["Web@EXAMPLE.com"]}), LEAF),
    "an address under a wildcard": (names({"type": "ip_address", "allowed": ["10.0.*"]}), LEAF),
    "an address written otherwise": (
        names({"type": "ip_address", "allowed": ["2001:DB8:0::1"]}),
        replace(LEAF, alternative_names=(AlternativeName(NameType.IP_ADDRESS, "2001:db8::1"),)),
    ),
    "a URI under a wildcard": (names({"type": "uri", "allowed": ["spiffe://example.com/*"]}), LEAF),
    "a principal's name": (names({"type": "upn", "required": ["*@EXAMPLE"]}), LEAF),
    "a required name among others": (names({"type": "dns_name", "required": ["api.**"]}), LEAF),
    "key usages that are allowed": (
        {"keyUsages": {"allowed": ["digital_signature", "key_encipherment", "crl_sign"]}},
        LEAF,
    ),
    "key usages in the old spelling": (
        {"keyUsages": {"allowed": ["digitalSignature", "keyEncipherment"]}},
        LEAF,
    ),
    "key usages that are required": ({"keyUsages": {"required": ["digital_signature"]}}, LEAF),
    "key usages that aren't denied": ({"keyUsages": {"denied": ["crl_sign"]}}, LEAF),
    "no key usages where none are allowed": ({"keyUsages": {}}, BARE),
    "extended key usages that are allowed": ({"extendedKeyUsages": {"allowed": ["server_auth"]}}, LEAF),
    "extended key usages in the old spelling": ({"extendedKeyUsages": {"required": ["serverAuth"]}}, LEAF),
    "what answers for an authority where a policy names it": (
        {"extendedKeyUsages": {"allowed": ["ocsp_signing"]}},
        RESPONDER,
    ),
    "what answers for an authority where a policy requires it": (
        {"extendedKeyUsages": {"required": ["ocspSigning"]}},
        RESPONDER,
    ),
    "a wildcard beside a host that is denied": (
        names({"type": "dns_name", "denied": ["admin.example.org", "a.b.example.com", "example.com"]}),
        WILDCARD,
    ),
    "algorithms as policies spell them": (
        {"algorithms": {"signature": ["SHA256-ECDSA"], "keyAlgorithm": ["ECDSA-P256"]}},
        LEAF,
    ),
    "algorithms as requests spell them": (
        {"algorithms": {"signature": ["ECDSA-SHA256"], "keyAlgorithm": ["EC_prime256v1"]}},
        LEAF,
    ),
    "an algorithm of which nothing is said": ({"algorithms": {"keyAlgorithm": ["ECDSA-P256"]}}, LEAF),
    "exactly the longest lifetime": ({"validity": {"max": "90d"}}, LEAF),
    "the longest lifetime in hours": ({"validity": {"max": "2160h"}}, LEAF),
    "the longest lifetime in months": ({"validity": {"max": "3m"}}, LEAF),
    "the longest lifetime in years": ({"validity": {"max": "1y"}}, LEAF),
    "a lifetime of which nothing is said": ({"validity": {}}, LEAF),
    "an authority that is allowed": ({"basicConstraints": {"isCA": "allowed"}}, AUTHORITY),
    "a leaf where an authority is allowed": ({"basicConstraints": {"isCA": "allowed"}}, LEAF),
    "an authority that is required": ({"basicConstraints": {"isCA": "required"}}, AUTHORITY),
    "a leaf where authorities are denied": ({"basicConstraints": {"isCA": "denied"}}, LEAF),
    "exactly the longest path": ({"basicConstraints": {"isCA": "allowed", "maxPathLength": 1}}, AUTHORITY),
    "any path": (
        {"basicConstraints": {"isCA": "allowed", "maxPathLength": -1}},
        replace(AUTHORITY, path_length=None),
    ),
}

VIOLATING: dict[str, tuple[dict[str, Any], Content, list[str]]] = {
    "a subject field of another value": (
        subject({"type": "common_name", "allowed": ["*.example.org"]}),
        LEAF,
        ['subject common_name "www.example.com" is not among the allowed values'],
    ),
    "a subject field that is denied": (
        subject({"type": "organization", "denied": ["Example*"]}),
        LEAF,
        ['subject organization "Example Inc" is denied'],
    ),
    "a denied value that is allowed too": (
        subject({"type": "organization", "allowed": ["*"], "denied": ["Example*"]}),
        LEAF,
        ['subject organization "Example Inc" is denied'],
    ),
    "a subject field that is missing": (
        subject({"type": "country", "required": ["DE"]}),
        BARE,
        ['subject country "DE" is required'],
    ),
    "an empty list of allowed values": (
        subject({"type": "state", "allowed": []}),
        LEAF,
        ['subject state "Hessen" is not among the allowed values'],
    ),
    "a rule that says nothing": (
        subject({"type": "state"}),
        LEAF,
        ['subject state "Hessen" is not among the allowed values'],
    ),
    "one of several values": (
        subject({"type": "domain_component", "allowed": ["com"]}),
        LEAF,
        ['subject domain_component "example" is not among the allowed values'],
    ),
    "fields that no rule names": (
        {"subject": [{"type": "common_name", "allowed": ["*"]}]},
        replace(LEAF, subject=Subject.of("x", organization="y", country="DE")),
        ["subject organization is not allowed", "subject country is not allowed"],
    ),
    "fields that no rule can name": (
        {"subject": []},
        replace(LEAF, subject=Subject((SubjectAttribute("serial_number", "1"),))),
        ["subject serial_number is not allowed"],
    ),
    "any subject where there may be none": (
        {"subject": []},
        replace(LEAF, subject=Subject.of("x")),
        ["subject common_name is not allowed"],
    ),
    "any name where there may be none": (
        {"sans": []},
        replace(BARE, alternative_names=LEAF.alternative_names[:1]),
        ["alternative name dns_name is not allowed"],
    ),
    "a kind of name that no rule names": (
        {"sans": [{"type": "dns_name", "allowed": ["*"]}]},
        replace(LEAF, alternative_names=LEAF.alternative_names[:3]),
        ["alternative name ip_address is not allowed"],
    ),
    "one of several names": (
        names({"type": "dns_name", "allowed": ["www.**"]}),
        LEAF,
        ['alternative name dns_name "api.example.com" is not among the allowed values'],
    ),
    "a name that is denied": (
        names({"type": "ip_address", "denied": ["10.*"]}),
        LEAF,
        ['alternative name ip_address "10.0.0.1" is denied'],
    ),
    "the case of a mailbox": (
        names({"type": "email", "allowed": ["web@example.com"]}),
        LEAF,
        ['alternative name email "Web@example.com" is not among the allowed values'],
    ),
    "another URI": (
        names({"type": "uri", "allowed": ["spiffe://example.org/*"]}),
        LEAF,
        ['alternative name uri "spiffe://example.com/web" is not among the allowed values'],
    ),
    "a name that is missing": (
        names({"type": "upn", "required": ["*@OTHER"]}),
        LEAF,
        [
            'alternative name upn "*@OTHER" is required',
        ],
    ),
    "a key usage that isn't allowed": (
        {"keyUsages": {"allowed": ["digital_signature"]}},
        LEAF,
        ["key usage key_encipherment is not among the allowed ones"],
    ),
    "key usages where none are allowed": (
        {"keyUsages": {}},
        LEAF,
        [
            "key usage digital_signature is not among the allowed ones",
            "key usage key_encipherment is not among the allowed ones",
        ],
    ),
    "a key usage that is denied, in the old spelling": (
        {"keyUsages": {"denied": ["keyEncipherment"]}},
        LEAF,
        ["key usage key_encipherment is denied"],
    ),
    "a key usage that is missing": (
        {"keyUsages": {"required": ["cRLSign"]}},
        LEAF,
        ["key usage crl_sign is required"],
    ),
    "an extended key usage that isn't allowed": (
        {"extendedKeyUsages": {"allowed": ["client_auth"]}},
        LEAF,
        ["extended key usage server_auth is not among the allowed ones"],
    ),
    "an extended key usage that is missing": (
        {"extendedKeyUsages": {"required": ["clientAuth"]}},
        LEAF,
        ["extended key usage client_auth is required"],
    ),
    "another key algorithm": (
        {"algorithms": {"keyAlgorithm": ["RSA-4096", "RSA_2048"]}},
        LEAF,
        ["key algorithm EC_prime256v1 is not among the allowed ones"],
    ),
    "another signature algorithm": (
        {"algorithms": {"signature": ["SHA256-RSA"]}},
        LEAF,
        ["signature algorithm ECDSA-SHA256 is not among the allowed ones"],
    ),
    "any algorithm where none is allowed": (
        {"algorithms": {"signature": [], "keyAlgorithm": []}},
        LEAF,
        [
            "key algorithm EC_prime256v1 is not among the allowed ones",
            "signature algorithm ECDSA-SHA256 is not among the allowed ones",
        ],
    ),
    "a lifetime that is too long": (
        {"validity": {"max": "89d"}},
        LEAF,
        ["the lifetime (TTL) is longer than the longest that is allowed, 89d"],
    ),
    "no lifetime at all": (
        {"validity": {"max": "0h"}},
        LEAF,
        ["the lifetime (TTL) is longer than the longest that is allowed, 0h"],
    ),
    "an authority of which nothing is said": (
        {},
        AUTHORITY,
        ["basic constraints: a certificate authority (isCA) is denied"],
    ),
    "what answers for an authority where nothing is said of it": (
        {},
        RESPONDER,
        ["extended key usage ocsp_signing is not among the allowed ones"],
    ),
    "what answers for an authority where only others are denied": (
        {"extendedKeyUsages": {"denied": ["code_signing"]}},
        RESPONDER,
        ["extended key usage ocsp_signing is not among the allowed ones"],
    ),
    "a wildcard that stands for a host that is denied": (
        names({"type": "dns_name", "denied": ["admin.example.com"]}),
        WILDCARD,
        ['alternative name dns_name "*.example.com" is denied'],
    ),
    "a wildcard that may stand for a host that is denied": (
        names({"type": "dns_name", "denied": ["admin-*"]}),
        WILDCARD,
        ['alternative name dns_name "*.example.com" is denied'],
    ),
    "a denied value in another case": (
        subject({"type": "common_name", "denied": ["WWW.example.com"]}),
        LEAF,
        ['subject common_name "www.example.com" is denied'],
    ),
    "a denied principal in another case": (
        names({"type": "upn", "denied": ["Web@example"]}),
        LEAF,
        ['alternative name upn "web@EXAMPLE" is denied'],
    ),
    "an authority that is denied": (
        {"basicConstraints": {"isCA": "denied"}},
        AUTHORITY,
        ["basic constraints: a certificate authority (isCA) is denied"],
    ),
    "an authority where the rule says nothing": (
        {"basicConstraints": {}},
        AUTHORITY,
        ["basic constraints: a certificate authority (isCA) is denied"],
    ),
    "a leaf where an authority is required": (
        {"basicConstraints": {"isCA": "required"}},
        LEAF,
        ["basic constraints: a certificate authority (isCA) is required"],
    ),
    "a path that is too long": (
        {"basicConstraints": {"isCA": "allowed", "maxPathLength": 0}},
        AUTHORITY,
        ["basic constraints: the path length must be at most 0, asked for is 1"],
    ),
    "a path without a bound": (
        {"basicConstraints": {"isCA": "allowed", "maxPathLength": 3}},
        replace(AUTHORITY, path_length=None),
        ["basic constraints: the path length must be at most 3, asked for is none"],
    ),
    "an authority of which only the path is said": (
        {"basicConstraints": {"maxPathLength": 3}},
        AUTHORITY,
        ["basic constraints: a certificate authority (isCA) is denied"],
    ),
}


@each_row(("rules", "content"), FITTING.values(), ids=FITTING)
def test_what_a_policy_lets_pass(rules: dict[str, Any], content: Content) -> None:
    assert of(rules, content) == []


@each_row(("rules", "content", "said"), VIOLATING.values(), ids=VIOLATING)
def test_what_a_policy_forbids(rules: dict[str, Any], content: Content, said: list[str]) -> None:
    assert of(rules, content) == said


def test_all_violations_are_told_at_once() -> None:
    rules = {
        "subject": [],
        "sans": [],
        "keyUsages": {},
        "extendedKeyUsages": {},
        "algorithms": {"signature": [], "keyAlgorithm": []},
        "validity": {"max": "1d"},
        "basicConstraints": {"isCA": "required"},
    }
    assert len(of(rules)) == 7 + 5 + 2 + 1 + 2 + 1 + 1


def test_a_long_value_is_cut_where_it_is_told() -> None:
    long = replace(LEAF, subject=Subject.of("x" * 255))
    (said,) = of(subject({"type": "common_name", "allowed": ["y"]}), long)
    assert len(said) < 200


@given(
    st.sampled_from(sorted(KEY_ALGORITHMS_BY_SPELLING)),
    st.sampled_from(sorted(SIGNATURE_ALGORITHMS_BY_SPELLING)),
)
def test_a_spelling_allows_its_algorithm_and_no_other(key: str, signature: str) -> None:
    rules = {"algorithms": {"keyAlgorithm": [key], "signature": [signature]}}
    allowed = replace(
        LEAF,
        key_algorithm=KEY_ALGORITHMS_BY_SPELLING[key],
        signature_algorithm=SIGNATURE_ALGORITHMS_BY_SPELLING[signature],
    )
    assert of(rules, allowed) == []
    for other in KeyAlgorithm:
        expected = 0 if other is allowed.key_algorithm else 1
        assert len(of(rules, replace(allowed, key_algorithm=other))) == expected


@given(st.sets(st.sampled_from(sorted(KEY_USAGES_BY_SPELLING))), st.sets(st.sampled_from(KeyUsage)))
def test_no_usage_passes_that_isnt_listed(spelled: set[str], asked: set[KeyUsage]) -> None:
    allowed = {KEY_USAGES_BY_SPELLING[one] for one in spelled}
    said = of({"keyUsages": {"allowed": sorted(spelled)}}, replace(LEAF, key_usages=frozenset(asked)))
    assert len(said) == len(asked - allowed)


def test_usages_that_nobody_asked_for_fit_the_policy() -> None:
    usual = frozenset({KeyUsage.DIGITAL_SIGNATURE, KeyUsage.KEY_ENCIPHERMENT})
    for rules, expected in (
        ({}, usual),
        ({"keyUsages": {}}, frozenset()),
        ({"keyUsages": {"allowed": ["digitalSignature"]}}, {KeyUsage.DIGITAL_SIGNATURE}),
        ({"keyUsages": {"denied": ["key_encipherment"]}}, {KeyUsage.DIGITAL_SIGNATURE}),
        ({"keyUsages": {"required": ["crl_sign"]}}, usual | {KeyUsage.CRL_SIGN}),
    ):
        assert CompiledRules(PolicyRules.model_validate(rules)).fitting_key_usages(usual) == expected


def test_extended_usages_that_nobody_asked_for_are_the_required_ones() -> None:
    for spelled, usage in EXTENDED_KEY_USAGES_BY_SPELLING.items():
        rules = PolicyRules.model_validate({"extendedKeyUsages": {"required": [spelled]}})
        assert CompiledRules(rules).fitting_extended_key_usages() == (usage,)
    assert CompiledRules(PolicyRules()).fitting_extended_key_usages() == ()
