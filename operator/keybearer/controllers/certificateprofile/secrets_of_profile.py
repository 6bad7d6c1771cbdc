"""Reads and writes the Secrets of a CertificateProfile: only those that are its own."""

from __future__ import annotations

from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.json_reading import text_of
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey
from keybearer.controllers.outcome import ObjectGoneError, StalledError, WaitingError
from keybearer.controllers.target.apply import TargetWriter
from keybearer.controllers.target.changes import is_as_planned, replacement_patch
from keybearer.controllers.target.decisions import (
    ApplyTarget,
    CreateTarget,
    RecreateTarget,
    ReplaceTarget,
    TargetAction,
)
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget
from keybearer.kube.errors import (
    AlreadyExistsError,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)

__all__ = ["ProfileSecrets", "plan_secret", "require_own"]

_ATTEMPTS = 4
"""Looks at a Secret before a run gives up on finding it as planned upon; others may write at the same time."""


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
    ) -> bool:
        """Make the Secret what is desired; return whether anything had to be done.

        Args:
            seen: the CertificateProfile.
            desired: the Secret.
            adopt: take over one that exists and belongs to nobody.
            is_new: none is expected to be there, so that it is created without a look.
            found: the Secret as it was read in this run, where it was: it isn't read again.

        Raises:
            ReconcileError: it isn't ours, can't be what is desired, or others write it at the same time.
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
            if action is None:
                self._writer.expect(desired.key, None if present is None else present.fingerprint)
                return False
            try:
                await self._carry_out(seen, action)
            except (AlreadyExistsError, ConflictError, NotFoundError):
                continue
            return True
        raise WaitingError(
            Reason.TARGET_CONFLICT,
            f"Secret {desired.key.name} is being written by somebody else at the same time; it is tried again",
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
