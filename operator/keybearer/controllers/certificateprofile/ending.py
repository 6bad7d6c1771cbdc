"""The end of a CertificateProfile: what it asked of the service is taken back."""

from __future__ import annotations

from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.profiles import Profiles
from keybearer.controllers.certificateprofile.removal import Removal
from keybearer.controllers.certificateprofile.resource import RemoteDeletionPolicy
from keybearer.controllers.certificateprofile.setting import Scene
from keybearer.controllers.ownership import is_own, mark_of

__all__ = ["Ending"]


class Ending:
    """Takes back what an object that is being deleted asked for."""

    def __init__(self, clock: Clock, profiles: Profiles, removal: Removal) -> None:
        self._clock = clock
        self._profiles = profiles
        self._removal = removal

    async def take_back(self, scene: Scene) -> None:
        """Take back what the object asked of the service: Secrets first, then certificates, then the profile.

        Raises:
            ReconcileError: the service refuses or can't be asked.
            KubeError: the API server refuses or can't be asked.
        """
        spec, previous, known = scene.spec, scene.previous, scene.previous.profile
        ending = [entry for entry in previous.certificate_requests if entry.revoke_on_delete or entry.is_open]
        due = await self._removal.retire(scene, ending, (), self._clock.now())
        revoked = await self._removal.revoke((*previous.revocations, *due), scene.service)
        if revoked.trouble is not None:
            raise revoked.trouble
        if spec.existing or spec.on_delete is RemoteDeletionPolicy.RETAIN:
            return
        found = await self._profiles.find(scene)
        if found is None:
            return
        takes_unmarked = known is not None and found.profile.id == known.id
        mark = mark_of(scene.cluster_id, scene.seen.uid)
        if is_own(found.profile.description, mark, takes_unmarked=takes_unmarked):
            await scene.service.delete_profile(found.profile.id)
