"""The certificates of authorities, and what they have revoked (wire.md section 5.6)."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from keybearer.client.certificate_authorities import AuthorityCertificate, RevocationList
from keybearer.client.decoding import decode
from keybearer.client.errors import DecodeError
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, instant_text, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_bodies import without_none
from keybearer.wire.base import WireModel

__all__ = [
    "GetAuthorityCertificate",
    "GetAuthorityCertificateDer",
    "GetAuthoritySigningRequest",
    "ImportAuthorityCertificate",
    "IssueAuthorityCertificate",
    "ListAuthorityCertificates",
    "ListRevocationLists",
    "RenewAuthorityCertificate",
    "SignIntermediate",
]

_ONE = "/api/v1/cert-manager/ca/internal/{}"
_DER = b"\x30"
"""How every certificate in DER begins: a sequence."""


@from_wire
@dataclass(frozen=True, slots=True)
class _SigningRequestAnswer:
    """`{csr}`."""

    csr: str


class _Issued(WireModel):
    not_before: str | None = None
    not_after: str
    max_path_length: Annotated[int, Field(ge=-1)] | None = None
    parent_ca_id: str | None = None


class _Signed(WireModel):
    csr: Annotated[str, Field(min_length=1)]
    not_before: str | None = None
    not_after: str
    max_path_length: Annotated[int, Field(ge=-1)]


class _Imported(WireModel):
    certificate: Annotated[str, Field(min_length=1)]
    certificate_chain: str


class _Renewed(WireModel):
    type: Literal["existing"] = "existing"
    not_after: str


@dataclass(frozen=True, slots=True)
class _OfAuthority:
    ca_id: str

    def path(self, action: str, *more: str) -> str:
        """Return the path of something of the authority."""
        return fill(f"{_ONE}{action}", self.ca_id, *more)


class _One(Operation[AuthorityCertificate]):
    __slots__ = ()

    def read(self, response: Response) -> AuthorityCertificate:
        """Return the certificate."""
        return decode(response, AuthorityCertificate)


@dataclass(frozen=True, slots=True)
class GetAuthorityCertificate(_OfAuthority, _One):
    """Return a certificate of an authority; `NotFound` where it has none.

    Attributes:
        cert_id: None for the one in use.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    cert_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        if self.cert_id is None:
            return Request("GET", self.path("/certificate"))
        return Request("GET", self.path("/certificate/{}", self.cert_id))


@dataclass(frozen=True, slots=True)
class ListAuthorityCertificates(_OfAuthority, Operation[list[AuthorityCertificate]]):
    """List the certificates that an authority has and had."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/ca-certificates"))

    def read(self, response: Response) -> list[AuthorityCertificate]:
        """Return them in the service's order."""
        return list(decode(response, tuple[AuthorityCertificate, ...]))


@dataclass(frozen=True, slots=True)
class GetAuthorityCertificateDer(_OfAuthority, Operation[bytes]):
    """Return a certificate of an authority in DER, which anybody may read."""

    repeat: ClassVar[Repeat] = Repeat.FREELY
    authenticated: ClassVar[bool] = False

    cert_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/certificates/{}/der", self.cert_id))

    def read(self, response: Response) -> bytes:
        """Return the certificate, which is all of the answer."""
        if response.body.startswith(_DER):
            return response.body
        raise DecodeError("the answer is not what this interface answers: no DER")


@dataclass(frozen=True, slots=True)
class IssueAuthorityCertificate(_OfAuthority, _One):
    """Give an authority a certificate: a root signs itself, an intermediate is signed by its parent.

    Attributes:
        not_before: None for now.
        max_path_length: how many authorities may stand between it and a certificate; -1 for any number, None for what
            it was made with.
    """

    not_after: datetime = field(kw_only=True)
    not_before: datetime | None = field(default=None, kw_only=True)
    parent_ca_id: str | None = field(default=None, kw_only=True)
    max_path_length: int | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given = {
            **_validity(self.not_before, self.not_after),
            "max_path_length": self.max_path_length,
            "parent_ca_id": self.parent_ca_id,
        }
        return Request("POST", self.path("/certificate"), body=json_body(lambda: _Issued(**given)))


@dataclass(frozen=True, slots=True)
class GetAuthoritySigningRequest(_OfAuthority, Operation[str]):
    """Return the PEM of the signing request of an intermediate authority, for another one to sign."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/csr"))

    def read(self, response: Response) -> str:
        """Return the signing request."""
        return decode(response, _SigningRequestAnswer).csr


@dataclass(frozen=True, slots=True)
class SignIntermediate(_OfAuthority, _One):
    """Have an authority sign another one that is elsewhere, and return that one's certificate.

    Attributes:
        csr: PEM of its signing request.
        max_path_length: how many authorities may stand between it and a certificate; -1 for any number.
    """

    csr: str = field(repr=False, kw_only=True)
    not_after: datetime = field(kw_only=True)
    not_before: datetime | None = field(default=None, kw_only=True)
    max_path_length: int = field(default=-1, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given = {
            **_validity(self.not_before, self.not_after),
            "csr": self.csr,
            "max_path_length": self.max_path_length,
        }
        return Request("POST", self.path("/sign-intermediate"), body=json_body(lambda: _Signed(**given)))


@dataclass(frozen=True, slots=True)
class ImportAuthorityCertificate(_OfAuthority, Operation[None]):
    """Give an authority the certificate that somebody else signed for it.

    Attributes:
        certificate: PEM.
        certificate_chain: PEM of those that vouch for it, the nearest first.
    """

    certificate: str = field(repr=False, kw_only=True)
    certificate_chain: str = field(repr=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Imported(certificate=self.certificate, certificate_chain=self.certificate_chain)
        )
        return Request("POST", self.path("/import-certificate"), body=body)

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""


@dataclass(frozen=True, slots=True)
class RenewAuthorityCertificate(_OfAuthority, _One):
    """Give an authority another certificate for its key, and return that; what it signed before stays valid."""

    not_after: datetime = field(kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        given = _validity(None, self.not_after)
        return Request("POST", self.path("/renew"), body=json_body(lambda: _Renewed(**given)))


@dataclass(frozen=True, slots=True)
class ListRevocationLists(_OfAuthority, Operation[list[RevocationList]]):
    """Return what an authority has revoked: one list for each of its certificates."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/crls"))

    def read(self, response: Response) -> list[RevocationList]:
        """Return them in the service's order."""
        return list(decode(response, tuple[RevocationList, ...]))


def _validity(not_before: datetime | None, not_after: datetime) -> dict[str, Any]:
    instants = {
        "not_before": instant_text("not_before", not_before),
        "not_after": instant_text("not_after", not_after),
    }
    return without_none(instants.items())
