"""Problems that an ACME authority reports (RFC 8555 section 6.7)."""

from __future__ import annotations

from datetime import timedelta

from keybearer.destinations.remote import RemoteError

__all__ = ["AcmeProblemError"]

_PASSES = frozenset({"badNonce", "orderNotReady", "rateLimited", "serverInternal"})


class AcmeProblemError(RemoteError):
    """The authority refuses; the message is its text, shortened and printable.

    Attributes:
        kind: its word for it, such as `rejectedIdentifier`; empty where it gave none.
        is_retryable: whether the same may work later without a change.
        wait: how long it asks to wait before that.
    """

    def __init__(self, text: str, *, kind: str, status: int, wait: timedelta | None) -> None:
        super().__init__(text)
        self.kind = kind
        self.wait = wait
        self.is_retryable = kind in _PASSES or status == 429 or status >= 500
