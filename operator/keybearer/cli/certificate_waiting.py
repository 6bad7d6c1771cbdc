"""Waiting until a request for a certificate has come to its end."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from keybearer.base.certificate_terms import RequestStatus
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.waiting import wait_until_over

if TYPE_CHECKING:
    from keybearer.client import CertificateRequestState

__all__ = ["require_issued", "wait_for"]

_POLL_SECONDS = 2.0
_FINAL = frozenset(status.value for status in RequestStatus if status.is_final)


def wait_for(
    request_id: str,
    read: Callable[[], CertificateRequestState],
    tell: Callable[[str], None],
    *,
    patience: timedelta,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> CertificateRequestState:
    """Return the request once it is over, however it ended.

    Args:
        request_id: as errors name it.
        read: asks the service how the request is now.
        tell: is given each new status.
        patience: how long to wait at most.
        sleep: waits, in seconds.
        monotonic: tells lengths of time, in seconds.

    Raises:
        CommandError: it isn't over after that time; it goes on by itself.
    """
    until = monotonic() + patience.total_seconds()
    return wait_until_over(
        read(),
        read,
        lambda state: None if state.status in _FINAL else state.status,
        lambda status: tell(f"request {request_id}: {status}"),
        lambda status: CommandError(
            f"request {request_id} is still {status} after {patience.total_seconds():.0f} s",
            ExitStatus.UNAVAILABLE,
            f"Look at it later: keybearer certificates fetch {request_id}",
        ),
        every_seconds=_POLL_SECONDS,
        until=until,
        sleep=sleep,
        monotonic=monotonic,
    )


def require_issued(request_id: str, status: str, message: str | None) -> None:
    """Return if the request brought a certificate.

    Raises:
        CommandError: it ended otherwise.
    """
    if status != RequestStatus.ISSUED:
        raise CommandError(
            f"request {request_id} is {status}" + (f": {message}" if message else ""), ExitStatus.REFUSED
        )
