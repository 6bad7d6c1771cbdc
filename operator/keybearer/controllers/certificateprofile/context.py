"""What a run works with, and what it is about; the Secrets of a profile; steps that run at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from random import Random

from keybearer.controllers.certificateprofile.policy import Authority
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec
from keybearer.controllers.certificateprofile.secret_contents import KeptAttempt
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.issuance.service import CertificateService, PresentProfile
from keybearer.controllers.issuance.timing import time_there
from keybearer.controllers.json_reading import text_of
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.outcome import ObjectGoneError, StalledError, WaitingError
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.changes import is_as_planned, replacement_patch, some_of
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
)
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.restart import WorkloadRestarter
from keybearer.controllers.underway import UnknownOrders
from keybearer.controllers.work import WorkKey
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    LeaseLostError,
    NotFoundError,
)

__all__ = [
    "Concurrency",
    "ProfileSecrets",
    "RoundContext",
    "RoundTools",
    "RunContext",
    "plan_secret",
    "require_own",
]

_LISTED_FROM = 8
"""Secrets that cost less to look for by one list of names than one by one."""
_LISTED_MAX = 500
"""Secrets of a namespace beyond which its list costs more."""
_ATTEMPTS = 4
"""Looks at a Secret before a run gives up on finding it as planned upon; others may write at the same time."""
_METADATA = "keybearer.dev/"


class Concurrency:
    """Runs steps at the same time; all who share it share its bound.

    Args:
        at_once: how many run at a time.
    """

    def __init__(self, at_once: int) -> None:
        self._turns = asyncio.Semaphore(at_once)

    async def run(self, steps: Iterable[Awaitable[None]]) -> None:
        """Run each step to its end, whatever becomes of the others.

        Raises:
            LeaseLostError: one of them lost it; else what went wrong first, in the order of the steps.
        """

        async def bounded(step: Awaitable[None]) -> None:
            async with self._turns:
                await step

        taken = list(steps)
        if len(taken) < 2:
            for step in taken:  # without a task of its own: most profiles have one certificate
                await bounded(step)
            return
        ended = await asyncio.gather(*map(bounded, taken), return_exceptions=True)
        errors = [error for error in ended if isinstance(error, BaseException)]
        for error in errors:
            if isinstance(error, LeaseLostError) or not isinstance(error, Exception):
                raise error
        if errors:
            raise errors[0]


def plan_secret(
    desired: DesiredTarget, present: PresentTarget | None, owner_uid: str, *, adopt: bool
) -> TargetAction | None:
    """Return what makes the Secret what is desired; None where it is.

    Raises:
        StalledError: it isn't ours.
    """
    if present is None:
        return CreateTarget(desired)
    if present.fingerprint == desired.fingerprint:
        return None
    wanted_type = text_of(desired.body.get("type"))
    require_own(desired.key, wanted_type, present, owner_uid, adopt=adopt)
    if is_as_planned(desired, present):
        return None
    if wanted_type != present.type or (present.immutable and present.data != desired.data):
        # What it is for has changed, which Kubernetes can't; it is ours, so it may be made anew.
        return RecreateTarget(desired, present.uid)
    patch = replacement_patch(desired, present)
    if patch is None:
        return ApplyTarget(desired, present.uid)
    return ReplaceTarget(desired, present.uid, present.resource_version, patch)


def require_own(
    key: TargetKey, secret_type: str, present: PresentTarget, owner_uid: str, *, adopt: bool
) -> None:
    """Let pass a Secret that is ours, or may be taken over and written as one of this type.

    Raises:
        StalledError: it isn't ours.
    """
    what = f"Secret {key.name}"
    controller = present.foreign_controller(owner_uid)
    if controller is not None:
        raise StalledError(
            Reason.TARGET_CONFLICT,
            f"{what} is controlled by {controller}; choose another secretName, or remove that controller",
        )
    if present.owner_uid == owner_uid:
        return
    if present.owner_uid is not None or not adopt:
        raise StalledError(
            Reason.TARGET_CONFLICT,
            f"{what} exists and was not written by this object; choose another secretName, delete it, or set adopt "
            "to take over one that belongs to nobody",
        )
    if secret_type != present.type or present.immutable:
        why = "is immutable" if secret_type == present.type else f"is of type {present.type}"
        raise StalledError(
            Reason.TARGET_CONFLICT,
            f"{what} belongs to nobody and {why}, so that it can't be taken over; choose another secretName, or "
            "delete it",
        )


class ProfileSecrets:
    """Looks, plans and writes until what is there is what was planned upon."""

    def __init__(self, objects: ObjectStore, writer: TargetWriter) -> None:
        self._objects = objects
        self._writer = writer

    def fingerprint_seen(self, key: TargetKey) -> str | None:
        """Return how the watch showed a Secret last; None where it showed none."""
        return self._writer.fingerprint_seen(key)

    async def look_at_own(
        self, key: TargetKey, owner_uid: str, *, thorough: bool = False
    ) -> PresentTarget | None:
        """Return the Secret as it is, if it is ours; None otherwise.

        Args:
            key: which one.
            owner_uid: of the CertificateProfile.
            thorough: read it from the API server, whatever the watch showed.

        Raises:
            KubeError: the API server can't be asked.
        """
        present = await self._writer.look(key, owner_uid, expected=None, thorough=thorough)
        is_own = present is not None and present.owner_uid == owner_uid
        return present if is_own else None

    async def require_free(self, key: TargetKey, secret_type: str, owner_uid: str, *, adopt: bool) -> None:
        """Let pass what could be written: nothing is there, or it is ours, or may be taken over.

        Raises:
            StalledError: it is somebody else's.
            KubeError: the API server can't be asked.
        """
        present = await self._writer.look(key, owner_uid, expected=None, thorough=False)
        if present is not None:
            require_own(key, secret_type, present, owner_uid, adopt=adopt)
            self._require_unmerged(key, present, owner_uid)

    async def absent(self, keys: Iterable[TargetKey]) -> frozenset[TargetKey]:
        """Return Secrets of one namespace that are known not to be there; of few, none is looked for.

        Raises:
            KubeError: the API server can't be asked.
        """
        unseen = [key for key in keys if self.fingerprint_seen(key) is None]
        if len(unseen) < _LISTED_FROM:
            return frozenset()
        names = await self._writer.names_in(unseen[0].kind, unseen[0].namespace, fewer_than=_LISTED_MAX)
        return frozenset() if names is None else frozenset(key for key in unseen if key.name not in names)

    async def create(self, seen: ObservedObject, desired: DesiredTarget) -> None:
        """Create the Secret, without a look at what may be there.

        Raises:
            AlreadyExistsError: there is one of that name; it is left as it is.
            ReconcileError: it can't be what is desired.
            ObjectGoneError: the CertificateProfile is gone.
            KubeError: the API server refuses or can't be asked.
        """
        await self._carry_out(seen, CreateTarget(desired))

    async def write(
        self,
        seen: ObservedObject,
        desired: DesiredTarget,
        *,
        adopt: bool = False,
        is_new: bool = False,
        found: PresentTarget | None = None,
        repairs: bool = False,
    ) -> bool:
        """Make the Secret what is desired; return whether anything had to be done.

        Args:
            seen: the CertificateProfile.
            desired: the Secret.
            adopt: take over one that exists and belongs to nobody.
            is_new: none is expected to be there, so that it is created without a look.
            found: the Secret as it was read in this run, where it was: it isn't read again.
            repairs: just this was written before: what has to be written now makes good what others did.

        Raises:
            ReconcileError: it isn't ours, can't be what is desired, or others write it at the same time, or again and
                again.
            ObjectGoneError: the CertificateProfile is gone.
            KubeError: the API server refuses or can't be asked.
        """
        for attempt in range(_ATTEMPTS):
            present = found if attempt == 0 else None
            if attempt or not (is_new or found is not None):
                present = await self._writer.look(
                    desired.key, seen.uid, expected=desired.fingerprint, thorough=attempt > 0
                )
            action = plan_secret(desired, present, seen.uid, adopt=adopt)
            if action is not None and present is not None:
                self._require_unmerged(desired.key, present, seen.uid)
            if action is None:
                self._writer.expect(desired.key, None if present is None else present.fingerprint)
                return False
            if repairs:
                self.take_repair(seen, desired.key, present)
            try:
                await self._carry_out(seen, action)
            except (AlreadyExistsError, ConflictError, NotFoundError):
                continue
            return True
        raise WaitingError(
            Reason.TARGET_CONFLICT,
            f"Secret {desired.key.name} is being written by somebody else at the same time; it is tried again",
        )

    def take_repair(self, seen: ObservedObject, key: TargetKey, present: PresentTarget | None) -> None:
        """Count a write that makes good what others did to a Secret.

        Raises:
            WaitingError: it has to wait, for they do so again and again.
        """
        if self._writer.take_repair(present, key, seen.uid):
            return
        contested = self.contested(seen, (key,))
        if contested is not None:
            raise contested

    def contested(self, seen: ObservedObject, keys: Iterable[TargetKey]) -> WaitingError | None:
        """Return what stands against an object whose Secrets others keep changing; None where they don't."""
        return self._writer.contested(seen.uid, keys)

    def _require_unmerged(self, key: TargetKey, present: PresentTarget, owner_uid: str) -> None:
        """Let pass a Secret into which no other custom resource merges keys: they would be lost to it.

        Raises:
            StalledError: one does.
        """
        if present.owner_uid == owner_uid:
            return
        for uid, names in present.merges.items():
            rival = self._objects.find(uid)
            if rival is not None and names:
                raise StalledError(
                    Reason.TARGET_CONFLICT,
                    f"{rival.kind} {rival.name} merges {some_of(sorted(names))} into Secret {key.name}; choose "
                    f"another secretName, or another target for {rival.name}",
                )

    async def _carry_out(self, seen: ObservedObject, action: TargetAction) -> None:
        current = self._objects.get(seen.key)
        if current is None or current.uid != seen.uid:
            raise ObjectGoneError
        try:
            await self._writer.carry_out(action, seen.uid)
        except ForbiddenError as error:
            if error.namespace_terminating:
                raise
            raise _refused(action.desired, error) from error
        except InvalidError as error:
            raise _refused(action.desired, error) from error

    async def retire(self, key: TargetKey, owner_uid: str) -> bool:
        """Delete a Secret that is ours and no longer wanted; return whether there was one.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        return await self._writer.retire(key, owner_uid)


def _refused(desired: DesiredTarget, error: ForbiddenError | InvalidError) -> StalledError:
    return StalledError(Reason.TARGET_REFUSED, f"{error}; Secret {desired.key.name} can't be written so")


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
