"""The forms of names that a denial is compared with: a certificate has one form of a name, people write others.

An allowed pattern that nothing fits allows less than was meant, which shows at once. A denial that nothing fits
denies nothing, and nobody notices. So a denial speaks of a name in whichever form somebody would write it.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from keybearer.base.certificate_terms import NameType
from keybearer.pki.common_names import in_usual_forms
from keybearer.pki.uris import canonical_uri_pattern

__all__ = ["denied_forms", "patterns_of_denial"]

_USUAL_PORTS = {"http:": "80", "https:": "443", "ws:": "80", "wss:": "443", "ldap:": "389", "ldaps:": "636"}


def denied_forms(kind: NameType | None, value: str) -> tuple[str, ...]:
    """Return the forms in which a denial may speak of a name.

    Args:
        kind: of an alternative name; None: other text.
        value: as it is compared with what is allowed.
    """
    if kind is NameType.IP_ADDRESS:
        return (value, *_other_addresses(value))
    if kind is NameType.URI:
        scheme, authority, rest = canonical_uri_pattern(value)
        if authority:
            return (value, f"{scheme}{_plain_authority(scheme, authority)}{_rooted(rest)}")
    return (value,)


def patterns_of_denial(kind: NameType | None, pattern: str) -> tuple[str, ...]:
    """Return the patterns that are compared for one that was written; other text may be written as a host is."""
    pattern = pattern.strip()
    match kind:
        case NameType.DNS_NAME:
            return (_plain_host(pattern),)
        case NameType.EMAIL:
            local, at, host = pattern.rpartition("@")
            return (f"{local}{at}{_plain_host(host)}",)
        case NameType.URI:
            scheme, authority, rest = canonical_uri_pattern(pattern)
            return tuple(
                {
                    f"{scheme}{authority}{rest}": None,
                    f"{scheme}{_plain_authority(scheme, authority)}{_rooted(rest)}": None,
                }
            )
        case None if " " not in pattern:
            return tuple({pattern: None, _plain_host(pattern): None})
        case _:
            return (pattern,)


def _other_addresses(value: str) -> tuple[str, ...]:
    try:
        address = ip_address(value)
    except ValueError:
        return ()
    if not isinstance(address, IPv6Address):
        return (f"::ffff:{value}",)
    groups = address.exploded.split(":")
    return (address.exploded, ":".join(group.lstrip("0") or "0" for group in groups))


def _plain_host(host: str) -> str:
    """Return a host without a dot at its end, in other scripts' ASCII form (RFC 5891); its wildcards stay."""
    if not host.isascii():
        host = ".".join(map(_in_ascii, in_usual_forms(host).split(".")))
    return host.removesuffix(".") or host


def _in_ascii(label: str) -> str:
    if label.isascii() or "*" in label or "?" in label:
        return label
    try:
        return label.encode("idna").decode("ascii")
    except UnicodeError:
        return label


def _plain_authority(scheme: str, authority: str) -> str:
    host, _, port = authority.removeprefix("//").partition(":")
    if "[" in host or not authority:
        return authority
    return f"//{_plain_host(host)}" + (f":{port}" if port and port != _USUAL_PORTS.get(scheme) else "")


def _rooted(rest: str) -> str:
    """Return what follows the authority, with the path that an empty one means (RFC 3986 section 6.2.3)."""
    return rest if rest.startswith(("/", "*")) else f"/{rest}"
