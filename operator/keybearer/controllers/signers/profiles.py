"""The profiles that sign, and the service as their identities see it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from keybearer.controllers.certificateprofile.resource import CertificateProfileSpec, Mode
from keybearer.controllers.certificateprofile.service import OpenedService
from keybearer.controllers.certificateprofile.status import CertificateProfileStatus
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import ObjectGoneError, StalledError
from keybearer.controllers.reading import read_spec, read_status
from keybearer.controllers.signers.decide import ProfileView
from keybearer.controllers.work import WorkKey
from keybearer.kube.resources import ObjectKey

__all__ = ["OpenService", "Profile", "Profiles", "profile_key"]

OpenService = Callable[[WorkKey, CertificateProfileSpec], Awaitable[OpenedService]]
"""Returns the service through the identity of a profile, which must already follow its Secret."""

_HELD_BACK = frozenset({Mode.PLAN, Mode.SUSPENDED})


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as the watch showed it last.

    Attributes:
        seen: the object.
        spec: its spec.
        slug: its name in the service.
        authority: the id of the authority that signs; None where it isn't known, or certificates sign themselves.
        view: what decisions need of it.
    """

    seen: ObservedObject
    spec: CertificateProfileSpec
    slug: str
    authority: str | None
    view: ProfileView


class Profiles:
    """Looks profiles up by the names that requests use."""

    def __init__(self, objects: ObjectStore, open_service: OpenService) -> None:
        self._objects = objects
        self._open_service = open_service

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
        return await self._open_service(profile.seen.key, profile.spec)

    @staticmethod
    def _profile(key: ObjectKey, seen: ObservedObject) -> Profile:
        spec = read_spec(seen, CertificateProfileSpec)
        there = read_status(seen, CertificateProfileStatus).profile
        slug = spec.remote_slug(key.name)
        if there is not None and there.slug != slug:
            there = None  # the spec names another one by now, which its own reconcile has not found yet
        return Profile(
            seen=seen,
            spec=spec,
            slug=slug,
            authority=there.ca_id if there is not None else None,
            view=ProfileView(
                key=key,
                service_id=there.id if there is not None else None,
                mode=spec.mode.value,
                issues=spec.mode not in _HELD_BACK,
                deleting=seen.deletion_timestamp is not None,
                application_id=spec.application_id,
            ),
        )


def profile_key(key: ObjectKey) -> WorkKey:
    """Return what the queue and the store call a profile."""
    return WorkKey("CertificateProfile", key.namespace, key.name)
