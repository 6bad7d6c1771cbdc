"""What migration 0021 makes of the rules of a policy: what certificates show of it stays allowed. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from math import ceil
from typing import Any

from keybearer.base.certificate_terms import (
    EXTENDED_KEY_USAGES_BY_SPELLING,
    ExtendedKeyUsage,
    NameType,
    SubjectField,
    WildcardRule,
)
from keybearer.base.globs import matches_glob
from keybearer.base.validity import USUAL_DATING
from keybearer.pki.name_patterns import WILDCARD, Matcher, canonical, common_name_matcher, name_matcher
from keybearer.pki.name_rules import NameRules
from keybearer.pki.names import Subject
from keybearer.pki.uris import fault_of_uri

__all__ = ["Bounded", "Seen", "bounded"]

Rules = dict[str, Any]
"""As a policy is kept: in the wire's spelling."""
_VALUES_MAX = 200
_LENGTH_MAX = 255
"""Bounds of the lists of a policy, and of their values, at the time of this migration."""
_SECONDS = timedelta(minutes=1)
"""What an instant of issuance and one of storing may differ by."""
_COMMON_NAME = SubjectField.COMMON_NAME.value
_NEWLY_NAMED = frozenset(
    {ExtendedKeyUsage.ANY_PURPOSE, ExtendedKeyUsage.CODE_SIGNING, ExtendedKeyUsage.TIME_STAMPING}
)
_OTHERS = frozenset(ExtendedKeyUsage) - _NEWLY_NAMED - {ExtendedKeyUsage.OCSP_SIGNING}
_NARROWED = (NameType.DNS_NAME, NameType.EMAIL, NameType.URI)


@dataclass
class Seen:
    """What present certificates of a policy hold, and defaults of its profiles."""

    common_names: set[str] = field(default_factory=set)
    names: dict[NameType, set[str]] = field(default_factory=dict)
    usages: set[ExtendedKeyUsage] = field(default_factory=set)
    back: timedelta = timedelta(0)
    ahead: timedelta = timedelta(0)

    def note_names(self, values: Iterable[str]) -> None:
        """Add alternative names of which nobody noted the kind."""
        for value in values:
            self.names.setdefault(_kind_of(value), set()).add(value)

    def note_usages(self, words: Iterable[str]) -> None:
        """Add extended usages, in either spelling."""
        self.usages.update(
            EXTENDED_KEY_USAGES_BY_SPELLING[word] for word in words if word in EXTENDED_KEY_USAGES_BY_SPELLING
        )

    @property
    def has_wildcards(self) -> bool:
        """Whether one of the names is a wildcard."""
        hosts = self.common_names | self.names.get(NameType.DNS_NAME, set())
        return any(value.startswith(WILDCARD) for value in hosts)


@dataclass
class Bounded:
    """The rules from now on, what they keep beyond the defaults, and what is closed."""

    rules: Rules
    keeps: list[str] = field(default_factory=list)
    closes: list[str] = field(default_factory=list)


def bounded(rules: Rules, seen: Seen) -> Bounded:
    """Return what becomes of a policy; the rules that are given stay as they are."""
    result = Bounded({name: _copied(rule) for name, rule in rules.items()})
    _bound_patterns(result, seen)
    _bound_wildcards(result, seen)
    _bound_common_names(result, seen)
    _bound_usages(result, seen)
    _bound_dates(result, seen)
    return result


def _copied(rule: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(rule, dict):
        return {name: _copied(one) for name, one in rule.items()}
    return [_copied(one) for one in rule] if isinstance(rule, list) else rule


def _bound_patterns(result: Bounded, seen: Seen) -> None:
    """Let patterns allow more than one label where certificates show that they did."""
    for rule in result.rules.get("sans") or ():
        if rule["type"] not in _NARROWED:
            continue
        kind = NameType(rule["type"])
        values = {canonical(kind, one) for one in seen.names.get(kind, ())}
        _widen(
            result,
            rule,
            {one for one in values if kind is not NameType.URI or fault_of_uri(one) is None},
            lambda pattern, kind=kind: name_matcher(kind, pattern),  # type: ignore[misc]
            lambda pattern, kind=kind: canonical(kind, pattern),  # type: ignore[misc]
        )
        if kind is NameType.URI:
            result.closes.append("uri: dot segments, user, fragment, encoded slashes")
    for rule in result.rules.get("subject") or ():
        if rule["type"] == _COMMON_NAME:
            _widen(result, rule, set(seen.common_names), common_name_matcher, str)


def _widen(
    result: Bounded,
    rule: Rules,
    values: set[str],
    matcher: Callable[[str], Matcher],
    canonical_pattern: Callable[[str], str],
) -> None:
    listed = [*(rule.get("allowed") or ()), *(rule.get("required") or ())]
    known = [matcher(pattern) for pattern in listed]
    lost = {value for value in values if not any(matches(value) for matches in known)}
    for name in ("allowed", "required"):
        patterns = rule.get(name)
        if patterns is None:
            continue
        for place, pattern in enumerate(patterns):
            if "*" not in pattern or pattern.strip("*") == "":
                continue
            wide = _without_doubles(pattern).replace("*", "**")
            allows = matcher(wide)
            if len(wide) <= _LENGTH_MAX and any(
                matches_glob(canonical_pattern(pattern), value) and allows(value) for value in lost
            ):
                patterns[place] = wide
                result.keeps.append(f"{rule['type']}: {pattern} is {wide} now")
            elif wide != pattern:
                of_uris = " of the host, and no query" if rule["type"] == NameType.URI else ""
                result.closes.append(f"{rule['type']}: {pattern} allows one label{of_uris}")


def _without_doubles(pattern: str) -> str:
    while "**" in pattern:
        pattern = pattern.replace("**", "*")
    return pattern


def _bound_wildcards(result: Bounded, seen: Seen) -> None:
    """Let wildcards be where certificates show them, and patterns would allow them no more."""
    lists = [
        patterns
        for part, kind in (("sans", NameType.DNS_NAME.value), ("subject", _COMMON_NAME))
        for rule in result.rules.get(part) or ()
        if rule["type"] == kind
        for patterns in (rule.get("allowed"), rule.get("required"))
        if patterns
    ]
    if not lists:
        return
    if seen.has_wildcards:
        result.rules["wildcards"] = WildcardRule.ALLOWED.value
        result.keeps.append("wildcards: allowed")
    elif any("*" in pattern for patterns in lists for pattern in patterns):
        result.closes.append("wildcards")


def _bound_common_names(result: Bounded, seen: Seen) -> None:
    """Name the common names that certificates show, and that would be refused as alternative names are."""
    rules = result.rules
    own = next((rule for rule in rules.get("subject") or () if rule["type"] == _COMMON_NAME), None)
    if own is None and (rules.get("subject") is not None or rules.get("sans") is None):
        return  # no common name is allowed, or any
    # A name that holds a wildcard would be a pattern, and whoever asked for it would have written the policy.
    refused = sorted(
        name for name in seen.common_names if not set(name) & set("*?") and _is_refused(rules, name)
    )
    if own is None or own.get("allowed") is None or "*" in own["allowed"]:
        result.closes.append("common_name: what is neither a host nor among the alternative names")
    allowed = ["*"] if own is None else own.get("allowed") or ["*"]
    room = _VALUES_MAX - len(allowed)
    if not refused or room <= 0:
        return
    if own is None:
        own = {"type": _COMMON_NAME}
        others = (one.value for one in SubjectField if one is not SubjectField.COMMON_NAME)
        rules["subject"] = [own, *({"type": one, "allowed": ["*"]} for one in others)]
        result.closes.append("subject: fields that no policy can name")
    # Hosts go on being held to the rules of alternative names; all else is named.
    own["allowed"] = [*allowed, *(refused if len(refused) <= room else ["**"])]
    kept = [name for name in refused if not _is_refused(rules, name)]
    if kept:
        result.keeps.append(f"common_name: {', '.join(kept[:10])}{' …' if len(kept) > 10 else ''}")


def _is_refused(rules: Rules, common_name: str) -> bool:
    judge = NameRules(_typed(rules.get("subject")), _typed(rules.get("sans")), rules.get("wildcards"))
    told = judge.violations(Subject.of(common_name), ())
    return any(text.startswith(f"subject {_COMMON_NAME} ") for text in told)


@dataclass(frozen=True)
class _Typed:
    type: str
    allowed: list[str] | None
    required: list[str] | None
    denied: list[str] | None


def _typed(rules: list[Rules] | None) -> list[_Typed] | None:
    if rules is None:
        return None
    return [
        _Typed(rule["type"], rule.get("allowed"), rule.get("required"), rule.get("denied")) for rule in rules
    ]


def _bound_usages(result: Bounded, seen: Seen) -> None:
    """Name the usages that certificates show, and that have to be named from now on."""
    rule = result.rules.get("extendedKeyUsages")
    if rule is not None and (rule.get("allowed") is not None or not rule):
        return
    required = {EXTENDED_KEY_USAGES_BY_SPELLING.get(one) for one in (rule or {}).get("required") or ()}
    used = (seen.usages & _NEWLY_NAMED) - required
    if used:
        named = sorted(one.value for one in _OTHERS | used)
        result.rules["extendedKeyUsages"] = {**(rule or {}), "allowed": named}
        result.keeps.append(f"extendedKeyUsages: {', '.join(sorted(used))}")
    closed = _NEWLY_NAMED - used - required
    result.closes.append(f"extendedKeyUsages: {', '.join(sorted(closed))}")


def _bound_dates(result: Bounded, seen: Seen) -> None:
    """Let certificates begin as far from now as present ones did."""
    for name, far, usual in (
        ("maxBackdate", seen.back, USUAL_DATING.backdate),
        ("maxPostdate", seen.ahead, USUAL_DATING.postdate),
    ):
        if far > usual + _SECONDS:
            hours = f"{ceil(far / timedelta(hours=1))}h"
            result.rules["validity"] = {**(result.rules.get("validity") or {}), name: hours}
            result.keeps.append(f"validity.{name}: {hours}")


def _kind_of(value: str) -> NameType:
    try:
        ip_address(value)
    except ValueError:
        pass
    else:
        return NameType.IP_ADDRESS
    if ":" in value:
        return NameType.URI
    return NameType.EMAIL if "@" in value else NameType.DNS_NAME
