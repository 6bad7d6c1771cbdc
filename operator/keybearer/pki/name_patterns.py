"""Patterns of names in policies: which names they let pass, and which they deny.

Where a pattern allows, `*` stands for what belongs to one label of a host, `**` for any characters, `?` for one; a
pattern that is `*` alone allows any name of its kind. A pattern that denies is read as widely as it can be, so that
no denial is less than it says: `*` is any characters there, and case doesn't count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from ipaddress import ip_address

from keybearer.base.addresses import as_ipv4
from keybearer.base.certificate_terms import NameType
from keybearer.base.globs import matches_glob
from keybearer.pki.common_names import is_host
from keybearer.pki.denied_forms import denied_forms, patterns_of_denial
from keybearer.pki.uris import canonical_uri, canonical_uri_pattern

__all__ = [
    "WILDCARD",
    "Matcher",
    "canonical",
    "common_name_matcher",
    "denial_matcher",
    "name_matcher",
    "text_matcher",
]

Matcher = Callable[[str], bool]
"""Tells whether it speaks of a name, which is in the form of `canonical`."""
WILDCARD = "*."
"""How hosts begin that stand for all hosts with one label in its place (RFC 9525 section 6.3)."""
_ANYTHING = frozenset({"*", "**"})
_HOST_PATTERN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.*?")
_MANY, _ONE = "many", "one"
_Segment = tuple[str, str, str]
"""A piece of a pattern, and the characters that `*` and `?` don't stand for in it."""
_LABEL = (".", ".*")
"""Of hosts: a wildcard of a name stands for more than one character."""


def canonical(kind: NameType, value: str) -> str:
    """Return the form in which names of that kind are compared."""
    match kind:
        case NameType.DNS_NAME:
            return value.lower()
        case NameType.EMAIL:
            local, at, host = value.rpartition("@")
            return f"{local}{at}{host.lower()}"
        case NameType.IP_ADDRESS:
            return _canonical_address(value)
        case NameType.URI:
            return canonical_uri(value)
        case NameType.UPN:
            return value


def name_matcher(kind: NameType, pattern: str) -> Matcher:
    """Return what tells whether a pattern allows an alternative name of that kind."""
    if pattern in _ANYTHING:
        return _is_any
    match kind:
        case NameType.DNS_NAME:
            return _matcher([(pattern.lower(), *_LABEL)])
        case NameType.EMAIL:
            local, at, host = pattern.rpartition("@")
            return _matcher([(local + at, "@", "@"), (host.lower(), ".@", ".@")])
        case NameType.IP_ADDRESS:
            return text_matcher(_canonical_address(pattern))
        case NameType.URI:
            scheme, authority, rest = canonical_uri_pattern(pattern)
            host = "/?#@" if authority == "//*" else "./:?#@"
            # Whoever writes a ? into a path may mean the one before a query.
            path = ("?#", "#") if scheme else (":/?#", ":/#")
            return _matcher([(scheme, ":/?#", ":/?#"), (authority, host, host), (rest, *path)])
        case NameType.UPN:
            return text_matcher(pattern)


def common_name_matcher(pattern: str) -> Matcher:
    """Return what tells whether a pattern allows a common name.

    One that is written as hosts are allows hosts and addresses only, but `**` and one without wildcards, which stand
    for what they say. One with other characters is a rule for other text.
    """
    if pattern == "**" or not _HOST_PATTERN.issuperset(pattern):
        return text_matcher(pattern)
    matches = _is_any if pattern == "*" else _matcher([(pattern, *_LABEL)])
    if not _has_wildcards(pattern):
        return matches
    return lambda value: matches(value) and is_host(value)


def text_matcher(pattern: str) -> Matcher:
    """Return what tells whether a pattern allows other text, where `*` stands for any characters."""
    return partial(matches_glob, pattern) if _has_wildcards(pattern) else pattern.__eq__


def denial_matcher(kind: NameType | None, patterns: Iterable[str]) -> Matcher:
    """Return what tells whether one of the patterns denies a name of that kind, or other text: in whatever case.

    A wildcard is denied where a host is that it stands for: who reads a certificate takes `*.example.com` for each.
    """
    folded = tuple(
        form.lower() for one in patterns for form in patterns_of_denial(kind, _canonical_denial(kind, one))
    )

    def denies(value: str) -> bool:
        return any(
            matches_glob(pattern, form)
            or (form.startswith(WILDCARD) and _meets_host_under(pattern, form.removeprefix("*")))
            for form in map(str.lower, denied_forms(kind, value))
            for pattern in folded
        )

    return denies


def _canonical_denial(kind: NameType | None, pattern: str) -> str:
    # A pattern of URIs is no URI: `?` is a wildcard in it.
    return pattern if kind in (None, NameType.URI) else canonical(kind, pattern.strip())


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


def _canonical_address(text: str) -> str:
    try:
        return str(as_ipv4(ip_address(text)))
    except ValueError:
        return text.lower()  # a wildcard


def _has_wildcards(pattern: str) -> bool:
    return "*" in pattern or "?" in pattern


def _is_any(value: str) -> bool:
    del value  # whatever it is
    return True


def _matcher(segments: list[_Segment]) -> Matcher:
    """Return what tells whether the segments, one after the other, can stand for the whole of a name."""
    whole = "".join(text for text, *_ in segments)
    if not _has_wildcards(whole):
        return whole.__eq__
    rest = whole.removeprefix("*")
    if len(segments) == 1 and rest.startswith(".") and not _has_wildcards(rest):
        return partial(_is_one_label_before, rest)
    return _Automaton(segments).matches


def _is_one_label_before(domain: str, value: str) -> bool:
    return value.endswith(domain) and 0 < len(value) - len(domain) == value.find(".")


class _Automaton:
    """All places of a pattern at once, one bit each: time grows with the name, not with what could be tried."""

    def __init__(self, segments: list[_Segment]) -> None:
        self._literals: dict[str, int] = {}
        self._wildcards: dict[tuple[str, str], int] = {}
        place = 0
        for text, not_many, not_one in segments:
            at = 0
            while at < len(text):
                if text.startswith("**", at):
                    self._note((_MANY, ""), place)
                    at += 1
                elif text[at] == "*":
                    self._note((_MANY, not_many), place)
                elif text[at] == "?":
                    self._note((_ONE, not_one), place)
                else:
                    self._literals[text[at]] = self._literals.get(text[at], 0) | 1 << place
                at, place = at + 1, place + 1
        self._many = sum(places for (kind, _), places in self._wildcards.items() if kind == _MANY)
        self._start, self._end = self._skipped(1), 1 << place

    def _note(self, wildcard: tuple[str, str], place: int) -> None:
        self._wildcards[wildcard] = self._wildcards.get(wildcard, 0) | 1 << place

    def matches(self, value: str) -> bool:
        """Return whether the pattern can stand for the whole value."""
        places = self._start
        for character in value:
            passed, stayed = places & self._literals.get(character, 0), 0
            for (kind, excluded), here in self._wildcards.items():
                if character not in excluded:
                    if kind == _MANY:
                        stayed |= places & here
                    else:
                        passed |= places & here
            places = self._skipped(passed << 1 | stayed)
            if not places:
                return False
        return bool(places & self._end)

    def _skipped(self, places: int) -> int:
        """Return the places with those after a wildcard that stands for nothing."""
        found = places
        while True:
            more = found | (found & self._many) << 1
            if more == found:
                return found
            found = more
