"""What is trusted of authorities, for a trust bundle. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from keybearer.pki.certificates import Certificate, parse_certificates, text_of_certificates

__all__ = ["anchors_text"]


def anchors_text(texts: Iterable[str]) -> str:
    """Return what is trusted, each certificate once: the API server refuses doubles, and what is no authority.

    Args:
        texts: PEM of the authorities; what is empty is left out.

    Raises:
        MalformedError: a certificate can't be read.
    """
    listed = [one for text in texts if text.strip() for one in parse_certificates(text)]
    unique: dict[bytes, Certificate] = {one.der: one for one in listed if one.is_ca}
    return text_of_certificates(unique.values())
