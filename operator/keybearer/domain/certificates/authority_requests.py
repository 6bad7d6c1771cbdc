"""What people ask of a certificate authority, as the domain takes it, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from keybearer.base.certificate_terms import AuthorityStatus, AuthorityType, KeyAlgorithm
from keybearer.pki.names import Subject
from keybearer.store.certificate_authorities import AuthorityCertificate, CertificateAuthority

__all__ = [
    "AuthorityChange",
    "AuthorityView",
    "Configuration",
    "NewAuthority",
    "NewAuthorityCertificate",
    "SignedIntermediate",
]


@dataclass(frozen=True, slots=True)
class Configuration:
    """What an internal authority is; empty texts where nothing is named.

    Attributes:
        max_path_length: None without a bound.
        once_certified: what it becomes with its first certificate: active or disabled.
    """

    type: AuthorityType
    friendly_name: str
    common_name: str
    organization: str
    ou: str
    country: str
    province: str
    locality: str
    key_algorithm: KeyAlgorithm
    max_path_length: int | None
    crl_distribution_point_urls: tuple[str, ...]
    disable_managed_crl_distribution_point_url: bool
    once_certified: AuthorityStatus

    @property
    def subject(self) -> Subject:
        """Who it is."""
        return Subject.of(
            self.common_name.strip() or None,
            organization=self.organization.strip() or None,
            organizational_unit=self.ou.strip() or None,
            country=self.country or None,
            state=self.province.strip() or None,
            locality=self.locality.strip() or None,
        )

    @classmethod
    def of(cls, authority: CertificateAuthority) -> Configuration:
        """Return the configuration as it was stored."""
        kept: dict[str, Any] = dict(authority.configuration)
        return cls(
            **{
                **kept,
                "type": AuthorityType(kept["type"]),
                "key_algorithm": KeyAlgorithm(kept["key_algorithm"]),
                "crl_distribution_point_urls": tuple(kept["crl_distribution_point_urls"]),
                "once_certified": AuthorityStatus(kept["once_certified"]),
            }
        )


@dataclass(frozen=True, slots=True)
class NewAuthority:
    """An internal authority to be made; a root with `not_after` gets its certificate at once."""

    project_id: str | None
    name: str
    enable_direct_issuance: bool
    configuration: Configuration
    not_before: datetime | None = None
    not_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuthorityChange:
    """What changes of an authority; None leaves a field as it is."""

    name: str | None = None
    status: AuthorityStatus | None = None
    enable_direct_issuance: bool | None = None
    friendly_name: str | None = None
    crl_distribution_point_urls: tuple[str, ...] | None = None
    disable_managed_crl_distribution_point_url: bool | None = None


@dataclass(frozen=True, slots=True)
class NewAuthorityCertificate:
    """A certificate for an authority; a `max_path_length` of None or -1 is as many as there may be."""

    not_after: datetime
    not_before: datetime | None = None
    max_path_length: int | None = None
    parent_id: str | None = None


@dataclass(frozen=True, slots=True)
class AuthorityView:
    """An internal authority with what it signs with at present, if anything."""

    authority: CertificateAuthority
    configuration: Configuration
    certificate: AuthorityCertificate | None


@dataclass(frozen=True, slots=True)
class SignedIntermediate:
    """A certificate for somebody else's authority, PEM."""

    certificate: str
    chain: str
    issuing: str
    serial_number: str
