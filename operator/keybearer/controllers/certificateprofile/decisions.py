"""What can be decided about a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from keybearer.base.certificate_terms import RequestStatus
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.situation import Attempt
from keybearer.controllers.certificateprofile.status import Need

__all__ = ["Decision", "Fail", "Fetch", "Keep", "Mint", "Post", "Step", "Wait"]


@dataclass(frozen=True, slots=True)
class Keep:
    """Nothing is asked for."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Something is asked for, or would be, but not now.

    Attributes:
        reason: what is waited for.
        until: when to look again; None where the run itself says when.
    """

    reason: Reason
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Mint:
    """Begin a new attempt.

    Attributes:
        need: why.
        cancel: the id of a request that it takes the place of.
    """

    need: Need
    cancel: str | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """Send an attempt that the service doesn't know."""

    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Fetch:
    """Get what was issued and store it."""

    attempt: Attempt
    certificate_id: str


@dataclass(frozen=True, slots=True)
class Fail:
    """Count a request that came to nothing."""

    attempt: Attempt
    status: RequestStatus
    message: str


Step = Keep | Wait | Mint | Post | Fetch | Fail


@dataclass(frozen=True, slots=True)
class Decision:
    """What is done about one certificate.

    Attributes:
        step: towards the next certificate, if one is needed.
        restore: the Secret is written anew with the certificate that it had, without asking for another.
    """

    step: Step
    restore: bool = False
