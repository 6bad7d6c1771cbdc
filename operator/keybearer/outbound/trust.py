"""Whom the service believes on the other end of TLS."""

from __future__ import annotations

import functools
import ssl

__all__ = ["trust", "trust_as_well"]


@functools.lru_cache(maxsize=64)
def trust(ca_pem: str) -> ssl.SSLContext:
    """Return a context that verifies chain, name and time: by these CA certificates, or the system's for none.

    Raises:
        ValueError: the text holds no PEM certificate.
    """
    if not ca_pem.strip():
        return ssl.create_default_context()
    try:
        context = ssl.create_default_context(cadata=_plain(ca_pem))
    except (ssl.SSLError, ValueError):
        raise ValueError("holds no PEM certificate") from None
    # On by default from Python 3.13; the CAs of many clusters lack the identifiers that it demands.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


@functools.lru_cache(maxsize=16)
def trust_as_well(ca_pem: str) -> ssl.SSLContext:
    """Return a context that verifies by the system's CA certificates and by these.

    To read the system's takes some 50 ms of the event loop, which each step of an order would.

    Raises:
        ValueError: the text holds no PEM certificate.
    """
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cadata=_plain(ca_pem))
    except (ssl.SSLError, ValueError):
        raise ValueError("holds no PEM certificate") from None
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _plain(ca_pem: str) -> str:
    # Bundles carry names of their CAs beside the certificates, in any script; OpenSSL is given ASCII alone.
    return ca_pem.encode("ascii", "replace").decode("ascii")
