"""What a common name is taken for: clients that look at it read hosts, addresses, mailboxes and URIs there."""

from __future__ import annotations

import re
import unicodedata

from keybearer.base.certificate_terms import NameType
from keybearer.pki.errors import TemplateError
from keybearer.pki.names import AlternativeName, alternative_name

__all__ = ["in_usual_forms", "is_host", "read_common_name"]

_READ_AS = (NameType.DNS_NAME, NameType.IP_ADDRESS, NameType.EMAIL)
"""Hosts first, which are most; no text is two of these."""

_PART_OF_A_LABEL = re.compile(r"[A-Za-z0-9_*-]*\*[A-Za-z0-9_*-]*")
"""A first label that is partly a wildcard: OpenSSL accepts such names (X509_check_host)."""


def is_host(common_name: str) -> bool:
    """Return whether it has the form of a host name, perhaps of a wildcard, or of an address, exactly."""
    return (
        _read(NameType.DNS_NAME, common_name) is not None
        or _read(NameType.IP_ADDRESS, common_name) is not None
    )


def read_common_name(common_name: str) -> AlternativeName | None:
    """Return the alternative name that a common name may be taken for, None where it is other text.

    It is read as generously as a client might read it: with characters of any width and case, and with a dot at its
    end. A wildcard within its first label counts as a wildcard for the whole label.
    """
    text = common_name if common_name.isascii() else in_usual_forms(common_name)
    text = text.strip().rstrip(".")
    for kind in _READ_AS:
        found = _read(kind, text)
        if found is not None:
            return found
    if "://" in text:
        return _read(NameType.URI, text)
    label, _, domain = text.partition(".")
    return _read(NameType.DNS_NAME, f"*.{domain}") if _PART_OF_A_LABEL.fullmatch(label) else None


def in_usual_forms(text: str) -> str:
    """Return the text with other forms of letters and dots, such as full-width ones, as IDNA maps them (UTS 46)."""
    return unicodedata.normalize("NFKC", text).replace("\u3002", ".")


def _read(kind: NameType, text: str) -> AlternativeName | None:
    try:
        return alternative_name(kind, text)
    except TemplateError:
        return None
