"""From a manifest and its profile to the certificates that it describes, their keys and signing requests."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    KEY_USAGES_BY_SPELLING,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
)
from keybearer.base.clock import format_instant
from keybearer.client import AltName, BasicConstraints, CertificateAttributes, ProfileDefaults
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.resource import ProfileDefaults as DescribedDefaults
from keybearer.controllers.certificateprofile.spec_certificate import (
    Certificate,
    Origin,
    RotationPolicy,
    parse_ttl,
)
from keybearer.controllers.certificateprofile.trigger import Wanted
from keybearer.controllers.outcome import StalledError
from keybearer.pki.comparison import Asked
from keybearer.pki.errors import PkiError, TemplateError
from keybearer.pki.keys import PrivateKey, PublicKey, generate_private_key
from keybearer.pki.names import AlternativeName, Subject, alternative_name
from keybearer.pki.signing_requests import SigningRequest, build_signing_request, parse_signing_request

__all__ = [
    "DesiredCertificate",
    "Made",
    "ProfileScope",
    "Wish",
    "client_defaults",
    "csr_of",
    "describe_certificate",
    "make",
]

_T = TypeVar("_T")

_TEXTS = ("common_name", "organization", "organizational_unit", "country", "state", "locality")
_DIGEST_LENGTH = 32
_COSTS = {KeyAlgorithm.RSA_2048: 4, KeyAlgorithm.RSA_3072: 12, KeyAlgorithm.RSA_4096: 30}
"""What a key takes to make, in times of what a certificate takes otherwise."""


@dataclass(frozen=True, slots=True)
class ProfileScope:
    """What all certificates of a profile share.

    Attributes:
        defaults: what certificates say where their manifest doesn't.
    """

    profile_id: str
    application_id: str | None = None
    defaults: ProfileDefaults | None = None


@dataclass(frozen=True, slots=True)
class DesiredCertificate:
    """A certificate as its manifest describes it, with what the profile fills in.

    Attributes:
        entry: of the manifest.
        digest: of all that decides what it says.
        subject, names, key_usages, extended_key_usages: what it is to say; None is left to the service.
        attributes: what the service is asked for where it makes the key; beside a csr, only for how long.
        lifetime: from its beginning to its end; None where the service decides.
        csr: PEM of the request of somebody else; None where there is none.
        request: the same, read.
    """

    entry: Certificate
    digest: str
    subject: Subject
    names: tuple[AlternativeName, ...]
    key_usages: frozenset[KeyUsage] | None
    extended_key_usages: frozenset[ExtendedKeyUsage] | None
    attributes: CertificateAttributes
    lifetime: timedelta | None
    csr: str | None = None
    request: SigningRequest | None = None

    @property
    def name(self) -> str:
        """What it is called."""
        return self.entry.name

    @property
    def wanted(self) -> Wanted:
        """What the plan needs of it."""
        return Wanted(self.name, self.digest)

    @property
    def makes_key(self) -> bool:
        """Whether the operator makes its key."""
        return self.csr is None and self.entry.key.generated_by is Origin.OPERATOR

    @property
    def keeps_key(self) -> bool:
        """Whether the operator makes its key once, and asks with it again at renewals."""
        return self.makes_key and self.entry.key.rotation_policy is RotationPolicy.NEVER

    @property
    def cost(self) -> int:
        """What it takes to begin an attempt, where 1 is the least."""
        return _COSTS.get(self.entry.key.algorithm, 1) if self.makes_key else 1

    def asked(self, public_key: PublicKey | None) -> Asked:
        """Return what the issued one is compared with; `public_key` is ours, None where the service made it."""
        return Asked(
            public_key=public_key if self.request is None else self.request.public_key,
            # Of a request of somebody else, the service may fill in or refuse what it likes; its key is what counts.
            subject=None if self.csr is not None else self.subject,
            alternative_names=None if self.csr is not None else self.names,
            key_usages=self.key_usages,
            extended_key_usages=self.extended_key_usages,
            is_ca=None,
            lifetime=self.lifetime,
        )


def describe_certificate(entry: Certificate, scope: ProfileScope, csr: str | None) -> DesiredCertificate:
    """Return the certificate that an entry of a manifest describes.

    Args:
        entry: of the manifest.
        scope: what all of the profile share.
        csr: the request of somebody else, as read from where the entry says.

    Raises:
        StalledError: names are of no allowed form, or the request can't be read.
    """
    where = f"certificate {entry.name}"
    try:
        described = _described(entry, scope)
    except TemplateError as error:
        raise StalledError(Reason.SPEC_INVALID, f"{where}: {error}") from None
    if csr is not None:
        try:
            read = parse_signing_request(csr)
        except PkiError as error:
            raise StalledError(Reason.CSR_INVALID, f"{where}: {error}") from None
        described = replace(described, csr=csr, request=read)
    return replace(described, digest=_digest(described, scope))


def client_defaults(described: DescribedDefaults | None) -> ProfileDefaults | None:
    """Return the defaults of a manifest as the client takes them."""
    if described is None:
        return None
    constraints = described.basic_constraints
    return ProfileDefaults(
        ttl_days=described.ttl_days,
        key_algorithm=described.key_algorithm,
        signature_algorithm=described.signature_algorithm,
        key_usages=described.key_usages,
        extended_key_usages=described.extended_key_usages,
        basic_constraints=None
        if constraints is None
        else BasicConstraints(is_ca=constraints.is_ca, path_length=constraints.path_length),
        subject_alt_names=None
        if described.subject_alt_names is None
        else tuple(AltName(type=one.type, value=one.value) for one in described.subject_alt_names),
        domain_components=described.domain_components,
        **{name: getattr(described, name) for name in _TEXTS},
    )


def _described(entry: Certificate, scope: ProfileScope) -> DesiredCertificate:
    asked, filled = entry.asked, scope.defaults or ProfileDefaults()
    texts = {name: _given(getattr(asked, name), getattr(filled, name)) for name in _TEXTS}
    components = _given(asked.domain_components, filled.domain_components) or ()
    if asked.alt_names is not None:
        listed: Sequence[tuple[str | None, str]] = [(one.type, one.value) for one in asked.alt_names]
    else:
        listed = [(one.type, one.value) for one in filled.subject_alt_names or ()]
    names = tuple(alternative_name(NameType(kind or NameType.DNS_NAME), value) for kind, value in listed)
    usages = _words(_given(asked.key_usages, filled.key_usages), KEY_USAGES_BY_SPELLING)
    extended = _words(
        _given(asked.extended_key_usages, filled.extended_key_usages), EXTENDED_KEY_USAGES_BY_SPELLING
    )
    ttl = asked.ttl
    if ttl is None and asked.not_before is None and asked.not_after is None and filled.ttl_days:
        # Always sent: a request that waits for approval may be refused later for the lack of it.
        ttl = f"{int(filled.ttl_days * 24)}h"
    validity = CertificateAttributes(ttl=ttl, not_before=asked.not_before, not_after=asked.not_after)
    return DesiredCertificate(
        entry=entry,
        digest="",
        subject=Subject.of(
            texts["common_name"],
            organization=texts["organization"],
            organizational_unit=texts["organizational_unit"],
            country=texts["country"],
            state=texts["state"],
            locality=texts["locality"],
            domain_components=components,
        ),
        names=names,
        key_usages=usages,
        extended_key_usages=extended,
        attributes=_for_the_service(entry, validity) if _is_made_there(entry) else validity,
        lifetime=_lifetime(asked.not_before is not None, ttl, validity),
    )


def _is_made_there(entry: Certificate) -> bool:
    return entry.csr is None and entry.key.generated_by is Origin.SERVICE


def _for_the_service(entry: Certificate, validity: CertificateAttributes) -> CertificateAttributes:
    asked = entry.asked
    return replace(
        validity,
        **{name: getattr(asked, name) for name in _TEXTS},
        domain_components=asked.domain_components,
        key_usages=asked.key_usages,
        extended_key_usages=asked.extended_key_usages,
        alt_names=None
        if asked.alt_names is None
        else tuple(AltName(type=one.type, value=one.value) for one in asked.alt_names),
        key_algorithm=entry.key.algorithm,
    )


def _lifetime(begins_later: bool, ttl: str | None, validity: CertificateAttributes) -> timedelta | None:  # noqa: FBT001
    if ttl is not None:
        return parse_ttl(ttl)
    if begins_later and validity.not_before is not None and validity.not_after is not None:
        return validity.not_after - validity.not_before
    return None


def _given(asked: _T | None, filled: _T | None) -> _T | None:
    """Return what is asked for, else what the profile fills in; what is asked to be empty stays empty."""
    return filled if asked is None else asked


def _words(given: Sequence[str] | None, by_spelling: Mapping[str, _T]) -> frozenset[_T] | None:
    if given is None:
        return None
    return frozenset(by_spelling[word] for word in given if word in by_spelling)


def _digest(described: DesiredCertificate, scope: ProfileScope) -> str:
    key = described.entry.key
    validity = described.attributes
    said = [
        scope.profile_id,
        scope.application_id,
        [[one.field, one.value] for one in described.subject.attributes],
        [[one.type, one.value] for one in described.names],
        sorted(described.key_usages or ()),
        sorted(described.extended_key_usages or ()),
        validity.ttl,
        None if validity.not_before is None else format_instant(validity.not_before),
        None if validity.not_after is None else format_instant(validity.not_after),
        described.csr,
        None if described.csr is not None else [key.generated_by, key.algorithm],
    ]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:_DIGEST_LENGTH]


_QUICK = frozenset({KeyAlgorithm.EC_P256, KeyAlgorithm.EC_P384, KeyAlgorithm.EC_P521})


@dataclass(frozen=True, slots=True)
class Wish:
    """A certificate that needs a key; and the one to ask with again, if any."""

    desired: DesiredCertificate
    held: PrivateKey | None


@dataclass(frozen=True, slots=True)
class Made:
    """A key, and the request that asks for its certificate (PEM)."""

    key: PrivateKey
    csr: str


async def make(wishes: Sequence[Wish]) -> list[Made | StalledError]:
    """Return for each wish a fresh key, or the one that it holds, with its request.

    An error stands for a wish whose key or request can't be made here.
    """
    if not wishes:
        return []
    if len(wishes) == 1 and wishes[0].desired.entry.key.algorithm in _QUICK:
        return [_made(wishes[0])]
    # One errand for all: sixty of them take as long as a few writes, and RSA keys a second each.
    return await asyncio.to_thread(lambda: [_made(wish) for wish in wishes])


async def csr_of(desired: DesiredCertificate, key: PrivateKey) -> str:
    """Return the request that asks for the certificate.

    Raises:
        StalledError: it can't be written.
    """
    try:
        if key.algorithm in _QUICK:
            return _request(desired, key)
        return await asyncio.to_thread(_request, desired, key)
    except PkiError as error:
        raise _refused(desired, error) from None


def _made(wish: Wish) -> Made | StalledError:
    desired = wish.desired
    try:
        key = wish.held or generate_private_key(desired.entry.key.algorithm)
        return Made(key, _request(desired, key))
    except PkiError as error:
        return _refused(desired, error)


def _request(desired: DesiredCertificate, key: PrivateKey) -> str:
    return build_signing_request(
        key,
        desired.subject,
        alternative_names=desired.names,
        key_usages=desired.key_usages or frozenset(),
        extended_key_usages=tuple(sorted(desired.extended_key_usages or ())),
    )


def _refused(desired: DesiredCertificate, error: PkiError) -> StalledError:
    return StalledError(Reason.SPEC_INVALID, f"certificate {desired.name}: {error}")
