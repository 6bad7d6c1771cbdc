"""What a policy says of the names in a certificate: its subject and its alternative names, read once for many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from keybearer.base.certificate_terms import NameType, SubjectField, WildcardRule
from keybearer.pki.common_names import is_host, read_common_name
from keybearer.pki.name_patterns import (
    WILDCARD,
    Matcher,
    canonical,
    common_name_matcher,
    denial_matcher,
    name_matcher,
    text_matcher,
)
from keybearer.pki.names import AlternativeName, Subject
from keybearer.pki.uris import fault_of_uri

__all__ = ["NameRules", "TypedRule", "ValueRule"]

_SHOWN_MAX = 100
_Canonical = Callable[[str], str]


class ValueRule(Protocol):
    """Allowed, required and denied values or words of one kind; None where the rule doesn't say."""

    @property
    def allowed(self) -> Sequence[str] | None:
        """What may be there."""
        ...

    @property
    def required(self) -> Sequence[str] | None:
        """What must be there."""
        ...

    @property
    def denied(self) -> Sequence[str] | None:
        """What must not be there."""
        ...


class TypedRule(ValueRule, Protocol):
    """Values of one field of a subject, or of one kind of alternative names."""

    @property
    def type(self) -> str:
        """The field or kind."""
        ...


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule, read.

    Attributes:
        what: it speaks of, as violations call it.
        allowed: patterns; None where any value is allowed.
        required: patterns, which are allowed as well.
        denies: tells whether a value is denied.
        fault: tells what is wrong with the form of a value.
    """

    what: str
    canonical: _Canonical
    allowed: tuple[tuple[str, Matcher], ...] | None
    required: tuple[tuple[str, Matcher], ...]
    denies: Matcher | None
    fault: Callable[[str], str | None] | None = None

    @classmethod
    def of(
        cls, what: str, rule: ValueRule, kind: NameType | None, compile_pattern: Callable[[str], Matcher]
    ) -> _Rule:
        def canonical_of_kind(value: str) -> str:
            return value if kind is None else canonical(kind, value)

        def patterns(listed: Sequence[str] | None) -> tuple[tuple[str, Matcher], ...]:
            return tuple((one, compile_pattern(one)) for one in listed or ())

        says_nothing = rule.allowed is None and rule.required is None and rule.denied is None
        required = patterns(rule.required)
        is_any = rule.allowed is None and not says_nothing
        return cls(
            what=what,
            canonical=canonical_of_kind,
            allowed=None if is_any else (*patterns(rule.allowed), *required),
            required=required,
            denies=denial_matcher(kind, rule.denied) if rule.denied else None,
            fault=fault_of_uri if kind is NameType.URI else None,
        )

    def allows(self, value: str) -> bool:
        """Return whether a canonical value is among the allowed ones."""
        return self.allowed is None or any(matches(value) for _, matches in self.allowed)

    def names(self, value: str) -> bool:
        """Return whether a pattern speaks of the value that isn't simply `*`."""
        return any(matches(value) for pattern, matches in self.allowed or () if pattern != "*")

    def refusal(self, value: str) -> str | None:
        """Return why a value may not be there, None where it may."""
        compared = self.canonical(value)
        fault = None if self.fault is None else self.fault(value)
        if fault is not None:
            return f"{self.what} {_shown(value)} {fault}"
        if self.denies is not None and self.denies(compared):
            return f"{self.what} {_shown(compared)} is denied"
        if not self.allows(compared):
            return f"{self.what} {_shown(compared)} is not among the allowed values"
        return None

    def missing(self, values: Sequence[str]) -> Iterator[str]:
        """Yield what is required and isn't there."""
        for pattern, matches in self.required:
            if not any(matches(self.canonical(value)) for value in values):
                yield f"{self.what} {_shown(self.canonical(pattern))} is required"


class NameRules:
    """The rules of a policy for names."""

    def __init__(
        self,
        subject: Sequence[TypedRule] | None,
        sans: Sequence[TypedRule] | None,
        wildcards: str | None,
    ) -> None:
        """Read them.

        Args:
            subject: of fields of the subject; None: anything.
            sans: of kinds of alternative names; None: anything.
            wildcards: a word of `WildcardRule`; None: wildcards are allowed where no pattern has to allow the name.
        """
        self._subject = None if subject is None else _by_type(subject, SubjectField, _subject_rule)
        self._sans = None if sans is None else _by_type(sans, NameType, _alternative_rule)
        self._wildcards = wildcards

    def violations(self, subject: Subject, names: Sequence[AlternativeName]) -> Iterator[str]:
        """Yield what of the names is forbidden or missing, in words."""
        yield from self._of_subject(subject)
        for common_name in subject.values(SubjectField.COMMON_NAME):
            refusal = self._refusal_of_common_name(common_name)
            if refusal is not None:
                yield f"subject common_name {_shown(common_name)} {refusal}"
        yield from self._of_alternative_names(names)

    def _of_subject(self, subject: Subject) -> Iterator[str]:
        if self._subject is None:
            return
        for field in SubjectField:
            values, rule = subject.values(field), self._subject.get(field)
            if rule is None:
                if values:
                    yield f"subject {field.value} is not allowed"
                continue
            yield from (refusal for value in values if (refusal := rule.refusal(value)) is not None)
            yield from rule.missing(values)
        for unruled in subject.unruled_fields:
            yield f"subject {unruled} is not allowed"

    def _refusal_of_common_name(self, value: str) -> str | None:
        """Return why a common name isn't allowed that the rule of subjects has nothing against.

        Clients take it for a host. So it is one, of those that may be alternative names, unless the rule of common
        names speaks of it; and what is denied among alternative names is denied here.
        """
        own = None if self._subject is None else self._subject.get(SubjectField.COMMON_NAME)
        if self._subject is not None and (own is None or own.refusal(value) is not None):
            return None  # told already
        rule, read = None, read_common_name(value)
        if own is not None and own.denies is not None and read is not None and own.denies(read.value):
            return "is denied"
        if self._sans is not None:
            rule = None if read is None else self._sans.get(read.type)
            compared = "" if read is None or rule is None else rule.canonical(read.value)
            if rule is not None and rule.denies is not None and rule.denies(compared):
                return "is denied among alternative names"
            if own is None or not own.names(value):
                if not is_host(value):
                    return "is neither a host name nor an address, and no rule of common names allows it"
                if rule is None or not rule.allows(compared):
                    return "is not among the allowed alternative names"
        return self._refusal_of_wildcard(value if read is None else read.value, own, rule)

    def _of_alternative_names(self, names: Sequence[AlternativeName]) -> Iterator[str]:
        for kind in NameType:
            values = [name.value for name in names if name.type is kind]
            rule = None if self._sans is None else self._sans.get(kind)
            if self._sans is not None and rule is None and values:
                yield f"alternative name {kind.value} is not allowed"
                continue
            for value in values:
                refusal = None if rule is None else rule.refusal(value)
                if refusal is not None:
                    yield refusal
                elif (fault := self._refusal_of_wildcard(value, rule)) is not None:
                    yield f"alternative name {kind.value} {_shown(value)} {fault}"
            if rule is not None:
                yield from rule.missing(values)

    def _refusal_of_wildcard(self, value: str, *rules: _Rule | None) -> str | None:
        if self._wildcards == WildcardRule.ALLOWED or not value.startswith(WILDCARD):
            return None
        # A pattern that isn't written for wildcards allows none.
        is_by_pattern = any(rule is not None and rule.allowed is not None for rule in rules)
        if self._wildcards is None and not is_by_pattern:
            return None
        return "is a wildcard, and the policy doesn't say that wildcards are allowed"


def _by_type(
    rules: Sequence[TypedRule],
    known: type[SubjectField | NameType],
    read: Callable[[TypedRule], _Rule],
) -> Mapping[str, _Rule]:
    return {rule.type: read(rule) for rule in rules if rule.type in tuple(known)}


def _subject_rule(rule: TypedRule) -> _Rule:
    is_common_name = rule.type == SubjectField.COMMON_NAME
    return _Rule.of(
        f"subject {rule.type}", rule, None, common_name_matcher if is_common_name else text_matcher
    )


def _alternative_rule(rule: TypedRule) -> _Rule:
    kind = NameType(rule.type)
    return _Rule.of(f"alternative name {rule.type}", rule, kind, lambda pattern: name_matcher(kind, pattern))


def _shown(value: str) -> str:
    shown = value if len(value) <= _SHOWN_MAX else f"{value[:_SHOWN_MAX]}…"
    return f'"{shown}"'
