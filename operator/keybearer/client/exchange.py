"""One operation, one token: sent until it is answered, and its answer read."""

from __future__ import annotations

from typing import TypeVar

from keybearer.client.errors import DecodeError, TransportError
from keybearer.client.messages import Response
from keybearer.client.operation import Operation
from keybearer.client.refusals import refusal_of
from keybearer.client.retries import RetryPolicy
from keybearer.client.session import Session
from keybearer.client.steps import Steps, Transmit, Wait, take

__all__ = ["conclude", "deliver"]

T = TypeVar("T")


def deliver(
    session: Session, operation: Operation[T], bearer: str | None, *, retry: RetryPolicy | None = None
) -> Steps[Response]:
    """Send, and send again as the policy has it; return the answer, whatever its status.

    Raises:
        TransportError: the last attempt got no answer.
    """
    request = operation.request()
    policy = retry or session.retry
    tries = 0
    while True:
        outcome = yield from take(Transmit(request, bearer, operation.operation_name))
        tries += 1
        delay = policy.wait(operation.repeat, outcome, tries, now=session.clock.now(), rng=session.rng)
        if delay is None:
            break
        yield from take(Wait(delay))
    if isinstance(outcome, TransportError):
        raise outcome
    return outcome


def conclude(session: Session, operation: Operation[T], response: Response, bearer: str | None) -> T:
    """Return what the answer means.

    Raises:
        ServiceError: it is a refusal.
        DecodeError: it is not of this interface.
    """
    if not (200 <= response.status < 300 or response.status in operation.statuses):
        confidential = (*operation.confidential(), bearer or "")
        raise refusal_of(response, operation.request(), confidential, session.clock.now())
    try:
        return operation.read(response)
    except DecodeError as error:
        raise DecodeError(f"{error} ({operation.request()})") from error
