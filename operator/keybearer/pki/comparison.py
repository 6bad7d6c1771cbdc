"""Whether a certificate is what was asked for: each difference named in words, none repaired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage, NameType
from keybearer.pki.certificates import Certificate
from keybearer.pki.errors import TemplateError
from keybearer.pki.keys import PublicKey
from keybearer.pki.names import AlternativeName, Subject, alternative_name

__all__ = ["Asked", "Aspect", "Difference", "differences"]

_SHORTER = timedelta(minutes=1)
"""Issuers round."""
_LONGER = timedelta(hours=1)
"""Issuers let certificates begin earlier, up to an hour, for clocks that are slow."""


class Aspect(StrEnum):
    """What of a certificate differs."""

    PUBLIC_KEY = "public key"
    SUBJECT = "subject"
    NAMES = "names"
    USAGES = "usages"
    AUTHORITY = "authority"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference; `text` is half a sentence for people, as in "it lacks the dns_name a.example.com"."""

    aspect: Aspect
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for. What is None was left to the issuer, and isn't compared.

    Attributes:
        public_key: of the key that is to be used with the certificate.
        subject: each of these attributes must be there; the issuer may have filled in others.
        alternative_names: exactly these must be there, and perhaps the common name once more.
        key_usages, extended_key_usages: exactly these must be there.
        is_ca: whether it may sign certificates.
        lifetime: from its beginning to its end.
    """

    public_key: PublicKey | None = None
    subject: Subject | None = None
    alternative_names: tuple[AlternativeName, ...] | None = None
    key_usages: frozenset[KeyUsage] | None = None
    extended_key_usages: frozenset[ExtendedKeyUsage] | None = None
    is_ca: bool | None = False
    lifetime: timedelta | None = None


def differences(asked: Asked, issued: Certificate) -> tuple[Difference, ...]:
    """Return how the certificate differs from what was asked for; nothing where it conforms."""
    return tuple(
        Difference(aspect, text)
        for aspect, texts in (
            (Aspect.PUBLIC_KEY, _of_key(asked, issued)),
            (Aspect.SUBJECT, _of_subject(asked, issued)),
            (Aspect.NAMES, _of_names(asked, issued)),
            (Aspect.USAGES, _of_usages(asked, issued)),
            (Aspect.AUTHORITY, _of_authority(asked, issued)),
            (Aspect.DURATION, _of_duration(asked, issued)),
        )
        for text in texts
    )


def _of_key(asked: Asked, issued: Certificate) -> Iterator[str]:
    if asked.public_key is not None and asked.public_key != issued.public_key:
        yield "it is for another public key"


def _of_subject(asked: Asked, issued: Certificate) -> Iterator[str]:
    if asked.subject is None:
        return
    there = list(issued.subject.attributes)
    for attribute in asked.subject.attributes:
        if attribute in there:
            there.remove(attribute)
        else:
            yield f"its subject lacks {attribute.field} {attribute.value!r}"


def _of_names(asked: Asked, issued: Certificate) -> Iterator[str]:
    if asked.alternative_names is None:
        return
    wanted = {_comparable(name): name for name in asked.alternative_names}
    there = {_comparable(name): name for name in issued.alternative_names}
    for form, name in wanted.items():
        if form not in there:
            yield f"it lacks the {name}"
    common_name = asked.subject.common_name if asked.subject is not None else None
    for form, name in there.items():
        if form not in wanted and name.value != common_name:
            yield f"it names the {name}, which wasn't asked for"
    for kind in issued.other_names:
        yield f"it names a {kind}, which wasn't asked for"


def _of_usages(asked: Asked, issued: Certificate) -> Iterator[str]:
    if asked.key_usages is not None:
        yield from _of_sets("key usage", asked.key_usages, issued.key_usages or frozenset())
    if asked.extended_key_usages is not None:
        there = frozenset(issued.extended_key_usages)
        yield from _of_sets("extended key usage", asked.extended_key_usages, there)
        for identifier in issued.other_usages:
            yield f"it has the extended key usage {identifier}, which wasn't asked for"


def _of_authority(asked: Asked, issued: Certificate) -> Iterator[str]:
    if asked.is_ca is not None and asked.is_ca != issued.is_ca:
        yield "it may sign certificates itself" if issued.is_ca else "it may not sign certificates itself"


def _of_duration(asked: Asked, issued: Certificate) -> Iterator[str]:
    if asked.lifetime is None:
        return
    lifetime = issued.not_after - issued.not_before
    if lifetime < asked.lifetime - _SHORTER or lifetime > asked.lifetime + _LONGER:
        yield f"it is valid for {_written(lifetime)} instead of {_written(asked.lifetime)}"


def _of_sets(
    what: str, asked: Iterable[KeyUsage | ExtendedKeyUsage], issued: Iterable[KeyUsage | ExtendedKeyUsage]
) -> Iterator[str]:
    wanted, there = set(asked), set(issued)
    for usage in sorted(wanted - there):
        yield f"it lacks the {what} {usage.value}"
    for usage in sorted(there - wanted):
        yield f"it has the {what} {usage.value}, which wasn't asked for"


def _comparable(name: AlternativeName) -> tuple[NameType, str]:
    try:
        return name.type, alternative_name(name.type, name.value).value
    except TemplateError:
        # Nothing that would be signed here; it is itself alone.
        return name.type, name.value


def _written(lifetime: timedelta) -> str:
    days, seconds = lifetime.days, lifetime.seconds
    hours, minutes = seconds // 3600, seconds % 3600 // 60
    parts = [f"{count}{unit}" for count, unit in ((days, "d"), (hours, "h"), (minutes, "m")) if count]
    return " ".join(parts) or f"{seconds}s"
