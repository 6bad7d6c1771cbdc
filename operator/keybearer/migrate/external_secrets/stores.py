"""SecretStore and ClusterSecretStore: what an ExternalSecret reads from, and what a PushSecret writes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of
from keybearer.migrate.external_secrets.connections import connection_of
from keybearer.migrate.fields import Part
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.settings import DEFAULT_ENVIRONMENT, Place, project_slug_of
from keybearer.migrate.surroundings import CARRIED_ELSEWHERE, Conversion, Surroundings

__all__ = [
    "GROUP",
    "SourceStore",
    "StoreRef",
    "at_place",
    "convert_store",
    "find_store",
    "provider_of",
    "source_store",
    "store_ref",
]

GROUP = "external-secrets.io"
_NOT_ASKED_FOR = (
    "nothing needs one, unless the service is to import from the store itself (migrate --connections)"
)
_PUSHES = ("PushSecret", "ClusterPushSecret")


@dataclass(frozen=True, slots=True)
class StoreRef:
    """How an object names a store."""

    name: str
    kind: str
    field: str


@dataclass(frozen=True, slots=True)
class SourceStore:
    """Where in the service the contents of a store are.

    Attributes:
        base: the fields of a source that say project and environment, and how it is read.
        path: the folder that stands for the store's root.
        is_service: whether the store is the service already, so that its names stay as they are.
        recursive: whether whole folders are read with those below.
        identity: a Secret of the manifests that says who reads, where there is one that will do.
        identity_field: the field that led there.
        provider: whose store it was; empty where its manifest was not given.
        is_flat: whether names of that provider hold no folders, so that an entry is a secret of the folder itself.
    """

    base: Mapping[str, JsonValue]
    path: str
    is_service: bool
    recursive: bool = False
    identity: str | None = None
    identity_field: str = ""
    provider: str = ""
    is_flat: bool = False


_FLAT = ("azurekv", "doppler", "gcpsm", "gitlab", "kubernetes", "oracle")
"""Providers whose names have no slash, by their own rules for names."""
_RENAMING = ("format", "nameTransformer")
"""Fields of a provider that change which names there are."""


def store_ref(part: Part | None, name: str = "secretStoreRef") -> StoreRef | None:
    """Return the store that a field names; None where it names none."""
    ref = part.part(name) if part is not None else None
    if ref is None:
        return None
    store = ref.text("name")
    return None if store is None else StoreRef(store, ref.text("kind") or "SecretStore", ref.path)


def find_store(around: Surroundings, one: ForeignObject, ref: StoreRef) -> ForeignObject | None:
    """Return the store that an object names, if it was read."""
    namespace = one.namespace if ref.kind == "SecretStore" else ""
    return around.inventory.find(GROUP, ref.kind, namespace, ref.name)


def provider_of(store: ForeignObject, notes: Notes) -> tuple[str, Part]:
    """Return the provider of a store and its fields.

    Raises:
        NotCarriedError: it names none, or several.
    """
    spec = store.read(notes)
    provider = spec.part("provider")
    names = [] if provider is None else list(provider.names)
    if provider is None or len(names) != 1:
        raise NotCarriedError("spec.provider", "names not exactly one provider", "Correct the manifest.")
    fields = provider.part(names[0])
    if fields is None:
        raise NotCarriedError("spec.provider", "says nothing about the provider", "Correct the manifest.")
    return names[0], fields


def source_store(around: Surroundings, one: ForeignObject, ref: StoreRef, notes: Notes) -> SourceStore:
    """Return where the contents of a store are: as the person says, as the store says, or a guess that is noted."""
    store = find_store(around, one, ref)
    provider, fields = _known_provider(store)
    is_named = around.settings.names_store(one.namespace, ref.name)
    if store is not None and fields is not None and provider == "infisical" and not is_named:
        # It needs no mapping, so that it is none of "all others".
        return _service_store(one, store, fields, ref)
    place = around.place(one, ref.name, ref.kind, ref.field, notes)
    if place is not None:
        return _with_provider(at_place(place), provider, fields)
    told = provider or "unknown, as its manifest was not given"
    place = Place(project_slug_of(ref.name), DEFAULT_ENVIRONMENT)
    notes.assumed(
        ref.field,
        f"{ref.kind} {ref.name} (provider {told[:60]}) is no place of the service; {place} is assumed",
        f"Bring its contents into the service, and say where: --map-store {ref.name}=PROJECT/ENVIRONMENT/PATH.",
    )
    return _with_provider(at_place(place), provider, fields)


def _known_provider(store: ForeignObject | None) -> tuple[str, Part | None]:
    if store is None:
        return "", None
    try:
        return provider_of(store, Notes())
    except NotCarriedError:
        return "unknown", None


def _with_provider(store: SourceStore, provider: str, fields: Part | None) -> SourceStore:
    is_renaming = fields is not None and any(name in fields for name in _RENAMING)
    return replace(store, provider=provider, is_flat=provider in _FLAT and not is_renaming)


def at_place(place: Place) -> SourceStore:
    """Return a store whose contents are in a place of the service."""
    return SourceStore(
        {"projectSlug": place.project_slug, "environment": place.environment}, place.path, is_service=False
    )


def _service_store(one: ForeignObject, store: ForeignObject, fields: Part, ref: StoreRef) -> SourceStore:
    scope = fields.part("secretsScope")
    base: dict[str, JsonValue] = {}
    path, recursive = "/", False
    if scope is not None:
        base["projectSlug"] = scope.text("projectSlug")
        base["environment"] = scope.text("environmentSlug")
        path = scope.text("secretsPath") or "/"
        recursive = scope.flag("recursive") or False
        if scope.flag("expandSecretReferences") is False:
            base["expandSecretReferences"] = False
    auth = fields.part("auth")
    universal = auth.part("universalAuthCredentials") if auth is not None else None
    secret = _identity_secret(universal) if universal is not None else None
    # References never leave the namespace, neither theirs nor ours.
    is_near = store.kind == "SecretStore" and store.namespace in (one.namespace, "")
    identity = secret if is_near else None
    return SourceStore(
        base, path, is_service=True, recursive=recursive, identity=identity, identity_field=ref.field
    )


def _identity_secret(universal: Part) -> str | None:
    """Return the Secret of the credentials if its keys are called as an identity's are."""
    found = {}
    for name in ("clientId", "clientSecret"):
        selector = universal.part(name)
        found[name] = (None, None) if selector is None else (selector.text("name"), selector.text("key"))
    (secret, key), (other, other_key) = found["clientId"], found["clientSecret"]
    return secret if secret == other and (key, other_key) == ("clientId", "clientSecret") else None


def convert_store(one: ForeignObject, around: Surroundings, notes: Notes) -> Conversion:
    """Convert a store: one of the service goes into what names it, one of another kind becomes an AppConnection.

    A store that no connection can be made to needs none, if nothing is pushed there and the person says which folder
    holds its contents: what read from it reads from there.

    Raises:
        NotCarriedError: it can't be connected to, and nobody said where its contents are.
    """
    provider, fields = provider_of(one, notes)
    spec = one.read(notes)
    spec.skip("provider", "refreshInterval", "controller")
    spec.leave_out(
        "conditions", "who may name it is not carried", "An object of ours serves its own namespace only."
    )
    spec.leave_out("retrySettings", "is not carried", "Keybearer tries again by itself, 5 s to 5 min apart.")
    spec.report_rest()
    if provider != "infisical":
        own = Notes()
        is_pushed_to = _is_pushed_to(one, around)
        is_replaced = around.settings.store(one.namespace, one.name) is not None and not is_pushed_to
        try:
            conversion = connection_of(
                one, provider, Part(_content(one, provider), fields.path, own), around, own
            )
        except NotCarriedError as error:
            if not is_replaced:
                notes.add(error.finding)
                raise
            return _replaced(one, fields.path, error.finding.why, around, notes)
        if is_replaced and not around.settings.connections:
            return _replaced(one, fields.path, _NOT_ASKED_FOR, around, notes)
        for finding in own.findings:
            notes.add(finding)
        if not is_pushed_to:
            notes.step(
                "",
                "becomes an AppConnection, by which the service gets the store's credentials",
                "Only an import from the store itself needs it: otherwise, don't apply it.",
            )
        return conversion
    _judge_service_store(one, fields, around, notes)
    return CARRIED_ELSEWHERE


def _content(one: ForeignObject, provider: str) -> Mapping[str, JsonValue]:
    return mapping_of(mapping_of(one.spec["provider"]).get(provider))


def _is_pushed_to(one: ForeignObject, around: Surroundings) -> bool:
    return any(
        other.group == GROUP and other.kind in _PUSHES and _names_store(dict(other.spec), one.name)
        for other in around.inventory
    )


def _replaced(one: ForeignObject, field: str, why: str, around: Surroundings, notes: Notes) -> Conversion:
    place = around.settings.store(one.namespace, one.name)
    notes.step(
        field,
        f"is replaced by {place}: its contents, as External Secrets reads them, must be there first",
        f"No AppConnection is written: {why}. Bring the contents there with keybearer secrets import. From then on "
        "the service is the source: later changes in the old store do not arrive.",
    )
    return CARRIED_ELSEWHERE


def _names_store(value: JsonValue, name: str) -> bool:
    """Tell whether a reference to a store of that name is anywhere in a value."""
    waiting: list[JsonValue] = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, list):
            waiting += inner
        elif isinstance(inner, dict):
            for field, content in inner.items():
                refs = content if isinstance(content, list) else [content]
                is_ref = field in ("storeRef", "secretStoreRef", "secretStoreRefs")
                if is_ref and any(isinstance(ref, dict) and ref.get("name") == name for ref in refs):
                    return True
                waiting.append(content)
    return False


def _judge_service_store(one: ForeignObject, fields: Part, around: Surroundings, notes: Notes) -> None:
    scope = fields.part("secretsScope")
    if scope is not None:
        scope.skip("projectSlug", "environmentSlug", "secretsPath", "recursive", "expandSecretReferences")
        scope.leave_out("organizationSlug", "a project is found by its slug alone")
    _judge_address(fields, notes)
    _judge_login(fields, around, one, notes)
    if one.kind == "ClusterSecretStore":
        notes.step(
            "",
            "identities stay in their namespace",
            "Put the Secret of the identity into each namespace, or let the operator share one (--shared-grants).",
        )
    fields.report_rest()


def _judge_address(fields: Part, notes: Notes) -> None:
    for name in ("hostAPI", "caBundle", "caProvider"):
        if name in fields:
            fields.skip(name)
            notes.step(
                fields.where(name),
                "is said by the operator or the identity, not by the manifest",
                "Give the operator --service-url (and --service-ca-file), or the Secret of the identity the keys url "
                "and caBundle.",
            )


def _judge_login(fields: Part, around: Surroundings, one: ForeignObject, notes: Notes) -> None:
    auth = fields.part("auth")
    if auth is None:
        return
    universal = auth.part("universalAuthCredentials")
    if universal is not None:
        if _identity_secret(universal) is None:
            around.identity(one.namespace, notes, field=universal.path)
        for name in ("clientId", "clientSecret"):
            selector = universal.part(name)
            if selector is not None:
                selector.skip("name", "key", "namespace")
        return
    for name in auth.names:
        login = auth.part(name)
        if login is not None:
            login.forget()
        known = {"kubernetesAuthCredentials": "identityId, serviceAccountName and audience"}
        known |= {
            "ldapAuthCredentials": "identityId, username and password",
            "tokenAuthCredentials": "accessToken",
        }
        if name in known:
            notes.step(
                auth.where(name),
                "needs a Secret of another form",
                f"Make a Secret {around.settings.identity} with {known[name]}.",
            )
        else:
            notes.left_out(
                auth.where(name),
                "is a login that Keybearer doesn't have",
                f"Make a Secret {around.settings.identity} with clientId and clientSecret of the machine identity.",
            )
