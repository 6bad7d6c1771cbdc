"""URIs as policies compare them: taken apart and brought into one form (RFC 3986 section 6.2.2)."""

from __future__ import annotations

import re

__all__ = ["canonical_uri", "canonical_uri_pattern", "fault_of_uri"]

_PARTS = re.compile(r"(?P<scheme>[^:/?#]+:)?(?P<authority>//[^/?#]*)?(?P<path>[^?#]*)(?P<rest>.*)", re.DOTALL)
_PATTERN_PARTS = re.compile(r"([^:/#]*:)?(//[^/#]*)?(.*)", re.DOTALL)
_OCTET = re.compile(r"%([0-9A-Fa-f]{2})")
_HALF_AN_OCTET = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HIDDEN = re.compile(r"%(?:[01][0-9A-F]|2F|5C|7F)")
"""Percent-encoded slashes, backslashes and control characters: readers differ on what they part."""

_ASCII_OCTET = re.compile("%[0-7]")
"""An ASCII octet that stays encoded in a host is a delimiter: some readers end the host or a user there."""


def fault_of_uri(uri: str) -> str | None:
    """Return why a URI can't be compared with what a policy allows, None where it can."""
    parts = _PARTS.fullmatch(uri)
    if parts is None or parts["scheme"] is None:
        return "isn't absolute"
    if "@" in (parts["authority"] or ""):
        return "names a user"
    if "#" in parts["rest"]:
        return "holds a fragment"
    return _fault_of_octets(uri, _decoded(parts["authority"] or ""), _decoded(parts["path"]))


def _fault_of_octets(uri: str, authority: str, path: str) -> str | None:
    if _HALF_AN_OCTET.search(uri):
        return "holds a % that begins no octet"
    if _ASCII_OCTET.search(authority):
        return "holds percent-encoded ASCII characters in its host"
    if _HIDDEN.search(path):
        return "holds a percent-encoded slash, backslash or control character"
    if any(segment in (".", "..") for segment in path.split("/")):
        return "holds dot segments"
    return None


def canonical_uri(uri: str) -> str:
    """Return the form in which a URI is compared: scheme and host in lower case, nothing encoded needlessly."""
    parts = _PARTS.fullmatch(uri)
    if parts is None:
        return uri
    scheme, authority, path, rest = parts.groups(default="")
    return scheme.lower() + _decoded(authority).lower() + _decoded(path) + _decoded(rest)


def canonical_uri_pattern(pattern: str) -> tuple[str, str, str]:
    """Return scheme, authority and all else of a pattern in that form; `?` is a wildcard there and parts nothing."""
    parts = _PATTERN_PARTS.fullmatch(pattern)
    scheme, authority, rest = ("", "", pattern) if parts is None else parts.groups(default="")
    return scheme.lower(), _decoded(authority).lower(), _decoded(rest)


def _decoded(part: str) -> str:
    """Return the part with what needs no encoding decoded, and the other octets in upper case."""

    def octet(found: re.Match[str]) -> str:
        character = chr(int(found[1], 16))
        return character if character in _UNRESERVED else f"%{found[1].upper()}"

    return _OCTET.sub(octet, part) if "%" in part else part
