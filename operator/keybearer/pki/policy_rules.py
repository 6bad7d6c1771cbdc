"""What a policy says to a certificate: pure rules (wire.md section 5.5), each violation in words of its own.

The service judges by them what it issues, and the operator what a manifest plans: each reads a policy into shapes of
its own, which need only hold what `Rules` names.

A part of a policy that is left out allows anything, but for two: to sign certificates, and to sign for an authority
what it revoked, is a privilege of authorities, which a policy has to name. A part that is there lists all that there
may be: kinds of subject fields or alternative names that it doesn't name are not allowed. A rule that says nothing at
all allows nothing. Values may be wildcards (`keybearer.base.globs`); algorithms and usages are compared in the
spelling of issuance, and words that are none of it, of a service that is newer than us, count for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from ipaddress import ip_address
from typing import Protocol, TypeVar

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    KEY_ALGORITHMS_BY_SPELLING,
    KEY_USAGES_BY_SPELLING,
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    BasicConstraintRule,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    NameType,
    SignatureAlgorithm,
    SubjectField,
)
from keybearer.base.globs import matches_glob
from keybearer.base.validity import parse_validity
from keybearer.pki.names import AlternativeName, Subject

__all__ = [
    "Content",
    "Rules",
    "fitting_extended_key_usages",
    "fitting_key_usages",
    "violations",
]

_Word = TypeVar("_Word", bound=StrEnum)
_SHOWN_MAX = 100
_WILDCARD = "*."
_AUTHORITIES_PASS = frozenset({BasicConstraintRule.ALLOWED, BasicConstraintRule.REQUIRED})
_OF_AUTHORITIES = frozenset({ExtendedKeyUsage.OCSP_SIGNING})
"""Whoever has it answers for the authority which certificates are revoked (RFC 6960 section 4.2.2.2)."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a certificate would hold, as far as that is known.

    Attributes:
        signature_algorithm: None where it isn't known yet, so that it isn't judged.
        lifetime: from the instant that was asked for, without any backdating; None likewise.
    """

    subject: Subject
    alternative_names: tuple[AlternativeName, ...]
    key_usages: frozenset[KeyUsage]
    extended_key_usages: tuple[ExtendedKeyUsage, ...]
    key_algorithm: KeyAlgorithm
    signature_algorithm: SignatureAlgorithm | None
    lifetime: timedelta | None
    is_ca: bool = False
    path_length: int | None = None


class _ValueRule(Protocol):
    """Allowed, required and denied values or words of one kind; None where the rule doesn't say."""

    @property
    def allowed(self) -> Sequence[str] | None: ...
    @property
    def required(self) -> Sequence[str] | None: ...
    @property
    def denied(self) -> Sequence[str] | None: ...


class _TypedRule(_ValueRule, Protocol):
    """Values of one field of a subject, or of one kind of alternative names."""

    @property
    def type(self) -> str: ...


class _AlgorithmRules(Protocol):
    """Algorithms that may be used, in either spelling."""

    @property
    def signature(self) -> Sequence[str] | None: ...
    @property
    def key_algorithm(self) -> Sequence[str] | None: ...


class _ValidityRule(Protocol):
    """How long certificates may live, such as `90d`."""

    @property
    def max(self) -> str | None: ...


class _ConstraintRules(Protocol):
    """Whether certificates may sign others, a word of `BasicConstraintRule`; a path length of -1 is any."""

    @property
    def is_ca(self) -> str | None: ...
    @property
    def max_path_length(self) -> int | None: ...


class Rules(Protocol):
    """A policy: of each part None where it allows anything."""

    @property
    def subject(self) -> Sequence[_TypedRule] | None:
        """Of fields of the subject."""
        ...

    @property
    def sans(self) -> Sequence[_TypedRule] | None:
        """Of kinds of alternative names."""
        ...

    @property
    def key_usages(self) -> _ValueRule | None:
        """Of what the key may be used for."""
        ...

    @property
    def extended_key_usages(self) -> _ValueRule | None:
        """Of what the certificate may be used for."""
        ...

    @property
    def algorithms(self) -> _AlgorithmRules | None:
        """Of keys and signatures."""
        ...

    @property
    def validity(self) -> _ValidityRule | None:
        """Of how long it lives."""
        ...

    @property
    def basic_constraints(self) -> _ConstraintRules | None:
        """Of whether it may sign others."""
        ...


def violations(rules: Rules, content: Content) -> list[str]:
    """Return what of the content the policy forbids or misses, in words; nothing where it may be issued."""
    return [
        *_of_subject(rules.subject, content.subject),
        *_of_names(rules.sans, content.alternative_names),
        *_of_usages("key usage", rules.key_usages, content.key_usages, KEY_USAGES_BY_SPELLING),
        *_of_usages(
            "extended key usage",
            rules.extended_key_usages,
            content.extended_key_usages,
            EXTENDED_KEY_USAGES_BY_SPELLING,
            to_be_named=_OF_AUTHORITIES,
        ),
        *_of_algorithms(rules.algorithms, content),
        *_of_validity(rules.validity, content.lifetime),
        *_of_constraints(rules.basic_constraints, content),
    ]


def fitting_key_usages(rules: Rules, usual: frozenset[KeyUsage]) -> frozenset[KeyUsage]:
    """Return the usages where nobody asked for any: the usual ones that are allowed, and those that are required."""
    return _fitting(rules.key_usages, usual, KEY_USAGES_BY_SPELLING)


def fitting_extended_key_usages(rules: Rules) -> tuple[ExtendedKeyUsage, ...]:
    """Return the extended usages where nobody asked for any: those that are required."""
    return tuple(sorted(_fitting(rules.extended_key_usages, frozenset(), EXTENDED_KEY_USAGES_BY_SPELLING)))


def _of_subject(rules: Sequence[_TypedRule] | None, subject: Subject) -> Iterator[str]:
    if rules is None:
        return
    by_field = {rule.type: rule for rule in rules}
    for field in SubjectField:
        values, rule = subject.values(field), by_field.get(field)
        if rule is not None:
            yield from _of_values(f"subject {field.value}", rule, values, str)
        elif values:
            yield f"subject {field.value} is not allowed"
    for unruled in subject.unruled_fields:
        yield f"subject {unruled} is not allowed"


def _of_names(rules: Sequence[_TypedRule] | None, names: Sequence[AlternativeName]) -> Iterator[str]:
    if rules is None:
        return
    by_kind = {rule.type: rule for rule in rules}
    for kind in NameType:
        values, rule = [name.value for name in names if name.type is kind], by_kind.get(kind)
        if rule is not None:
            yield from _of_values(f"alternative name {kind.value}", rule, values, _CANONICAL.get(kind, str))
        elif values:
            yield f"alternative name {kind.value} is not allowed"


def _of_values(
    what: str, rule: _ValueRule, values: Sequence[str], canonical: Callable[[str], str]
) -> Iterator[str]:
    allowed, required, denied = (
        None if listed is None else [canonical(pattern) for pattern in listed]
        for listed in (rule.allowed, rule.required, rule.denied)
    )
    says_nothing = allowed is None and required is None and denied is None
    may_be = [] if says_nothing else allowed
    for value in map(canonical, values):
        if denied is not None and _is_denied(denied, value):
            yield f"{what} {_shown(value)} is denied"
        elif may_be is not None and not _matches([*may_be, *(required or ())], value):
            yield f"{what} {_shown(value)} is not among the allowed values"
    for pattern in required or ():
        if not any(matches_glob(pattern, canonical(value)) for value in values):
            yield f"{what} {_shown(pattern)} is required"


def _of_usages(
    what: str,
    rules: _ValueRule | None,
    usages: Iterable[_Word],
    words: Mapping[str, _Word],
    *,
    to_be_named: frozenset[_Word] = frozenset(),
) -> Iterator[str]:
    allowed, required, denied = _read(rules, words)
    given = set(usages)
    for usage in sorted(given):
        if usage in denied:
            yield f"{what} {usage.value} is denied"
        elif usage not in required and (usage in to_be_named if allowed is None else usage not in allowed):
            yield f"{what} {usage.value} is not among the allowed ones"
    for usage in sorted(required - given):
        yield f"{what} {usage.value} is required"


def _of_algorithms(rules: _AlgorithmRules | None, content: Content) -> Iterator[str]:
    if rules is None:
        return
    keys, signatures = KEY_ALGORITHMS_BY_SPELLING, SIGNATURE_ALGORITHMS_BY_SPELLING
    yield from _of_algorithm("key algorithm", rules.key_algorithm, keys, content.key_algorithm)
    if content.signature_algorithm is not None:
        yield from _of_algorithm(
            "signature algorithm", rules.signature, signatures, content.signature_algorithm
        )


def _of_algorithm(
    what: str, listed: Sequence[str] | None, words: Mapping[str, _Word], algorithm: _Word
) -> Iterator[str]:
    if listed is not None and algorithm not in {words.get(spelled) for spelled in listed}:
        yield f"{what} {algorithm.value} is not among the allowed ones"


def _of_validity(rule: _ValidityRule | None, lifetime: timedelta | None) -> Iterator[str]:
    if rule is None or rule.max is None or lifetime is None:
        return
    if lifetime > parse_validity(rule.max):
        yield f"the lifetime (TTL) is longer than the longest that is allowed, {rule.max}"


def _of_constraints(rules: _ConstraintRules | None, content: Content) -> Iterator[str]:
    said, longest = (None, None) if rules is None else (rules.is_ca, rules.max_path_length)
    if content.is_ca and said not in _AUTHORITIES_PASS:
        yield "basic constraints: a certificate authority (isCA) is denied"
    if not content.is_ca and said == BasicConstraintRule.REQUIRED:
        yield "basic constraints: a certificate authority (isCA) is required"
    if not content.is_ca or longest is None or longest < 0:
        return
    if content.path_length is None or content.path_length > longest:
        asked = "none" if content.path_length is None else content.path_length
        yield f"basic constraints: the path length must be at most {longest}, asked for is {asked}"


def _fitting(
    rules: _ValueRule | None, usual: frozenset[_Word], words: Mapping[str, _Word]
) -> frozenset[_Word]:
    allowed, required, denied = _read(rules, words)
    kept = usual if allowed is None else usual & allowed
    return (kept - denied) | required


def _read(
    rules: _ValueRule | None, words: Mapping[str, _Word]
) -> tuple[frozenset[_Word] | None, frozenset[_Word], frozenset[_Word]]:
    """Return allowed, required and denied usages; allowed is None where any is."""
    if rules is None:
        return None, frozenset(), frozenset()
    allowed, required, denied = (
        None if listed is None else frozenset(words[spelled] for spelled in listed if spelled in words)
        for listed in (rules.allowed, rules.required, rules.denied)
    )
    if allowed is None and required is None and denied is None:
        allowed = frozenset()
    return allowed, required or frozenset(), denied or frozenset()


def _matches(patterns: Iterable[str], value: str) -> bool:
    return any(matches_glob(pattern, value) for pattern in patterns)


def _is_denied(denied: Iterable[str], value: str) -> bool:
    """Return whether a pattern denies the value, in whatever case, or a host that it stands for.

    Who reads a certificate compares most names without regard to case, and takes `*.example.com` for each host there.
    """
    folded = value.lower()
    return any(
        matches_glob(pattern, folded)
        or (folded.startswith(_WILDCARD) and _meets_host_under(pattern, folded.removeprefix("*")))
        for pattern in (one.lower() for one in denied)
    )


def _meets_host_under(pattern: str, domain: str) -> bool:
    """Return whether a pattern may match one label before the domain, which begins with a dot (RFC 6125)."""
    at = len(pattern)
    for expected in reversed(domain):
        at -= 1
        if at < 0 or pattern[at] not in ("*", "?", expected):
            return False
        if pattern[at] == "*":
            return True
    label = pattern[:at]
    return bool(label) and "." not in label


def _canonical_host(text: str) -> str:
    return text.lower()


def _canonical_mailbox(text: str) -> str:
    local, at, host = text.rpartition("@")
    return f"{local}{at}{host.lower()}"


def _canonical_address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return text.lower()  # a wildcard


_CANONICAL: Mapping[NameType, Callable[[str], str]] = {
    NameType.DNS_NAME: _canonical_host,
    NameType.EMAIL: _canonical_mailbox,
    NameType.IP_ADDRESS: _canonical_address,
}


def _shown(value: str) -> str:
    shown = value if len(value) <= _SHOWN_MAX else f"{value[:_SHOWN_MAX]}…"
    return f'"{shown}"'
