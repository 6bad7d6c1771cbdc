"""A service that issues real certificates from an authority of its own, and remembers what it was asked."""

# ruff: noqa: ARG002 - a protocol's signatures

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from keybearer.base.certificate_terms import (
    CertificateStatus,
    IssuerType,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    RequestStatus,
    RevocationReason,
)
from keybearer.client import CertificatePolicy
from keybearer.controllers.issuance.service import (
    DescribedProfile,
    IssuedCertificate,
    Order,
    OrderAnswer,
    PresentProfile,
    RequestState,
    WhichOne,
)
from keybearer.controllers.outcome import StalledError
from keybearer.pki.certificates import Certificate, parse_certificate
from keybearer.pki.issuance import Issuer, Template, new_serial_number, self_sign
from keybearer.pki.keys import PrivateKey, generate_private_key
from keybearer.pki.names import Subject, alternative_name
from keybearer.pki.signing_requests import parse_signing_request

__all__ = ["AUTHORITY_ID", "FakeCertificateService", "Killed", "KillingAt", "new_authority"]

AUTHORITY_ID, POLICY_ID = "ca-1", "policy-1"
_BACKDATING = timedelta(minutes=5)


class Killed(BaseException):
    """The process ends here."""


class KillingAt:
    """Kills at the n-th time that it is told of this.

    Attributes:
        left: so often it has still to be told; below 1 when it has killed.
    """

    def __init__(self, nth: int, *wanted: str) -> None:
        self.left = nth
        self._wanted = wanted

    def __call__(self, *told: str) -> None:
        if told == self._wanted:
            self.left -= 1
            if self.left == 0:
                raise Killed


@dataclass
class Kept:
    """A request as the service keeps it."""

    state: RequestState
    metadata: dict[str, str]
    order: Order
    issued: IssuedCertificate | None = None


@dataclass
class FakeCertificateService:
    """See `CertificateService`.

    Attributes:
        now: the present, as the service has it.
        ahead: by how much that is ahead of the operator's clock.
        status: how new requests stand; those that are issued are issued at once.
        lists: whether the identity may list certificates.
        at_once: whether what is issued at once comes with the answer.
        before, after: called with the name of each operation; may raise.
        forge: changes what is to be issued.
    """

    now: Callable[[], datetime]
    issuer: Issuer
    profile: PresentProfile | None = None
    ahead: timedelta | None = timedelta()
    status: RequestStatus = RequestStatus.ISSUED
    at_once: bool = True
    read_keys: bool = True
    lists: bool = True
    policy_rules: CertificatePolicy | None = None
    before: Callable[[str], None] = lambda _: None
    after: Callable[[str], None] = lambda _: None
    forge: Callable[[Template], Template] = lambda template: template
    kept: dict[str, Kept] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    revoked: dict[str, RevocationReason] = field(default_factory=dict)
    cancelled: list[str] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    @property
    def clock_ahead(self) -> timedelta | None:
        return self.ahead

    def _begin(self, name: str) -> None:
        self.calls.append(name)
        self.before(name)

    async def find_profile(
        self, *, profile_id: str | None, slug: str, project_id: str | None
    ) -> PresentProfile | None:
        self._begin("find_profile")
        there = self.profile
        return there if there is not None and (there.id == profile_id or there.slug == slug) else None

    async def policy_id(self, which: WhichOne, project_id: str | None) -> str | None:
        return POLICY_ID if which.name == "policy" else which.id

    async def authority_id(self, which: WhichOne, project_id: str | None) -> str | None:
        return AUTHORITY_ID if which.name == "authority" else which.id

    async def policy(self, policy_id: str) -> CertificatePolicy | None:
        return self.policy_rules

    async def authority_chain(self, ca_id: str) -> str | None:
        self._begin("authority_chain")
        return self.issuer.certificate.pem

    async def create_profile(self, described: DescribedProfile) -> PresentProfile:
        self._begin("create_profile")
        if self.profile is not None and self.profile.slug == described.slug:
            raise StalledError("PermissionDenied", "a profile of this name exists in the project")
        self.profile = _present("profile-1", described)
        self.after("create_profile")
        return self.profile

    async def update_profile(self, profile_id: str, described: DescribedProfile) -> PresentProfile:
        self._begin("update_profile")
        self.profile = _present(profile_id, described)
        return self.profile

    async def delete_profile(self, profile_id: str) -> None:
        self._begin("delete_profile")
        self.profile = None

    async def issue(self, order: Order) -> OrderAnswer:
        self._begin("issue")
        request = Kept(
            RequestState(f"request-{next(self._numbers)}", self.status, created_at=self.now()),
            dict(order.metadata),
            order,
        )
        self.kept[request.state.id] = request
        if self.status is RequestStatus.ISSUED:
            self._issue(request)
        self.after("issue")
        return OrderAnswer(request.state, request.issued if self.at_once else None)

    async def requests_of(
        self,
        metadata: Mapping[str, str],
        profile_id: str | None,
        project_id: str | None,
        wanted: Collection[str] | None = None,
    ) -> Sequence[RequestState]:
        self._begin("requests_of")
        found = [
            one.state
            for one in self.kept.values()
            if metadata.items() <= one.metadata.items() and profile_id in (None, one.order.profile_id)
        ]
        return [one for one in reversed(found) if wanted is None or one.id in wanted]

    async def ends_of(self, profile_id: str, *, issued_before: datetime) -> Sequence[datetime] | None:
        self._begin("ends_of")
        if not self.lists:
            return None
        issued = (
            one.issued
            for one in self.kept.values()
            if one.issued is not None
            and one.state.certificate_status is CertificateStatus.ACTIVE
            and one.state.created_at is not None
            and one.state.created_at <= issued_before
        )
        return [parse_certificate(one.certificate).not_after for one in issued]

    async def bundle(self, certificate_id: str) -> IssuedCertificate | None:
        self._begin("bundle")
        found = (one.issued for one in self.kept.values() if one.issued is not None)
        issued = next((one for one in found if one.certificate_id == certificate_id), None)
        return issued if issued is None or self.read_keys else replace(issued, private_key=None)

    async def revocation_reason(self, certificate_id: str) -> RevocationReason | None:
        self._begin("revocation_reason")
        return self.revoked.get(certificate_id)

    async def revoke(self, certificate_id: str, reason: RevocationReason) -> None:
        self._begin("revoke")
        self.revoked[certificate_id] = reason
        for one in self.kept.values():
            if one.state.certificate_id == certificate_id:
                one.state = replace(one.state, certificate_status=CertificateStatus.REVOKED)
        self.after("revoke")

    async def cancel(self, request_id: str) -> None:
        self._begin("cancel")
        self.cancelled.append(request_id)
        kept = self.kept[request_id]
        kept.state = replace(kept.state, status=RequestStatus.FAILED, message="Cancelled by operator")

    def settle(self, status: RequestStatus, message: str | None = None) -> None:
        """Let all open requests come to this."""
        for one in self.kept.values():
            if not one.state.status.is_final:
                one.state = replace(one.state, status=status, message=message)
                if status is RequestStatus.ISSUED:
                    self._issue(one)

    def issued_for(self, name: str) -> list[IssuedCertificate]:
        """Return what was issued for a certificate."""
        return [
            one.issued
            for one in self.kept.values()
            if one.issued is not None and one.metadata["keybearer.dev/certificate"] == name
        ]

    def _issue(self, request: Kept) -> None:
        order, key = request.order, None
        if order.csr is not None:
            csr = parse_signing_request(order.csr)
            public_key, subject, names = csr.public_key, csr.subject, csr.alternative_names
            usages, extended = csr.key_usages, csr.extended_key_usages
        else:
            key = generate_private_key(KeyAlgorithm(order.attributes.key_algorithm or "EC_prime256v1"))
            public_key, usages, extended = key.public_key, None, ()
            subject = Subject.of(order.attributes.common_name)
            names = tuple(
                alternative_name(NameType(one.type or "dns_name"), one.value)
                for one in order.attributes.alt_names or ()
            )
        ttl = order.attributes.ttl or "1d"
        hours = int(str(ttl)[:-1]) * (24 if str(ttl).endswith("d") else 1)
        template = self.forge(
            Template(
                subject=subject,
                not_before=self.now() - _BACKDATING,
                not_after=self.now() + timedelta(hours=hours),
                serial_number=new_serial_number(),
                alternative_names=names,
                key_usages=usages or frozenset({KeyUsage.DIGITAL_SIGNATURE}),
                extended_key_usages=extended,
            )
        )
        made = self.issuer.issue(template, public_key)
        certificate_id = f"certificate-{request.state.id.rpartition('-')[2]}"
        request.issued = IssuedCertificate(
            certificate_id,
            made.pem,
            self.issuer.certificate.pem,
            None if key is None else key.pem(),
        )
        request.state = replace(
            request.state,
            status=RequestStatus.ISSUED,
            certificate_id=certificate_id,
            certificate_status=CertificateStatus.ACTIVE,
        )


def new_authority(name: str, now: datetime) -> Issuer:
    """Return a root that lives for twenty years."""
    key: PrivateKey = generate_private_key(KeyAlgorithm.EC_P256)
    template = Template(
        subject=Subject.of(name),
        not_before=now - timedelta(days=1),
        not_after=now + timedelta(days=7300),
        serial_number=new_serial_number(),
        key_usages=frozenset({KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN}),
        is_ca=True,
    )
    certificate: Certificate = parse_certificate(self_sign(template, key).pem)
    return Issuer(certificate, key)


def _present(profile_id: str, described: DescribedProfile) -> PresentProfile:
    return PresentProfile(
        profile_id,
        described.slug,
        described.policy_id,
        described.ca_id,
        IssuerType(described.issuer_type),
        described.description,
        described.defaults,
    )
