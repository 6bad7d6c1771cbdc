"""Which rules of a policy a certificate would break, before anything is asked for (wire.md section 5.5). Pure.

For people who plan. The service judges by the same rules when it issues, and its word is the last.
"""

from __future__ import annotations

from keybearer.base.certificate_terms import (
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    IssuerType,
    KeyAlgorithm,
    SignatureAlgorithm,
)
from keybearer.client import CertificatePolicy, ProfileDefaults
from keybearer.controllers.certificateprofile.desired import DesiredCertificate
from keybearer.controllers.certificateprofile.gate import Authority
from keybearer.controllers.issuance.service import PresentProfile
from keybearer.pki.issuance import default_key_usages
from keybearer.pki.keys import default_signature_algorithm
from keybearer.pki.names import Subject
from keybearer.pki.policy_rules import Content, fitting_extended_key_usages, fitting_key_usages, violations
from keybearer.pki.signing_requests import SigningRequest

__all__ = ["violations_of"]

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
    defaults, request = profile.defaults or _NO_DEFAULTS, desired.request
    algorithm = desired.entry.key.algorithm if request is None else request.public_key.algorithm
    is_ca, path_length = _constraints(request, defaults)
    usages, extended = desired.key_usages, desired.extended_key_usages
    if request is not None:
        # What it says stands before what the profile fills in.
        usages = usages if request.key_usages is None else request.key_usages
        extended = frozenset(request.extended_key_usages) or extended
    if usages is None:
        usages = fitting_key_usages(policy, default_key_usages(algorithm, is_ca=is_ca))
    content = Content(
        subject=desired.subject if request is None else _filled(request.subject, desired.subject),
        alternative_names=desired.names if request is None else (request.alternative_names or desired.names),
        key_usages=usages,
        extended_key_usages=fitting_extended_key_usages(policy)
        if extended is None
        else tuple(sorted(extended)),
        key_algorithm=algorithm,
        signature_algorithm=_signature(profile, defaults, authority, algorithm),
        lifetime=desired.lifetime,
        is_ca=is_ca,
        path_length=path_length,
    )
    return violations(policy, content)


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
