"""The profiles that certificates are issued from: found, or brought to what manifests say."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.certificate_terms import IssuerType
from keybearer.base.clock import Clock
from keybearer.controllers.certificateprofile.authority_chains import AuthorityChains
from keybearer.controllers.certificateprofile.desired import client_defaults
from keybearer.controllers.certificateprofile.gate import Authority
from keybearer.controllers.certificateprofile.profile_plan import (
    CreateProfile,
    UpdateProfile,
    plan_profile,
)
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.setting import Scene
from keybearer.controllers.certificateprofile.spec_profile import NameOrId
from keybearer.controllers.issuance.service import DescribedProfile, PresentProfile, WhichOne
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import mark_of, marked
from keybearer.controllers.work import WorkKey

__all__ = ["REFRESH", "FoundProfile", "Profiles"]

REFRESH = timedelta(minutes=5)
"""How often a profile and its authority are compared with what the service holds."""


@dataclass(frozen=True, slots=True)
class FoundProfile:
    """A profile, and who signs its certificates.

    Attributes:
        authority: None where it can't be seen, or certificates sign themselves.
    """

    profile: PresentProfile
    authority: Authority | None

    @property
    def self_signed(self) -> bool:
        """Whether certificates sign themselves."""
        return self.profile.issuer_type is IssuerType.SELF_SIGNED


@dataclass(frozen=True, slots=True)
class _Kept:
    uid: str
    generation: int
    session_id: str
    until: float
    found: FoundProfile


class Profiles:
    """Finds and manages profiles; remembers for a while how they were, so that a repair waits for nobody."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._chains = AuthorityChains(clock)
        self._kept: dict[WorkKey, _Kept] = {}

    def forget(self, key: WorkKey) -> None:
        """Forget the profile of an object that is gone."""
        self._kept.pop(key, None)

    def remembered(self, scene: Scene) -> FoundProfile | None:
        """Return the profile, if it was looked at for this very spec a short while ago."""
        seen = scene.seen
        kept = self._kept.get(seen.key)
        fits = (
            kept is not None
            and (kept.uid, kept.generation, kept.session_id) == (seen.uid, seen.generation, scene.session_id)
            and self._clock.monotonic() < kept.until
        )
        return kept.found if kept is not None and fits else None

    def remember(self, scene: Scene, found: FoundProfile) -> None:
        """Remember how the profile was."""
        seen, until = scene.seen, self._clock.monotonic() + REFRESH.total_seconds()
        self._kept[seen.key] = _Kept(seen.uid, seen.generation, scene.session_id, until, found)

    async def find(self, scene: Scene, *, afresh: bool = False) -> FoundProfile | None:
        """Return the profile as it is; None where there is none yet.

        Args:
            scene: the run.
            afresh: ask for its authority, too, whoever has just done so.

        Raises:
            ReconcileError: the service can't be asked.
        """
        spec, known = scene.spec, scene.previous.profile
        slug = spec.remote_slug(scene.seen.key.name)
        present = await scene.service.find_profile(
            # One that exists is meant by its slug, whatever it was before.
            profile_id=None if known is None or spec.existing else known.id,
            slug=slug,
            project_id=scene.project_id,
        )
        if present is None:
            if spec.existing:
                raise StalledError(
                    Reason.PROFILE_NOT_FOUND,
                    f"the service has no profile {slug}, or the identity can't see it; correct slug, or describe "
                    "the profile and leave out existing",
                )
            return None
        return FoundProfile(present, await self.authority_of(scene, present, afresh=afresh))

    async def bring_about(self, scene: Scene, *, afresh: bool = False) -> FoundProfile:
        """Return the profile that the manifest names, made or changed as described where it is managed.

        Args:
            scene: the run.
            afresh: as with `find`.

        Raises:
            ReconcileError: it isn't there or isn't ours, or the service refuses or can't be asked.
        """
        if scene.spec.existing:
            found = await self.find(scene, afresh=afresh)
            if found is None:
                raise TypeError(scene.seen.key)
            return found
        described, mark = await self.describe(scene)
        known = scene.previous.profile
        refusal: StalledError | None = None
        if known is None:
            # Most likely there is none yet, and a slug is given once: who asks first asks twice.
            try:
                return await self._create(scene, described)
            except StalledError as error:
                refusal = error
        found = await self.find(scene, afresh=afresh)
        if found is None and refusal is not None:
            raise refusal
        action = plan_profile(
            described,
            None if found is None else found.profile,
            mark,
            None if known is None else known.id,
            adopts=scene.spec.adopt,
        )
        if isinstance(action, CreateProfile):
            return await self._create(scene, described)
        if found is None:
            raise TypeError(action)
        if isinstance(action, UpdateProfile):
            present = await scene.service.update_profile(action.id, described)
            return FoundProfile(present, found.authority)
        return found

    async def _create(self, scene: Scene, described: DescribedProfile) -> FoundProfile:
        present = await scene.service.create_profile(described)
        return FoundProfile(present, await self.authority_of(scene, present))

    async def describe(self, scene: Scene) -> tuple[DescribedProfile, str]:
        """Return the profile that a manifest describes, and the mark of the object.

        Raises:
            ReconcileError: its policy or authority isn't there, or the service can't be asked.
        """
        spec, service, project_id = scene.spec, scene.service, scene.project_id
        mark = mark_of(scene.cluster_id, scene.seen.uid)
        policy_id = None
        if spec.policy_ref is not None:
            policy_id = await service.policy_id(_which(spec.policy_ref), project_id)
        if policy_id is None:
            raise StalledError(
                Reason.POLICY_NOT_FOUND,
                f"the service has no policy {spec.policy_ref}, or the identity can't see it; correct policyRef",
            )
        ca_id = None
        if spec.ca_ref is not None:
            ca_id = await service.authority_id(_which(spec.ca_ref), project_id)
            if ca_id is None:
                raise StalledError(
                    Reason.AUTHORITY_NOT_FOUND,
                    f"the service has no authority {spec.ca_ref}, or the identity can't see it; correct caRef",
                )
        described = DescribedProfile(
            slug=spec.remote_slug(scene.seen.key.name),
            policy_id=policy_id,
            ca_id=ca_id,
            issuer_type=spec.issuer_type or IssuerType.CA,
            description=marked(spec.description, mark),
            defaults=client_defaults(spec.defaults),
            project_id=project_id,
        )
        return described, mark

    async def authority_of(
        self, scene: Scene, profile: PresentProfile, *, afresh: bool = False
    ) -> Authority | None:
        """Return who signs the certificates of a profile; None where it can't be seen, or they sign themselves.

        Args:
            scene: the run.
            profile: as it is, or as it would be.
            afresh: as with `find`.

        Raises:
            ReconcileError: the service can't be asked.
        """
        if profile.ca_id is None:
            return None
        return await self._chains.authority(scene.service, scene.session_id, profile.ca_id, afresh=afresh)


def _which(ref: NameOrId) -> WhichOne:
    return WhichOne(ref.name, ref.id)
