"""What has to be done about a profile of the service: from what is there and what is wanted. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.client import ProfileDefaults
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.issuance.service import DescribedProfile, PresentProfile
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import Ownership, is_own, ownership_of

__all__ = ["CreateProfile", "UpdateProfile", "plan_profile"]

_NO_DEFAULTS = ProfileDefaults()


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
) -> CreateProfile | UpdateProfile | None:
    """Return what has to be done; None where all is as described.

    Args:
        described: what the manifest describes.
        present: the profile of the id in the status, else the one of the slug; None where there is neither.
        mark: of the object.
        known_id: that the status says.
        adopts: whether a profile that nobody's object manages may be taken over.

    Raises:
        StalledError: it isn't ours, or was changed in what can't be changed.
    """
    if present is None:
        return CreateProfile(described)
    _require_ours(present, mark, takes_unmarked=present.id == known_id or adopts)
    _require_changeable(described, present)
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


def _require_changeable(described: DescribedProfile, present: PresentProfile) -> None:
    for what, wanted, there in (
        ("policy", described.policy_id, present.policy_id),
        ("authority", described.ca_id, present.ca_id),
        ("kind of issuer", described.issuer_type, present.issuer_type),
    ):
        if wanted != there:
            raise StalledError(
                Reason.IMMUTABLE_FIELD,
                f"the {what} of profile {present.slug} is {there or 'none'} and can't become {wanted or 'none'}; "
                "describe another profile under another slug",
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
