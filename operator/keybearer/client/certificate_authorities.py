"""What the client takes and returns of certificate authorities (interface.md section 2.6, wire.md section 5.6)."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.client.lenient import Flag, Several, Text, from_wire

__all__ = [
    "AcmeAuthority",
    "AcmeConfiguration",
    "AuthorityCertificate",
    "AuthorityConfiguration",
    "CertificateAuthority",
    "InternalAuthority",
    "RevocationList",
]


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class CertificateAuthority:
    """An authority, of whatever kind.

    Attributes:
        type: `internal`, or where its key is else, such as `acme`.
        status: `active`, `disabled` or `pending-certificate`.
    """

    id: str
    name: Text = ""
    project_id: Text = ""
    type: Text = ""
    status: Text = ""
    enable_direct_issuance: Flag = False


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorityConfiguration:
    """What an authority is.

    Attributes:
        type: `root` or `intermediate`.
        ou: the organizational unit of its subject.
        country: two capital letters.
        province: the state.
        dn: its subject in one text.
        max_path_length: how many authorities may stand between it and a certificate; -1 for any number.
        not_before, not_after: of the certificate it now has, as are `serial_number` and `active_ca_cert_id`.
        parent_ca_id: the authority that signed that, where it is one of the service's.
    """

    type: Text = ""
    friendly_name: Text = ""
    common_name: Text = ""
    organization: Text = ""
    ou: Text = ""
    country: Text = ""
    province: Text = ""
    locality: Text = ""
    dn: Text = ""
    key_algorithm: Text = ""
    max_path_length: int | None = None
    not_before: str | None = None
    not_after: str | None = None
    serial_number: str | None = None
    parent_ca_id: str | None = None
    active_ca_cert_id: str | None = None
    crl_distribution_point_urls: Several[str] = ()
    disable_managed_crl_distribution_point_url: Flag = False


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class InternalAuthority:
    """An authority whose key the service has.

    Attributes:
        status: `active`, `disabled`, or `pending-certificate` before it has a certificate of its own.
    """

    id: str
    name: Text = ""
    project_id: Text = ""
    type: Text = ""
    status: Text = ""
    enable_direct_issuance: Flag = False
    configuration: AuthorityConfiguration | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeConfiguration:
    """What an authority that speaks ACME is, with the account there; nothing secret of it.

    Attributes:
        ca_certificates: PEM, that its server may prove itself with beside the system's.
        terms_of_service: the address of those that were agreed to.
    """

    directory_url: Text = ""
    account_email: str | None = None
    account_url: str | None = None
    eab_kid: str | None = None
    ca_certificates: Text = ""
    terms_of_service: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AcmeAuthority:
    """An authority elsewhere that speaks ACME.

    Attributes:
        status: `active` or `disabled`.
    """

    id: str
    name: Text = ""
    project_id: Text = ""
    type: Text = ""
    status: Text = ""
    enable_direct_issuance: Flag = False
    configuration: AcmeConfiguration | None = None
    created_at: Text = ""
    updated_at: Text = ""


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorityCertificate:
    """A certificate of an authority, in PEM, with those that vouch for it.

    Attributes:
        version: counts an authority's certificates from 1.
        parent_ca_id: the authority that signed it, where that is one of the service's.
    """

    certificate: str
    certificate_chain: Text = ""
    serial_number: Text = ""
    cert_id: str | None = None
    issuing_ca_certificate: Text = ""
    version: int | None = None
    not_before: str | None = None
    not_after: str | None = None
    max_path_length: int | None = None
    parent_ca_id: str | None = None


@from_wire
@dataclass(frozen=True, slots=True, kw_only=True)
class RevocationList:
    """Which certificates of an authority are revoked, in PEM."""

    id: str
    crl: str
