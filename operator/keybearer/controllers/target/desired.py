"""What the target should be: a manifest made from the spec and the selected or rendered keys. Pure."""

from __future__ import annotations

import base64
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.json_reading import mapping_of, text_of, texts_of
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.target.spec import OPAQUE, CreationPolicy, DeletionPolicy, Target, TargetKind
from keybearer.controllers.work import WorkKey
from keybearer.kube.resources import CONFIG_MAPS, SECRETS, Resource

__all__ = [
    "APP_LABELS",
    "MANAGED_LABEL",
    "OWNER_LABEL",
    "TARGET_RESOURCES",
    "DesiredTarget",
    "build_target",
    "encoded_data",
    "fingerprint_of_body",
    "owner_reference",
]

MANAGED_LABEL = "keybearer.dev/managed"
"""Selects the objects that the operator watches."""
OWNER_LABEL = "keybearer.dev/owner-uid"
"""UID of the custom resource that owns the object; also there under `onDelete: Retain`, without ownerReference."""

TARGET_RESOURCES: Mapping[str, Resource] = {one.kind: one for one in (SECRETS, CONFIG_MAPS)}
"""The kinds that a target may have."""
APP_LABELS = {"app.kubernetes.io/managed-by": "keybearer"}
"""Of targets that we own; a spec may say otherwise."""


@dataclass(frozen=True, slots=True)
class DesiredTarget:
    """The target as planned.

    Attributes:
        key: which object.
        body: the manifest, complete but for uid and resourceVersion; holds values.
        keys: names of its keys, sorted.
        fingerprint: over everything an owner plans; compared with what the watch shows.
        data_fingerprint: over type and data only, and which key made it; goes into status, decides on restarts.
    """

    key: TargetKey
    body: dict[str, JsonValue] = field(repr=False)
    keys: tuple[str, ...]
    fingerprint: str
    data_fingerprint: str

    @property
    def data(self) -> dict[str, str]:
        """Keys with their base64 values, whatever the kind."""
        return encoded_data(self.key.kind, self.body)


def build_target(
    owner: WorkKey,
    owner_uid: str,
    target: Target,
    data: Mapping[str, bytes],
    text: Mapping[str, str],
    fingerprinter: Fingerprinter,
) -> DesiredTarget:
    """Return the target that a custom resource asks for.

    Args:
        owner: the custom resource.
        owner_uid: its UID.
        target: the target half of its spec.
        data: the keys to write, judged; of a ConfigMap, those whose bytes are no text.
        text: of a ConfigMap, the keys whose values are text; nothing for a Secret.
        fingerprinter: makes the keyed fingerprints.
    """
    key = TargetKey(target.kind.value, owner.namespace, target.name or owner.name)
    owned = target.creation_policy is CreationPolicy.OWNER
    metadata: dict[str, JsonValue] = {"name": key.name, "namespace": key.namespace}
    labels = dict(target.labels)
    labels[MANAGED_LABEL] = "true"
    if owned:
        labels = {**APP_LABELS, **labels, OWNER_LABEL: owner_uid}
        if target.on_delete is DeletionPolicy.DELETE:
            metadata["ownerReferences"] = [owner_reference(owner, owner_uid)]
    metadata["labels"] = dict(labels)
    if target.annotations:
        metadata["annotations"] = dict(target.annotations)
    body: dict[str, JsonValue] = {"apiVersion": "v1", "kind": key.kind, "metadata": metadata}
    binary: dict[str, JsonValue] = {name: base64.b64encode(value).decode() for name, value in data.items()}
    if target.kind is TargetKind.SECRET:
        body["data"] = binary
        if owned:
            body["type"] = target.type
    else:
        body["data"] = dict(text)
        if binary:
            body["binaryData"] = binary
    if target.immutable and owned:
        body["immutable"] = True
    return DesiredTarget(
        key=key,
        body=body,
        keys=tuple(sorted((*data, *text))),
        fingerprint=fingerprint_of_body(key.kind, body, fingerprinter),
        data_fingerprint=fingerprinter.of_kept_content(
            "data", (key.kind, target.type), encoded_data(key.kind, body)
        ),
    )


def fingerprint_of_body(
    kind: str,
    body: Mapping[str, JsonValue],
    fingerprinter: Fingerprinter,
    own: Mapping[str, Container[str]] | None = None,
) -> str:
    """Return the fingerprint over everything an owner plans of a Secret or ConfigMap, from its JSON.

    Args:
        kind: Secret or ConfigMap; items of a list don't say it themselves.
        body: the object.
        fingerprinter: makes the keyed fingerprint.
        own: the names of our labels and annotations, by section; None: all are.
    """
    meta = mapping_of(body.get("metadata"))
    secret_type = text_of(body.get("type")) or OPAQUE if kind == TargetKind.SECRET else ""
    head = (kind, secret_type, str(body.get("immutable") is True), *_owners(meta.get("ownerReferences")))
    return fingerprinter.of_mappings(
        "target",
        head,
        encoded_data(kind, body),
        *(
            {
                name: text
                for name, text in texts_of(meta.get(section)).items()
                if own is None or name in own[section]
            }
            for section in ("labels", "annotations")
        ),
    )


def encoded_data(kind: str, body: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return keys and base64 values of a Secret or ConfigMap."""
    if kind == TargetKind.CONFIG_MAP:
        plain = {
            name: base64.b64encode(text.encode()).decode()
            for name, text in texts_of(body.get("data")).items()
        }
        return plain | texts_of(body.get("binaryData"))
    return texts_of(body.get("data"))


def owner_reference(owner: WorkKey, uid: str) -> dict[str, JsonValue]:
    """Return the ownerReference by which an object goes with the custom resource that wrote it."""
    return {
        "apiVersion": "keybearer.dev/v1alpha1",
        "kind": owner.kind,
        "name": owner.name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": False,
    }


def _owners(references: JsonValue) -> tuple[str, ...]:
    if not isinstance(references, list):
        return ()
    return tuple(
        text_of(one.get("uid"))
        for one in references
        if isinstance(one, Mapping) and one.get("controller") is True
    )
