"""The profiles that sign, and the service as their identities see it."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.controllers.issuance.profile import IssuingProfile, ReadProfile
from keybearer.controllers.issuance.service import OpenedService
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, StalledError
from keybearer.controllers.signers.decide import ProfileView
from keybearer.controllers.work import WorkKey
from keybearer.kube.resources import ObjectKey

__all__ = ["Profile", "Profiles", "profile_key"]

_HELD_BACK = frozenset({Mode.PLAN, Mode.SUSPENDED})


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as the watch showed it last.

    Attributes:
        seen: the object.
        issuing: what it says.
        view: what decisions need of it.
    """

    seen: ObservedObject
    issuing: IssuingProfile
    view: ProfileView


class Profiles:
    """Looks profiles up by the names that requests use."""

    def __init__(self, objects: ObjectStore, read: ReadProfile) -> None:
        self._objects = objects
        self._read = read

    def view(self, key: ObjectKey) -> ProfileView | None:
        """Return what decisions need of the profile; None where there is none."""
        seen = self._objects.get(profile_key(key))
        if seen is None:
            return None
        try:
            return self._profile(key, seen).view
        except StalledError:
            return ProfileView(key, None, deleting=seen.deletion_timestamp is not None)

    def require(self, key: ObjectKey) -> Profile:
        """Return the profile.

        Raises:
            ObjectGoneError: there is none.
            StalledError: its spec can't be read.
        """
        seen = self._objects.get(profile_key(key))
        if seen is None:
            raise ObjectGoneError
        return self._profile(key, seen)

    async def service(self, profile: Profile) -> OpenedService:
        """Return the service as the profile's identity sees it, with its project.

        Raises:
            ReconcileError: the identity can't be used.
            ObjectGoneError: the profile's own reconcile has not begun to follow its identity.
            KubeError: the API server can't be asked.
        """
        return await profile.issuing.open_service()

    def _profile(self, key: ObjectKey, seen: ObservedObject) -> Profile:
        issuing = self._read(seen)
        view = ProfileView(
            key=key,
            service_id=issuing.service_id,
            mode=issuing.mode.value,
            issues=issuing.mode not in _HELD_BACK,
            deleting=seen.deletion_timestamp is not None,
            application_id=issuing.application_id,
        )
        return Profile(seen, issuing, view)


def profile_key(key: ObjectKey) -> WorkKey:
    """Return what the queue and the store call a profile."""
    return WorkKey("CertificateProfile", key.namespace, key.name)
