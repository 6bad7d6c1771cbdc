"""The little of DER (X.690) that is written and read by hand here: one element at a time."""

from __future__ import annotations

from keybearer.pki.errors import MalformedError

__all__ = ["NULL", "OCTET_STRING", "SEQUENCE", "UTF8_STRING", "element", "only_element"]

OCTET_STRING = 0x04
NULL = 0x05
UTF8_STRING = 0x0C
SEQUENCE = 0x30
_SHORT = 0x80


def element(tag: int, content: bytes) -> bytes:
    """Return the element of that tag."""
    size = len(content)
    if size < _SHORT:
        return bytes([tag, size]) + content
    octets = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, _SHORT | len(octets)]) + octets + content


def only_element(tag: int, der: bytes) -> bytes:
    """Return the content of the element that is all of these bytes.

    Raises:
        MalformedError: they are something else.
    """
    start = 2
    if len(der) >= start and der[1] & _SHORT:
        start += der[1] & ~_SHORT
    content = der[start:]
    if element(tag, content) != der:
        raise MalformedError("an element isn't what it should be, or isn't written as DER")
    return content
