"""Certificate authorities elsewhere that speak ACME."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from keybearer.client.certificate_authorities import AcmeAuthority
from keybearer.client.decoding import decode
from keybearer.client.messages import Request, Response, fill, json_body
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
    "CreateAcmeAuthority",
    "DeleteAcmeAuthority",
    "GetAcmeAuthority",
    "ListAcmeAuthorities",
    "UpdateAcmeAuthority",
]

_ALL = "/api/v1/cert-manager/ca/acme"
_ONE = f"{_ALL}/{{}}"


class _Configuration(WireModel):
    directory_url: str
    account_email: str | None = None
    eab_kid: str | None = None
    eab_hmac_key: str | None = None
    ca_certificates: str | None = None
    terms_of_service_agreed: bool | None = None


class _Created(MadeAuthorityBody):
    configuration: _Configuration


class _Reconfigured(WireModel):
    ca_certificates: str


class _Updated(ChangedAuthorityBody):
    configuration: _Reconfigured | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAcmeAuthorities(ListingOfProject[list[AcmeAuthority]]):
    """List the authorities that speak ACME; without a project, of the organization's own."""

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_ALL)

    def read(self, response: Response) -> list[AcmeAuthority]:
        """Return the authorities in the service's order."""
        return list(decode(response, tuple[AcmeAuthority, ...]))


class _One(Operation[AcmeAuthority]):
    __slots__ = ()

    def read(self, response: Response) -> AcmeAuthority:
        """Return the authority."""
        return decode(response, AcmeAuthority)


@dataclass(frozen=True, slots=True)
class GetAcmeAuthority(_One):
    """Return an authority that speaks ACME by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    ca_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.ca_id))


@dataclass(frozen=True, slots=True)
class CreateAcmeAuthority(_One):
    """Make an authority that speaks ACME, with an account there, and return it.

    Attributes:
        name: lower-case letters, digits and hyphens.
        directory_url: where it begins, such as `https://acme-v02.api.letsencrypt.org/directory`.
        account_email: whom it may write to.
        eab_kid, eab_hmac_key: what it hands out to those it knows, where it asks for that.
        ca_certificates: PEM, that its server may prove itself with beside the system's.
        terms_of_service_agreed: to those that its directory names.
        project_id: None for the organization's own project for certificates.
    """

    name: str
    directory_url: str = field(kw_only=True)
    account_email: str | None = field(default=None, kw_only=True)
    eab_kid: str | None = field(default=None, kw_only=True)
    eab_hmac_key: str | None = field(default=None, kw_only=True, repr=False)
    ca_certificates: str | None = field(default=None, kw_only=True)
    terms_of_service_agreed: bool = field(default=False, kw_only=True)
    enable_direct_issuance: bool | None = field(default=None, kw_only=True)
    status: AuthorityStatusWord = field(default="active", kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Created(
                name=self.name,
                status=self.status,
                project_id=self.project_id,
                enable_direct_issuance=self.enable_direct_issuance,
                configuration=_Configuration(
                    directory_url=self.directory_url,
                    account_email=self.account_email,
                    eab_kid=self.eab_kid,
                    eab_hmac_key=self.eab_hmac_key,
                    ca_certificates=self.ca_certificates,
                    terms_of_service_agreed=self.terms_of_service_agreed or None,
                ),
            )
        )
        return Request("POST", _ALL, body=body)


@dataclass(frozen=True, slots=True)
class UpdateAcmeAuthority(AuthorityChange, _One):
    """Change an authority, and return it; what isn't given stays. One that is disabled is asked for nothing."""

    ca_certificates: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        changes = self.changes({"ca_certificates": self.ca_certificates})
        body = json_body(lambda: _Updated(**changes))
        return Request("PATCH", fill(_ONE, self.ca_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteAcmeAuthority(_One):
    """Delete an authority with the key of its account, and return what it was."""

    ca_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.ca_id))
