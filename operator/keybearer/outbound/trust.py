"""TLS contexts with the CA certificates that the service trusts."""

from __future__ import annotations

import functools
import ssl

__all__ = ["trust", "trust_as_well"]


@functools.lru_cache(maxsize=64)
def trust(ca_pem: str) -> ssl.SSLContext:
    """Return a context that trusts these CA certificates, or the system's if there are none.

    Raises:
        ValueError: the text holds no PEM certificate.
    """
    if not ca_pem.strip():
        return ssl.create_default_context()
    try:
        context = ssl.create_default_context(cadata=_plain(ca_pem))
    except (ssl.SSLError, ValueError):
        raise ValueError("holds no PEM certificate") from None
    # On by default since Python 3.13; the CAs of many clusters lack the identifiers that it requires.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


@functools.lru_cache(maxsize=16)
def trust_as_well(ca_pem: str) -> ssl.SSLContext:
    """Return a context that trusts the system's CA certificates and these.

    Cached, because loading the system's blocks the event loop for some 50 ms.

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
    # Bundles may have comments with names of their CAs in any script; OpenSSL takes only ASCII.
    return ca_pem.encode("ascii", "replace").decode("ascii")
