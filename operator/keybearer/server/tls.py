"""The certificate of the listener, read again when its files change."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass
from pathlib import Path

from keybearer.base.errors import ConfigurationError
from keybearer.base.logs import get_logger

__all__ = ["CertificateFiles", "keep_certificate_fresh", "tls_context"]

_LOOK_SECONDS = 2.0
_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """PEM files: the chain, leaf first, and its private key."""

    chain: Path
    key: Path

    def stamp(self) -> tuple[tuple[int, int], ...] | None:
        """Return what changes with either file; None while one is missing, as in the middle of a change."""
        try:
            return tuple((stat.st_mtime_ns, stat.st_ino) for stat in (self.chain.stat(), self.key.stat()))
        except FileNotFoundError:
            return None


def tls_context(files: CertificateFiles) -> ssl.SSLContext:
    """Return a server context, TLS 1.2 or newer.

    Raises:
        ConfigurationError: a file is missing, no PEM, or the key is not the certificate's.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _load(context, files)
    return context


async def keep_certificate_fresh(context: ssl.SSLContext, files: CertificateFiles) -> None:
    """Have new connections see a changed certificate within seconds; runs until it is cancelled.

    A change that can't be loaded is logged, and the former certificate stays. Mounted Secrets change by a
    symbolic link, which notifications on the files don't tell; so the files are looked at.
    """
    seen = files.stamp()
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        stamp = files.stamp()
        if stamp is None or stamp == seen:
            continue
        seen = stamp
        try:
            # Into a fresh context first: a half-written pair must not reach the one in use.
            _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), files)
            _load(context, files)
        except ConfigurationError as error:
            _log.warning("kept_former_certificate", reason=str(error))
        else:
            _log.info("reloaded_certificate", path=str(files.chain))


def _load(context: ssl.SSLContext, files: CertificateFiles) -> None:
    try:
        context.load_cert_chain(files.chain, files.key)
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(
            f"certificate {files.chain} and key {files.key} can't be used: {error.strerror or error}"
        ) from error
