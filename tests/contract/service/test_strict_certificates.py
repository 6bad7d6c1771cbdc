"""The shapes that every answer about certificates passes through must be able to fail (interface.md 2.4 to 2.6)."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from support.rows import each_row
from support.strict_certificates import ISSUED, ONE_PROFILE, PROFILES, REQUESTS
from support.strict_kinds import Shape

ID = "0b6f3c3e-7a55-4d2b-9a3f-0d6a5d1f0c11"
AT = "2026-01-02T03:04:05.678Z"
PEM = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"
ISSUED_RESULT: dict[str, Any] = {
    "certificate": {
        "certificate": PEM,
        "issuingCaCertificate": PEM,
        "certificateChain": PEM + PEM,
        "serialNumber": "0a1b",
        "certificateId": ID,
        "privateKey": KEY,
    },
    "certificateRequestId": ID,
    "status": "issued",
    "message": "done",
}
REQUEST: dict[str, Any] = {
    "id": ID,
    "status": "issued",
    "commonName": "www.example.com",
    "altNames": "www.example.com,10.0.0.1",
    "profileId": ID,
    "profileName": "web",
    "caId": ID,
    "certificateId": ID,
    "approvalRequestId": ID,
    "errorMessage": "because",
    "pendingMessage": "for",
    "createdAt": AT,
    "updatedAt": AT,
    "certificate": {"id": ID, "serialNumber": "0a1b", "status": "active"},
}
PROFILE: dict[str, Any] = {
    "id": ID,
    "certificatePolicyId": ID,
    "slug": "web",
    "enrollmentType": "api",
    "createdAt": AT,
    "updatedAt": AT,
    "caId": ID,
    "description": "d",
    "estConfigId": ID,
    "apiConfigId": ID,
    "acmeConfigId": ID,
    "scepConfigId": ID,
    "issuerType": "ca",
    "externalConfigs": {"template": "t"},
    "defaults": {
        "ttlDays": 30,
        "commonName": "www.example.com",
        "keyAlgorithm": "RSA_2048",
        "signatureAlgorithm": "RSA-SHA256",
        "keyUsages": ["digital_signature"],
        "extendedKeyUsages": ["server_auth"],
        "basicConstraints": {"isCA": True, "pathLength": 0},
        "organization": "o",
        "organizationalUnit": "ou",
        "country": "DE",
        "state": "s",
        "locality": "l",
        "subjectAltNames": [{"type": "dns_name", "value": "www.example.com"}],
        "domainComponents": ["com"],
    },
}
# Shape, an answer with every field, and those that must be there: of all others a clear answer has none.
RIGHT: dict[str, tuple[Shape, dict[str, Any], set[tuple[str | int, ...]]]] = {
    "issued certificate (2.4)": (
        ISSUED,
        ISSUED_RESULT,
        {
            ("certificate",),
            ("certificate", "certificate"),
            ("certificate", "issuingCaCertificate"),
            ("certificate", "certificateChain"),
            ("certificate", "serialNumber"),
            ("certificate", "certificateId"),
            ("certificateRequestId",),
            ("status",),
            ("message",),
        },
    ),
    "certificate request (2.5)": (
        REQUESTS,
        {"certificateRequests": [REQUEST], "totalCount": 1},
        {
            ("certificateRequests",),
            ("totalCount",),
            *(("certificateRequests", 0, name) for name in ("id", "status", "createdAt", "updatedAt")),
            *(("certificateRequests", 0, "certificate", name) for name in ("id", "serialNumber", "status")),
        },
    ),
    "certificate profile (2.6)": (
        ONE_PROFILE,
        {"certificateProfile": PROFILE},
        {
            ("certificateProfile",),
            *(
                ("certificateProfile", name)
                for name in (
                    "id",
                    "certificatePolicyId",
                    "slug",
                    "enrollmentType",
                    "createdAt",
                    "updatedAt",
                    "issuerType",
                )
            ),
            ("certificateProfile", "defaults", "basicConstraints", "isCA"),
            ("certificateProfile", "defaults", "subjectAltNames", 0, "type"),
            ("certificateProfile", "defaults", "subjectAltNames", 0, "value"),
        },
    ),
}


def paths(of: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the way to every field within."""
    if isinstance(of, dict):
        for key, value in of.items():
            yield (*path, key)
            yield from paths(value, (*path, key))
    elif isinstance(of, list):
        for index, value in enumerate(of):
            yield from paths(value, (*path, index))


def at(of: Any, path: tuple[str | int, ...]) -> Any:  # noqa: ANN401 - any JSON
    for part in path:
        of = of[part]
    return of


def passes(shape: Shape, answer: object) -> bool:
    try:
        shape.model_validate(answer)
    except ValueError:
        return False
    return True


FIELDS = [(name, path) for name, (_, right, _) in RIGHT.items() for path in paths(right)]


@each_row("name", RIGHT)
def test_an_answer_with_every_field_passes(name: str) -> None:
    shape, right, _ = RIGHT[name]
    assert passes(shape, right)


@each_row(("name", "path"), FIELDS)
def test_a_field_that_must_be_there_is_missed_and_no_other(name: str, path: tuple[str | int, ...]) -> None:
    shape, right, required = RIGHT[name]
    spoiled = copy.deepcopy(right)
    del at(spoiled, path[:-1])[path[-1]]
    assert passes(shape, spoiled) == (path not in required)


@each_row(("name", "path"), FIELDS)
def test_a_field_of_another_kind_fails(name: str, path: tuple[str | int, ...]) -> None:
    shape, right, _ = RIGHT[name]
    for other in (b"bytes", object()):
        spoiled = copy.deepcopy(right)
        at(spoiled, path[:-1])[path[-1]] = other
        assert not passes(shape, spoiled)


@each_row(("name", "path"), [("", ()), *FIELDS])
def test_a_field_that_the_documents_dont_know_fails(name: str, path: tuple[str | int, ...]) -> None:
    for shape, right, _ in [RIGHT[name]] if name else RIGHT.values():
        spoiled = copy.deepcopy(right)
        inside = at(spoiled, path)
        if isinstance(inside, dict):
            inside["projectId"] = ID
            assert not passes(shape, spoiled)


@each_row(
    ("name", "path", "wrong"),
    [
        ("issued certificate (2.4)", ("status",), "active"),
        ("issued certificate (2.4)", ("certificate", "serialNumber"), "0A:1B"),
        ("issued certificate (2.4)", ("certificate", "certificate"), "text"),
        ("certificate request (2.5)", ("certificateRequests", 0, "status"), "cancelled"),
        ("certificate request (2.5)", ("certificateRequests", 0, "certificate", "status"), "issued"),
        ("certificate request (2.5)", ("certificateRequests", 0, "createdAt"), "2026-01-02"),
        ("certificate request (2.5)", ("certificateRequests", 0, "commonName"), None),
        ("certificate profile (2.6)", ("certificateProfile", "issuerType"), "acme"),
        ("certificate profile (2.6)", ("certificateProfile", "enrollmentType"), "cmp"),
        ("certificate profile (2.6)", ("certificateProfile", "caId"), None),
        ("certificate profile (2.6)", ("certificateProfile", "defaults", "keyUsages", 0), "digitalSignature"),
        ("certificate profile (2.6)", ("certificateProfile", "defaults", "keyAlgorithm"), "RSA-2048"),
    ],
)
def test_words_are_those_of_the_documents(name: str, path: tuple[str | int, ...], wrong: object) -> None:
    shape, right, _ = RIGHT[name]
    spoiled = copy.deepcopy(right)
    at(spoiled, path[:-1])[path[-1]] = wrong
    assert not passes(shape, spoiled)


def test_a_certificate_that_isnt_issued_is_null() -> None:
    assert passes(ISSUED, {**ISSUED_RESULT, "certificate": None, "status": "pending_approval"})


def test_lists_are_held_to_the_same_shape() -> None:
    assert passes(PROFILES, {"certificateProfiles": [PROFILE], "totalCount": 1})
    assert not passes(PROFILES, {"certificateProfiles": [{**PROFILE, "projectId": ID}], "totalCount": 1})
    assert not passes(PROFILES, {"certificateProfiles": []})
