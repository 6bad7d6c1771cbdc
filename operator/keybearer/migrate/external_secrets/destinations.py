"""Where a PushSecret pushes to, as destination and configuration of a SecretSync."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError

__all__ = ["Pushed", "PushedKey", "destination_of"]

_PLACEHOLDER = "{{secretKey}}"
_AROUND = re.compile(r"[A-Za-z0-9_/-]*")
_PARAMETER_PATH = re.compile(r"/([A-Za-z0-9_-]+/)*")
_NAMES = "Name the keys in the folder so that one key schema makes the names there, or write a SecretSync for each."


@dataclass(frozen=True, slots=True)
class PushedKey:
    """One line of what is pushed.

    Attributes:
        key: of the Secret; empty for all of them.
        remote: the name there; empty where the key's own is taken.
        prop: the property of that entry; empty for the entry itself.
        field: where it stands in the manifest.
        schema: how names are made, for all keys.
        store: where alone it is pushed; empty for every store of the object.
    """

    key: str
    remote: str
    prop: str
    field: str
    schema: str = ""
    store: str = ""


@dataclass(frozen=True, slots=True)
class Pushed:
    """A destination.

    Attributes:
        name: of interface.md.
        config: its `destinationConfig`.
        options: what of `syncOptions` follows.
    """

    name: str
    config: dict[str, JsonValue]
    options: dict[str, JsonValue] = field(default_factory=dict)


def destination_of(provider: str, fields: Part, keys: Sequence[PushedKey]) -> Pushed:
    """Return where keys are pushed to.

    Args:
        provider: of the store.
        fields: of the provider.
        keys: what is pushed.

    Raises:
        NotCarriedError: Keybearer can't push there, or not under such names.
    """
    reader = _READERS.get(provider)
    if reader is None:
        raise NotCarriedError(
            "spec.secretStoreRefs",
            f"Keybearer has no destination for {provider[:60]}, or no login for it",
            "See docs/destinations.md for what there is.",
        )
    return reader(fields, keys)


def _aws(fields: Part, keys: Sequence[PushedKey]) -> Pushed:
    region: JsonValue = fields.text("region")
    service = fields.text("service") or "SecretsManager"
    if service not in ("ParameterStore", "SecretsManager"):
        raise NotCarriedError(
            "spec.secretStoreRefs",
            f"Keybearer has no destination for {service[:60]} of AWS",
            "See docs/destinations.md for what there is.",
        )
    if service == "ParameterStore":
        before, after = _affixes(keys)
        cut = before.rfind("/") + 1
        path, before = before[:cut], before[cut:]
        if not _PARAMETER_PATH.fullmatch(path) or "/" in after:
            raise NotCarriedError(
                keys[0].field, "parameters go below a path that begins and ends with /", _NAMES
            )
        return Pushed("cloud-parameter-store", {"region": region, "path": path}, _options(before, after))
    one = _one_entry(keys)
    if one is not None:
        config: dict[str, JsonValue] = {"region": region, "mappingBehavior": "many-to-one", "secretName": one}
        return Pushed("cloud-secrets-manager", config, {"disableSecretDeletion": True})
    return Pushed(
        "cloud-secrets-manager",
        {"region": region, "mappingBehavior": "one-to-one"},
        _options(*_affixes(keys)),
    )


def _vault(fields: Part, keys: Sequence[PushedKey]) -> Pushed:
    one = _one_entry(keys)
    if one is None:
        raise NotCarriedError(
            keys[0].field,
            "in Vault all keys of a folder become one secret, each a property of its own name",
            "Keep the keys of each entry in a folder of its own, under the names of its properties.",
        )
    mount = fields.text("path") or "secret"
    return Pushed(
        "hashicorp-vault", {"mount": mount, "path": one.strip("/")}, {"disableSecretDeletion": True}
    )


def _azure(fields: Part, keys: Sequence[PushedKey]) -> Pushed:
    plain: list[PushedKey] = []
    for one in keys:
        kind, slash, name = one.remote.partition("/")
        if slash and kind != "secret":
            raise NotCarriedError(one.field, f"{kind[:20]} is none of the secrets of a vault")
        plain.append(PushedKey(one.key, name if slash else one.remote, one.prop, one.field, one.schema))
    return Pushed("azure-key-vault", {"vaultBaseUrl": fields.text("vaultUrl")}, _options(*_affixes(plain)))


def _github(fields: Part, keys: Sequence[PushedKey]) -> Pushed:
    organization, repository = fields.text("organization") or "", fields.text("repository")
    environment = fields.text("environment")
    config: dict[str, JsonValue]
    if repository is None:
        visibility = fields.text("orgSecretVisibility") or "all"
        config = {"scope": "organization", "org": organization, "visibility": visibility}
    else:
        config = {"scope": "repository", "owner": organization, "repo": repository}
        if environment is not None:
            config |= {"scope": "repository-environment", "env": environment}
    return Pushed("codehost", config, _options(*_affixes(keys)))


def _one_entry(keys: Sequence[PushedKey]) -> str | None:
    """Return the one entry that all keys become properties of, each under its own name; None where there is none."""
    entries = {one.remote for one in keys}
    are_properties = all(one.prop == one.key and one.schema in ("", _PLACEHOLDER) for one in keys)
    return entries.pop() if are_properties and len(entries) == 1 and "" not in entries else None


def _affixes(keys: Sequence[PushedKey]) -> tuple[str, str]:
    """Return what stands before and after each key in its name there.

    Raises:
        NotCarriedError: there is no such pair of texts.
    """
    found: set[tuple[str, str]] = set()
    for one in keys:
        if one.schema and not one.remote:
            before, _, after = one.schema.partition(_PLACEHOLDER)
        elif one.key and not one.prop and one.key in one.remote:
            before, _, after = one.remote.rpartition(one.key)
        else:
            raise NotCarriedError(
                one.field, "is pushed under a name that no key schema makes of the key", _NAMES
            )
        found.add((before, after))
    (before, after), *others = found
    if others or not _AROUND.fullmatch(before + after):
        raise NotCarriedError(keys[0].field, "keys are pushed under names of different makes", _NAMES)
    return before, after


def _options(before: str, after: str) -> dict[str, JsonValue]:
    # Without it, every name of the place that the folder doesn't have would be removed, whoever wrote it.
    options: dict[str, JsonValue] = {"disableSecretDeletion": True}
    if before or after:
        options["keySchema"] = before + _PLACEHOLDER + after
    return options


_READERS: Mapping[str, Callable[[Part, Sequence[PushedKey]], Pushed]] = {
    "aws": _aws,
    "azurekv": _azure,
    "github": _github,
    "openbao": _vault,
    "vault": _vault,
}
