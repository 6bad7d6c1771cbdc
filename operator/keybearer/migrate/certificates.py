"""Certificates of one issuer, gathered in one CertificateProfile of their namespace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import JsonValue

from keybearer.controllers.certificateprofile.resource import CERTIFICATE_PROFILE, CERTIFICATES_MAX
from keybearer.controllers.certificateprofile.spec_certificate import parse_ttl
from keybearer.controllers.resource_fields import write_duration
from keybearer.migrate.durations import parse_go_duration
from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.manifests import Draft
from keybearer.migrate.settings import slug_of
from keybearer.migrate.surroundings import Surroundings

__all__ = ["ProfileDraft", "gathered", "name_of_certificate", "profile_draft", "renew_before_of", "ttl_of"]

_NO_LABEL = re.compile(r"[^a-z0-9]+")
_LABEL_MAX = 63
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ProfileDraft(Draft):
    """A CertificateProfile with the certificates of one object; those of one issuer become one."""

    issuer: tuple[str, str, str] = field(default=("", "", ""))


def profile_draft(
    one: ForeignObject,
    issuer: tuple[str, str, str],
    certificate: JsonValue,
    around: Surroundings,
    notes: Notes,
    where: str,
    *,
    has_commands: bool = False,
    is_named_alone: bool = False,
) -> ProfileDraft:
    """Return the profile of an issuer with one certificate.

    Args:
        one: the object that describes the certificate.
        issuer: kind, name, and what else tells it from others of the namespace.
        certificate: as an entry of `certificates`.
        around: everything that was read.
        notes: of the object.
        where: the field that names the issuer.
        has_commands: whether the report lists the commands that make the profile; clients trust who signs already.
        is_named_alone: whether a mapping of all other issuers is none of this one.
    """
    kind, name, _ = issuer
    is_its_own = is_named_alone and not around.settings.names_issuer(one.namespace, name)
    place = None if is_its_own else around.settings.issuer(one.namespace, name)
    slug = place.profile if place is not None else slug_of(name, fallback="profile")
    project = place.project_slug if place is not None else None
    spec: dict[str, JsonValue] = {
        "identityRef": {"name": around.identity(one.namespace, notes)},
        **({"projectSlug": project} if project is not None else {}),
        "existing": True,
        "slug": slug,
        "certificates": [certificate],
    }
    in_project = f" of project {project}" if project is not None else ""
    notes.step(
        where,
        f"needs a profile {slug}{in_project} in the service, in place of {kind} {name}",
        f"Make it with the commands that are listed for {kind} {name}."
        if has_commands
        else "Make it: keybearer authorities create, policies create, profiles create (docs/certificates.md); "
        "clients must trust the new authority before.",
    )
    return ProfileDraft(
        CERTIFICATE_PROFILE, one.namespace, slug_of(name, fallback="profile"), spec, issuer=issuer
    )


def gathered(drafts: Iterable[ProfileDraft]) -> list[tuple[Draft, list[int]]]:
    """Return one profile for each issuer and namespace, and which drafts went into it.

    More certificates than a profile takes go into a second one. Certificates keep their order; a second one of the
    same name, or into the same Secret, is left to the models to refuse.
    """
    groups: dict[tuple[str, tuple[str, str, str]], list[int]] = {}
    given = list(drafts)
    for index, draft in enumerate(given):
        groups.setdefault((draft.namespace, draft.issuer), []).append(index)
    found: list[tuple[Draft, list[int]]] = []
    for members in groups.values():
        for start in range(0, len(members), CERTIFICATES_MAX):
            chunk = members[start : start + CERTIFICATES_MAX]
            first = given[chunk[0]]
            certificates: list[JsonValue] = []
            for index in chunk:
                entries = given[index].spec["certificates"]
                certificates += entries if isinstance(entries, list) else []
            name = first.name if start == 0 else f"{first.name}-{start // CERTIFICATES_MAX + 1}"
            spec = {**first.spec, "certificates": certificates}
            found.append((Draft(first.resource, first.namespace, name, spec), chunk))
    return found


def name_of_certificate(name: str) -> str:
    """Return the name of an entry: a label of DNS."""
    return _NO_LABEL.sub("-", name.lower())[:_LABEL_MAX].strip("-") or "certificate"


def ttl_of(text: str, where: str, notes: Notes) -> str | None:
    """Return a lifetime in whole hours; None where it is no duration."""
    duration = parse_go_duration(text)
    if duration is None or not duration:
        notes.left_out(where, "is no lifetime that Keybearer takes", "Write hours or days, as in 12h or 90d.")
        return None
    hours = max(1, -(-duration // _HOUR))
    if hours * _HOUR != duration:
        notes.changed(where, f"is raised to {hours}h: lifetimes are whole hours or days")
    return f"{hours // 24}d" if hours % 24 == 0 else f"{hours}h"


def renew_before_of(duration: timedelta, ttl: JsonValue, where: str, notes: Notes) -> str:
    """Return how long before its end a certificate is renewed: at most two thirds of its lifetime, as we take it.

    Args:
        duration: as it was.
        ttl: of the converted certificate; None where it isn't known.
        where: it stood.
        notes: for the report.
    """
    longest = parse_ttl(ttl) * 2 / 3 if isinstance(ttl, str) else None
    if longest is not None and duration > longest:
        duration = timedelta(minutes=longest // timedelta(minutes=1))
        notes.changed(
            where,
            f"is lowered to {write_duration(duration)}: no certificate is renewed before a third of its lifetime",
        )
    return write_duration(duration)
