"""Why a call out of the service did not come to an answer. The texts name no credential and no answer."""

from __future__ import annotations

from keybearer.base.errors import KeybearerError

__all__ = ["OutboundError", "OutboundFailedError", "OutboundRefusedError"]


class OutboundError(KeybearerError):
    """A call that brought no answer."""


class OutboundRefusedError(OutboundError):
    """The gate lets nobody go there."""


class OutboundFailedError(OutboundError):
    """The other side can't be reached, isn't who it should be, or answers something that can't be used."""
