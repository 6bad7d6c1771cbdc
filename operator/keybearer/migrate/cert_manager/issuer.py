"""Issuer and ClusterIssuer: in their place stands a profile of the service, with an authority of its own."""

from __future__ import annotations

from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.surroundings import CARRIED_ELSEWHERE, Conversion, Surroundings

__all__ = ["GROUP", "convert_issuer", "judge_issuer"]

GROUP = "cert-manager.io"

_PUBLIC = ("acme", "venafi")
_STAYS = (
    "Leave it to cert-manager; or, if an authority of your own will do, name a profile of the service: "
    "--map-issuer."
)


def judge_issuer(
    one: ForeignObject, field: str, issuer: tuple[str, str, str], around: Surroundings, notes: Notes
) -> bool:
    """Judge whether a profile can stand for an issuer; return whether its certificates sign themselves.

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
    if around.settings.issuer(one.namespace, name) is not None:
        return False
    if group != GROUP:
        raise NotCarriedError(field, f"{group[:80]} signs, which Keybearer can't", _STAYS)
    namespace = one.namespace if kind == "Issuer" else ""
    found = around.inventory.find(GROUP, kind, namespace, name)
    if found is None:
        notes.assumed(
            field,
            f"{kind} {name[:253]} was not given; a profile of its name is assumed to do",
            f"Give its manifest as well, or say --map-issuer {name[:253]}=PROJECT/PROFILE.",
        )
        return False
    for public in _PUBLIC:
        if public in found.spec:
            raise NotCarriedError(
                field,
                f"{kind} {name[:253]} is of the kind {public}: others sign, and are trusted for it",
                _STAYS,
            )
    return "selfSigned" in found.spec


def convert_issuer(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:  # noqa: ARG001 - one form for all
    """Convert an issuer: each Certificate that names it names the profile in its place from now on.

    Raises:
        NotCarriedError: others sign.
    """
    spec = one.read(notes)
    for public in _PUBLIC:
        if public in spec:
            raise NotCarriedError(
                spec.where(public),
                "others sign, and are trusted for it; Keybearer signs with authorities of its own",
                _STAYS,
            )
    authority = spec.part("ca")
    if authority is not None:
        authority.skip("secretName")
        notes.left_out(
            authority.where("secretName"),
            "the key of the authority is not taken over: the service makes its own and keeps it",
            "keybearer authorities create NAME. Let clients trust both until the last old certificate has ended.",
        )
        for name in ("crlDistributionPoints", "ocspServers", "issuingCertificateURLs"):
            if name in authority:
                authority.skip(name)
                notes.step(
                    authority.where(name), "are the service's own", "keybearer serve --public-url URL."
                )
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
