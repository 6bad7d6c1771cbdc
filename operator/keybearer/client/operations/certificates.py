"""Certificates that exist, and what is done with one (wire.md section 5.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

from pydantic import Field

from keybearer.client.certificates import (
    Certificate,
    CertificateBundle,
    CertificatePage,
    ImportedCertificate,
    RenewedCertificate,
    RevokedCertificate,
)
from keybearer.client.decoding import decode
from keybearer.client.errors import DecodeError, InvalidArgument
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, json_body
from keybearer.client.operation import Operation, Repeat
from keybearer.client.operations.certificate_listings import PageOfProject
from keybearer.wire.base import WireModel

__all__ = [
    "ConfigureCertificate",
    "DeleteCertificate",
    "GetCertificate",
    "GetCertificateBundle",
    "GetCertificateChain",
    "GetCertificatePrivateKey",
    "ImportCertificate",
    "ListCertificates",
    "RenewCertificate",
    "RevokeCertificate",
]

_ALL = "/api/v1/cert-manager/certificates"
_ONE = f"{_ALL}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _CertificateAnswer:
    """`{certificate}`."""

    certificate: Certificate


class _Renewed(WireModel):
    remove_roots_from_chain: bool


class _Configured(WireModel):
    renew_before_days: Annotated[int, Field(ge=1)] | None = None
    enable_auto_renewal: bool | None = None


class _Imported(WireModel):
    certificate_pem: Annotated[str, Field(min_length=1)]
    private_key_pem: Annotated[str | None, Field(repr=False)] = None
    chain_pem: str | None = None
    friendly_name: str | None = None
    project_id: str | None = None


class _Revoked(WireModel):
    revocation_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCertificates(PageOfProject[CertificatePage]):
    """List the certificates of a project: those that meet all of what is given, the newest first.

    Attributes:
        project_id: None for the organization's own project for certificates.
        offset, limit: of those found, leave out so many, and return so many, 1 to 100.
        status: `active`, `expired` or `revoked`.
        search: stands in the common name, another name or the serial number.
    """

    status: str | None = None

    def request(self) -> Request:
        """Return what to send."""
        return self.asked(_ALL, {"status": self.status})

    def read(self, response: Response) -> CertificatePage:
        """Return the page."""
        return decode(response, CertificatePage)


@dataclass(frozen=True, slots=True)
class _Existing:
    certificate_id: str

    def path(self, action: str = "") -> str:
        """Return the path of the certificate, or of something of it."""
        return fill(f"{_ONE}{action}", self.certificate_id)


@dataclass(frozen=True, slots=True)
class GetCertificate(_Existing, Operation[Certificate]):
    """Return what is known of a certificate; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path())

    def read(self, response: Response) -> Certificate:
        """Return the certificate."""
        return decode(response, _CertificateAnswer).certificate


@dataclass(frozen=True, slots=True)
class GetCertificateBundle(_Existing, Operation[CertificateBundle]):
    """Return a certificate with its chain, and its key where there is one to be had."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/bundle"))

    def read(self, response: Response) -> CertificateBundle:
        """Return the bundle."""
        return decode(response, CertificateBundle)


@dataclass(frozen=True, slots=True)
class GetCertificateChain(_Existing, Operation[CertificateBundle]):
    """Return a certificate with its chain, without its key."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/certificate"))

    def read(self, response: Response) -> CertificateBundle:
        """Return the bundle."""
        return decode(response, CertificateBundle)


@dataclass(frozen=True, slots=True)
class GetCertificatePrivateKey(_Existing, Operation[str]):
    """Return the PEM of a certificate's key; `NotFound` where the service hasn't got one."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", self.path("/private-key"))

    def read(self, response: Response) -> str:
        """Return the PEM, which is all of the answer."""
        if response.body.lstrip().startswith(b"-----BEGIN ") and response.body.isascii():
            return response.body.decode("ascii")
        raise DecodeError("the answer is not what this interface answers: no PEM")


@dataclass(frozen=True, slots=True)
class RenewCertificate(_Existing, Operation[RenewedCertificate]):
    """Have a certificate whose key the service made issued again, and return the new one, or the request for it."""

    remove_roots_from_chain: bool = field(default=False, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Renewed(remove_roots_from_chain=self.remove_roots_from_chain))
        return Request("POST", self.path("/renew"), body=body)

    def read(self, response: Response) -> RenewedCertificate:
        """Return the new certificate."""
        return decode(response, RenewedCertificate)


@dataclass(frozen=True, slots=True)
class ConfigureCertificate(_Existing, Operation[None]):
    """Say when the service renews a certificate by itself: give one of the two.

    Attributes:
        renew_before_days: so many days before it ends, 1 to 30.
        enable_auto_renewal: whether at all.
    """

    renew_before_days: int | None = field(default=None, kw_only=True)
    enable_auto_renewal: bool | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        if (self.renew_before_days is None) == (self.enable_auto_renewal is None):
            raise InvalidArgument("give renew_before_days or enable_auto_renewal, one of the two")
        body = json_body(
            lambda: _Configured(
                renew_before_days=self.renew_before_days, enable_auto_renewal=self.enable_auto_renewal
            )
        )
        return Request("PATCH", self.path("/config"), body=body)

    def read(self, response: Response) -> None:
        """Return nothing: the status says it all."""


@dataclass(frozen=True, slots=True)
class RevokeCertificate(_Existing, Operation[RevokedCertificate]):
    """Revoke a certificate; `BadRequest` if it is already.

    Attributes:
        reason: such as `UNSPECIFIED`, `KEY_COMPROMISE`, `SUPERSEDED`, `CESSATION_OF_OPERATION`.
    """

    reason: str = field(default="UNSPECIFIED", kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(lambda: _Revoked(revocation_reason=self.reason))
        return Request("POST", self.path("/revoke"), body=body)

    def read(self, response: Response) -> RevokedCertificate:
        """Return when it was revoked."""
        return decode(response, RevokedCertificate)


@dataclass(frozen=True, slots=True)
class DeleteCertificate(_Existing, Operation[Certificate]):
    """Delete what the service knows of a certificate, its key too, and return what it was; it stays valid."""

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", self.path())

    def read(self, response: Response) -> Certificate:
        """Return the certificate."""
        return decode(response, _CertificateAnswer).certificate


@dataclass(frozen=True, slots=True)
class ImportCertificate(Operation[ImportedCertificate]):
    """Have the service know a certificate of somebody else.

    Attributes:
        certificate: PEM.
        private_key: PEM, if the service is to keep it.
        certificate_chain: PEM of those that vouch for it, the nearest first.
        project_id: None for the organization's own project for certificates.
    """

    certificate: str = field(repr=False)
    private_key: str | None = field(default=None, repr=False, kw_only=True)
    certificate_chain: str | None = field(default=None, repr=False, kw_only=True)
    friendly_name: str | None = field(default=None, kw_only=True)
    project_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: _Imported(
                certificate_pem=self.certificate,
                private_key_pem=self.private_key,
                chain_pem=self.certificate_chain,
                friendly_name=self.friendly_name,
                project_id=self.project_id,
            )
        )
        return Request("POST", f"{_ALL}/import-certificate", body=body)

    def read(self, response: Response) -> ImportedCertificate:
        """Return what the service knows it as."""
        return decode(response, ImportedCertificate)

    def confidential(self) -> tuple[str, ...]:
        """Return the key, and its lines, since a message may tell one of them alone."""
        return () if self.private_key is None else (self.private_key, *self.private_key.splitlines())
