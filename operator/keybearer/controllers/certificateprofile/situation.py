"""What is known of a certificate when it is decided about: what is wanted, what is there, and what is under way."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from keybearer.controllers.issuance.service import RequestState

__all__ = [
    "Allowance",
    "Attempt",
    "CertificateView",
    "Failed",
    "Live",
    "SecretState",
    "Wanted",
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A certificate as the spec describes it.

    Attributes:
        name: of the certificate.
        digest: of all that decides what it says; another one asks for another certificate.
    """

    name: str
    digest: str


@dataclass(frozen=True, slots=True)
class Live:
    """The certificate that was stored last.

    Attributes:
        revision: that brought it.
        certificate_id: in the service; None where it isn't known, so that it can't be fetched again.
        digest: of what it was asked to be.
        not_after: when it ends.
        renewal_time: when it is renewed; None where its end is fixed.
        authority: digest of the key that signed it; None where it signed itself.
    """

    revision: int
    certificate_id: str | None
    digest: str | None
    not_after: datetime
    renewal_time: datetime | None
    authority: str | None = None


class SecretState(Enum):
    """What became of the Secret since it was written."""

    AS_WRITTEN = "as written"
    DRIFTED = "drifted"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that was begun and whose certificate isn't stored yet.

    Attributes:
        revision: of the attempt.
        digest: of what is asked for.
        fresh: noted down in this very run, so that nothing of it can have been sent.
        request: as the service has it; None where it has none.
        settled_at: until when it may still reach the service, which doesn't know it; None where it can't.
        given_up: its key may be used no more.
    """

    revision: int
    digest: str
    fresh: bool = False
    request: RequestState | None = None
    settled_at: datetime | None = None
    given_up: bool = False


@dataclass(frozen=True, slots=True)
class Failed:
    """The failures since it last went well.

    Attributes:
        digest: of what was asked for.
        revision: that failed; its request is not to be counted again.
        next_attempt: when it is asked for again.
    """

    digest: str | None
    revision: int | None
    next_attempt: datetime | None


@dataclass(frozen=True, slots=True)
class CertificateView:
    """One certificate: what is wanted, what is there, and what is under way.

    Attributes:
        key_held: whether the stored certificate's key can be had without a new certificate.
        revoked: whether the service says that the stored certificate was revoked.
        refit: whether the Secret has to be written anew for what isn't its certificate: `ca.crt` or keystores.
        held_until: when another may be asked for again, whatever the need; None: now.
    """

    wanted: Wanted
    live: Live | None = None
    secret: SecretState = SecretState.MISSING
    key_held: bool = True
    attempt: Attempt | None = None
    failed: Failed | None = None
    revoked: bool = False
    refit: bool = False
    held_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Allowance:
    """What the profile as a whole lets happen in this run.

    Attributes:
        authority: digest of the key that the authority has now; None where it isn't known, or there is none.
        rolling: certificates that may follow the authority's new key now.
        mints: how many certificates the budget for lost keys still lets be issued.
        asked: a person asked for another try, so that no failure is waited out.
        renew: a person asked for new certificates.
        once: nothing is done about what was issued once.
    """

    now: datetime
    authority: str | None = None
    rolling: frozenset[str] = frozenset()
    mints: int = 0
    asked: bool = False
    renew: bool = False
    once: bool = False
