"""What a run works with, and what it and its round are about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from random import Random

from keybearer.controllers.certificateprofile.policy import Authority
from keybearer.controllers.certificateprofile.profile_secrets import ProfileSecrets
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.secret_contents import KeptAttempt
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.issuance.service import CertificateService, PresentProfile
from keybearer.controllers.issuance.timing import time_there
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.underway import UnknownOrders
from keybearer.controllers.work import WorkKey

__all__ = ["RoundContext", "RoundTools", "RunContext"]

_METADATA = "keybearer.dev/"


@dataclass(frozen=True, slots=True)
class RoundTools:
    """What a round works with.

    Attributes:
        require_lead: raises LeaseLostError where another replica leads; asked before something is ordered.
        orders: those of which nobody knows what became of them.
    """

    secrets: ProfileSecrets
    fingerprinter: Fingerprinter
    restarter: WorkloadRestarter
    rng: Random
    now: Callable[[], datetime]
    require_lead: Callable[[], None]
    orders: UnknownOrders


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run is about.

    Attributes:
        seen: the CertificateProfile.
        spec: its spec.
        previous: its status.
        service: as its identity sees it.
        session_id: of the session with it.
        project_id: that the spec names.
        cluster_id: of this cluster.
    """

    seen: ObservedObject
    spec: CertificateProfileSpec
    previous: CertificateProfileStatus
    service: CertificateService
    session_id: str
    project_id: str | None
    cluster_id: str

    def time(self, now: datetime) -> datetime:
        """Return the present by which decisions are made; `now` is that of our clock."""
        return time_there(now, self.service.clock_ahead)

    @property
    def secret_names(self) -> frozenset[str]:
        """Names of all Secrets that the object keeps: those of its certificates, and that of its keys."""
        targets = (entry.target_name for entry in self.spec.certificates)
        return frozenset((*targets, keyring_name(self.seen.key.name)))

    @property
    def marks(self) -> dict[str, str]:
        """What the metadata of all requests of this object say."""
        return {f"{_METADATA}cluster": self.cluster_id, f"{_METADATA}uid": self.seen.uid}

    def marks_of(self, name: str, attempt: KeptAttempt | None = None) -> dict[str, str]:
        """Return what the metadata of the requests for a certificate say, or of one attempt's request."""
        marks = {**self.marks, f"{_METADATA}certificate": name}
        return marks if attempt is None else {**marks, f"{_METADATA}revision": attempt.label}

    def order_of(self, name: str, attempt: KeptAttempt) -> tuple[WorkKey, str]:
        """Return under what the order of an attempt is remembered until its end is known."""
        return self.seen.key, f"{name}/{attempt.label}"


@dataclass(frozen=True, slots=True)
class RoundContext:
    """What a round is about.

    Attributes:
        run: the run.
        profile: in the service.
        authority: who signs; None where that isn't known, or certificates sign themselves.
        self_signed: they do.
        compared: the profile was compared with the service just now: certificates are to be, too.
        asked: a person asked for another try.
        renew: a person asked for new certificates.
    """

    run: RunContext
    profile: PresentProfile
    authority: Authority | None
    self_signed: bool = False
    compared: bool = False
    asked: bool = False
    renew: bool = False
