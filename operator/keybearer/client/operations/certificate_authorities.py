"""Certificate authorities (wire.md section 5.6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from keybearer.client.certificate_authorities import CertificateAuthority, InternalAuthority
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, instant_text, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.authority_terms import (
    AuthorityChange,
    AuthorityStatusWord,
    ChangedAuthorityBody,
    MadeAuthorityBody,
)
from keybearer.client.operations.certificate_listings import ListingOfProject
from keybearer.wire.base import WireModel

__all__ = [
    "AuthorityTypeWord",
    "CreateInternalAuthority",
    "DeleteInternalAuthority",
    "GetInternalAuthority",
    "ListCertificateAuthorities",
    "ListInternalAuthorities",
    "UpdateInternalAuthority",
]

_ALL = "/api/v1/cert-manager/ca"
_INTERNAL = f"{_ALL}/internal"
_ONE = f"{_INTERNAL}/{{}}"

AuthorityTypeWord = Literal["root", "intermediate"]


@from_wire
@dataclass(frozen=True, slots=True)
class _AuthoritiesAnswer:
    """`{certificateAuthorities}`."""

    certificate_authorities: tuple[CertificateAuthority, ...]


class _Configuration(WireModel):
    type: AuthorityTypeWord
    friendly_name: str | None = None
    common_name: str
    organization: str
    ou: str
    country: str
    province: str
    locality: str
    key_algorithm: str
    max_path_length: Annotated[int, Field(ge=-1)] | None = None
    not_before: str | None = None
    not_after: str | None = None
    crl_distribution_point_urls: list[str] | None = None
    disable_managed_crl_distribution_point_url: bool | None = None


class _Created(MadeAuthorityBody):
    configuration: _Configuration


class _Reconfigured(WireModel):
    friendly_name: str | None = None
    crl_distribution_point_urls: list[str] | None = None
    disable_managed_crl_distribution_point_url: bool | None = None


class _Updated(ChangedAuthorityBody):
    configuration: _Reconfigured | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCertificateAuthorities(ListingOfProject[list[CertificateAuthority]]):
    """List the authorities of a project, of all kinds; without one, of the organization's own."""

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_ALL)

    def read(self, response: Response) -> list[CertificateAuthority]:
        """Return the authorities in the service's order."""
        return list(decode(response, _AuthoritiesAnswer).certificate_authorities)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListInternalAuthorities(ListingOfProject[list[InternalAuthority]]):
    """List the authorities whose keys the service has; without a project, of the organization's own."""

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_INTERNAL)

    def read(self, response: Response) -> list[InternalAuthority]:
        """Return the authorities in the service's order."""
        return list(decode(response, tuple[InternalAuthority, ...]))


class _One(Operation[InternalAuthority]):
    __slots__ = ()

    def read(self, response: Response) -> InternalAuthority:
        """Return the authority."""
        return decode(response, InternalAuthority)


@dataclass(frozen=True, slots=True)
class GetInternalAuthority(_One):
    """Return an authority by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    ca_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.ca_id))


@dataclass(frozen=True, slots=True)
class CreateInternalAuthority(_One):
    """Make an authority with a key of its own, and return it.

    A root with `not_after` signs itself at once; all others are to be given a certificate: `issue_certificate`,
    or `get_csr` and `import_certificate`.

    Attributes:
        name: lower-case letters, digits and hyphens.
        type: `root`, or `intermediate`, which another one signs.
        common_name, organization, ou, country, province, locality: whom its certificate is for; one at least.
        country: two capital letters.
        key_algorithm: such as `EC_prime256v1`, `RSA_4096`.
        max_path_length: how many authorities may stand between it and a certificate; -1 for any number.
        crl_distribution_point_urls: where else lists of what it revoked are.
        disable_managed_crl_distribution_point_url: certificates don't name the service's own list.
        project_id: None for the organization's own project for certificates.
    """

    name: str
    type: AuthorityTypeWord = field(kw_only=True)
    common_name: str = field(default="", kw_only=True)
    organization: str = field(default="", kw_only=True)
    ou: str = field(default="", kw_only=True)
    country: str = field(default="", kw_only=True)
    province: str = field(default="", kw_only=True)
    locality: str = field(default="", kw_only=True)
    key_algorithm: str = field(default="EC_prime256v1", kw_only=True)
    max_path_length: int | None = field(default=None, kw_only=True)
    not_before: datetime | None = field(default=None, kw_only=True)
    not_after: datetime | None = field(default=None, kw_only=True)
    friendly_name: str | None = field(default=None, kw_only=True)
    crl_distribution_point_urls: Sequence[str] = field(default=(), kw_only=True)
    disable_managed_crl_distribution_point_url: bool = field(default=False, kw_only=True)
    enable_direct_issuance: bool | None = field(default=None, kw_only=True)
    status: AuthorityStatusWord = field(default="active", kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        not_before = instant_text("not_before", self.not_before)
        not_after = instant_text("not_after", self.not_after)
        body = json_body(
            lambda: _Created(
                name=self.name,
                status=self.status,
                project_id=self.project_id,
                enable_direct_issuance=self.enable_direct_issuance,
                configuration=_Configuration(
                    type=self.type,
                    friendly_name=self.friendly_name,
                    common_name=self.common_name,
                    organization=self.organization,
                    ou=self.ou,
                    country=self.country,
                    province=self.province,
                    locality=self.locality,
                    key_algorithm=self.key_algorithm,
                    max_path_length=self.max_path_length,
                    not_before=not_before,
                    not_after=not_after,
                    crl_distribution_point_urls=list(self.crl_distribution_point_urls) or None,
                    disable_managed_crl_distribution_point_url=(
                        self.disable_managed_crl_distribution_point_url or None
                    ),
                ),
            )
        )
        return Request("POST", _INTERNAL, body=body)

    def read(self, response: Response) -> InternalAuthority:
        """Return the authority with the status that it has: the answer repeats the one that was asked for."""
        made = decode(response, InternalAuthority)
        configuration = made.configuration
        if configuration is None or configuration.active_ca_cert_id is not None:
            return made
        return replace(made, status="pending-certificate")


@dataclass(frozen=True, slots=True)
class UpdateInternalAuthority(AuthorityChange, _One):
    """Change an authority, and return it; what isn't given stays. One that is disabled signs nothing."""

    friendly_name: str | None = field(default=None, kw_only=True)
    crl_distribution_point_urls: Sequence[str] | None = field(default=None, kw_only=True)
    disable_managed_crl_distribution_point_url: bool | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        urls = self.crl_distribution_point_urls
        configuration = {
            "friendly_name": self.friendly_name,
            "crl_distribution_point_urls": None if urls is None else list(urls),
            "disable_managed_crl_distribution_point_url": self.disable_managed_crl_distribution_point_url,
        }
        changes = self.changes(configuration)
        body = json_body(lambda: _Updated(**changes))
        return Request("PATCH", fill(_ONE, self.ca_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteInternalAuthority(_One):
    """Delete an authority with its key, and return what it was.

    Attributes:
        force: also one that signed what is still valid; none of that can be revoked then.
    """

    ca_id: str
    force: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.ca_id), query=query_of({"force": self.force or None}))
