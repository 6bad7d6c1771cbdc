"""What a policy says to a certificate: pure rules (wire.md section 5.5), each violation in words of its own.

The service judges by them what it issues, and the operator what a manifest plans: each reads a policy into shapes of
its own, which need only hold what `Rules` names. `CompiledRules` reads such a policy once, and then judges any number
of certificates.

A part of a policy that is left out allows anything, but for two: to sign certificates, and the extended usages that
have power over others, have to be named by a policy. A part that is there lists all that there may be: kinds of
subject fields or alternative names that it doesn't name are not allowed. A rule that says nothing at all allows
nothing. Values may be patterns (`keybearer.pki.name_patterns`); algorithms and usages are compared in the spelling of
issuance, and words that are none of it, of a service that is newer than us, count for nothing.

Clients take a common name for a host. So it is held to the rules of alternative names as well (`_of_common_names`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Generic, Protocol, TypeVar

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    KEY_ALGORITHMS_BY_SPELLING,
    KEY_USAGES_BY_SPELLING,
    SIGNATURE_ALGORITHMS_BY_SPELLING,
    BasicConstraintRule,
    ExtendedKeyUsage,
    KeyAlgorithm,
    KeyUsage,
    SignatureAlgorithm,
)
from keybearer.base.validity import USUAL_DATING, Dating, parse_validity
from keybearer.pki.name_rules import NameRules, TypedRule, ValueRule
from keybearer.pki.names import AlternativeName, Subject

__all__ = ["CompiledRules", "Content", "Rules"]

_Word = TypeVar("_Word", bound=StrEnum)
_AUTHORITIES_PASS = frozenset({BasicConstraintRule.ALLOWED, BasicConstraintRule.REQUIRED})
_TO_BE_NAMED = frozenset(
    {
        ExtendedKeyUsage.ANY_PURPOSE,
        ExtendedKeyUsage.CODE_SIGNING,
        ExtendedKeyUsage.OCSP_SIGNING,
        ExtendedKeyUsage.TIME_STAMPING,
    }
)
"""Others trust whoever has them: what runs, when something was, what the authority revoked (RFC 6960 4.2.2.2)."""


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


class _AlgorithmRules(Protocol):
    """Algorithms that may be used, in either spelling."""

    @property
    def signature(self) -> Sequence[str] | None: ...
    @property
    def key_algorithm(self) -> Sequence[str] | None: ...


class _ValidityRule(Protocol):
    """How long certificates may live, and how far from now they may begin, such as `90d`."""

    @property
    def max(self) -> str | None: ...
    @property
    def max_backdate(self) -> str | None: ...
    @property
    def max_postdate(self) -> str | None: ...


class _ConstraintRules(Protocol):
    """Whether certificates may sign others, a word of `BasicConstraintRule`; a path length of -1 is any."""

    @property
    def is_ca(self) -> str | None: ...
    @property
    def max_path_length(self) -> int | None: ...


class Rules(Protocol):
    """A policy: of each part None where it allows anything."""

    @property
    def subject(self) -> Sequence[TypedRule] | None:
        """Of fields of the subject."""
        ...

    @property
    def sans(self) -> Sequence[TypedRule] | None:
        """Of kinds of alternative names."""
        ...

    @property
    def wildcards(self) -> str | None:
        """Of names that are wildcards, a word of `WildcardRule`."""
        ...

    @property
    def key_usages(self) -> ValueRule | None:
        """Of what the key may be used for."""
        ...

    @property
    def extended_key_usages(self) -> ValueRule | None:
        """Of what the certificate may be used for."""
        ...

    @property
    def algorithms(self) -> _AlgorithmRules | None:
        """Of keys and signatures."""
        ...

    @property
    def validity(self) -> _ValidityRule | None:
        """Of how long it lives, and when it begins."""
        ...

    @property
    def basic_constraints(self) -> _ConstraintRules | None:
        """Of whether it may sign others."""
        ...


class CompiledRules:
    """A policy that was read, for any number of certificates."""

    def __init__(self, rules: Rules) -> None:
        """Read it.

        Raises:
            ValueError: a time is written as no policy writes it.
        """
        self._names = NameRules(rules.subject, rules.sans, rules.wildcards)
        self._usages = _UsageRule("key usage", rules.key_usages, KEY_USAGES_BY_SPELLING)
        self._extended = _UsageRule(
            "extended key usage",
            rules.extended_key_usages,
            EXTENDED_KEY_USAGES_BY_SPELLING,
            to_be_named=_TO_BE_NAMED,
        )
        keys, signatures = (
            (None, None)
            if rules.algorithms is None
            else (rules.algorithms.key_algorithm, rules.algorithms.signature)
        )
        self._keys = _listed(keys, KEY_ALGORITHMS_BY_SPELLING)
        self._signatures = _listed(signatures, SIGNATURE_ALGORITHMS_BY_SPELLING)
        longest = None if rules.validity is None else rules.validity.max
        self._longest = None if longest is None else (parse_validity(longest), longest)
        self._constraints = rules.basic_constraints
        self.dating = _dating(rules.validity)

    def violations(self, content: Content) -> list[str]:
        """Return what of the content the policy forbids or misses, in words; nothing where it may be issued."""
        return [
            *self._names.violations(content.subject, content.alternative_names),
            *self._usages.violations(content.key_usages),
            *self._extended.violations(content.extended_key_usages),
            *_of_algorithm("key algorithm", self._keys, content.key_algorithm),
            *_of_algorithm("signature algorithm", self._signatures, content.signature_algorithm),
            *self._of_lifetime(content.lifetime),
            *_of_constraints(self._constraints, content),
        ]

    def fitting_key_usages(self, usual: frozenset[KeyUsage]) -> frozenset[KeyUsage]:
        """Return the usages where nobody asked for any: the usual ones that are allowed, and the required ones."""
        return self._usages.fitting(usual)

    def fitting_extended_key_usages(self) -> tuple[ExtendedKeyUsage, ...]:
        """Return the extended usages where nobody asked for any: those that are required."""
        return tuple(sorted(self._extended.fitting(frozenset())))

    def _of_lifetime(self, lifetime: timedelta | None) -> Iterator[str]:
        if self._longest is not None and lifetime is not None and lifetime > self._longest[0]:
            yield f"the lifetime (TTL) is longer than the longest that is allowed, {self._longest[1]}"


class _UsageRule(Generic[_Word]):
    """Usages of one sort: allowed ones are None where any is, but for those that have to be named."""

    def __init__(
        self,
        what: str,
        rule: ValueRule | None,
        words: Mapping[str, _Word],
        *,
        to_be_named: frozenset[_Word] = frozenset(),
    ) -> None:
        self._what = what
        self._to_be_named = to_be_named
        listed = (None, None, None) if rule is None else (rule.allowed, rule.required, rule.denied)
        allowed, required, denied = (_listed(one, words) for one in listed)
        if rule is not None and allowed is None and required is None and denied is None:
            allowed = frozenset()
        self._allowed, self._required, self._denied = allowed, required or frozenset(), denied or frozenset()

    def violations(self, usages: Iterable[_Word]) -> Iterator[str]:
        given = set(usages)
        for usage in sorted(given):
            if usage in self._denied:
                yield f"{self._what} {usage.value} is denied"
            elif usage not in self._required and not self._is_allowed(usage):
                yield f"{self._what} {usage.value} is not among the allowed ones"
        for usage in sorted(self._required - given):
            yield f"{self._what} {usage.value} is required"

    def fitting(self, usual: frozenset[_Word]) -> frozenset[_Word]:
        kept = usual if self._allowed is None else usual & self._allowed
        return (kept - self._denied) | self._required

    def _is_allowed(self, usage: _Word) -> bool:
        return usage not in self._to_be_named if self._allowed is None else usage in self._allowed


def _listed(spelled: Sequence[str] | None, words: Mapping[str, _Word]) -> frozenset[_Word] | None:
    return None if spelled is None else frozenset(words[one] for one in spelled if one in words)


def _dating(rule: _ValidityRule | None) -> Dating:
    """Return how far from now certificates may begin: what is usual, and more where the policy says so."""
    if rule is None:
        return USUAL_DATING
    back, ahead = (
        timedelta(0) if text is None else parse_validity(text)
        for text in (rule.max_backdate, rule.max_postdate)
    )
    return Dating(max(back, USUAL_DATING.backdate), max(ahead, USUAL_DATING.postdate))


def _of_algorithm(what: str, allowed: frozenset[_Word] | None, algorithm: _Word | None) -> Iterator[str]:
    if allowed is not None and algorithm is not None and algorithm not in allowed:
        yield f"{what} {algorithm.value} is not among the allowed ones"


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
