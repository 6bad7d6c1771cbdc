"""Chains of certificates: brought into order, and verified down from who is trusted.

A path is looked for and judged link by link here, so that a refusal says which certificate is at fault and why. What
was found is then given to the verifier of `cryptography`, which also knows name constraints: a path is good when both
agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.x509.verification import (
    Criticality,
    ExtensionPolicy,
    PolicyBuilder,
    Store,
    VerificationError,
)

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.pki.certificates import MAX_CHAIN_LENGTH, Certificate, load_certificates
from keybearer.pki.errors import ChainError

__all__ = ["is_issued_by", "ordered_chain", "verify_chain"]

_MAX_SIGNATURES = 64
"""Looked at for one chain: crossed certificates of one name may multiply the paths."""
_SIGNATURES_KEPT = 64
"""Verdicts about signatures that are remembered: those of a few chains at a time."""
_OF_AUTHORITIES = ExtensionPolicy.permit_all().require_present(
    x509.BasicConstraints, Criticality.AGNOSTIC, None
)
"""Which extensions there must be is decided here, but for this one, which the library insists on."""
_JUDGED = frozenset(
    kind.oid
    for kind in (x509.BasicConstraints, x509.KeyUsage, x509.ExtendedKeyUsage, x509.SubjectAlternativeName)
)
_INSTANT = "%Y-%m-%dT%H:%M:%SZ"


def is_issued_by(certificate: Certificate, issuer: Certificate) -> bool:
    """Return whether the issuer's key signed the certificate in its name; validity isn't looked at."""
    return certificate.issuer == issuer.subject and _is_signed_by(certificate.der, issuer.der)


@lru_cache(maxsize=_SIGNATURES_KEPT)
def _is_signed_by(signed_der: bytes, signer_der: bytes) -> bool:
    """Return whether the one signed the other; neither ever changes, and a path is asked about more than once."""
    signed, signer = x509.load_der_x509_certificate(signed_der), x509.load_der_x509_certificate(signer_der)
    try:
        signed.verify_directly_issued_by(signer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True


def ordered_chain(leaf: Certificate, others: Iterable[Certificate]) -> tuple[Certificate, ...]:
    """Return the leaf, who signed it, who signed that, and so on; each once, and none that signed nothing here.

    Nothing is verified but the signatures. A self-signed certificate ends the chain.
    """
    chain = [leaf]
    left = _without_doubles(others, leaf)
    while not is_issued_by(chain[-1], chain[-1]):
        issuer = next((one for one in left if is_issued_by(chain[-1], one)), None)
        if issuer is None:
            break
        left.remove(issuer)
        chain.append(issuer)
    return tuple(chain)


def verify_chain(
    leaf: Certificate,
    intermediates: Sequence[Certificate],
    anchors: Sequence[Certificate],
    now: datetime,
    *,
    usages: Collection[ExtendedKeyUsage] = (),
) -> tuple[Certificate, ...]:
    """Return the path from the leaf to an anchor, both included.

    Args:
        leaf: to be trusted.
        intermediates: that came with it, in any order; none of them is trusted by itself.
        anchors: that are trusted, self-signed or not. The path ends at the first.
        now: all of the path must be valid then.
        usages: each must be allowed by the leaf, and by every authority that limits usages.

    Raises:
        ChainError: there is no path; the text says what is wrong with the best one.
    """
    if len(intermediates) > MAX_CHAIN_LENGTH:
        raise ChainError(
            f"the chain holds {len(intermediates)} certificates; {MAX_CHAIN_LENGTH} may be there"
        )
    refusals: list[tuple[bool, int, str]] = []
    for path in _paths(leaf, _without_doubles(intermediates, leaf), anchors):
        is_anchored = path[-1] in anchors
        fault = _fault(path, now, usages) if is_anchored else _orphan(path[-1])
        if fault is None:
            fault = _second_opinion(path, now)
        if fault is None:
            return path
        refusals.append((is_anchored, len(path), fault))
    # One that reaches an anchor tells most; of the others, the longest got nearest.
    raise ChainError(max(refusals, key=lambda refusal: refusal[:2])[2])


def _paths(
    leaf: Certificate, intermediates: list[Certificate], anchors: Sequence[Certificate]
) -> Iterator[tuple[Certificate, ...]]:
    """Yield the paths that are held together by signatures; those that can't go on end before an anchor."""
    looks = 0
    unfinished: list[tuple[Certificate, ...]] = [(leaf,)]
    while unfinished:
        path = unfinished.pop()
        if path[-1] in anchors:
            yield path
            continue
        longer: list[tuple[Certificate, ...]] = []
        for candidate in (*intermediates, *anchors):
            if candidate in path or candidate.subject != path[-1].issuer:
                continue
            looks += 1
            if looks > _MAX_SIGNATURES:
                raise ChainError(
                    "the certificates can be chained in too many ways; send only those that are needed"
                )
            if is_issued_by(path[-1], candidate):
                longer.append((*path, candidate))
        unfinished.extend(longer)
        if not longer:
            yield path


def _fault(path: Sequence[Certificate], now: datetime, usages: Collection[ExtendedKeyUsage]) -> str | None:
    """Return what is wrong with a path that reaches an anchor, None where nothing is."""
    for place, certificate in enumerate(path):
        fault = _fault_of_time(certificate, now) or _fault_of_usages(certificate, usages, is_leaf=place == 0)
        # Between an authority and the leaf stand those that its path length counts: the self-issued don't.
        if fault is None and place:
            fault = _fault_of_authority(
                certificate, sum(not between.is_self_issued for between in path[1:place])
            )
        if fault is not None:
            return fault
    return None


def _fault_of_time(certificate: Certificate, now: datetime) -> str | None:
    if now < certificate.not_before:
        return f"{_named(certificate)} isn't valid before {certificate.not_before.strftime(_INSTANT)}"
    if now > certificate.not_after:
        return f"{_named(certificate)} has expired at {certificate.not_after.strftime(_INSTANT)}"
    return None


def _fault_of_usages(
    certificate: Certificate, usages: Collection[ExtendedKeyUsage], *, is_leaf: bool
) -> str | None:
    allowed = certificate.extended_key_usages
    limits = bool(allowed or certificate.other_usages)
    if not limits or ExtendedKeyUsage.ANY_PURPOSE in allowed:
        return None
    missing = [usage.value for usage in usages if usage not in allowed]
    if not missing:
        return None
    which = "isn't made for" if is_leaf else "signs no certificates for"
    return f"{_named(certificate)} {which} {', '.join(missing)}"


def _fault_of_authority(certificate: Certificate, authorities_below: int) -> str | None:
    if not certificate.is_ca:
        return f"{_named(certificate)} is no authority, but signed a certificate of the chain"
    if certificate.key_usages is not None and KeyUsage.KEY_CERT_SIGN not in certificate.key_usages:
        return (
            f"{_named(certificate)} lacks the key usage key_cert_sign, but signed a certificate of the chain"
        )
    if certificate.path_length is not None and authorities_below > certificate.path_length:
        return (
            f"{_named(certificate)} allows {certificate.path_length} authorities below it, "
            f"{authorities_below} are there"
        )
    return None


def _second_opinion(path: Sequence[Certificate], now: datetime) -> str | None:
    """Return what the library's verifier says against the path, None where nothing; it knows no post-quantum keys."""
    if len(path) == 1:
        return None
    loaded = load_certificates(path)
    if any(_is_post_quantum(certificate) for certificate in path):
        return _fault_without_second_opinion(path, loaded)
    leaf, *between, anchor = loaded
    verifier = (
        PolicyBuilder()
        .store(Store([anchor]))
        .time(now)
        .max_chain_depth(MAX_CHAIN_LENGTH)
        .extension_policies(ca_policy=_OF_AUTHORITIES, ee_policy=ExtensionPolicy.permit_all())
        .build_client_verifier()
    )
    try:
        verifier.verify(leaf, between)
    except VerificationError as error:
        return f"{_named(path[0])} doesn't verify: {error}"
    except x509.UnsupportedGeneralNameType as error:
        return f"{_named(path[0])} doesn't verify: it holds a name of an unknown kind ({error})"
    return None


def _fault_without_second_opinion(
    path: Sequence[Certificate], loaded: Sequence[x509.Certificate]
) -> str | None:
    """Return what would have to be understood to judge the path, and isn't here: name constraints for example."""
    for certificate, read in zip(path, loaded, strict=True):
        for extension in read.extensions:
            if extension.critical and extension.oid not in _JUDGED:
                return f"{_named(certificate)} has the critical extension {extension.oid.dotted_string}, unknown here"
    return None


def _is_post_quantum(certificate: Certificate) -> bool:
    """Return whether the library's verifier knows nothing of such keys or signatures."""
    signature, key = certificate.signature_algorithm, certificate.public_key
    words = (signature.value if signature else "", key.algorithm.value if key else "")
    return any(word.startswith(("ML-DSA", "SLH-DSA")) for word in words)


def _orphan(certificate: Certificate) -> str:
    if certificate.is_self_issued:
        return f"{_named(certificate)} is self-signed and not among those that are trusted"
    return f"who issued {_named(certificate)}, {certificate.issuer}, is neither in the chain nor trusted"


def _without_doubles(certificates: Iterable[Certificate], leaf: Certificate) -> list[Certificate]:
    return [one for one in dict.fromkeys(certificates) if one != leaf]


def _named(certificate: Certificate) -> str:
    return f"the certificate of {str(certificate.subject) or 'serial number ' + certificate.serial}"
