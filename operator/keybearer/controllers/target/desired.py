"""What the target should be: a manifest made from the spec and the selected or rendered keys. Pure."""

from __future__ import annotations

import base64
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pydantic import JsonValue

from keybearer.base.json_reading import list_of, mapping_of, text_of, texts_of
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.target.spec import OPAQUE, CreationPolicy, DeletionPolicy, Target, TargetKind
from keybearer.controllers.work import WorkKey
from keybearer.kube.resources import CONFIG_MAPS, SECRETS, Resource

__all__ = [
    "MANAGED_LABEL",
    "OWNER_LABEL",
    "TARGET_RESOURCES",
    "DesiredTarget",
    "build_target",
    "encoded_data",
    "fingerprint_of_body",
    "owned_metadata",
]

MANAGED_LABEL = "keybearer.dev/managed"
"""Selects the objects that the operator watches."""
OWNER_LABEL = "keybearer.dev/owner-uid"
"""UID of the custom resource that owns the object; also there under `onDelete: Retain`, without ownerReference."""

TARGET_RESOURCES: Mapping[str, Resource] = {one.kind: one for one in (SECRETS, CONFIG_MAPS)}
"""The kinds that a target may have."""
_APP_LABELS = {"app.kubernetes.io/managed-by": "keybearer"}
"""Of targets that we own; a spec may say otherwise."""


@dataclass(frozen=True)
class DesiredTarget:
    """The target as planned.

    Attributes:
        key: which object.
        body: the manifest, complete but for uid and resourceVersion; holds values.
        keys: names of its keys, sorted.
        fingerprint: over everything an owner plans; compared with what the watch shows.
        data_fingerprint: over type and data only, and which key made it; goes into status, decides on restarts. Empty
            where restarts go by something else.
    """

    key: TargetKey
    body: dict[str, JsonValue] = field(repr=False)
    keys: tuple[str, ...]
    fingerprint: str
    data_fingerprint: str = ""

    @cached_property
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
    if owned:
        metadata = owned_metadata(
            key,
            owner,
            owner_uid,
            target.labels,
            target.annotations,
            goes_with_owner=target.on_delete is DeletionPolicy.DELETE,
        )
    else:
        metadata = _metadata(key, {**target.labels, MANAGED_LABEL: "true"}, target.annotations)
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


def owned_metadata(
    key: TargetKey,
    owner: WorkKey,
    owner_uid: str,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    *,
    goes_with_owner: bool = True,
) -> dict[str, JsonValue]:
    """Return the metadata of an object that a custom resource owns, by which watches and owners know it.

    Args:
        key: the object.
        owner: the custom resource.
        owner_uid: its UID.
        labels: others; of ours, they may replace `app.kubernetes.io/managed-by`.
        annotations: all that there are to be.
        goes_with_owner: whether Kubernetes deletes it together with the custom resource.
    """
    ours = {**_APP_LABELS, **labels, MANAGED_LABEL: "true", OWNER_LABEL: owner_uid}
    metadata = _metadata(key, ours, annotations)
    if goes_with_owner:
        metadata["ownerReferences"] = [_owner_reference(owner, owner_uid)]
    return metadata


def _metadata(
    key: TargetKey, labels: Mapping[str, str], annotations: Mapping[str, str]
) -> dict[str, JsonValue]:
    metadata: dict[str, JsonValue] = {"name": key.name, "namespace": key.namespace, "labels": dict(labels)}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return metadata


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


def _owner_reference(owner: WorkKey, uid: str) -> dict[str, JsonValue]:
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
    return tuple(
        text_of(one.get("uid"))
        for one in list_of(references)
        if isinstance(one, Mapping) and one.get("controller") is True
    )
