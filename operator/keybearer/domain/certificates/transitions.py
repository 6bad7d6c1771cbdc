"""The states of a certificate request, and the moves between them (interface.md section 3, wire.md section 5.2)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from keybearer.base.certificate_terms import RequestStatus
from keybearer.domain.errors import InvalidError

__all__ = ["CANCELLABLE", "MOVES", "may_move", "require_move"]

_PENDING_APPROVAL, _PENDING, _VALIDATION = (
    RequestStatus.PENDING_APPROVAL,
    RequestStatus.PENDING,
    RequestStatus.PENDING_VALIDATION,
)
_ISSUED, _FAILED, _REJECTED = RequestStatus.ISSUED, RequestStatus.FAILED, RequestStatus.REJECTED

MOVES: Mapping[RequestStatus, frozenset[RequestStatus]] = MappingProxyType(
    {
        # Approved; denied or expired; cancelled.
        _PENDING_APPROVAL: frozenset({_PENDING, _REJECTED, _FAILED}),
        # Signed here; the policy no longer allows it, or cancelled; ordered elsewhere.
        _PENDING: frozenset({_ISSUED, _FAILED, _VALIDATION}),
        _VALIDATION: frozenset({_ISSUED, _FAILED}),
        _ISSUED: frozenset(),
        _FAILED: frozenset(),
        _REJECTED: frozenset(),
    }
)
"""Where a request may go from each state. One begins as `pending_approval`, `pending`, or issued at once."""

CANCELLABLE = frozenset(status for status, targets in MOVES.items() if targets)


def may_move(status: RequestStatus, target: RequestStatus) -> bool:
    """Return whether a request may go from one state to the other."""
    return target in MOVES[status]


def require_move(status: RequestStatus, target: RequestStatus) -> None:
    """Let pass what `MOVES` allows.

    Raises:
        InvalidError: the request can't go there any more, or not yet.
    """
    if not may_move(status, target):
        raise InvalidError(f"The certificate request is {status}, so that it can't become {target}")
