"""VaultAuth, VaultConnection and SecretTransformation: what other objects name."""

from __future__ import annotations

from pydantic import JsonValue

from keybearer.controllers.appconnection.resource import APP_CONNECTION
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.manifests import draft_of
from keybearer.migrate.surroundings import CARRIED_ELSEWHERE, Conversion, Surroundings

__all__ = ["GROUP", "convert_auth", "convert_connection", "convert_transformation"]

GROUP = "secrets.hashicorp.com"


def convert_auth(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a VaultAuth by AppRole into an AppConnection, for pushing to Vault and for bringing in what it holds.

    Raises:
        NotCarriedError: it is another method, or its connection was not given.
    """
    spec = one.read(notes)
    role = spec.part("appRole")
    if spec.text("method") != "appRole" or role is None:
        raise NotCarriedError(
            "spec.method",
            "secrets come from the service from now on, which itself logs in to Vault by AppRole or token only",
            f"Each namespace needs a Secret {around.settings.identity} of a machine identity. To bring the contents "
            "in, make an AppConnection of the app hashicorp-vault, or use keybearer secrets import.",
        )
    name = spec.text("vaultConnectionRef") or "default"
    connection = around.inventory.find(GROUP, "VaultConnection", one.namespace, name)
    address = connection.read(Notes()).text("address") if connection is not None else None
    secret = role.text("secretRef")
    if address is None or secret is None:
        raise NotCarriedError(
            "spec.vaultConnectionRef" if address is None else "spec.appRole.secretRef",
            "is not among what was given" if address is None else "is missing",
            "Give its manifest as well.",
        )
    credentials: dict[str, JsonValue] = {
        "instanceUrl": {"value": address},
        "secretId": {"valueFrom": {"secretKeyRef": {"name": secret, "key": "id"}}},
    }
    for name, value in (("roleId", role.text("roleId")), ("namespace", spec.text("namespace"))):
        if value:
            credentials[name] = {"value": value}
    if (spec.text("mount") or "approle") != "approle":
        notes.left_out("spec.mount", "the method is looked for at approle", "Mount it there as well.")
    spec.leave_out(
        "allowedNamespaces", "an object of ours serves its own namespace only", "Write one in each."
    )
    spec.report_rest()
    written: dict[str, JsonValue] = {
        "identityRef": {"name": around.identity(one.namespace, notes)},
        "app": "hashicorp-vault",
        "method": "app-role",
        "credentials": credentials,
    }
    notes.step(
        "",
        "becomes an AppConnection, by which the service gets this login to Vault",
        "Only an import from Vault itself needs it: otherwise, don't apply it.",
    )
    return Conversion((draft_of(one, APP_CONNECTION, written, notes),))


def convert_connection(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:  # noqa: ARG001 - one form for all
    """Convert a VaultConnection: its address goes into the AppConnection of the VaultAuth that names it."""
    spec = one.read(notes)
    spec.skip("address", "timeout")
    if spec.flag("skipTLSVerify"):
        notes.left_out(
            "spec.skipTLSVerify", "the service always verifies", "keybearer serve --outbound-ca FILE."
        )
    for name in ("caCertSecretRef", "caCertPath"):
        if name in spec:
            spec.skip(name)
            notes.step(spec.where(name), "is given to the service", "keybearer serve --outbound-ca FILE.")
    spec.report_rest()
    return CARRIED_ELSEWHERE


def convert_transformation(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:  # noqa: ARG001 - one form for all
    """Convert a SecretTransformation: its templates go into each SecretSync whose object names it."""
    spec = one.read(notes)
    spec.skip("includes", "excludes")
    for template in spec.parts_by_name("templates").values():
        template.skip("name", "text")
    spec.leave_out(
        "sourceTemplates", "templates that others call have no equal", "Write them out where they are called."
    )
    spec.report_rest()
    return CARRIED_ELSEWHERE
