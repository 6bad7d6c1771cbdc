"""Issuer and ClusterIssuer: a profile of the service replaces each, with an authority there or elsewhere."""

from __future__ import annotations

from enum import Enum, auto

from keybearer.migrate.cert_manager.acme import read_acme, shows_over_http
from keybearer.migrate.cert_manager.kept_authority import read_authority
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.settings import IssuerPlace, slug_of
from keybearer.migrate.surroundings import CARRIED_ELSEWHERE, Conversion, Surroundings

__all__ = ["GROUP", "Signer", "convert_issuer", "judge_issuer"]

GROUP = "cert-manager.io"

_VENAFI = "venafi"
_STAYS = (
    "Leave it to cert-manager; or, if an authority of your own will do, name a profile of the service: "
    "--map-issuer."
)


class Signer(Enum):
    """Who signs the certificates of an issuer."""

    AUTHORITY = auto()
    """An authority of the service."""
    KEPT = auto()
    """An authority of the service, below the one that signs today."""
    ITSELF = auto()
    """Each certificate signs itself."""
    ACME = auto()
    """An authority elsewhere, which decides about all but names and keys."""


def judge_issuer(
    one: ForeignObject, field: str, issuer: tuple[str, str, str], around: Surroundings, notes: Notes
) -> Signer:
    """Judge whether a profile can replace an issuer; return who signs then.

    Args:
        one: the Certificate.
        field: that names the issuer.
        issuer: its group, kind and name.
        around: everything that was read.
        notes: of the Certificate.

    Raises:
        NotCarriedError: somebody else signs, and nobody said that an authority of the service may.
    """
    group, kind, name = issuer
    namespace = one.namespace if kind == "Issuer" else ""
    found = around.inventory.find(GROUP, kind, namespace, name) if group == GROUP else None
    if found is not None and _keeps_acme(found, one.namespace, around):
        if not _shows_over_http(found):
            notes.changed(
                field,
                f"{kind} {name[:253]} shows names in the DNS; the service shows them over HTTP on port 80",
                "Let the authority reach each host there, or leave the Certificate to cert-manager.",
            )
        return Signer.ACME
    if found is not None and "ca" in found.spec:
        return Signer.KEPT
    if around.settings.issuer(one.namespace, name) is not None:
        return Signer.AUTHORITY
    if group != GROUP:
        raise NotCarriedError(field, f"{group[:80]} signs, which Keybearer can't", _STAYS)
    if found is None:
        notes.assumed(
            field,
            f"{kind} {name[:253]} was not given; a profile of its name is assumed to do",
            f"Give its manifest as well, or say --map-issuer {name[:253]}=PROJECT/PROFILE.",
        )
        return Signer.AUTHORITY
    if _VENAFI in found.spec:
        raise NotCarriedError(
            field,
            f"{kind} {name[:253]} is of the kind {_VENAFI}: others sign, and are trusted for it",
            _STAYS,
        )
    return Signer.ITSELF if "selfSigned" in found.spec else Signer.AUTHORITY


def _keeps_acme(issuer: ForeignObject, namespace: str, around: Surroundings) -> bool:
    """Tell whether the same authority signs from now on, by way of the service.

    Args:
        issuer: of any kind.
        namespace: of the Certificate, or of the issuer itself.
        around: everything that was read.
    """
    if "acme" not in issuer.spec:
        return False
    return _shows_over_http(issuer) or around.settings.issuer(namespace, issuer.name) is None


def _judge_replaced(spec: Part, public: str, place: IssuerPlace | None, notes: Notes) -> None:
    if place is None:
        raise NotCarriedError(
            spec.where(public),
            "others sign, and are trusted for it; Keybearer signs with authorities of its own, or with those that "
            "speak ACME",
            _STAYS,
        )
    part = spec.part(public)
    if part is not None:
        part.forget()
    notes.changed(
        spec.where(public),
        f"an authority of your own signs, by the profile {place.profile}, and clients must trust it",
        "keybearer authorities create NAME. Let clients trust both until the last old certificate has ended.",
    )


def _shows_over_http(issuer: ForeignObject) -> bool:
    acme = issuer.read(Notes()).part("acme")
    return acme is None or shows_over_http(acme)


def convert_issuer(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert an issuer: each Certificate that names it names the profile in its place from now on.

    Raises:
        NotCarriedError: others sign, and nobody said that an authority of the service may.
    """
    spec = one.read(notes)
    place = around.settings.issuer(one.namespace, one.name)
    acme = spec.part("acme")
    keeps_acme = acme is not None and _keeps_acme(one, one.namespace, around)
    if acme is not None and keeps_acme:
        # It needs no mapping, so that it is none of "all others".
        is_named = around.settings.names_issuer(one.namespace, one.name)
        own = IssuerPlace(slug_of(one.name, fallback="profile"))
        profile = place if place is not None and is_named else own
        read_acme(acme, (one.kind, one.namespace, one.name), profile, notes)
    for public in (_VENAFI, *(() if keeps_acme else ("acme",))):
        if public in spec:
            _judge_replaced(spec, public, place, notes)
    authority = spec.part("ca")
    if authority is not None:
        own = IssuerPlace(slug_of(one.name, fallback="profile"))
        read_authority(authority, (one.kind, one.namespace), place or own, notes)
    signs_itself = spec.part("selfSigned")
    if signs_itself is not None:
        signs_itself.leave_out("crlDistributionPoints", "nothing lists what signs itself")
    vault = spec.part("vault")
    if vault is not None:
        vault.forget()
        notes.left_out(
            vault.path,
            "the service signs itself, and asks no Vault",
            "keybearer authorities create NAME. Let clients trust both until the last old certificate has ended.",
        )
    spec.report_rest()
    return CARRIED_ELSEWHERE
