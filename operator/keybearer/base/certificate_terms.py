"""The words of certificates: what may stand in a field, and how older and other parts of the interface spell it.

A member's value is its canonical spelling, that of issuance (wire.md section 5.1). Policies spell algorithms in
another way (5.5), old records and the subscriber routes spell usages in another way (5.1): `policy_spelling` and
`legacy_spelling` write those, the `..._BY_SPELLING` tables read all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

__all__ = [
    "EXTENDED_KEY_USAGES_BY_SPELLING",
    "KEY_ALGORITHMS_BY_SPELLING",
    "KEY_USAGES_BY_SPELLING",
    "SIGNATURE_ALGORITHMS_BY_SPELLING",
    "AuthorityKind",
    "AuthorityStatus",
    "AuthorityType",
    "BasicConstraintRule",
    "BoundBy",
    "CertificateStatus",
    "EnrollmentType",
    "ExtendedKeyUsage",
    "IssuerType",
    "KeyAlgorithm",
    "KeyUsage",
    "NameType",
    "RequestStatus",
    "RevocationReason",
    "SignatureAlgorithm",
    "SubjectField",
    "WildcardRule",
]


class KeyUsage(StrEnum):
    """What a key may be used for (RFC 5280 section 4.2.1.3)."""

    DIGITAL_SIGNATURE = "digital_signature"
    KEY_ENCIPHERMENT = "key_encipherment"
    NON_REPUDIATION = "non_repudiation"
    DATA_ENCIPHERMENT = "data_encipherment"
    KEY_AGREEMENT = "key_agreement"
    KEY_CERT_SIGN = "key_cert_sign"
    CRL_SIGN = "crl_sign"
    ENCIPHER_ONLY = "encipher_only"
    DECIPHER_ONLY = "decipher_only"

    @property
    def legacy_spelling(self) -> str:
        """How old records and the subscriber routes write it."""
        return "cRLSign" if self is KeyUsage.CRL_SIGN else _camel(self.value)


class ExtendedKeyUsage(StrEnum):
    """What a certificate may be used for (RFC 5280 section 4.2.1.12)."""

    CLIENT_AUTH = "client_auth"
    SERVER_AUTH = "server_auth"
    CODE_SIGNING = "code_signing"
    EMAIL_PROTECTION = "email_protection"
    OCSP_SIGNING = "ocsp_signing"
    TIME_STAMPING = "time_stamping"
    ANY_PURPOSE = "any_purpose"

    @property
    def legacy_spelling(self) -> str:
        """How old records and the subscriber routes write it."""
        return _camel(self.value)


class NameType(StrEnum):
    """The kinds of subject alternative names."""

    DNS_NAME = "dns_name"
    IP_ADDRESS = "ip_address"
    EMAIL = "email"
    URI = "uri"
    UPN = "upn"
    """A user principal name: an other name of 1.3.6.1.4.1.311.20.2.3."""


class SubjectField(StrEnum):
    """The attributes of a subject that policies rule (wire.md section 5.5)."""

    COMMON_NAME = "common_name"
    ORGANIZATION = "organization"
    ORGANIZATIONAL_UNIT = "organizational_unit"
    COUNTRY = "country"
    STATE = "state"
    LOCALITY = "locality"
    DOMAIN_COMPONENT = "domain_component"


class KeyAlgorithm(StrEnum):
    """Kinds and sizes of keys. Which of them can be made is for `keybearer.pki.keys` to say."""

    RSA_2048 = "RSA_2048"
    RSA_3072 = "RSA_3072"
    RSA_4096 = "RSA_4096"
    EC_P256 = "EC_prime256v1"
    EC_P384 = "EC_secp384r1"
    EC_P521 = "EC_secp521r1"
    ML_DSA_44 = "ML-DSA-44"
    ML_DSA_65 = "ML-DSA-65"
    ML_DSA_87 = "ML-DSA-87"
    SLH_DSA_SHA2_128F = "SLH-DSA-SHA2-128f"
    SLH_DSA_SHA2_128S = "SLH-DSA-SHA2-128s"
    SLH_DSA_SHA2_192F = "SLH-DSA-SHA2-192f"
    SLH_DSA_SHA2_192S = "SLH-DSA-SHA2-192s"
    SLH_DSA_SHA2_256F = "SLH-DSA-SHA2-256f"
    SLH_DSA_SHA2_256S = "SLH-DSA-SHA2-256s"
    SLH_DSA_SHAKE_128F = "SLH-DSA-SHAKE-128f"
    SLH_DSA_SHAKE_128S = "SLH-DSA-SHAKE-128s"
    SLH_DSA_SHAKE_192F = "SLH-DSA-SHAKE-192f"
    SLH_DSA_SHAKE_192S = "SLH-DSA-SHAKE-192s"
    SLH_DSA_SHAKE_256F = "SLH-DSA-SHAKE-256f"
    SLH_DSA_SHAKE_256S = "SLH-DSA-SHAKE-256s"

    @property
    def policy_spelling(self) -> str:
        """How policies write it."""
        return _POLICY_KEY_ALGORITHMS.get(self.value, self.value)

    @property
    def is_rsa(self) -> bool:
        """Whether it is RSA: such a key takes long to make, so it isn't made on an event loop."""
        return self.value.startswith("RSA")

    @property
    def is_elliptic(self) -> bool:
        """Whether it is a key on one of NIST's curves."""
        return self.value.startswith("EC")


class SignatureAlgorithm(StrEnum):
    """How certificates are signed."""

    RSA_SHA256 = "RSA-SHA256"
    RSA_SHA384 = "RSA-SHA384"
    RSA_SHA512 = "RSA-SHA512"
    ECDSA_SHA256 = "ECDSA-SHA256"
    ECDSA_SHA384 = "ECDSA-SHA384"
    ECDSA_SHA512 = "ECDSA-SHA512"
    ML_DSA_44 = "ML-DSA-44"
    ML_DSA_65 = "ML-DSA-65"
    ML_DSA_87 = "ML-DSA-87"
    SLH_DSA_SHA2_128F = "SLH-DSA-SHA2-128f"
    SLH_DSA_SHA2_128S = "SLH-DSA-SHA2-128s"
    SLH_DSA_SHA2_192F = "SLH-DSA-SHA2-192f"
    SLH_DSA_SHA2_192S = "SLH-DSA-SHA2-192s"
    SLH_DSA_SHA2_256F = "SLH-DSA-SHA2-256f"
    SLH_DSA_SHA2_256S = "SLH-DSA-SHA2-256s"
    SLH_DSA_SHAKE_128F = "SLH-DSA-SHAKE-128f"
    SLH_DSA_SHAKE_128S = "SLH-DSA-SHAKE-128s"
    SLH_DSA_SHAKE_192F = "SLH-DSA-SHAKE-192f"
    SLH_DSA_SHAKE_192S = "SLH-DSA-SHAKE-192s"
    SLH_DSA_SHAKE_256F = "SLH-DSA-SHAKE-256f"
    SLH_DSA_SHAKE_256S = "SLH-DSA-SHAKE-256s"

    @property
    def policy_spelling(self) -> str:
        """How policies write it: the hash first."""
        family, _, digest = self.value.partition("-")
        return f"{digest}-{family}" if family in ("RSA", "ECDSA") else self.value


class BasicConstraintRule(StrEnum):
    """What a policy says of certificates that are authorities themselves."""

    ALLOWED = "allowed"
    REQUIRED = "required"
    DENIED = "denied"


class WildcardRule(StrEnum):
    """What a policy says of certificates for wildcards, such as `*.example.com`."""

    ALLOWED = "allowed"
    DENIED = "denied"


class CertificateStatus(StrEnum):
    """What became of a certificate."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


class RevocationReason(StrEnum):
    """Why a certificate was revoked (RFC 5280 section 5.3.1)."""

    UNSPECIFIED = "UNSPECIFIED"
    KEY_COMPROMISE = "KEY_COMPROMISE"
    CA_COMPROMISE = "CA_COMPROMISE"
    AFFILIATION_CHANGED = "AFFILIATION_CHANGED"
    SUPERSEDED = "SUPERSEDED"
    CESSATION_OF_OPERATION = "CESSATION_OF_OPERATION"
    CERTIFICATE_HOLD = "CERTIFICATE_HOLD"
    PRIVILEGE_WITHDRAWN = "PRIVILEGE_WITHDRAWN"
    A_A_COMPROMISE = "A_A_COMPROMISE"


class RequestStatus(StrEnum):
    """The states of a certificate request (interface.md section 2.5)."""

    PENDING_APPROVAL = "pending_approval"
    PENDING = "pending"
    PENDING_VALIDATION = "pending_validation"
    ISSUED = "issued"
    FAILED = "failed"
    REJECTED = "rejected"

    @property
    def is_final(self) -> bool:
        """Whether it stays as it is."""
        return self in (RequestStatus.ISSUED, RequestStatus.FAILED, RequestStatus.REJECTED)


class IssuerType(StrEnum):
    """Who signs the certificates of a profile."""

    CA = "ca"
    SELF_SIGNED = "self-signed"


class EnrollmentType(StrEnum):
    """How certificates of a profile are asked for."""

    API = "api"
    EST = "est"
    ACME = "acme"
    SCEP = "scep"


class AuthorityKind(StrEnum):
    """Where an authority's key is: with the service, or with somebody else (wire.md section 5.6)."""

    INTERNAL = "internal"
    ACME = "acme"
    AZURE_AD_CS = "azure-ad-cs"
    AWS_PCA = "aws-pca"
    DIGICERT = "digicert"
    AWS_ACM_PUBLIC_CA = "aws-acm-public-ca"
    VENAFI_TPP = "venafi-tpp"
    GODADDY = "godaddy"


class AuthorityType(StrEnum):
    """Where an internal authority stands in its chain."""

    ROOT = "root"
    INTERMEDIATE = "intermediate"


class AuthorityStatus(StrEnum):
    """Whether an authority can issue."""

    ACTIVE = "active"
    DISABLED = "disabled"
    PENDING_CERTIFICATE = "pending-certificate"


def _camel(snake: str) -> str:
    first, *rest = snake.split("_")
    return first + "".join(word.capitalize() for word in rest)


_POLICY_KEY_ALGORITHMS: Mapping[str, str] = {
    "RSA_2048": "RSA-2048",
    "RSA_3072": "RSA-3072",
    "RSA_4096": "RSA-4096",
    "EC_prime256v1": "ECDSA-P256",
    "EC_secp384r1": "ECDSA-P384",
    "EC_secp521r1": "ECDSA-P521",
}

KEY_USAGES_BY_SPELLING: Mapping[str, KeyUsage] = MappingProxyType(
    {spelling: usage for usage in KeyUsage for spelling in (usage.value, usage.legacy_spelling)}
)
EXTENDED_KEY_USAGES_BY_SPELLING: Mapping[str, ExtendedKeyUsage] = MappingProxyType(
    {spelling: usage for usage in ExtendedKeyUsage for spelling in (usage.value, usage.legacy_spelling)}
)
KEY_ALGORITHMS_BY_SPELLING: Mapping[str, KeyAlgorithm] = MappingProxyType(
    {spelling: kind for kind in KeyAlgorithm for spelling in (kind.value, kind.policy_spelling)}
)
SIGNATURE_ALGORITHMS_BY_SPELLING: Mapping[str, SignatureAlgorithm] = MappingProxyType(
    {spelling: kind for kind in SignatureAlgorithm for spelling in (kind.value, kind.policy_spelling)}
)


class BoundBy(StrEnum):
    """Who in a project has profiles issue by a certificate policy."""

    ADMINS = "admins"
    MEMBERS = "members"
