"""What certificates and requests for them are asked with, and the requests that make."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from keybearer.client.certificates import (
    AltName,
    BasicConstraints,
    CertificateAttributes,
    CertificateMetadata,
)
from keybearer.client.operation import Operation
from keybearer.client.operations import (
    certificate_requests,
    certificates,
)
from keybearer.client.operations.certificate_issuing import IssueCertificate
from unit.client.harness import Sent

__all__ = ["KEY", "OF_CERTIFICATES", "OF_REQUESTS"]

MANAGER = "/api/v1/cert-manager"
CERTIFICATES = f"{MANAGER}/certificates"
REQUESTS = f"{CERTIFICATES}/certificate-requests"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
END = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
STARTS, ENDS = "2026-01-02T03:04:05Z", "2027-01-02T03:04:05Z"
CSR = "-----BEGIN CERTIFICATE REQUEST-----\ncnry-csr\n-----END CERTIFICATE REQUEST-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\ncnry-key\n-----END PRIVATE KEY-----\n"
METADATA = (
    CertificateMetadata(key="keybearer.dev/uid", value="u-1"),
    CertificateMetadata(key="keybearer.dev/revision"),
)
METADATA_SENT = [
    {"key": "keybearer.dev/uid", "value": "u-1"},
    {"key": "keybearer.dev/revision", "value": ""},
]
OF_CERTIFICATES: list[tuple[str, Operation[Any], Sent]] = [
    (
        "a certificate with what the profile gives",
        IssueCertificate("p-1"),
        ("POST", CERTIFICATES, {}, {"profileId": "p-1"}),
    ),
    (
        "a certificate for a key that stays",
        IssueCertificate(
            "p-1",
            csr=CSR,
            attributes=CertificateAttributes(ttl=timedelta(days=90)),
            application_id="a-1",
            remove_roots_from_chain=True,
            metadata=METADATA,
        ),
        (
            "POST",
            CERTIFICATES,
            {},
            {
                "profileId": "p-1",
                "applicationId": "a-1",
                "csr": CSR,
                "attributes": {"ttl": "90d"},
                "removeRootsFromChain": True,
                "metadata": METADATA_SENT,
            },
        ),
    ),
    (
        "a certificate with every attribute",
        IssueCertificate(
            "p-1",
            attributes=CertificateAttributes(
                common_name="www.example.com",
                organization="Shop",
                organizational_unit="Web",
                country="DE",
                state="Hessen",
                locality="Kassel",
                domain_components=("example", "com"),
                key_usages=["digital_signature"],
                extended_key_usages=["server_auth"],
                alt_names=[AltName(value="www.example.com", type="dns_name"), AltName(value="10.0.0.1")],
                signature_algorithm="ECDSA-SHA256",
                key_algorithm="EC_prime256v1",
                not_before=START,
                not_after=END,
                basic_constraints=BasicConstraints(is_ca=True, path_length=0),
            ),
        ),
        (
            "POST",
            CERTIFICATES,
            {},
            {
                "profileId": "p-1",
                "attributes": {
                    "commonName": "www.example.com",
                    "organization": "Shop",
                    "organizationalUnit": "Web",
                    "country": "DE",
                    "state": "Hessen",
                    "locality": "Kassel",
                    "domainComponents": ["example", "com"],
                    "keyUsages": ["digital_signature"],
                    "extendedKeyUsages": ["server_auth"],
                    "altNames": [{"value": "www.example.com", "type": "dns_name"}, {"value": "10.0.0.1"}],
                    "signatureAlgorithm": "ECDSA-SHA256",
                    "keyAlgorithm": "EC_prime256v1",
                    "notBefore": STARTS,
                    "notAfter": ENDS,
                    "basicConstraints": {"isCA": True, "pathLength": 0},
                },
            },
        ),
    ),
    (
        "a certificate without what the profile gives",
        IssueCertificate(
            "p-1",
            attributes=CertificateAttributes(
                common_name="", organization="", key_usages=(), alt_names=(), ttl="12h"
            ),
        ),
        (
            "POST",
            CERTIFICATES,
            {},
            {
                "profileId": "p-1",
                "attributes": {
                    "commonName": None,
                    "organization": None,
                    "keyUsages": [],
                    "altNames": [],
                    "ttl": "12h",
                },
            },
        ),
    ),
    (
        "certificates of a project",
        certificates.ListCertificates(project_id="p-1", status="active", search="www", offset=20, limit=10),
        (
            "GET",
            CERTIFICATES,
            {"projectId": "p-1", "offset": "20", "limit": "10", "status": "active", "search": "www"},
            None,
        ),
    ),
    ("what is known", certificates.GetCertificate("c-1"), ("GET", f"{CERTIFICATES}/c-1", {}, None)),
    (
        "certificate, chain and key",
        certificates.GetCertificateBundle("c-1"),
        ("GET", f"{CERTIFICATES}/c-1/bundle", {}, None),
    ),
    (
        "certificate and chain",
        certificates.GetCertificateChain("c-1"),
        ("GET", f"{CERTIFICATES}/c-1/certificate", {}, None),
    ),
    (
        "the key alone",
        certificates.GetCertificatePrivateKey("c-1"),
        ("GET", f"{CERTIFICATES}/c-1/private-key", {}, None),
    ),
    (
        "a renewal",
        certificates.RenewCertificate("c-1"),
        ("POST", f"{CERTIFICATES}/c-1/renew", {}, {"removeRootsFromChain": False}),
    ),
    (
        "renewed by itself, and when",
        certificates.ConfigureCertificate("c-1", renew_before_days=30),
        ("PATCH", f"{CERTIFICATES}/c-1/config", {}, {"renewBeforeDays": 30}),
    ),
    (
        "not renewed by itself",
        certificates.ConfigureCertificate("c-1", enable_auto_renewal=False),
        ("PATCH", f"{CERTIFICATES}/c-1/config", {}, {"enableAutoRenewal": False}),
    ),
    (
        "a revocation",
        certificates.RevokeCertificate("c-1"),
        ("POST", f"{CERTIFICATES}/c-1/revoke", {}, {"revocationReason": "UNSPECIFIED"}),
    ),
    (
        "a revocation for a reason",
        certificates.RevokeCertificate("c-1", reason="KEY_COMPROMISE"),
        ("POST", f"{CERTIFICATES}/c-1/revoke", {}, {"revocationReason": "KEY_COMPROMISE"}),
    ),
    (
        "a certificate of somebody else",
        certificates.ImportCertificate(
            "pem", private_key=KEY, certificate_chain="pems", friendly_name="other", project_id="p-1"
        ),
        (
            "POST",
            f"{CERTIFICATES}/import-certificate",
            {},
            {
                "certificatePem": "pem",
                "privateKeyPem": KEY,
                "chainPem": "pems",
                "friendlyName": "other",
                "projectId": "p-1",
            },
        ),
    ),
    (
        "a certificate that goes",
        certificates.DeleteCertificate("c-1"),
        ("DELETE", f"{CERTIFICATES}/c-1", {}, None),
    ),
]
OF_REQUESTS: list[tuple[str, Operation[Any], Sent]] = [
    (
        "how a request stands",
        certificate_requests.GetCertificateRequest("r-1"),
        ("GET", f"{REQUESTS}/r-1", {}, None),
    ),
    (
        "a request that is given up",
        certificate_requests.CancelCertificateRequest("r-1"),
        ("POST", f"{REQUESTS}/r-1/cancel", {}, None),
    ),
    (
        "the newest requests",
        certificate_requests.SearchCertificateRequests(),
        ("POST", f"{REQUESTS}/search", {}, {"offset": 0, "limit": 20}),
    ),
    (
        "requests that meet everything",
        certificate_requests.SearchCertificateRequests(
            project_id="p-1",
            offset=100,
            limit=100,
            search="www",
            status="issued",
            from_date=START,
            to_date=END,
            profile_ids=("f-1", "f-2"),
            application_id="a-1",
            metadata=METADATA,
            sort_by="commonName",
            sort_order="asc",
        ),
        (
            "POST",
            f"{REQUESTS}/search",
            {},
            {
                "projectId": "p-1",
                "offset": 100,
                "limit": 100,
                "search": "www",
                "status": "issued",
                "fromDate": STARTS,
                "toDate": ENDS,
                "profileIds": ["f-1", "f-2"],
                "applicationId": "a-1",
                "metadata": METADATA_SENT,
                "sortBy": "commonName",
                "sortOrder": "asc",
            },
        ),
    ),
    (
        "requests as older servers list them",
        certificate_requests.ListCertificateRequests(
            project_slug="pki", status="failed", from_date=START, profile_ids=("f-1", "f-2"), sort_order="asc"
        ),
        (
            "GET",
            REQUESTS,
            {
                "projectSlug": "pki",
                "offset": "0",
                "limit": "20",
                "status": "failed",
                "fromDate": STARTS,
                "profileIds": "f-1,f-2",
                "sortOrder": "asc",
            },
            None,
        ),
    ),
]
