"""What a certificate has to satisfy: its policy before it is asked for, its request before it is stored. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from keybearer.base.certificate_terms import (
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    IssuerType,
    KeyAlgorithm,
    SignatureAlgorithm,
)
from keybearer.base.errors import KeybearerError
from keybearer.client import CertificatePolicy, ProfileDefaults
from keybearer.controllers.certificateprofile.desired import DesiredCertificate
from keybearer.controllers.certificateprofile.status import AuthorityStatus
from keybearer.controllers.issuance.service import IssuedCertificate, PresentProfile
from keybearer.pki.certificates import (
    Certificate,
    parse_certificate,
    parse_certificates,
    text_of_certificates,
)
from keybearer.pki.chains import ordered_chain, verify_chain
from keybearer.pki.comparison import differences
from keybearer.pki.errors import PkiError
from keybearer.pki.issuance import default_key_usages
from keybearer.pki.keys import PublicKey, default_signature_algorithm
from keybearer.pki.names import Subject
from keybearer.pki.policy_rules import CompiledRules, Content
from keybearer.pki.signing_requests import SigningRequest

__all__ = [
    "Authority",
    "Judged",
    "NotConformantError",
    "judge",
    "read_authority",
    "recognize",
    "violations_of",
]

_SKEW = timedelta(minutes=10)
"""By how much the clocks of service and operator may differ before a certificate of this minute is refused."""
_DIGEST_LENGTH = 32
_CHAINS_KEPT = 16


class NotConformantError(KeybearerError):
    """What was issued can't be stored; the text says why, and repeats no key."""


@dataclass(frozen=True, slots=True)
class Authority:
    """Who signs the certificates of a profile.

    Attributes:
        chain: its certificate and those above it, in order.
    """

    chain: tuple[Certificate, ...]

    @property
    def key(self) -> str:
        """A digest of its public key."""
        return _key_digest(self.chain[0])

    @property
    def anchor(self) -> Certificate:
        """The certificate that is trusted: the last of the chain."""
        return self.chain[-1]

    @property
    def status(self) -> AuthorityStatus:
        """How the status notes it."""
        return AuthorityStatus(
            key=self.key, not_after=self.chain[0].not_after, anchors=text_of_certificates((self.anchor,))
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A certificate that may be stored.

    Attributes:
        leaf: itself.
        above: what goes with it into `tls.crt`: who signed it, and so on, but for the root.
        authority: who signed it; None where it signed itself.
        anchors: what `ca.crt` holds for it, as PEM.
    """

    leaf: Certificate
    above: tuple[Certificate, ...]
    authority: Authority | None
    anchors: str

    @property
    def pem(self) -> str:
        """What `tls.crt` holds."""
        return text_of_certificates((self.leaf, *self.above))


def read_authority(pem: str | None) -> Authority | None:
    """Return the authority whose certificates these are; None where there are none that can be read."""
    if not pem:
        return None
    try:
        first, *others = parse_certificates(pem)
    except PkiError:
        return None
    return Authority(ordered_chain(first, others))


def judge(
    issued: IssuedCertificate,
    desired: DesiredCertificate,
    public_key: PublicKey | None,
    authority: Authority | None,
    *,
    self_signed: bool,
    now: datetime,
) -> Judged:
    """Return the certificate, if it may be stored.

    Args:
        issued: what the service gave.
        desired: what was asked for.
        public_key: of the key that is to be used with it.
        authority: who is to have signed it; None where that isn't known: then whoever ends its chain is taken for it.
        self_signed: nobody is to have signed it but itself.
        now: the present.

    Raises:
        NotConformantError: it isn't what was asked for, or nobody vouches for it.
    """
    leaf, others = _read(issued)
    found = differences(desired.asked(public_key), leaf)
    if found:
        raise NotConformantError(
            "what was issued isn't what was asked for: " + "; ".join(one.text for one in found)
        )
    if self_signed:
        return _judge_self_signed(leaf, now)
    known = () if authority is None else authority.chain
    path = ordered_chain(leaf, (*others, *known))
    if len(path) < 2:
        raise NotConformantError("what was issued comes without the certificate of who signed it")
    anchor = path[-1] if authority is None else authority.anchor
    try:
        verified = verify_chain(
            leaf,
            [one for one in path[1:] if one != anchor],
            [anchor],
            _instant(leaf, now),
            usages=desired.extended_key_usages or (),
        )
    except PkiError as error:
        raise NotConformantError(f"nobody vouches for what was issued: {error}") from None
    return _judged(verified)


def recognize(issued: IssuedCertificate, authority: Authority | None) -> Judged:
    """Return a certificate that passed before, put together again: nothing of it is compared.

    Args:
        issued: what the service or its own Secret still has of it.
        authority: of the profile, whose certificates may be missing there.

    Raises:
        NotConformantError: it can't be read.
    """
    leaf, others = _read(issued)
    path = ordered_chain(leaf, (*others, *(() if authority is None else authority.chain)))
    return Judged(leaf, (), None, text_of_certificates((leaf,))) if len(path) < 2 else _judged(path)


def _read(issued: IssuedCertificate) -> tuple[Certificate, tuple[Certificate, ...]]:
    try:
        return parse_certificate(issued.certificate), _chain_of(issued.chain)
    except PkiError as error:
        raise NotConformantError(f"what was issued can't be read: {error}") from None


@lru_cache(maxsize=_CHAINS_KEPT)
def _chain_of(text: str) -> tuple[Certificate, ...]:
    """Return what stands above a certificate: the same for all that an authority signs."""
    return parse_certificates(text) if text.strip() else ()


def _judge_self_signed(leaf: Certificate, now: datetime) -> Judged:
    if not leaf.is_self_issued:
        raise NotConformantError(f"what was issued is signed by {leaf.issuer}, not by itself")
    if not leaf.not_before - _SKEW <= now <= leaf.not_after:
        raise NotConformantError("what was issued isn't valid now")
    return Judged(leaf, (), None, text_of_certificates((leaf,)))


def _judged(path: Sequence[Certificate]) -> Judged:
    leaf, *above = path
    authority = Authority(tuple(above))
    anchor = authority.anchor
    # Who is to trust the root has it; sent along, it is only in the way.
    shown = tuple(one for one in above if not (one is anchor and one.is_self_issued))
    return Judged(leaf, shown, authority, text_of_certificates((anchor,)))


def _instant(leaf: Certificate, now: datetime) -> datetime:
    """Return the present, or the beginning of a certificate that a clock ahead of ours has just made."""
    return leaf.not_before if now < leaf.not_before <= now + _SKEW else now


def _key_digest(certificate: Certificate) -> str:
    key = certificate.public_key
    return (certificate.fingerprint if key is None else key.fingerprint)[:_DIGEST_LENGTH]


_NO_DEFAULTS = ProfileDefaults()


def violations_of(
    desired: DesiredCertificate,
    policy: CertificatePolicy,
    profile: PresentProfile,
    authority: Authority | None,
) -> list[str]:
    """Return what of the certificate the policy forbids or misses, in words; nothing where it may be issued.

    Args:
        desired: the certificate.
        policy: of its profile.
        profile: that it would be issued from; its defaults stand where nothing else is said.
        authority: that would sign; where it isn't known, neither is how it signs.
    """
    defaults, request, rules = profile.defaults or _NO_DEFAULTS, desired.request, CompiledRules(policy)
    algorithm = desired.entry.key.algorithm if request is None else request.public_key.algorithm
    is_ca, path_length = _constraints(request, defaults)
    usages, extended = desired.key_usages, desired.extended_key_usages
    if request is not None:
        # What it says stands before what the profile fills in.
        usages = usages if request.key_usages is None else request.key_usages
        extended = frozenset(request.extended_key_usages) or extended
    if usages is None:
        usages = rules.fitting_key_usages(default_key_usages(algorithm, is_ca=is_ca))
    content = Content(
        subject=desired.subject if request is None else _filled(request.subject, desired.subject),
        alternative_names=desired.names if request is None else (request.alternative_names or desired.names),
        key_usages=usages,
        extended_key_usages=rules.fitting_extended_key_usages()
        if extended is None
        else tuple(sorted(extended)),
        key_algorithm=algorithm,
        signature_algorithm=_signature(profile, defaults, authority, algorithm),
        lifetime=desired.lifetime,
        is_ca=is_ca,
        path_length=path_length,
    )
    return rules.violations(content)


def _signature(
    profile: PresentProfile, defaults: ProfileDefaults, authority: Authority | None, own: KeyAlgorithm
) -> SignatureAlgorithm | None:
    """Return how it would be signed; None where that can't be told."""
    if defaults.signature_algorithm is not None:
        return SIGNATURE_ALGORITHMS_BY_SPELLING.get(defaults.signature_algorithm)
    if profile.issuer_type is IssuerType.SELF_SIGNED:
        return default_signature_algorithm(own)
    key = None if authority is None else authority.chain[0].public_key
    return None if key is None else default_signature_algorithm(key.algorithm)


def _constraints(request: SigningRequest | None, defaults: ProfileDefaults) -> tuple[bool, int | None]:
    """Return whether it may sign others, and how many authorities may follow it."""
    if request is not None and request.is_ca is not None:
        return request.is_ca, request.path_length if request.is_ca else None
    given = defaults.basic_constraints
    return (True, given.path_length) if given is not None and given.is_ca else (False, None)


def _filled(said: Subject, defaults: Subject) -> Subject:
    """Return the subject of a request with the defaults of what it doesn't hold; its order is none of a policy's."""
    there = {one.field for one in said.attributes}
    return Subject((*said.attributes, *(one for one in defaults.attributes if one.field not in there)))
