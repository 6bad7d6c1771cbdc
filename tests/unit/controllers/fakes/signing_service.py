"""A service that issues, in a test's hands: what signers need of it, with a real authority of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache

from keybearer.base.certificate_terms import (
    ExtendedKeyUsage,
    IssuerType,
    KeyUsage,
    RequestStatus,
    RevocationReason,
)
from keybearer.client import CertificateAttributes, CertificatePolicy, ProfileDefaults
from keybearer.controllers.issuance.service import (
    CertificateService,
    DescribedProfile,
    IssuedCertificate,
    Order,
    OrderAnswer,
    PresentProfile,
    RequestState,
    WhichOne,
)
from keybearer.pki.certificates import certificate_of
from keybearer.pki.issuance import Issuer, Template, new_serial_number, self_sign
from keybearer.pki.keys import generate_private_key
from keybearer.pki.names import Subject
from keybearer.pki.signing_requests import parse_signing_request
from support.signing_objects import key

__all__ = ["DEFAULTS", "PROFILE_ID", "PROJECT_ID", "FakeSigningService", "authority"]

PROFILE_ID = "0b5c6f9e-58d1-4f54-9d38-2f3ac1b5f0aa"
PROJECT_ID = "5d0c1a44-7b0e-4b7e-8a57-1f2f9f6a0c11"
DEFAULTS = ProfileDefaults(ttl_days=30, common_name="web")
_SIGNING = frozenset({KeyUsage.KEY_CERT_SIGN, KeyUsage.CRL_SIGN})
_BACKDATED = timedelta(minutes=5)


@cache
def authority() -> tuple[Issuer, str]:
    """An intermediate authority, and the text of it and its root."""
    begin, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2040, 1, 1, tzinfo=UTC)

    def template(name: str) -> Template:
        return Template(Subject.of(name), begin, end, new_serial_number(), key_usages=_SIGNING, is_ca=True)

    root_key, own_key = key(), generate_private_key(key().algorithm)
    root = self_sign(template("Root"), root_key)
    above = Issuer(certificate_of(root.der), root_key)
    own = above.issue(template("Intermediate"), own_key.public_key)
    return Issuer(certificate_of(own.der), own_key), own.pem + root.pem


class FakeSigningService(CertificateService):
    """Issues at once what is ordered, unless told otherwise.

    Attributes:
        status: what requests come to when they are made.
        orders: what was ordered.
        revoked: ids of certificates.
        cancelled: ids of requests.
        profile: what it shows of the profile.
        usages, extended: of certificates whose request names none.
        alter: changes the template of a certificate before it is signed.
        before: called with the name of each operation before it is done, and again with `after ` before it.
    """

    @property
    def clock_ahead(self) -> timedelta | None:
        return None

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.status = RequestStatus.ISSUED
        self.orders: list[Order] = []
        self.revoked: list[str] = []
        self.cancelled: list[str] = []
        self.profile = PresentProfile(PROFILE_ID, "web", "policy", "ca-1", IssuerType.CA, None, DEFAULTS)
        self.usages = frozenset({KeyUsage.DIGITAL_SIGNATURE})
        self.extended: tuple[ExtendedKeyUsage, ...] = (ExtendedKeyUsage.SERVER_AUTH,)
        self.alter: Callable[[Template], Template] = lambda template: template
        self.before: Callable[[str], None] = lambda _: None
        self._requests: list[tuple[Mapping[str, str], RequestState]] = []
        self._issued: dict[str, IssuedCertificate] = {}

    def decide(self, status: RequestStatus, message: str | None = None) -> None:
        """The newest request comes to this end."""
        marks, state = self._requests.pop()
        if status is RequestStatus.ISSUED:
            self._sign(self.orders[-1], f"certificate-{len(self.orders)}")
            state = replace(state, certificate_id=f"certificate-{len(self.orders)}")
        self._requests.append((marks, replace(state, status=status, message=message)))

    async def issue(self, order: Order) -> OrderAnswer:
        self.before("issue")
        self.orders.append(order)
        number = len(self.orders)
        state = RequestState(f"request-{number}", self.status)
        issued = None
        if self.status is RequestStatus.ISSUED:
            issued = self._sign(order, f"certificate-{number}")
            state = replace(state, certificate_id=issued.certificate_id)
        self._requests.append((order.metadata, state))
        self.before("after issue")
        return OrderAnswer(state, issued)

    async def requests_of(
        self,
        metadata: Mapping[str, str],
        profile_id: str | None,
        project_id: str | None,
        wanted: Collection[str] | None = None,
    ) -> Sequence[RequestState]:
        del profile_id, wanted
        assert project_id == PROJECT_ID, "the service would look in the oldest project"
        self.before("requests_of")
        return [state for marks, state in reversed(self._requests) if marks == metadata]

    async def ends_of(self, profile_id: str, *, issued_before: datetime) -> Sequence[datetime] | None:
        del profile_id, issued_before
        raise NotImplementedError

    async def bundle(self, certificate_id: str) -> IssuedCertificate | None:
        self.before("bundle")
        return self._issued.get(certificate_id)

    async def revocation_reason(self, certificate_id: str) -> RevocationReason | None:
        del certificate_id
        raise NotImplementedError

    async def revoke(self, certificate_id: str, reason: RevocationReason) -> None:
        del reason
        self.before("revoke")
        self.revoked.append(certificate_id)

    async def find_profile(
        self, *, profile_id: str | None, slug: str, project_id: str | None
    ) -> PresentProfile | None:
        del slug
        assert project_id == PROJECT_ID
        self.before("find_profile")
        return self.profile if profile_id == self.profile.id else None

    async def authority_chain(self, ca_id: str) -> str | None:
        self.before("authority_chain")
        return authority()[1] if ca_id == self.profile.ca_id else None

    def _sign(self, order: Order, certificate_id: str) -> IssuedCertificate:
        request = parse_signing_request(order.csr or "")
        begin, end = self._validity(order.attributes)
        is_ca = order.attributes.basic_constraints is not None and order.attributes.basic_constraints.is_ca
        usages = request.key_usages or self.usages
        template = Template(
            request.subject if request.subject.attributes else Subject.of("web"),
            begin,
            end,
            new_serial_number(),
            alternative_names=request.alternative_names,
            key_usages=usages | _SIGNING if is_ca else usages,
            extended_key_usages=request.extended_key_usages or self.extended,
            is_ca=is_ca,
        )
        issuer, chain = authority()
        made = issuer.issue(self.alter(template), request.public_key)
        self._issued[certificate_id] = IssuedCertificate(certificate_id, made.pem, chain)
        return self._issued[certificate_id]

    def _validity(self, asked: CertificateAttributes) -> tuple[datetime, datetime]:
        if asked.not_before is not None and asked.not_after is not None:
            return asked.not_before, asked.not_after
        assert isinstance(asked.ttl, timedelta)
        now = self._now().replace(microsecond=0)
        return now - _BACKDATED, now + asked.ttl

    async def policy_id(self, which: WhichOne, project_id: str | None) -> str | None:
        raise NotImplementedError

    async def authority_id(self, which: WhichOne, project_id: str | None) -> str | None:
        raise NotImplementedError

    async def policy(self, policy_id: str) -> CertificatePolicy | None:
        raise NotImplementedError

    async def create_profile(self, described: DescribedProfile) -> PresentProfile:
        raise NotImplementedError

    async def update_profile(self, profile_id: str, described: DescribedProfile) -> PresentProfile:
        raise NotImplementedError

    async def delete_profile(self, profile_id: str) -> None:
        raise NotImplementedError

    async def cancel(self, request_id: str) -> None:
        self.before("cancel")
        self.cancelled.append(request_id)
