"""Errors of calls out of the service. Their messages contain no credentials and no answers."""

from __future__ import annotations

from keybearer.base.errors import KeybearerError

__all__ = [
    "OutboundError",
    "OutboundFailedError",
    "OutboundRefusedError",
    "OutboundUnreachableError",
    "OutboundUntrustedError",
]


class OutboundError(KeybearerError):
    """A call got no usable answer."""


class OutboundRefusedError(OutboundError):
    """The gate does not allow this host."""


class OutboundFailedError(OutboundError):
    """The host can't be reached or verified, or its answer can't be used."""


class OutboundUnreachableError(OutboundFailedError):
    """There is no connection to the host: its name has no address, or none of its addresses takes one."""


class OutboundUntrustedError(OutboundFailedError):
    """The host's certificate isn't one that the service trusts for its name."""
