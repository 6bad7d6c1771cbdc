"""Reads and writes the Secrets of a CertificateProfile: one with its keys, and one for each certificate."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import replace

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.absent_secrets import AbsentSecrets
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.outcome import ObjectGoneError, StalledError, WaitingError
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.conflicts import refuse_foreign, refuse_identity
from keybearer.controllers.target.convergence import Convergence, Start
from keybearer.controllers.target.decisions import CreateTarget, PlanContext, TargetAction, Verdict
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.controllers.target.plan import plan_target
from keybearer.controllers.target.reasons import TargetReason
from keybearer.controllers.target.rivals import Rivals
from keybearer.controllers.target.spec import CreationPolicy, TargetWords, WriteRules
from keybearer.kube.errors import ForbiddenError, InvalidError

__all__ = ["ProfileSecrets"]

_CLAIMS_MAX = 50_000
_OF_CERTIFICATES = TargetWords(
    name="secretName",
    field="spec.certificates[].secretName",
    take_over="set spec.certificates[].adopt to take over one that belongs to nobody",
    smaller="leave out keystores, or have it signed by an authority with a shorter chain",
    another_type="",
)
_OF_KEYS = TargetWords(
    name="name for the CertificateProfile",
    field="metadata.name",
    take_over="",
    smaller="the keys of all certificates don't fit into one Secret; spread them over several objects",
    another_type="",
)


def _rules(words: TargetWords, *, adopt: bool = False, as_found: bool = False) -> WriteRules:
    # What it is for may change, and what it holds can always be had again: ours may be made anew, whatever goes.
    return WriteRules(
        CreationPolicy.OWNER,
        adopt,
        recreate=True,
        mode=Mode.APPLY,
        guard=None,
        words=words,
        as_found=as_found,
    )


_KEPT, _ADOPTED = _rules(_OF_CERTIFICATES), _rules(_OF_CERTIFICATES, adopt=True)
# An attempt that is noted there may have been sent, so a write that doesn't know of it must not replace the note.
_KEYRING = _rules(_OF_KEYS, as_found=True)


class ProfileSecrets:
    """Has the Secrets written as targets are, and says in the terms of certificates what stands against it."""

    def __init__(self, clock: Clock, objects: ObjectStore, writer: TargetWriter, rivals: Rivals) -> None:
        self._clock = clock
        self._objects = objects
        self._writer = writer
        self._rivals = rivals
        self._convergence = Convergence(writer, rivals)
        self._absent = AbsentSecrets(clock, writer)
        self._claims: OrderedDict[TargetKey, str] = OrderedDict()

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
            StalledError: it is somebody else's, or is to be.
            KubeError: the API server can't be asked.
        """
        present = await self._writer.look(key, owner_uid, expected=None, thorough=False)
        rules = _ADOPTED if adopt else _KEPT
        context = await self._rivals.completed(self._context(owner_uid), key, present, rules)
        to_be = DesiredTarget(key, {"type": secret_type}, (), "", "")
        verdict = refuse_identity(to_be, present, rules, context)
        if verdict is None and present is not None:
            verdict = refuse_foreign(to_be, present, rules, context)
        if verdict is not None:
            raise _refusal(verdict)
        self.claim(key, owner_uid)

    def claim(self, key: TargetKey, owner_uid: str) -> None:
        """Keep a Secret for a certificate that is about to be asked for: until it is there, nothing else says whose.

        A claim lasts while its object is there and names the Secret. It is this process's alone: after a restart who
        asks first has it.

        Raises:
            StalledError: another object has it.
        """
        holder = self._claims.get(key, owner_uid)
        rival = None if holder == owner_uid else self._objects.find(holder)
        if rival is not None and rival in self._objects.writers_of(key):
            raise StalledError(
                Reason.TARGET_CONFLICT,
                f"{key.kind} {key.name} is to hold a certificate of {rival.kind} {rival.name}; choose another "
                f"{_OF_CERTIFICATES.name}, or take it from {rival.name}",
            )
        self._claims[key] = owner_uid
        self._claims.move_to_end(key)
        if len(self._claims) > _CLAIMS_MAX:
            self._claims.popitem(last=False)

    async def absent(self, keys: Iterable[TargetKey], *, since: float) -> frozenset[TargetKey]:
        """Return Secrets of one namespace that are known not to be there; of few, none may be known.

        Args:
            keys: the Secrets.
            since: `Clock.monotonic` of what led to the run.

        Raises:
            KubeError: the API server can't be asked.
        """
        unseen = [key for key in keys if self.fingerprint_seen(key) is None]
        return await self._absent.among(unseen, since=since)

    async def create(self, seen: ObservedObject, desired: DesiredTarget) -> None:
        """Create the Secret, without a look at what may be there.

        Raises:
            AlreadyExistsError: there is one of that name; it is left as it is.
            ReconcileError: it can't be what is desired.
            ObjectGoneError: the CertificateProfile is gone.
            KubeError: the API server refuses or can't be asked.
        """
        planned = plan_target(desired, None, _rules_for(seen, desired), self._context(seen.uid))
        if planned.verdict is not None:
            raise _refusal(planned.verdict)
        try:
            await self._carry_out(seen, CreateTarget(desired))
        except (ForbiddenError, InvalidError) as error:
            raise _told(desired.key, error) from error

    async def write(
        self,
        seen: ObservedObject,
        desired: DesiredTarget,
        *,
        adopt: bool = False,
        refresh_mounts: bool = False,
        is_new: bool = False,
        found: PresentTarget | None = None,
        repairs: bool = False,
    ) -> None:
        """Make the Secret what is desired.

        Args:
            seen: the CertificateProfile.
            desired: the Secret.
            adopt: take over one that exists and belongs to nobody.
            refresh_mounts: pods that mount it are to show a change at once.
            is_new: none is expected to be there, so that it is created without a look.
            found: the Secret as it was read in this run, where it was: it isn't read again.
            repairs: see `Start`.

        Raises:
            ReconcileError: it isn't ours, can't be what is desired, or others write it at the same time, or again and
                again.
            ObjectGoneError: the CertificateProfile is gone.
            KubeError: the API server refuses or can't be asked.
        """
        try:
            done = await self._convergence.bring_about(
                desired,
                replace(_rules_for(seen, desired, adopt=adopt), refresh_mounts=refresh_mounts),
                self._context(seen.uid),
                carry_out=lambda action: self._carry_out(seen, action),
                start=Start(blind=is_new, found=found, repairs=repairs),
            )
        except (ForbiddenError, InvalidError) as error:
            raise _told(desired.key, error) from error
        verdict = done.plan.verdict
        if verdict is not None:
            self._absent.forget(desired.key.namespace)
            is_contested = verdict.reason is TargetReason.CONTESTED
            contested = self.contested(seen, (desired.key,)) if is_contested else None
            raise contested or _refusal(verdict)

    def contested(self, seen: ObservedObject, keys: Iterable[TargetKey]) -> WaitingError | None:
        """Return what stands against an object whose Secrets others keep changing; None where they don't."""
        return self._writer.contested(seen.uid, keys)

    async def _carry_out(self, seen: ObservedObject, action: TargetAction) -> None:
        current = self._objects.get(seen.key)
        if current is None or current.uid != seen.uid:
            raise ObjectGoneError
        await self._writer.carry_out(action, seen.uid)

    def _context(self, owner_uid: str) -> PlanContext:
        return PlanContext(owner_uid, "it would hold nothing", self._clock.now())

    async def retire(self, key: TargetKey, owner_uid: str) -> None:
        """Delete a Secret that is ours and no longer wanted, if it is there.

        Raises:
            KubeError: the API server refuses or can't be asked.
        """
        await self._writer.retire(key, owner_uid)


def _rules_for(seen: ObservedObject, desired: DesiredTarget, *, adopt: bool = False) -> WriteRules:
    if desired.key.name == keyring_name(seen.key.name):
        return _KEYRING
    return _ADOPTED if adopt else _KEPT


def _refusal(verdict: Verdict) -> StalledError | WaitingError:
    kind = StalledError if verdict.stalled else WaitingError
    return kind(Reason(verdict.reason), verdict.message, remedy=verdict.remedy)


def _told(key: TargetKey, error: ForbiddenError | InvalidError) -> StalledError | ForbiddenError:
    """Return what is to be said of a refusal by the API server; one that is none of the Secret stays as it is."""
    if isinstance(error, ForbiddenError) and error.namespace_terminating:
        return error
    return StalledError(Reason.TARGET_REFUSED, f"{error}; Secret {key.name} can't be written so")
