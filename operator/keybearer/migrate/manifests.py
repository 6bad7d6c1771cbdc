"""Manifests of ours: built from drafts, judged by our own models before anybody sees them, and written as YAML."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from textwrap import wrap

import yaml
from pydantic import JsonValue, ValidationError

from keybearer.controllers.appconnection.resource import APP_CONNECTION
from keybearer.controllers.custom_resource import CustomResource, describe_invalid
from keybearer.controllers.resource_fields import DNS_SUBDOMAIN_PATTERN
from keybearer.controllers.secretsync.resource import SECRET_SYNC
from keybearer.controllers.target.spec import Target
from keybearer.migrate.carried_metadata import carried_metadata
from keybearer.migrate.findings import NotCarriedError, Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.remotes import require_whole_connection, require_whole_destination

__all__ = ["Draft", "Manifest", "draft_of", "render_manifests", "validated"]

_NAME = re.compile(DNS_SUBDOMAIN_PATTERN[1:-1])
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_COMMENT_WIDTH = 110
_ANNOTATIONS_MAX_BYTES = 256 * 1024
"""TotalAnnotationSizeLimitB of k8s.io/apimachinery: names and values together."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a converter makes of an object.

    Attributes:
        resource: the kind.
        namespace: empty where the manifest that was read names none.
        name: of the object.
        spec: of it.
        labels: of the object itself.
        annotations: likewise.
        comment: what is written above it, for whoever applies it; may be empty.
    """

    resource: CustomResource
    namespace: str
    name: str
    spec: Mapping[str, JsonValue] = field(repr=False)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""

    def __str__(self) -> str:
        """Return how reports call it."""
        kind = self.resource.kind
        return f"{kind} {self.namespace}/{self.name}" if self.namespace else f"{kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that our models take.

    Attributes:
        kind: of it.
        namespace: empty where it names none.
        name: of it.
        body: all of it.
        comment: what is written above it, for whoever applies it; may be empty.
    """

    kind: str
    namespace: str
    name: str
    body: Mapping[str, JsonValue] = field(repr=False)
    comment: str = ""

    def __str__(self) -> str:
        """Return how reports call it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def file_name(self) -> str:
        """Return a name of a file that no other manifest has."""
        return "_".join(part for part in (self.namespace, self.kind.lower(), self.name) if part) + ".yaml"


def draft_of(
    one: ForeignObject, resource: CustomResource, spec: Mapping[str, JsonValue], notes: Notes
) -> Draft:
    """Return the draft of an object of ours that stands where a foreign one stood.

    Args:
        one: the foreign object; its labels and annotations come along.
        resource: the kind.
        spec: of the new object.
        notes: of the foreign one.

    Raises:
        NotCarriedError: it has more annotations than Kubernetes takes.
    """
    sizes = (len(name.encode()) + len(text.encode()) for name, text in one.annotations.items())
    if sum(sizes) > _ANNOTATIONS_MAX_BYTES:
        raise NotCarriedError(
            "metadata.annotations",
            f"are more than the {_ANNOTATIONS_MAX_BYTES // 1024} KiB that Kubernetes takes",
            "Correct the manifest.",
        )
    return Draft(
        resource,
        one.namespace,
        one.name,
        spec,
        carried_metadata(one.labels, "metadata.labels", notes),
        carried_metadata(one.annotations, "metadata.annotations", notes),
    )


def validated(draft: Draft) -> Manifest:
    """Return the manifest of a draft.

    Raises:
        NotCarriedError: our kind doesn't take it; the text says which field and why, never what was given.
    """
    if not _NAME.fullmatch(draft.name) or len(draft.name) > 253:
        raise NotCarriedError("metadata.name", "is no name that Kubernetes takes", "Correct the manifest.")
    if draft.namespace and (not _NAMESPACE.fullmatch(draft.namespace) or len(draft.namespace) > 63):
        raise NotCarriedError("metadata.namespace", "is no name of a namespace", "Correct the manifest.")
    _require_labels(draft.labels)
    try:
        draft.resource.spec.model_validate(dict(draft.spec))
    except ValidationError as error:
        raise NotCarriedError(
            "",
            f"{draft.resource.kind} would not take it: {describe_invalid(error)}",
            "Correct the manifest, replace placeholders by values, or split the object.",
        ) from None
    if draft.resource is APP_CONNECTION:
        require_whole_connection(draft.spec)
    elif draft.resource is SECRET_SYNC:
        require_whole_destination(draft.spec)
    metadata: dict[str, JsonValue] = {"name": draft.name}
    if draft.namespace:
        metadata["namespace"] = draft.namespace
    if draft.labels:
        metadata["labels"] = dict(draft.labels)
    if draft.annotations:
        metadata["annotations"] = dict(draft.annotations)
    resource = draft.resource
    body: dict[str, JsonValue] = {
        "apiVersion": f"{resource.group}/{resource.version}",
        "kind": resource.kind,
        "metadata": metadata,
        "spec": dict(draft.spec),
    }
    return Manifest(resource.kind, draft.namespace, draft.name, body, draft.comment)


def _require_labels(labels: Mapping[str, str]) -> None:
    try:
        Target.model_validate({"labels": dict(labels)})
    except ValidationError:
        raise NotCarriedError(
            "metadata.labels", "are none that Kubernetes takes", "Correct the manifest."
        ) from None


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, and a repeated part again: people review what is written."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the signature of the base class
        return True


def _represent_text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)


def render_manifests(manifests: list[Manifest]) -> str:
    """Return manifests as one YAML stream for `kubectl apply -f -`."""
    return "---\n".join(
        _commented(one.comment)
        + yaml.dump(dict(one.body), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))
        for one in manifests
    )


def _commented(text: str) -> str:
    """Return lines of a comment; names of others' manifests in it end no line."""
    safe = "".join(mark if mark.isprintable() else "\N{REPLACEMENT CHARACTER}" for mark in text)
    return "".join(f"# {line}\n" for line in wrap(safe, _COMMENT_WIDTH, break_on_hyphens=False))
