"""Certificate authorities (wire.md section 5.6)."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from keybearer.base.certificate_terms import AuthorityKind, AuthorityStatus, AuthorityType, KeyAlgorithm
from keybearer.wire.base import WHOLE, Flag, QueryFlag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.certificates.fields import AnyKeyAlgorithm, Csr, GivenDate, OptionalProject
from keybearer.wire.limits import (
    CERTIFICATE_AUTHORITY_NAME_MAX,
    CERTIFICATE_CHAIN_MAX,
    CERTIFICATE_SUBJECT_TEXT_MAX,
)
from keybearer.wire.slugs import slug_rule, slug_schema

__all__ = [
    "AuthorityCertificate",
    "AuthorityCertificateDetail",
    "AuthorityCertificateVersion",
    "AuthorityConfiguration",
    "AuthorityCsr",
    "AuthorityQuery",
    "CertificateAuthorityItem",
    "CertificateAuthorityList",
    "CreateInternalAuthority",
    "DeleteAuthorityQuery",
    "GenerateAuthorityCertificate",
    "GeneratedAuthorityCertificate",
    "ImportAuthorityCertificate",
    "ImportedAuthorityCertificate",
    "InternalAuthority",
    "RenewAuthority",
    "RevocationList",
    "ShownAuthorityConfiguration",
    "SignIntermediate",
    "SignedIntermediate",
    "UpdateInternalAuthority",
]

_Name = Annotated[
    str, slug_rule("name", CERTIFICATE_AUTHORITY_NAME_MAX), slug_schema(CERTIFICATE_AUTHORITY_NAME_MAX)
]
_Text = Annotated[str, Field(max_length=CERTIFICATE_SUBJECT_TEXT_MAX)]
_Settable = Literal[AuthorityStatus.ACTIVE, AuthorityStatus.DISABLED]
_PathLength = Annotated[int, Field(ge=-1, le=255), WHOLE, Zero.COUNTS]
_OptionalDate = GivenDate | None
_Pem = Annotated[str, Field(min_length=1, max_length=CERTIFICATE_CHAIN_MAX)]
_URLS_MAX = 10


def _judge_country(given: str) -> str:
    if given and not re.fullmatch("[A-Z]{2}", given):
        msg = "Country must be two capital letters, or empty"
        raise ValueError(msg)
    return given


def _judge_url(given: str) -> str:
    if not re.fullmatch(r"https?://[^\s/?#]+[^\s]*", given, re.ASCII):
        msg = "A CRL distribution point is an http or https URL"
        raise ValueError(msg)
    return given


_Country = Annotated[str, AfterValidator(_judge_country)]
_Urls = Annotated[
    list[Annotated[str, Field(max_length=1024), AfterValidator(_judge_url)]], Field(max_length=_URLS_MAX)
]


def _absent_is_empty(given: object) -> object:
    return "" if given is None else given


_Absent = BeforeValidator(_absent_is_empty)


class AuthorityConfiguration(BodyModel):
    """What an internal authority is to be; subject fields that are missing count as empty."""

    type: AuthorityType
    friendly_name: Annotated[_Text, _Absent] = ""
    common_name: Annotated[_Text, _Absent] = ""
    organization: Annotated[_Text, _Absent] = ""
    ou: Annotated[_Text, _Absent] = ""
    country: Annotated[_Country, _Absent] = ""
    province: Annotated[_Text, _Absent] = ""
    locality: Annotated[_Text, _Absent] = ""
    key_algorithm: AnyKeyAlgorithm = KeyAlgorithm.RSA_2048
    max_path_length: _PathLength | None = None
    not_before: _OptionalDate = None
    not_after: _OptionalDate = None
    crl_distribution_point_urls: _Urls = Field(default_factory=list)
    disable_managed_crl_distribution_point_url: Flag = False

    @model_validator(mode="after")
    def _judge(self) -> Self:
        named = (self.common_name, self.organization, self.ou, self.country, self.province, self.locality)
        if not any(part.strip() for part in named):
            msg = "At least one of commonName, organization, ou, country, province or locality must be non-empty"
            raise ValueError(msg)
        if self.key_algorithm.value.startswith("SLH-DSA"):
            msg = "SLH-DSA keys are not supported for certificate authorities"
            raise ValueError(msg)
        _require_order(self.not_before, self.not_after)
        return self


def _require_order(not_before: datetime | None, not_after: datetime | None) -> None:
    if not_before is not None and not_after is not None and not_before >= not_after:
        msg = "notBefore must be earlier than notAfter"
        raise ValueError(msg)


class CreateInternalAuthority(BodyModel):
    """POST /api/v1/cert-manager/ca/internal; `status` says what it is once it has a certificate."""

    name: _Name
    status: _Settable = AuthorityStatus.ACTIVE
    project_id: OptionalProject = None
    enable_direct_issuance: Flag = True
    configuration: AuthorityConfiguration


class _ConfigurationChange(BodyModel):
    friendly_name: Annotated[_Text, Zero.COUNTS] | None = None
    crl_distribution_point_urls: _Urls | None = None
    disable_managed_crl_distribution_point_url: Flag | None = None


class UpdateInternalAuthority(BodyModel):
    """PATCH …/ca/internal/{id}: what is absent stays. Subject and key are for life."""

    name: _Name | None = None
    status: _Settable | None = None
    enable_direct_issuance: Flag | None = None
    configuration: _ConfigurationChange | None = None


class ShownAuthorityConfiguration(WireModel):
    """An internal authority's configuration, with what became of it; empty texts where nothing is named."""

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
    not_before: WireInstant | None
    not_after: WireInstant | None
    serial_number: str | None
    dn: str
    parent_ca_id: str | None
    active_ca_cert_id: str | None
    crl_distribution_point_urls: list[str]
    disable_managed_crl_distribution_point_url: bool


class InternalAuthority(WireModel):
    """An internal authority; bare, as POST, GET, PATCH and DELETE answer it."""

    id: str
    project_id: str
    name: str
    type: AuthorityKind
    status: AuthorityStatus
    enable_direct_issuance: bool
    configuration: ShownAuthorityConfiguration
    created_at: WireInstant
    updated_at: WireInstant


class CertificateAuthorityItem(WireModel):
    """An authority in the list of all kinds."""

    id: str
    project_id: str
    name: str
    type: AuthorityKind
    status: AuthorityStatus
    enable_direct_issuance: bool


class CertificateAuthorityList(WireModel):
    """`{certificateAuthorities}`, by name."""

    certificate_authorities: list[CertificateAuthorityItem]


class AuthorityQuery(WireModel):
    """Query of the lists."""

    project_id: OptionalProject = None


class DeleteAuthorityQuery(WireModel):
    """Query of DELETE …/{id}: whether it goes though what it signed is still valid. An addition of ours."""

    force: QueryFlag = False


class GenerateAuthorityCertificate(BodyModel):
    """POST …/{id}/certificate; an intermediate needs a parent."""

    not_before: _OptionalDate = None
    not_after: GivenDate
    max_path_length: _PathLength | None = None
    parent_ca_id: UUID | None = None

    @model_validator(mode="after")
    def _judge(self) -> Self:
        _require_order(self.not_before, self.not_after)
        return self


class AuthorityCertificate(WireModel):
    """Certificate of an authority, PEM; the chain holds those above it."""

    certificate: str
    certificate_chain: str
    serial_number: str


class GeneratedAuthorityCertificate(AuthorityCertificate):
    """Answer of POST and GET …/{id}/certificate."""

    cert_id: str


class AuthorityCertificateDetail(GeneratedAuthorityCertificate):
    """GET …/{id}/certificate/{certId}."""

    not_before: WireInstant
    not_after: WireInstant
    max_path_length: int | None
    parent_ca_id: str | None


class AuthorityCertificateVersion(AuthorityCertificate):
    """An item of GET …/{id}/ca-certificates; versions count from 1."""

    version: int


class AuthorityCsr(WireModel):
    """GET …/{id}/csr."""

    csr: str


class SignIntermediate(BodyModel):
    """POST …/{id}/sign-intermediate: an authority of somebody else is put below this one."""

    csr: Csr
    not_before: _OptionalDate = None
    not_after: GivenDate
    max_path_length: _PathLength = -1

    @model_validator(mode="after")
    def _judge(self) -> Self:
        _require_order(self.not_before, self.not_after)
        return self


class SignedIntermediate(WireModel):
    """Answer of sign-intermediate."""

    certificate: str
    certificate_chain: str
    issuing_ca_certificate: str
    serial_number: str


class ImportAuthorityCertificate(BodyModel):
    """POST …/{id}/import-certificate: what another authority made of our request."""

    certificate: _Pem
    certificate_chain: Annotated[str, Field(max_length=CERTIFICATE_CHAIN_MAX)] = ""


class ImportedAuthorityCertificate(WireModel):
    """Answer of import-certificate."""

    message: str = "Successfully imported certificate to CA"
    ca_id: str


class RenewAuthority(BodyModel):
    """POST …/{id}/renew: another certificate for the same key."""

    type: Literal["existing"] = "existing"
    not_after: GivenDate


class RevocationList(WireModel):
    """An item of GET …/{id}/crls, PEM."""

    id: str
    crl: str
