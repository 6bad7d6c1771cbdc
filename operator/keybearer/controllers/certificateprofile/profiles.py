"""The profiles that certificates are issued from: found, or planned and brought to what manifests say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType

from keybearer.base.certificate_terms import IssuerType
from keybearer.base.clock import Clock
from keybearer.client import ProfileDefaults
from keybearer.controllers.certificateprofile.authorities import AuthorityChains
from keybearer.controllers.certificateprofile.context import RunContext
from keybearer.controllers.certificateprofile.desired import client_defaults
from keybearer.controllers.certificateprofile.policy import Authority
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.resource import NameOrId
from keybearer.controllers.issuance.service import DescribedProfile, PresentProfile, WhichOne
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import Ownership, is_own, mark_of, marked, ownership_of
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.work import WorkKey

__all__ = ["REFRESH", "CreateProfile", "FoundProfile", "Profiles", "UpdateProfile", "plan_profile"]

_PLAIN_WORD = re.compile(r"[A-Za-z0-9][-A-Za-z0-9_]*")
"""What can be a word of a command that is pasted."""
_NO_DEFAULTS = ProfileDefaults()
REFRESH = timedelta(minutes=5)
"""How often a profile and its authority are compared with what the service holds."""


@dataclass(frozen=True, slots=True)
class CreateProfile:
    """Nothing of the slug is there."""

    described: DescribedProfile


@dataclass(frozen=True, slots=True)
class UpdateProfile:
    """It is ours, and not as described."""

    id: str
    described: DescribedProfile


def plan_profile(
    described: DescribedProfile,
    present: PresentProfile | None,
    mark: str,
    known_id: str | None,
    *,
    adopts: bool,
    names: Mapping[str, str] = MappingProxyType({}),
) -> CreateProfile | UpdateProfile | None:
    """Return what has to be done; None where all is as described.

    Args:
        described: what the manifest describes.
        present: the profile of the id in the status, else the one of the slug; None where there is neither.
        mark: of the object.
        known_id: that the status says.
        adopts: whether a profile that nobody's object manages may be taken over.
        names: of policies and authorities, by their ids, as far as they are known.

    Raises:
        StalledError: it isn't ours, or was changed in what can't be changed.
    """
    if present is None:
        return CreateProfile(described)
    _require_ours(present, mark, takes_unmarked=present.id == known_id or adopts)
    _require_changeable(described, present, names)
    is_described = (
        present.slug == described.slug
        and present.description == described.description
        and _plain(present.defaults) == _plain(described.defaults)
    )
    return None if is_described else UpdateProfile(present.id, described)


def _require_ours(present: PresentProfile, mark: str, *, takes_unmarked: bool) -> None:
    if is_own(present.description, mark, takes_unmarked=takes_unmarked):
        return
    if ownership_of(present.description, mark) is Ownership.OTHERS:
        raise StalledError(
            Reason.PROFILE_CONFLICT,
            f"the service has a profile {present.slug} that another object, perhaps of another cluster, manages; set "
            "existing: true to use it, or choose another slug",
        )
    raise StalledError(
        Reason.PROFILE_CONFLICT,
        f"the service has a profile {present.slug} that no object manages; set existing: true to use it as it is, "
        "adopt: true to take it over, or choose another slug",
    )


def _require_changeable(
    described: DescribedProfile, present: PresentProfile, names: Mapping[str, str]
) -> None:
    for what, field, wanted, there in (
        ("policy", "policyRef", described.policy_id, present.policy_id),
        ("authority", "caRef", described.ca_id, present.ca_id),
        ("kind of issuer", "issuerType", described.issuer_type, present.issuer_type),
    ):
        if wanted == there:
            continue
        told, wished = (names.get(one or "", one or "none") for one in (there, wanted))
        changes = f"put {field} back"
        remedy: Remedy | None = None
        if what == "policy":
            changes = f"{changes} and change policy {told} itself"
            remedy = _changing_policy(told)
        raise StalledError(
            Reason.IMMUTABLE_FIELD,
            f"the {what} of profile {present.slug} is {told} and can't become {wished}; "
            f"{changes}, or create another CertificateProfile; what was issued stays as it is",
            remedy=remedy,
        )


def _changing_policy(policy: str) -> Remedy:
    """Return the way that keeps certificates and Secrets, given the name or id of the policy."""
    word = policy if _PLAIN_WORD.fullmatch(policy) else "POLICY"
    return Remedy(
        "Put spec.policyRef back, and change that policy: Secrets and certificates stay. Or create another "
        "CertificateProfile with other names of Secrets, and delete this one when nothing reads its Secrets: they "
        "are deleted with it.",
        f"keybearer policies update {word} --allow TYPE=PATTERN --project {{project}}",
        about="spec.policyRef",
    )


def _plain(defaults: ProfileDefaults | None) -> tuple[object, ...]:
    """Return the defaults as they can be compared, whatever kind of sequence they hold."""
    given = defaults or _NO_DEFAULTS
    constraints = given.basic_constraints
    return (
        given.ttl_days,
        given.common_name or None,
        given.key_algorithm,
        given.signature_algorithm,
        tuple(given.key_usages or ()),
        tuple(given.extended_key_usages or ()),
        None if constraints is None else (constraints.is_ca, constraints.path_length),
        *(
            getattr(given, name) or None
            for name in ("organization", "organizational_unit", "country", "state", "locality")
        ),
        tuple((one.type, one.value) for one in given.subject_alt_names or ()),
        tuple(given.domain_components or ()),
    )


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

    def remembered(self, run: RunContext) -> FoundProfile | None:
        """Return the profile, if it was looked at for this very spec a short while ago."""
        seen = run.seen
        kept = self._kept.get(seen.key)
        fits = (
            kept is not None
            and (kept.uid, kept.generation, kept.session_id) == (seen.uid, seen.generation, run.session_id)
            and self._clock.monotonic() < kept.until
        )
        return kept.found if kept is not None and fits else None

    def remember(self, run: RunContext, found: FoundProfile) -> None:
        """Remember how the profile was."""
        seen, until = run.seen, self._clock.monotonic() + REFRESH.total_seconds()
        self._kept[seen.key] = _Kept(seen.uid, seen.generation, run.session_id, until, found)

    async def find(self, run: RunContext, *, afresh: bool = False) -> FoundProfile | None:
        """Return the profile as it is; None where there is none yet.

        Args:
            run: the run.
            afresh: ask for its authority, too, whoever has just done so.

        Raises:
            ReconcileError: the service can't be asked.
        """
        spec, known = run.spec, run.previous.profile
        slug = spec.remote_slug(run.seen.key.name)
        present = await run.service.find_profile(
            # One that exists is meant by its slug, whatever it was before.
            profile_id=None if known is None or spec.existing else known.id,
            slug=slug,
            project_id=run.project_id,
        )
        if present is None:
            if spec.existing:
                raise StalledError(
                    Reason.PROFILE_NOT_FOUND,
                    f"the service has no profile {slug}, or the identity can't see it; correct slug, or describe "
                    "the profile and leave out existing",
                )
            return None
        return FoundProfile(present, await self.authority_of(run, present, afresh=afresh))

    async def bring_about(self, run: RunContext, *, afresh: bool = False) -> FoundProfile:
        """Return the profile that the manifest names, made or changed as described where it is managed.

        Args:
            run: the run.
            afresh: as with `find`.

        Raises:
            ReconcileError: it isn't there or isn't ours, or the service refuses or can't be asked.
        """
        if run.spec.existing:
            found = await self.find(run, afresh=afresh)
            if found is None:
                raise TypeError("an existing profile was not found, and that was not refused")
            return found
        described, mark = await self.describe(run)
        known = run.previous.profile
        refusal: StalledError | None = None
        if known is None:
            # Most likely there is none yet, and a slug is given once: who asks first asks twice.
            try:
                return await self._create(run, described)
            except StalledError as error:
                refusal = error
        found = await self.find(run, afresh=afresh)
        if found is None and refusal is not None:
            raise refusal
        action = plan_profile(
            described,
            None if found is None else found.profile,
            mark,
            None if known is None else known.id,
            adopts=run.spec.adopt,
            names={} if found is None else await self._names(run, described, found.profile),
        )
        if isinstance(action, CreateProfile):
            return await self._create(run, described)
        if found is None:
            raise TypeError("nothing was planned for a profile that is not there")
        if isinstance(action, UpdateProfile):
            present = await run.service.update_profile(action.id, described)
            return FoundProfile(present, found.authority)
        return found

    async def _names(
        self, run: RunContext, described: DescribedProfile, present: PresentProfile
    ) -> dict[str, str]:
        """Return names by ids: of the policy and authority that are described, and of a policy there instead."""
        spec, names = run.spec, dict[str, str]()
        for ref, known in ((spec.policy_ref, described.policy_id), (spec.ca_ref, described.ca_id)):
            if ref is not None and ref.name and known:
                names[known] = ref.name
        if present.policy_id != described.policy_id:
            there = await run.service.policy(present.policy_id)
            if there is not None:
                names[present.policy_id] = there.name
        return names

    async def _create(self, run: RunContext, described: DescribedProfile) -> FoundProfile:
        present = await run.service.create_profile(described)
        return FoundProfile(present, await self.authority_of(run, present))

    async def describe(self, run: RunContext) -> tuple[DescribedProfile, str]:
        """Return the profile that a manifest describes, and the mark of the object.

        Raises:
            ReconcileError: its policy or authority isn't there, or the service can't be asked.
        """
        spec, service, project_id = run.spec, run.service, run.project_id
        mark = mark_of(run.cluster_id, run.seen.uid)
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
            slug=spec.remote_slug(run.seen.key.name),
            policy_id=policy_id,
            ca_id=ca_id,
            issuer_type=spec.issuer_type or IssuerType.CA,
            description=marked(spec.description, mark),
            defaults=client_defaults(spec.defaults),
            project_id=project_id,
        )
        return described, mark

    async def authority_of(
        self, run: RunContext, profile: PresentProfile, *, afresh: bool = False
    ) -> Authority | None:
        """Return who signs the certificates of a profile; None where it can't be seen, or they sign themselves.

        Args:
            run: the run.
            profile: as it is, or as it would be.
            afresh: as with `find`.

        Raises:
            ReconcileError: the service can't be asked.
        """
        if profile.ca_id is None:
            return None
        return await self._chains.authority(run.service, run.session_id, profile.ca_id, afresh=afresh)


def _which(ref: NameOrId) -> WhichOne:
    return WhichOne(ref.name, ref.id)
