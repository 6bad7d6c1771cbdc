"""What is asked for, decided about: put together, held against the policy, with a key (wire.md section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from keybearer.base.certificate_terms import IssuerType, SignatureAlgorithm
from keybearer.base.clock import Clock
from keybearer.base.validity import Dating
from keybearer.domain.certificates.acme_terms import require_orderable
from keybearer.domain.certificates.asked import (
    Asked,
    asked_of_attributes,
    asked_of_request,
    validity_of,
)
from keybearer.domain.certificates.key_work import KeyWork
from keybearer.domain.certificates.orders import Order, Requester, approval_for
from keybearer.domain.certificates.profile_terms import defaults_of, rules_of
from keybearer.domain.certificates.signing import Signing, require_may_sign, sentence_of
from keybearer.domain.errors import InvalidError
from keybearer.pki.errors import PkiError
from keybearer.pki.issuance import default_key_usages
from keybearer.pki.keys import default_signature_algorithm, require_supported
from keybearer.pki.policy_rules import Content
from keybearer.pki.signing_requests import SigningRequest, parse_signing_request
from keybearer.store.certificate_profiles import IssuingProfile
from keybearer.wire.certificates.attributes import CertificateAttributes

__all__ = ["Deciding", "NewCertificate"]

_NOTHING_SAID = CertificateAttributes()


@dataclass(frozen=True, slots=True)
class NewCertificate:
    """What a caller asks for; `csr` is PEM."""

    profile_id: str
    attributes: CertificateAttributes = _NOTHING_SAID
    csr: str | None = None
    application_id: str | None = None
    remove_roots_from_chain: bool = False
    metadata: tuple[tuple[str, str], ...] = ()


class Deciding:
    """Turns what was asked for into orders. Nothing is signed or stored here."""

    def __init__(self, signing: Signing, work: KeyWork, clock: Clock) -> None:
        self._signing = signing
        self._work = work
        self._clock = clock

    async def order(self, profile: IssuingProfile, new: NewCertificate, requester: Requester) -> Order:
        """Return what is to be issued, with the key that the service makes where no signing request is given.

        Raises:
            InvalidError: the signing request can't be read, the policy is violated, or the authority isn't active.
        """
        defaults = defaults_of(profile)
        if profile.authority is not None:
            require_may_sign(profile.authority, profile.profile.policy_id)
        try:
            request = None if new.csr is None else _read_csr(profile, new.csr)
            asked = (
                asked_of_attributes(new.attributes, defaults)
                if request is None
                else asked_of_request(request, new.attributes, defaults)
            )
            require_supported(asked.key_algorithm)
        except PkiError as error:
            raise InvalidError(sentence_of(error)) from error
        waits = approval_for(profile, requester) is not None
        asked = self.require_allowed(profile, asked, request, waits=waits)
        key = request.public_key if request is not None else await self._work.new_key(asked.key_algorithm)
        return Order(
            profile=profile,
            asked=asked,
            requester=requester,
            key=key,
            csr=new.csr,
            application_id=new.application_id,
            remove_roots_from_chain=new.remove_roots_from_chain,
            metadata=new.metadata,
        )

    def require_allowed(
        self,
        profile: IssuingProfile,
        asked: Asked,
        request: SigningRequest | None = None,
        *,
        waits: bool = False,
    ) -> Asked:
        """Return what is asked for with nothing left open but what an authority elsewhere decides.

        Args:
            profile: that it would be issued from.
            asked: the content.
            request: the signing request, if any.
            waits: for somebody's agreement: when it begins is judged once it is issued.

        Raises:
            InvalidError: the policy is violated, each rule is named; or an authority elsewhere can't honour it.
        """
        authority = profile.authority
        is_elsewhere = authority is not None and not authority.is_internal
        if authority is not None and is_elsewhere:
            require_orderable(authority.name, asked, request)
        rules = rules_of(profile.policy)
        usual = default_key_usages(asked.key_algorithm, is_ca=asked.is_ca)
        usages = rules.fitting_key_usages(usual) if asked.key_usages is None else asked.key_usages
        extended = (
            rules.fitting_extended_key_usages()
            if asked.extended_key_usages is None
            else asked.extended_key_usages
        )
        # What comes from elsewhere is held against the policy once more, as it is.
        whole = asked if is_elsewhere else replace(asked, key_usages=usages, extended_key_usages=extended)
        content = Content(
            subject=asked.subject,
            alternative_names=asked.alternative_names,
            key_usages=usages,
            extended_key_usages=extended,
            key_algorithm=asked.key_algorithm,
            signature_algorithm=None if is_elsewhere else self._signature_of(profile, asked),
            lifetime=None if is_elsewhere else self._lifetime_of(asked, None if waits else rules.dating),
            is_ca=asked.is_ca,
            path_length=asked.path_length,
        )
        found = rules.violations(content)
        if found:
            raise InvalidError(
                f"The certificate request violates certificate policy {profile.policy.name}: {'; '.join(found)}",
                details=found,
            )
        return whole

    def _lifetime_of(self, asked: Asked, dating: Dating | None) -> timedelta:
        return validity_of(asked, self._clock.now(), dating).lifetime

    def _signature_of(self, profile: IssuingProfile, asked: Asked) -> SignatureAlgorithm:
        """Return how the certificate would be signed."""
        if asked.signature_algorithm is not None:
            return asked.signature_algorithm
        if profile.authority is None:
            return default_signature_algorithm(asked.key_algorithm)
        return default_signature_algorithm(self._signing.signer_of(profile).issuer.key.algorithm)


def _read_csr(profile: IssuingProfile, csr: str) -> SigningRequest:
    if profile.profile.issuer_type == IssuerType.SELF_SIGNED:
        raise InvalidError("A self-signed certificate is made with a key of the service: leave out csr")
    return parse_signing_request(csr)
