"""Certificates as interface.md 2.4 to 2.6 and wire.md 5 and 6 tell them: no other fields at any level."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from support.strict_kinds import Count, Id, Instant, Shape, Slug, Uuid, Version, listed, only, shape

__all__ = [
    "ACME_AUTHORITIES",
    "ACME_AUTHORITY",
    "APPLICATIONS",
    "APPLICATION_ENROLLMENT",
    "APPROVAL_POLICIES",
    "APPROVAL_REQUESTS",
    "ATTACHED_PROFILES",
    "AUTHORITIES",
    "AUTHORITY",
    "AUTHORITY_CERTIFICATE",
    "AUTHORITY_CERTIFICATES",
    "AUTHORITY_CERTIFICATE_DETAIL",
    "AUTHORITY_CSR",
    "BUNDLE",
    "CANCELLED",
    "CERTIFICATES",
    "CERTIFICATE_CONFIG",
    "CERTIFICATE_TEXT",
    "CRLS",
    "DETACHED",
    "EAB_SECRET",
    "ENROLLMENT",
    "GENERATED_AUTHORITY_CERTIFICATE",
    "IMPORTED",
    "IMPORTED_AUTHORITY_CERTIFICATE",
    "INTERNAL_AUTHORITIES",
    "ISSUED",
    "LATEST_BUNDLE",
    "ONE_APPLICATION",
    "ONE_APPROVAL_POLICY",
    "ONE_APPROVAL_REQUEST",
    "ONE_CERTIFICATE",
    "ONE_POLICY",
    "ONE_PROFILE",
    "POLICIES",
    "POLICY_BINDING",
    "PROFILES",
    "PROFILE_DETAIL",
    "RENEWED",
    "REQUESTS",
    "REQUEST_DETAIL",
    "REVOKED",
    "SIGNED_INTERMEDIATE",
    "SUBSCRIBER",
    "SUBSCRIBERS",
    "SUBSCRIBER_BUNDLE",
    "SUBSCRIBER_ISSUED",
    "SUBSCRIBER_ORDERED",
    "SUBSCRIBER_SIGNED",
]

_PEM = Annotated[
    str, Field(pattern=r"^(-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n)$")
]
_PEMS = Annotated[
    str, Field(pattern=r"^(-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+-----END CERTIFICATE-----\n)*$")
]
_KEY = Annotated[str, Field(pattern=r"^-----BEGIN [A-Z ]*PRIVATE KEY-----\n")]
_SERIAL = Annotated[str, Field(pattern=r"^([0-9a-f]{2}){1,20}$")]
_REQUEST_STATUS = Literal["pending_approval", "pending", "pending_validation", "issued", "failed", "rejected"]
_STATUS = Literal["active", "expired", "revoked"]
_KEY_USAGE = Literal[
    "digital_signature",
    "key_encipherment",
    "non_repudiation",
    "data_encipherment",
    "key_agreement",
    "key_cert_sign",
    "crl_sign",
    "encipher_only",
    "decipher_only",
]
_EXTENDED_KEY_USAGE = Literal[
    "client_auth",
    "server_auth",
    "code_signing",
    "email_protection",
    "ocsp_signing",
    "time_stamping",
    "any_purpose",
]
_NAME_TYPE = Literal["dns_name", "ip_address", "email", "uri", "upn"]
_KEY_ALGORITHM = Annotated[
    str,
    Field(
        pattern=r"^(RSA_(2048|3072|4096)|EC_(prime256v1|secp384r1|secp521r1)|ML-DSA-(44|65|87)|SLH-DSA-(SHA2|SHAKE)-(128|192|256)[fs])$"
    ),
]
_SIGNATURE_ALGORITHM = Annotated[
    str,
    Field(
        pattern=r"^((RSA|ECDSA)-SHA(256|384|512)|ML-DSA-(44|65|87)|SLH-DSA-(SHA2|SHAKE)-(128|192|256)[fs])$"
    ),
]
_TIMES = {"createdAt": Instant, "updatedAt": Instant}


def _page(name: str, kind: Shape) -> Shape:
    return shape(f"page of {name}", {name: listed(kind), "totalCount": Count})


# --- interface.md 2.4
ISSUED = shape(
    "issued certificate result",
    {
        "certificate": shape(
            "issued certificate",
            {
                "certificate": _PEM,
                "issuingCaCertificate": _PEM,
                "certificateChain": _PEMS,
                "serialNumber": _SERIAL,
                "certificateId": Uuid,
            },
            {"privateKey": _KEY},
        )
        | None,
        "certificateRequestId": Uuid,
        "status": _REQUEST_STATUS,
        "message": str,
    },
)

# --- interface.md 2.5
_REQUEST = shape(
    "certificate request",
    {"id": Uuid, "status": _REQUEST_STATUS, **_TIMES},
    {
        "commonName": str,
        "altNames": str,
        "profileId": Uuid,
        "profileName": Id,
        "caId": Uuid,
        "certificateId": Uuid,
        "approvalRequestId": Uuid,
        "errorMessage": Id,
        "pendingMessage": Id,
        "certificate": shape(
            "certificate of request", {"id": Uuid, "serialNumber": _SERIAL, "status": _STATUS}
        ),
    },
)
REQUESTS = _page("certificateRequests", _REQUEST)
_CONSTRAINTS = shape("basic constraints", {"isCA": bool}, {"pathLength": int | None})
REQUEST_DETAIL = shape(
    "certificate request, flat",
    {
        "status": _REQUEST_STATUS,
        "certificate": _PEM | None,
        "certificateId": Uuid | None,
        "privateKey": _KEY | None,
        "serialNumber": _SERIAL | None,
        "errorMessage": Id | None,
        "commonName": str | None,
        "organization": str | None,
        "organizationalUnit": str | None,
        "country": str | None,
        "state": str | None,
        "locality": str | None,
        "basicConstraints": _CONSTRAINTS | None,
        **_TIMES,
    },
    {"certificateChain": _PEMS | None, "issuingCaCertificate": _PEM | None},
)
CANCELLED = shape("cancelled request", {"status": _REQUEST_STATUS, "cancelled": bool})

# --- interface.md 2.6
_DEFAULTS = shape(
    "defaults of a profile",
    {},
    {
        "ttlDays": int,
        "commonName": str,
        "keyAlgorithm": _KEY_ALGORITHM,
        "signatureAlgorithm": _SIGNATURE_ALGORITHM,
        "keyUsages": list[_KEY_USAGE],
        "extendedKeyUsages": list[_EXTENDED_KEY_USAGE],
        "basicConstraints": shape("default constraints", {"isCA": bool}, {"pathLength": Count}),
        "organization": str,
        "organizationalUnit": str,
        "country": str,
        "state": str,
        "locality": str,
        "subjectAltNames": listed(shape("default name", {"type": _NAME_TYPE, "value": Id})),
        "domainComponents": list[str],
    },
)
_PROFILE = shape(
    "certificate profile",
    {
        "id": Uuid,
        "certificatePolicyId": Uuid,
        "slug": Slug,
        "enrollmentType": Literal["api", "est", "acme", "scep"],
        **_TIMES,
        "issuerType": Literal["ca", "self-signed"],
    },
    {
        "caId": Uuid,
        "description": str,
        "estConfigId": Uuid,
        "apiConfigId": Uuid,
        "acmeConfigId": Uuid,
        "scepConfigId": Uuid,
        "externalConfigs": shape("external configs", {}, {"template": str}),
        "defaults": _DEFAULTS,
    },
)
ONE_PROFILE = only("certificateProfile", _PROFILE)
PROFILES = _page("certificateProfiles", _PROFILE)
_AUTHORITY_STATUS = Literal["active", "disabled", "pending-certificate"]
_AUTHORITY_KIND = Literal[
    "internal",
    "acme",
    "azure-ad-cs",
    "aws-pca",
    "digicert",
    "aws-acm-public-ca",
    "venafi-tpp",
    "godaddy",
]
_API = {"id": Uuid, "autoRenew": bool, "renewBeforeDays": int | None}
_EST = {"id": Uuid, "disableBootstrapCaValidation": bool, "caChain": str | None}
PROFILE_DETAIL = shape(
    "certificate profile with what it refers to",
    {
        "certificateProfile": _PROFILE,
        "certificatePolicy": shape(
            "policy of a profile", {"id": Uuid, "projectId": Uuid, "name": Id}, {"description": str}
        ),
    },
    {
        "certificateAuthority": shape(
            "authority of a profile",
            {
                "id": Uuid,
                "projectId": Uuid,
                "status": _AUTHORITY_STATUS,
                "name": Id,
                "isExternal": bool,
            },
            {"externalType": _AUTHORITY_KIND},
        ),
        "estConfig": shape("EST of a profile", _EST),
        "apiConfig": shape("API of a profile", _API),
    },
)
EAB_SECRET = shape("ACME binding", {"eabKid": Id, "eabSecret": Annotated[str, Field(min_length=32)]})
LATEST_BUNDLE = shape(
    "latest bundle",
    {
        "certificate": _PEM | None,
        "certificateChain": _PEMS | None,
        "privateKey": _KEY | None,
        "serialNumber": _SERIAL | None,
    },
)

# --- wire.md 5.3
_CERTIFICATE = shape(
    "certificate",
    {
        "id": Uuid,
        "projectId": Uuid,
        "profileId": Uuid | None,
        "applicationId": Uuid | None,
        "caId": Uuid | None,
        "caCertId": Uuid | None,
        "status": _STATUS,
        "serialNumber": _SERIAL,
        "commonName": str,
        "altNames": str,
        "notBefore": Instant,
        "notAfter": Instant,
        "keyUsages": list[_KEY_USAGE],
        "extendedKeyUsages": list[_EXTENDED_KEY_USAGE],
        "keyAlgorithm": str,
        "signatureAlgorithm": str,
        "subjectOrganization": str | None,
        "subjectOrganizationalUnit": str | None,
        "subjectCountry": str | None,
        "subjectState": str | None,
        "subjectLocality": str | None,
        "subjectDomainComponents": str | None,
        "basicConstraints": _CONSTRAINTS | None,
        "revokedAt": Instant | None,
        "revocationReason": Literal[
            "UNSPECIFIED",
            "KEY_COMPROMISE",
            "CA_COMPROMISE",
            "AFFILIATION_CHANGED",
            "SUPERSEDED",
            "CESSATION_OF_OPERATION",
            "CERTIFICATE_HOLD",
            "PRIVILEGE_WITHDRAWN",
            "A_A_COMPROMISE",
        ]
        | None,
        "friendlyName": str,
        **_TIMES,
    },
)
ONE_CERTIFICATE = only("certificate", _CERTIFICATE)
CERTIFICATES = _page("certificates", _CERTIFICATE)
CERTIFICATE_TEXT = shape(
    "certificate text", {"certificate": _PEM, "certificateChain": _PEMS | None, "serialNumber": _SERIAL}
)
BUNDLE = shape(
    "bundle",
    {
        "certificate": _PEM,
        "certificateChain": _PEMS | None,
        "privateKey": _KEY | None,
        "serialNumber": _SERIAL,
    },
)
RENEWED = shape(
    "renewed certificate",
    {
        "certificate": _PEM | None,
        "issuingCaCertificate": _PEM | None,
        "certificateChain": _PEMS | None,
        "serialNumber": _SERIAL | None,
        "certificateId": Uuid | None,
        "certificateRequestId": Uuid,
    },
    {"privateKey": _KEY | None},
)
CERTIFICATE_CONFIG = shape("certificate config", {"message": Id}, {"renewBeforeDays": int | None})
REVOKED = shape(
    "revoked certificate",
    {
        "message": Literal["Successfully revoked certificate"],
        "serialNumber": _SERIAL,
        "revokedAt": Instant,
    },
)
IMPORTED = shape(
    "imported certificate",
    {
        "certificate": _PEM,
        "certificateChain": _PEMS | None,
        "privateKey": _KEY | None,
        "serialNumber": _SERIAL,
        "certificateId": Uuid,
    },
)

# --- wire.md 5.5
_TEXTS = list[Id]
_LISTS = {"allowed": _TEXTS, "required": _TEXTS, "denied": _TEXTS}
_LASTING = Annotated[str, Field(pattern=r"^\d+[hdmy]$")]
_POLICY = shape(
    "certificate policy",
    {"id": Uuid, "projectId": Uuid, "name": Slug, "description": str | None, **_TIMES},
    {
        "subject": listed(shape("subject rule", {"type": Id}, _LISTS)),
        "sans": listed(shape("name rule", {"type": _NAME_TYPE}, _LISTS)),
        "keyUsages": shape("key usage rules", {}, _LISTS),
        "extendedKeyUsages": shape("extended key usage rules", {}, _LISTS),
        "algorithms": shape("algorithm rules", {}, {"signature": _TEXTS, "keyAlgorithm": _TEXTS}),
        "validity": shape(
            "validity rule", {}, {"max": _LASTING, "maxBackdate": _LASTING, "maxPostdate": _LASTING}
        ),
        "wildcards": Literal["allowed", "denied"],
        "basicConstraints": shape(
            "constraint rules",
            {},
            {
                "isCA": Literal["allowed", "required", "denied"],
                "maxPathLength": Annotated[int, Field(ge=-1)],
            },
        ),
    },
)
ONE_POLICY = only("certificatePolicy", _POLICY)
POLICIES = _page("certificatePolicies", _POLICY)

# --- wire.md 5.6
_AUTHORITY_ITEM: dict[str, Any] = {
    "id": Uuid,
    "projectId": Uuid,
    "name": Slug,
    "type": _AUTHORITY_KIND,
    "status": _AUTHORITY_STATUS,
    "enableDirectIssuance": bool,
}
AUTHORITIES = only("certificateAuthorities", listed(shape("authority in a list", _AUTHORITY_ITEM)))
AUTHORITY = shape(
    "internal authority",
    {
        **_AUTHORITY_ITEM,
        "type": Literal["internal"],
        "configuration": shape(
            "configuration of an authority",
            {
                "type": Literal["root", "intermediate"],
                "friendlyName": str,
                "commonName": str,
                "organization": str,
                "ou": str,
                "country": Annotated[str, Field(pattern="^([A-Z]{2})?$")],
                "province": str,
                "locality": str,
                "keyAlgorithm": _KEY_ALGORITHM,
                "maxPathLength": Annotated[int, Field(ge=-1)],
                "notBefore": Instant | None,
                "notAfter": Instant | None,
                "serialNumber": _SERIAL | None,
                "dn": Id,
                "parentCaId": Uuid | None,
                "activeCaCertId": Uuid | None,
                "crlDistributionPointUrls": list[str],
                "disableManagedCrlDistributionPointUrl": bool,
            },
        ),
        **_TIMES,
    },
)
ACME_AUTHORITY = shape(
    "authority elsewhere that speaks ACME",
    {
        **_AUTHORITY_ITEM,
        "type": Literal["acme"],
        "status": Literal["active", "disabled"],
        "configuration": shape(
            "configuration of an authority elsewhere",
            {
                "directoryUrl": Annotated[str, Field(pattern="^https://")],
                "accountEmail": str | None,
                "accountUrl": Annotated[str, Field(pattern="^https://")],
                "eabKid": str | None,
                "caCertificates": str,
                "termsOfService": str | None,
            },
        ),
        **_TIMES,
    },
)
ACME_AUTHORITIES: Shape = RootModel[list[ACME_AUTHORITY]]  # type: ignore[valid-type] # made while it runs
INTERNAL_AUTHORITIES: Shape = RootModel[list[AUTHORITY]]  # type: ignore[valid-type] # made while it runs
_OF_AUTHORITY = {"certificate": _PEM, "certificateChain": _PEMS, "serialNumber": _SERIAL}
AUTHORITY_CERTIFICATE = shape("certificate of an authority", _OF_AUTHORITY)
GENERATED_AUTHORITY_CERTIFICATE = shape(
    "certificate of an authority by id", {"certId": Uuid, **_OF_AUTHORITY}
)
AUTHORITY_CERTIFICATE_DETAIL = shape(
    "certificate of an authority in full",
    {
        "certId": Uuid,
        **_OF_AUTHORITY,
        "notBefore": Instant,
        "notAfter": Instant,
        "maxPathLength": Annotated[int, Field(ge=-1)],
        "parentCaId": Uuid | None,
    },
)
_VERSIONED = shape("certificate of an authority by version", {**_OF_AUTHORITY, "version": Version})
AUTHORITY_CERTIFICATES: Shape = RootModel[list[_VERSIONED]]  # type: ignore[valid-type] # made while it runs
AUTHORITY_CSR = only("csr", Annotated[str, Field(pattern="^-----BEGIN CERTIFICATE REQUEST-----\n")])
SIGNED_INTERMEDIATE = shape("signed intermediate", {**_OF_AUTHORITY, "issuingCaCertificate": _PEM})
IMPORTED_AUTHORITY_CERTIFICATE = shape(
    "imported certificate of an authority",
    {"message": Literal["Successfully imported certificate to CA"], "caId": Uuid},
)
_CRL = shape(
    "revocation list", {"id": Uuid, "crl": Annotated[str, Field(pattern="^-----BEGIN X509 CRL-----\n")]}
)
CRLS: Shape = RootModel[list[_CRL]]  # type: ignore[valid-type] # made while it runs

# --- wire.md 5.7
_APPLICATION = shape(
    "application", {"id": Uuid, "projectId": Uuid, "name": Slug, "description": str | None, **_TIMES}
)
ONE_APPLICATION = only("application", _APPLICATION)
APPLICATIONS = _page("applications", _APPLICATION)
_PAIR = {"applicationId": Uuid, "profileId": Uuid}
ATTACHED_PROFILES = only(
    "profiles",
    listed(
        shape(
            "attached profile",
            {
                **_PAIR,
                "profileSlug": Slug,
                "profileDescription": str | None,
                "estConfigId": Uuid | None,
                "apiConfigId": Uuid | None,
                "acmeConfigId": Uuid | None,
                "scepConfigId": Uuid | None,
                **_TIMES,
            },
        )
    ),
)
DETACHED = shape("detached profile", _PAIR)
_WAYS = {
    "api": shape("API enrollment", _API) | None,
    "est": shape("EST enrollment", _EST) | None,
    "acme": shape(
        "ACME enrollment", {"id": Uuid, "skipDnsOwnershipVerification": bool, "skipEabBinding": bool}
    )
    | None,
    "scep": shape(
        "SCEP enrollment", {"id": Uuid, "includeCaCertInResponse": bool, "allowCertBasedRenewal": bool}
    )
    | None,
}
APPLICATION_ENROLLMENT = shape(
    "enrollment within an application",
    {**_PAIR, **_WAYS, "estConfigured": bool, "acmeConfigured": bool, "scepConfigured": bool},
)
ENROLLMENT = shape("one way of enrollment", _PAIR, _WAYS)

# --- our own: approval
_APPROVAL_POLICY = shape(
    "approval policy",
    {
        "id": Uuid,
        "projectId": Uuid,
        "profileId": Uuid,
        "name": Id,
        "enabled": bool,
        "requiredApprovals": Version,
        "approverIds": list[Uuid],
        "bypassIdentityIds": list[Uuid],
        "allowSelfApproval": bool,
        "requestTtlSeconds": Version | None,
        **_TIMES,
    },
)
ONE_APPROVAL_POLICY = only("approvalPolicy", _APPROVAL_POLICY)
APPROVAL_POLICIES = only("approvalPolicies", listed(_APPROVAL_POLICY))
_APPROVAL_REQUEST = shape(
    "approval request",
    {
        "id": Uuid,
        "projectId": Uuid,
        "status": Literal["pending", "approved", "rejected", "expired", "cancelled"],
        "certificateRequestId": Uuid,
        "certificateRequestStatus": _REQUEST_STATUS,
        "profileId": Uuid | None,
        "profileName": str | None,
        "commonName": str | None,
        "altNames": str | None,
        "subject": str,
        "keyAlgorithm": _KEY_ALGORITHM,
        "keyUsages": list[_KEY_USAGE],
        "extendedKeyUsages": list[_EXTENDED_KEY_USAGE],
        "basicConstraints": _CONSTRAINTS,
        "ttlSeconds": Version | None,
        "notBefore": Instant | None,
        "notAfter": Instant | None,
        "requesterId": Uuid | None,
        "requesterName": str,
        "requiredApprovals": Version,
        "approverIds": list[Uuid],
        "votes": listed(
            shape(
                "vote",
                {
                    "voterId": Uuid,
                    "voterName": str,
                    "verdict": Literal["approve", "reject"],
                    "comment": str | None,
                    "createdAt": Instant,
                },
            )
        ),
        "expiresAt": Instant | None,
        "closedAt": Instant | None,
        **_TIMES,
    },
)
ONE_APPROVAL_REQUEST = only("approvalRequest", _APPROVAL_REQUEST)
APPROVAL_REQUESTS = _page("approvalRequests", _APPROVAL_REQUEST)

# --- wire.md 6
SUBSCRIBER = shape(
    "subscriber",
    {
        "id": Uuid,
        "projectId": Uuid,
        "caId": Uuid | None,
        "name": Slug,
        "commonName": Id,
        "status": Literal["active", "disabled"],
        "ttl": Id,
        "subjectAlternativeNames": list[Id],
        "keyUsages": list[Id],
        "extendedKeyUsages": list[Id],
        **_TIMES,
    },
)
SUBSCRIBERS = only("subscribers", listed(SUBSCRIBER))
_SUBSCRIBED = {
    "certificate": _PEM,
    "issuingCaCertificate": _PEM,
    "certificateChain": _PEMS,
    "serialNumber": _SERIAL,
}
SUBSCRIBER_SIGNED = shape("certificate signed for a subscriber", _SUBSCRIBED)
SUBSCRIBER_ISSUED = shape("certificate issued for a subscriber", {**_SUBSCRIBED, "privateKey": _KEY})
SUBSCRIBER_BUNDLE = shape(
    "latest bundle of a subscriber",
    {
        "certificate": _PEM,
        "certificateChain": _PEMS,
        "privateKey": _KEY | None,
        "serialNumber": _SERIAL,
    },
)
SUBSCRIBER_ORDERED = only("message", Id)
POLICY_BINDING = only(
    "binding",
    shape("binding", {"profilesBoundBy": Literal["admins", "members"], "caIds": list[Uuid]}),
)
