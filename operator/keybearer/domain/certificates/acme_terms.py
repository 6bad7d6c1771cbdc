"""What an ACME authority can be asked for, and whether it gave that. Pure.

It takes names and a public key, and decides about all else by itself (RFC 8555 section 7.4): what it would pass over
is refused when a certificate is asked for, rather than missed in what comes back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyAlgorithm, KeyUsage, NameType, SubjectField
from keybearer.base.clock import format_instant
from keybearer.domain.certificates.asked import Asked
from keybearer.domain.certificates.profile_terms import rules_of
from keybearer.domain.errors import InvalidError
from keybearer.outbound.acme.messages import IDENTIFIERS_MAX, Identifier
from keybearer.pki.certificates import Certificate
from keybearer.pki.comparison import Asked as Wanted
from keybearer.pki.comparison import differences
from keybearer.pki.errors import TemplateError
from keybearer.pki.keys import PublicKey
from keybearer.pki.names import AlternativeName, Subject, alternative_name
from keybearer.pki.policy_rules import Content
from keybearer.pki.signing_requests import SigningRequest
from keybearer.store.certificate_policies import CertificatePolicy

__all__ = [
    "content_of",
    "identifiers_of",
    "names_of",
    "ordered_again",
    "require_given",
    "require_orderable",
]

_KEY_USAGES = frozenset({KeyUsage.DIGITAL_SIGNATURE, KeyUsage.KEY_ENCIPHERMENT})
_EXTENDED_KEY_USAGES = frozenset({ExtendedKeyUsage.SERVER_AUTH, ExtendedKeyUsage.CLIENT_AUTH})
_NAME_TYPES = {NameType.DNS_NAME: "dns", NameType.IP_ADDRESS: "ip"}
"""RFC 8555 section 9.7.7, RFC 8738."""


def names_of(common_name: str | None, names: Collection[AlternativeName]) -> tuple[AlternativeName, ...]:
    """Return all names of a certificate: a common name is one of them, for it is looked at like the others."""
    found = dict.fromkeys(names)
    if common_name is not None and common_name not in {name.value for name in names}:
        found[_named(common_name)] = None
    return tuple(found)


def identifiers_of(asked: Asked) -> tuple[Identifier, ...]:
    """Return the names as an order has them; of what `require_orderable` let pass."""
    names = names_of(asked.subject.common_name, asked.alternative_names)
    return tuple(Identifier(type=_NAME_TYPES[name.type], value=name.value) for name in names)


def require_orderable(authority: str, asked: Asked, request: SigningRequest | None = None) -> None:
    """Let pass what the authority of that name can be asked for.

    Args:
        authority: as messages call it.
        asked: with what the profile fills in.
        request: the signing request, which the authority is handed as it is.

    Raises:
        InvalidError: it can't honour something of it; all of that is named.
    """
    found = [*_unorderable(asked), *_missing_in(request, asked)]
    if found:
        raise InvalidError(
            f"Certificate authority {authority} speaks ACME, and can't honour what is asked for: {'; '.join(found)}",
            details=found,
        )


def _unorderable(asked: Asked) -> Iterator[str]:
    if asked.lifetime is not None or asked.not_before is not None or asked.not_after is not None:
        yield (
            "it decides by itself how long certificates are valid: leave out ttl, notBefore and notAfter, and "
            "ttlDays among the defaults of the profile"
        )
    strange = sorted({one.field for one in asked.subject.attributes if one.field != SubjectField.COMMON_NAME})
    if strange:
        yield f"subjects hold nothing but a common name: leave out {', '.join(strange)}"
    if asked.is_ca:
        yield "it makes no certificates of authorities: leave out basicConstraints"
    if asked.signature_algorithm is not None:
        yield "it decides by itself how it signs: leave out signatureAlgorithm"
    if asked.key_algorithm.value.startswith(("ML-DSA", "SLH-DSA")):
        yield f"it takes RSA and EC keys, not {asked.key_algorithm}"
    usages = [
        *sorted((asked.key_usages or frozenset()) - _KEY_USAGES),
        *sorted(set(asked.extended_key_usages or ()) - _EXTENDED_KEY_USAGES),
    ]
    if usages:
        yield f"its certificates are for servers and clients of TLS: leave out {', '.join(usages)}"
    yield from _unorderable_names(asked)


def _unorderable_names(asked: Asked) -> Iterator[str]:
    names = names_of(asked.subject.common_name, asked.alternative_names)
    if not names:
        yield "a certificate has at least one host name: give altNames"
    if len(names) > IDENTIFIERS_MAX:
        yield f"a certificate has at most {IDENTIFIERS_MAX} names"
    for name in names:
        if name.type not in _NAME_TYPES:
            yield f"names are hosts and addresses, not {name}"
        elif name.value.startswith("*."):
            yield f"{name.value} can't be validated over HTTP: list the hosts"


def _missing_in(request: SigningRequest | None, asked: Asked) -> Iterator[str]:
    if request is None:
        return
    there = _names_in(request)
    for name in names_of(asked.subject.common_name, asked.alternative_names):
        if name not in there:
            yield f"the CSR itself has to name {name.value}: nothing is filled in"


def _names_in(request: SigningRequest) -> set[AlternativeName]:
    listed = [_comparable(name.type, name.value) for name in request.alternative_names]
    return set(names_of(request.subject.common_name, listed))


def _named(common_name: str) -> AlternativeName:
    for kind in (NameType.IP_ADDRESS, NameType.DNS_NAME):
        try:
            return alternative_name(kind, common_name)
        except TemplateError:
            continue
    # No host and no address: refused as the kind of name that a person's is.
    return AlternativeName(NameType.EMAIL, common_name)


def _comparable(kind: NameType, value: str) -> AlternativeName:
    try:
        return alternative_name(kind, value)
    except TemplateError:
        return AlternativeName(kind, value)


def require_given(
    policy: CertificatePolicy, asked: Asked, key: PublicKey, issued: Certificate, now: datetime
) -> None:
    """Let pass a certificate that is what was ordered, is good for a while, and that the policy allows.

    Raises:
        InvalidError: it is something else; every difference is named.
    """
    names = names_of(asked.subject.common_name, asked.alternative_names)
    found = [one.text for one in differences(Wanted(public_key=key, alternative_names=names), issued)]
    # More usages than were asked for are the authority's to give, and the policy's to judge.
    lacking = [
        *sorted((asked.key_usages or frozenset()) - (issued.key_usages or frozenset())),
        *sorted(set(asked.extended_key_usages or ()) - set(issued.extended_key_usages)),
    ]
    found += [f"it lacks the usage {usage}" for usage in lacking]
    rules = rules_of(policy)
    if issued.not_before > now + rules.dating.postdate:
        found.append(f"it begins only at {format_instant(issued.not_before)}")
    if issued.not_after <= now:
        # Stored, it would be renewed at once, and so would the next.
        found.append("it is over already")
    if found:
        raise InvalidError(f"What was issued isn't what was asked for: {'; '.join(found)}", details=found)
    against = rules.violations(_content(issued, key))
    if against:
        raise InvalidError(
            f"What was issued violates certificate policy {policy.name}: {'; '.join(against)}",
            details=against,
        )


def content_of(issued: Certificate, key_algorithm: KeyAlgorithm) -> Asked:
    """Return what a certificate holds, which is what is kept of it: the authority decided about it."""
    return Asked(
        subject=issued.subject,
        alternative_names=issued.alternative_names,
        key_algorithm=key_algorithm,
        key_usages=issued.key_usages,
        extended_key_usages=issued.extended_key_usages,
        is_ca=issued.is_ca,
        path_length=issued.path_length,
    )


def ordered_again(issued: Certificate, key_algorithm: KeyAlgorithm) -> Asked:
    """Return what is asked for to have another certificate in the place of one: its names."""
    common_name = issued.subject.common_name
    return Asked(
        subject=Subject.of(common_name),
        alternative_names=names_of(common_name, issued.alternative_names),
        key_algorithm=key_algorithm,
    )


def _content(issued: Certificate, key: PublicKey) -> Content:
    return Content(
        subject=issued.subject,
        alternative_names=issued.alternative_names,
        key_usages=issued.key_usages or frozenset(),
        extended_key_usages=issued.extended_key_usages,
        key_algorithm=key.algorithm,
        signature_algorithm=issued.signature_algorithm,
        lifetime=issued.not_after - issued.not_before,
        is_ca=issued.is_ca,
        path_length=issued.path_length,
    )
