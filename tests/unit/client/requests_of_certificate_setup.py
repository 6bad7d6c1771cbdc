"""What profiles, policies and authorities are asked with, and the requests that make."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from keybearer.client.certificate_enrollments import (
    AcmeEnrollment,
    ApiEnrollment,
    EstEnrollment,
    ScepEnrollment,
)
from keybearer.client.certificate_policies import (
    AlgorithmRule,
    ConstraintRule,
    NameRule,
    UsageRule,
    ValidityRule,
)
from keybearer.client.certificate_profiles import ProfileDefaults
from keybearer.client.certificates import (
    AltName,
    BasicConstraints,
)
from keybearer.client.operation import Operation
from keybearer.client.operations import (
    acme_authorities,
    certificate_authorities,
    certificate_authority_certificates,
    certificate_policies,
    certificate_profile_certificates,
    certificate_profiles,
    policy_binding,
)
from unit.client.harness import Sent

__all__ = ["AUTHORITIES", "OF_AUTHORITIES", "OF_POLICIES", "OF_PROFILES", "POLICIES"]

MANAGER = "/api/v1/cert-manager"
PROFILES = f"{MANAGER}/certificate-profiles"
POLICIES = f"{MANAGER}/certificate-policies"
AUTHORITIES = f"{MANAGER}/ca"
ACME = f"{AUTHORITIES}/acme"
INTERNAL = f"{AUTHORITIES}/internal"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
END = datetime(2027, 1, 2, 3, 4, 5, tzinfo=UTC)
STARTS, ENDS = "2026-01-02T03:04:05Z", "2027-01-02T03:04:05Z"
CSR = "-----BEGIN CERTIFICATE REQUEST-----\ncnry-csr\n-----END CERTIFICATE REQUEST-----\n"
OF_PROFILES: list[tuple[str, Operation[Any], Sent]] = [
    (
        "profiles",
        certificate_profiles.ListCertificateProfiles(search="web", ca_id="ca-1", issuer_type="ca"),
        (
            "GET",
            PROFILES,
            {"offset": "0", "limit": "20", "search": "web", "issuerType": "ca", "caId": "ca-1"},
            None,
        ),
    ),
    ("a profile", certificate_profiles.GetCertificateProfile("f-1"), ("GET", f"{PROFILES}/f-1", {}, None)),
    (
        "a profile by its slug",
        certificate_profiles.GetCertificateProfileBySlug("web", project_id="p-1"),
        ("GET", f"{PROFILES}/slug/web", {"projectId": "p-1"}, None),
    ),
    (
        "a new profile",
        certificate_profiles.CreateCertificateProfile("web", policy_id="y-1", ca_id="ca-1"),
        (
            "POST",
            PROFILES,
            {},
            {"certificatePolicyId": "y-1", "caId": "ca-1", "slug": "web", "issuerType": "ca"},
        ),
    ),
    (
        "a new profile with everything",
        certificate_profiles.CreateCertificateProfile(
            "web",
            policy_id="y-1",
            issuer_type="self-signed",
            enrollment_type="api",
            description="d",
            defaults=ProfileDefaults(
                ttl_days=90,
                common_name="www.example.com",
                key_usages=("digital_signature",),
                extended_key_usages=[],
                basic_constraints=BasicConstraints(is_ca=False),
                subject_alt_names=(AltName(value="www.example.com", type="dns_name"),),
            ),
            api_config=ApiEnrollment(auto_renew=True, renew_before_days=10),
            template="web-server",
            project_id="p-1",
        ),
        (
            "POST",
            PROFILES,
            {},
            {
                "projectId": "p-1",
                "certificatePolicyId": "y-1",
                "slug": "web",
                "description": "d",
                "issuerType": "self-signed",
                "enrollmentType": "api",
                "apiConfig": {"autoRenew": True, "renewBeforeDays": 10},
                "externalConfigs": {"template": "web-server"},
                "defaults": {
                    "ttlDays": 90,
                    "commonName": "www.example.com",
                    "keyUsages": ["digital_signature"],
                    "extendedKeyUsages": [],
                    "basicConstraints": {"isCA": False},
                    "subjectAltNames": [{"value": "www.example.com", "type": "dns_name"}],
                },
            },
        ),
    ),
    (
        "a new profile for devices",
        certificate_profiles.CreateCertificateProfile(
            "devices",
            policy_id="y-1",
            ca_id="ca-1",
            enrollment_type="est",
            est_config=EstEnrollment(passphrase="cnry-pass", disable_bootstrap_ca_validation=True),
            acme_config=AcmeEnrollment(skip_eab_binding=True),
            scep_config=ScepEnrollment(challenge_password="cnry-word"),
        ),
        (
            "POST",
            PROFILES,
            {},
            {
                "certificatePolicyId": "y-1",
                "caId": "ca-1",
                "slug": "devices",
                "issuerType": "ca",
                "enrollmentType": "est",
                "estConfig": {"passphrase": "cnry-pass", "disableBootstrapCaValidation": True},
                "acmeConfig": {"skipDnsOwnershipVerification": False, "skipEabBinding": True},
                "scepConfig": {
                    "challengePassword": "cnry-word",
                    "includeCaCertInResponse": True,
                    "allowCertBasedRenewal": True,
                },
            },
        ),
    ),
    (
        "a profile of which some changes",
        certificate_profiles.UpdateCertificateProfile(
            "f-1",
            slug="web-2",
            description="",
            defaults=ProfileDefaults(ttl_days=30),
            api_config=ApiEnrollment(),
        ),
        (
            "PATCH",
            f"{PROFILES}/f-1",
            {},
            {
                "slug": "web-2",
                "description": None,
                "apiConfig": {"autoRenew": False},
                "defaults": {"ttlDays": 30},
            },
        ),
    ),
    (
        "a profile that goes",
        certificate_profiles.DeleteCertificateProfile("f-1"),
        ("DELETE", f"{PROFILES}/f-1", {}, None),
    ),
    (
        "certificates of a profile",
        certificate_profile_certificates.ListCertificatesOfProfile(
            "f-1", status="active", search="www", offset=20
        ),
        (
            "GET",
            f"{PROFILES}/f-1/certificates",
            {"offset": "20", "limit": "20", "status": "active", "search": "www"},
            None,
        ),
    ),
    (
        "the newest certificate of a profile",
        certificate_profile_certificates.GetLatestBundleOfProfile("f-1"),
        ("GET", f"{PROFILES}/f-1/certificates/latest-active-bundle", {}, None),
    ),
    (
        "what an ACME client binds with",
        certificate_profile_certificates.RevealAcmeBinding("f-1"),
        ("GET", f"{PROFILES}/f-1/acme/eab-secret/reveal", {}, None),
    ),
]
OF_POLICIES: list[tuple[str, Operation[Any], Sent]] = [
    (
        "policies",
        certificate_policies.ListCertificatePolicies(project_id="p-1", search="web", offset=1, limit=2),
        ("GET", POLICIES, {"projectId": "p-1", "offset": "1", "limit": "2", "search": "web"}, None),
    ),
    (
        "who binds profiles to a policy",
        policy_binding.GetPolicyBinding("y-1"),
        ("GET", f"{POLICIES}/y-1/binding", {}, None),
    ),
    (
        "another who binds",
        policy_binding.ChangePolicyBinding("y-1", profiles_bound_by="members"),
        ("PATCH", f"{POLICIES}/y-1/binding", {}, {"profilesBoundBy": "members"}),
    ),
    (
        "authorities of a policy alone",
        policy_binding.ChangePolicyBinding("y-1", ca_ids=[]),
        ("PATCH", f"{POLICIES}/y-1/binding", {}, {"caIds": []}),
    ),
    ("a policy", certificate_policies.GetCertificatePolicy("y-1"), ("GET", f"{POLICIES}/y-1", {}, None)),
    (
        "a new policy that allows anything",
        certificate_policies.CreateCertificatePolicy("any"),
        ("POST", POLICIES, {}, {"name": "any"}),
    ),
    (
        "a new policy with every rule",
        certificate_policies.CreateCertificatePolicy(
            "web",
            project_id="p-1",
            description="d",
            subject=[NameRule(type="common_name", allowed=["*.example.com"], denied=("root.example.com",))],
            sans=(
                NameRule(type="dns_name", required=["www.example.com"]),
                NameRule(type="email", allowed=[]),
            ),
            key_usages=UsageRule(allowed=["digital_signature"], required=[]),
            extended_key_usages=UsageRule(denied=["client_auth"]),
            algorithms=AlgorithmRule(signature=["SHA256-ECDSA"], key_algorithm=["ECDSA-P256"]),
            validity=ValidityRule(max="90d", max_backdate="1d", max_postdate="2h"),
            wildcards="allowed",
            basic_constraints=ConstraintRule(is_ca="denied", max_path_length=-1),
        ),
        (
            "POST",
            POLICIES,
            {},
            {
                "projectId": "p-1",
                "name": "web",
                "description": "d",
                "subject": [
                    {"type": "common_name", "allowed": ["*.example.com"], "denied": ["root.example.com"]}
                ],
                "sans": [
                    {"type": "dns_name", "required": ["www.example.com"]},
                    {"type": "email", "allowed": []},
                ],
                "keyUsages": {"allowed": ["digital_signature"], "required": []},
                "extendedKeyUsages": {"denied": ["client_auth"]},
                "algorithms": {"signature": ["SHA256-ECDSA"], "keyAlgorithm": ["ECDSA-P256"]},
                "validity": {"max": "90d", "maxBackdate": "1d", "maxPostdate": "2h"},
                "wildcards": "allowed",
                "basicConstraints": {"isCA": "denied", "maxPathLength": -1},
            },
        ),
    ),
    (
        "a policy of which some changes",
        certificate_policies.UpdateCertificatePolicy("y-1", name="web-2", description="", sans=[]),
        ("PATCH", f"{POLICIES}/y-1", {}, {"name": "web-2", "description": None, "sans": []}),
    ),
    (
        "a policy that goes",
        certificate_policies.DeleteCertificatePolicy("y-1"),
        ("DELETE", f"{POLICIES}/y-1", {}, None),
    ),
]
OF_AUTHORITIES: list[tuple[str, Operation[Any], Sent]] = [
    (
        "authorities of all kinds",
        certificate_authorities.ListCertificateAuthorities(project_id="p-1"),
        ("GET", AUTHORITIES, {"projectId": "p-1"}, None),
    ),
    ("authorities here", certificate_authorities.ListInternalAuthorities(), ("GET", INTERNAL, {}, None)),
    (
        "an authority",
        certificate_authorities.GetInternalAuthority("ca-1"),
        ("GET", f"{INTERNAL}/ca-1", {}, None),
    ),
    (
        "a new root",
        certificate_authorities.CreateInternalAuthority(
            "root", type="root", common_name="Root", not_after=END
        ),
        (
            "POST",
            INTERNAL,
            {},
            {
                "name": "root",
                "status": "active",
                "configuration": {
                    "type": "root",
                    "commonName": "Root",
                    "organization": "",
                    "ou": "",
                    "country": "",
                    "province": "",
                    "locality": "",
                    "keyAlgorithm": "EC_prime256v1",
                    "notAfter": ENDS,
                },
            },
        ),
    ),
    (
        "a new intermediate with everything",
        certificate_authorities.CreateInternalAuthority(
            "issuing",
            type="intermediate",
            common_name="Issuing",
            organization="Shop",
            ou="PKI",
            country="DE",
            province="Hessen",
            locality="Kassel",
            key_algorithm="RSA_4096",
            max_path_length=0,
            not_before=START,
            friendly_name="Issuing CA",
            crl_distribution_point_urls=("http://crl.example.com/1.crl",),
            disable_managed_crl_distribution_point_url=True,
            status="disabled",
            project_id="p-1",
        ),
        (
            "POST",
            INTERNAL,
            {},
            {
                "name": "issuing",
                "status": "disabled",
                "projectId": "p-1",
                "configuration": {
                    "type": "intermediate",
                    "friendlyName": "Issuing CA",
                    "commonName": "Issuing",
                    "organization": "Shop",
                    "ou": "PKI",
                    "country": "DE",
                    "province": "Hessen",
                    "locality": "Kassel",
                    "keyAlgorithm": "RSA_4096",
                    "maxPathLength": 0,
                    "notBefore": STARTS,
                    "crlDistributionPointUrls": ["http://crl.example.com/1.crl"],
                    "disableManagedCrlDistributionPointUrl": True,
                },
            },
        ),
    ),
    (
        "an authority that is to sign nothing",
        certificate_authorities.UpdateInternalAuthority("ca-1", status="disabled"),
        ("PATCH", f"{INTERNAL}/ca-1", {}, {"status": "disabled"}),
    ),
    (
        "an authority of which everything changes that may",
        certificate_authorities.UpdateInternalAuthority(
            "ca-1",
            name="other",
            enable_direct_issuance=True,
            friendly_name="",
            crl_distribution_point_urls=(),
            disable_managed_crl_distribution_point_url=False,
        ),
        (
            "PATCH",
            f"{INTERNAL}/ca-1",
            {},
            {
                "name": "other",
                "enableDirectIssuance": True,
                "configuration": {
                    "friendlyName": "",
                    "crlDistributionPointUrls": [],
                    "disableManagedCrlDistributionPointUrl": False,
                },
            },
        ),
    ),
    (
        "an authority that goes",
        certificate_authorities.DeleteInternalAuthority("ca-1"),
        ("DELETE", f"{INTERNAL}/ca-1", {}, None),
    ),
    ("authorities elsewhere", acme_authorities.ListAcmeAuthorities(), ("GET", ACME, {}, None)),
    (
        "an authority elsewhere",
        acme_authorities.GetAcmeAuthority("ca-1"),
        ("GET", f"{ACME}/ca-1", {}, None),
    ),
    (
        "a new authority elsewhere",
        acme_authorities.CreateAcmeAuthority("public", directory_url="https://acme.example.com/dir"),
        (
            "POST",
            ACME,
            {},
            {
                "name": "public",
                "status": "active",
                "configuration": {"directoryUrl": "https://acme.example.com/dir"},
            },
        ),
    ),
    (
        "a new authority elsewhere with everything",
        acme_authorities.CreateAcmeAuthority(
            "public",
            directory_url="https://acme.example.com/dir",
            account_email="ops@example.com",
            eab_kid="k-1",
            eab_hmac_key="cnry-hmac",
            ca_certificates="PEM",
            terms_of_service_agreed=True,
            enable_direct_issuance=False,
            status="disabled",
            project_id="p-1",
        ),
        (
            "POST",
            ACME,
            {},
            {
                "name": "public",
                "status": "disabled",
                "projectId": "p-1",
                "enableDirectIssuance": False,
                "configuration": {
                    "directoryUrl": "https://acme.example.com/dir",
                    "accountEmail": "ops@example.com",
                    "eabKid": "k-1",
                    "eabHmacKey": "cnry-hmac",
                    "caCertificates": "PEM",
                    "termsOfServiceAgreed": True,
                },
            },
        ),
    ),
    (
        "an authority elsewhere of which everything changes that may",
        acme_authorities.UpdateAcmeAuthority(
            "ca-1", name="other", status="active", enable_direct_issuance=True, ca_certificates=""
        ),
        (
            "PATCH",
            f"{ACME}/ca-1",
            {},
            {
                "name": "other",
                "status": "active",
                "enableDirectIssuance": True,
                "configuration": {"caCertificates": ""},
            },
        ),
    ),
    (
        "an authority elsewhere that goes",
        acme_authorities.DeleteAcmeAuthority("ca-1"),
        ("DELETE", f"{ACME}/ca-1", {}, None),
    ),
    (
        "the certificate of an authority",
        certificate_authority_certificates.GetAuthorityCertificate("ca-1"),
        ("GET", f"{INTERNAL}/ca-1/certificate", {}, None),
    ),
    (
        "an older certificate of an authority",
        certificate_authority_certificates.GetAuthorityCertificate("ca-1", cert_id="cc-1"),
        ("GET", f"{INTERNAL}/ca-1/certificate/cc-1", {}, None),
    ),
    (
        "the certificate that anybody may read",
        certificate_authority_certificates.GetAuthorityCertificateDer("ca-1", "cc-1"),
        ("GET", f"{INTERNAL}/ca-1/certificates/cc-1/der", {}, None),
    ),
    (
        "all certificates of an authority",
        certificate_authority_certificates.ListAuthorityCertificates("ca-1"),
        ("GET", f"{INTERNAL}/ca-1/ca-certificates", {}, None),
    ),
    (
        "a certificate for an authority",
        certificate_authority_certificates.IssueAuthorityCertificate(
            "ca-1", not_before=START, not_after=END, parent_ca_id="ca-0", max_path_length=-1
        ),
        (
            "POST",
            f"{INTERNAL}/ca-1/certificate",
            {},
            {"notBefore": STARTS, "notAfter": ENDS, "maxPathLength": -1, "parentCaId": "ca-0"},
        ),
    ),
    (
        "what an authority asks of another",
        certificate_authority_certificates.GetAuthoritySigningRequest("ca-1"),
        ("GET", f"{INTERNAL}/ca-1/csr", {}, None),
    ),
    (
        "a certificate for an authority elsewhere",
        certificate_authority_certificates.SignIntermediate("ca-1", csr=CSR, not_after=END),
        (
            "POST",
            f"{INTERNAL}/ca-1/sign-intermediate",
            {},
            {"csr": CSR, "notAfter": ENDS, "maxPathLength": -1},
        ),
    ),
    (
        "a certificate from elsewhere for an authority",
        certificate_authority_certificates.ImportAuthorityCertificate(
            "ca-1", certificate="pem", certificate_chain="pems"
        ),
        (
            "POST",
            f"{INTERNAL}/ca-1/import-certificate",
            {},
            {"certificate": "pem", "certificateChain": "pems"},
        ),
    ),
    (
        "another certificate for the same key of an authority",
        certificate_authority_certificates.RenewAuthorityCertificate("ca-1", not_after=END),
        ("POST", f"{INTERNAL}/ca-1/renew", {}, {"type": "existing", "notAfter": ENDS}),
    ),
    (
        "what an authority revoked",
        certificate_authority_certificates.ListRevocationLists("ca-1"),
        ("GET", f"{INTERNAL}/ca-1/crls", {}, None),
    ),
]
