"""What a spec says of a target: the Secret or ConfigMap that is written, and how it is treated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from keybearer.controllers.custom_resource import ResourceModel, RuledModel, rule
from keybearer.controllers.mode import Mode
from keybearer.controllers.resource_fields import DATA_KEY_PATTERN, ObjectName
from keybearer.controllers.target.guard import GuardRules

__all__ = [
    "FORBIDDEN_SECRET_TYPES",
    "OPAQUE",
    "ConfigMapTemplate",
    "CreationPolicy",
    "DeletionPolicy",
    "Target",
    "TargetKind",
    "TargetTemplate",
    "TargetWords",
    "Workload",
    "WorkloadKind",
    "WriteRules",
    "is_target_key",
    "named_once",
]

OPAQUE = "Opaque"
FORBIDDEN_SECRET_TYPES = ("kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token")
"""Kubernetes gives or grants credentials by Secrets of these types: writing one would be minting a right."""

_LABEL_VALUE_PATTERN = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"


_TARGET_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")


def is_target_key(name: str) -> bool:
    """Tell whether Kubernetes takes the name as a key of a Secret or ConfigMap."""
    return _TARGET_KEY.fullmatch(name) is not None and name != "." and not name.startswith("..")


class TargetKind(StrEnum):
    """What is written."""

    SECRET = "Secret"
    CONFIG_MAP = "ConfigMap"


class CreationPolicy(StrEnum):
    """Whose object the target is."""

    OWNER = "Owner"
    MERGE = "Merge"


class DeletionPolicy(StrEnum):
    """What becomes of the target when the SecretSync is deleted."""

    DELETE = "Delete"
    RETAIN = "Retain"


class WorkloadKind(StrEnum):
    """What can be restarted."""

    DEPLOYMENT = "Deployment"
    STATEFUL_SET = "StatefulSet"
    DAEMON_SET = "DaemonSet"


class ConfigMapTemplate(ResourceModel):
    """A ConfigMap of the same namespace that holds templates."""

    name: Annotated[ObjectName, Field(description="The name of the ConfigMap.")]
    key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=253,
            pattern=DATA_KEY_PATTERN,
            description="Takes only this key as a template. Without it, each key is a template.",
        ),
    ] = None


class TargetTemplate(RuledModel):
    """Builds keys of the target from templates."""

    data: Annotated[
        dict[str, Annotated[str, Field(max_length=65_536)]] | None,
        Field(
            min_length=1,
            max_length=64,
            description="Keys of the target, each with a Jinja2 template. A secret is a variable where its "
            'key is an identifier, and secrets["any-key"] always. An unknown variable is an error.',
        ),
    ] = None
    config_map_ref: Annotated[
        ConfigMapTemplate | None,
        Field(description="Templates from a ConfigMap. A key that is in data too is taken from data."),
    ] = None
    include_keys: Annotated[
        bool,
        Field(
            description=(
                "Also writes the selected keys. If a template builds the same key, the template wins."
            )
        ),
    ] = False

    @rule(cel="has(self.data) || has(self.configMapRef)", message="give data, configMapRef or both")
    def _has_templates(self) -> bool:
        return self.data is not None or self.config_map_ref is not None

    @rule(
        cel=f"!has(self.data) || self.data.all(key, key.size() <= 253 && key.matches('{DATA_KEY_PATTERN}')"
        " && key != '.' && !key.startsWith('..'))",
        message="keys of data must be at most 253 letters, digits, dots, hyphens and underscores, must "
        "not be . and must not begin with ..",
    )
    def _builds_valid_keys(self) -> bool:
        return self.data is None or all(is_target_key(key) for key in self.data)


class Workload(ResourceModel):
    """A workload of the same namespace."""

    kind: Annotated[WorkloadKind, Field(strict=False, description="Deployment, StatefulSet or DaemonSet.")]
    name: Annotated[ObjectName, Field(description="Its name.")]


def named_once(workloads: tuple[Workload, ...]) -> tuple[Workload, ...]:
    """Mirror the API server, which keeps a list of type map free of duplicates by itself."""
    if len({(one.kind, one.name) for one in workloads}) < len(workloads):
        raise ValueError("names a workload twice")
    return workloads


_LabelValue = Annotated[str, Field(max_length=63, pattern=_LABEL_VALUE_PATTERN)]

_PREFIX_MAX = 253
_ANNOTATIONS_MAX_BYTES = 256 * 1024
"""TotalAnnotationSizeLimitB of k8s.io/apimachinery: names and values together."""

_OURS_CEL = "key.matches('^([^/]*[.])?keybearer[.]dev/')"
_RESERVED_CEL = "key.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/')"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED_NAME = f"({_LABEL}([.]{_LABEL})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?"
_SYNTAX_CEL = f"key.matches('^{_QUALIFIED_NAME}$') && key.indexOf('/') <= {_PREFIX_MAX}"
_SYNTAX = re.compile(_QUALIFIED_NAME)


def _prefix(key: str) -> str:
    return key.partition("/")[0] if "/" in key else ""


def _is_qualified_name(key: str) -> bool:
    return _SYNTAX.fullmatch(key) is not None and len(_prefix(key)) <= _PREFIX_MAX


def _is_ours(key: str) -> bool:
    return f".{_prefix(key)}".endswith(".keybearer.dev")


def _is_reserved(key: str) -> bool:
    return f".{_prefix(key)}".endswith((".kubernetes.io", ".k8s.io")) and not key.startswith(
        "app.kubernetes.io/"
    )


class Target(RuledModel):
    """The object that receives the secrets, in the namespace of the SecretSync."""

    kind: Annotated[
        TargetKind,
        Field(strict=False, description="Secret, or ConfigMap for what is no secret."),
    ] = TargetKind.SECRET
    name: Annotated[
        ObjectName | None, Field(description="The name of the target. Without it, the name of this object.")
    ] = None
    type: Annotated[
        str,
        Field(
            min_length=1,
            max_length=253,
            pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$",
            description=(
                "The type of the Secret: Opaque, kubernetes.io/tls, "
                "kubernetes.io/dockerconfigjson, kubernetes.io/basic-auth, "
                "kubernetes.io/ssh-auth, or another one that the operator allows. A ConfigMap has none."
            ),
        ),
    ] = OPAQUE
    creation_policy: Annotated[
        CreationPolicy,
        Field(
            strict=False,
            description=(
                "Owner creates the target and keeps it exactly as planned. Merge adds keys to a "
                "target that something else owns, and changes only those."
            ),
        ),
    ] = CreationPolicy.OWNER
    adopt: Annotated[
        bool,
        Field(description="Lets Owner take over an existing target without an owner."),
    ] = False
    on_delete: Annotated[
        DeletionPolicy,
        Field(
            strict=False,
            description=(
                "Deletes or retains the target, or merged keys, when this object is deleted or "
                "names another target."
            ),
        ),
    ] = DeletionPolicy.DELETE
    immutable: Annotated[
        bool, Field(description="Makes the target immutable. A change of data then needs recreate.")
    ] = False
    recreate: Annotated[
        bool,
        Field(
            description=(
                "Lets the operator delete the target and create it again for a change that "
                "Kubernetes refuses (type, or data of an immutable target)."
            )
        ),
    ] = False
    labels: Annotated[
        dict[str, _LabelValue],
        Field(max_length=64, description="Labels of the target; none under keybearer.dev/."),
    ] = Field(default_factory=dict)
    annotations: Annotated[
        dict[str, Annotated[str, Field(max_length=16_384)]],
        Field(
            max_length=64,
            description="Annotations of the target; none under keybearer.dev/ or the domains that Kubernetes "
            "reserves.",
        ),
    ] = Field(default_factory=dict)
    template: Annotated[
        TargetTemplate | None,
        Field(description="Builds keys of the target from templates instead of writing the selected keys."),
    ] = None
    refresh_mounts: Annotated[
        bool,
        Field(
            description=(
                "Updates mounted files of the target in running pods at once, with an annotation "
                "of these pods. Without it, that takes up to two minutes. Needs "
                "operator.refreshMounts.enabled in the chart."
            )
        ),
    ] = False
    rollout_restart: Annotated[
        tuple[Workload, ...],
        Field(
            strict=False,
            max_length=32,
            description="Workloads to restart after the data of the target changed.",
            json_schema_extra={
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["kind", "name"],
            },
        ),
        AfterValidator(named_once),
    ] = ()

    @rule(
        cel="!(self.type in ['" + "', '".join(FORBIDDEN_SECRET_TYPES) + "'])",
        message=("type must not be a type for which Kubernetes issues credentials; those are never written"),
    )
    def _mints_no_credentials(self) -> bool:
        return self.type not in FORBIDDEN_SECRET_TYPES

    @rule(
        cel=f"self.kind != 'ConfigMap' || self.type == '{OPAQUE}'",
        message="a ConfigMap has no type; leave type out",
    )
    def _types_secrets_only(self) -> bool:
        return self.kind is not TargetKind.CONFIG_MAP or self.type == OPAQUE

    @rule(
        cel="self.creationPolicy != 'Merge' || !(self.immutable || self.recreate)",
        message=(
            "with creationPolicy Merge something else owns the target: leave out immutable and recreate"
        ),
    )
    def _merges_gently(self) -> bool:
        return self.creation_policy is not CreationPolicy.MERGE or not (self.immutable or self.recreate)

    @rule(
        cel=f"!has(self.labels) || self.labels.all(key, !({_OURS_CEL}))",
        message="only Keybearer sets labels under keybearer.dev/",
    )
    def _sets_no_labels_of_ours(self) -> bool:
        return not any(map(_is_ours, self.labels))

    @rule(
        cel=f"!has(self.labels) || self.labels.all(key, {_SYNTAX_CEL})",
        message="keys of labels must be a name of at most 63 letters, digits, hyphens, underscores and dots, "
        "which a domain in lower case (example.com) and a slash may precede",
    )
    def _sets_valid_labels(self) -> bool:
        return all(map(_is_qualified_name, self.labels))

    @rule(
        cel=f"!has(self.annotations) || self.annotations.all(key, !({_OURS_CEL}))",
        message="only Keybearer sets annotations under keybearer.dev/",
    )
    def _sets_no_annotations_of_ours(self) -> bool:
        return not any(map(_is_ours, self.annotations))

    @rule(
        cel="!has(self.annotations) || self.annotations.all(key, key.startsWith('app.kubernetes.io/') || "
        f"!({_RESERVED_CEL}))",
        message="annotations under kubernetes.io/, k8s.io/ and their subdomains are reserved for Kubernetes",
    )
    def _sets_no_reserved_annotations(self) -> bool:
        return not any(map(_is_reserved, self.annotations))

    @rule(
        cel=f"!has(self.annotations) || self.annotations.all(key, {_SYNTAX_CEL})",
        message="keys of annotations must be a name of at most 63 letters, digits, hyphens, underscores and "
        "dots, which a domain in lower case (example.com) and a slash may precede",
    )
    def _sets_valid_annotations(self) -> bool:
        return all(map(_is_qualified_name, self.annotations))

    @rule(
        cel="!has(self.annotations) || self.annotations.map(key, bytes(key).size() + "
        f"bytes(self.annotations[key]).size()).sum() <= {_ANNOTATIONS_MAX_BYTES}",
        message="annotations must take at most 256 KiB together, which is all that Kubernetes takes",
    )
    def _fits_annotations(self) -> bool:
        sizes = (len(key.encode()) + len(value.encode()) for key, value in self.annotations.items())
        return sum(sizes) <= _ANNOTATIONS_MAX_BYTES


@dataclass(frozen=True, slots=True)
class TargetWords:
    """What a spec calls that which a person may change when a target is refused.

    Attributes:
        name: the field that names the target.
        field: the path of that field, for programs.
        take_over: how one that others made is written after all; empty where it never is.
        smaller: how it becomes smaller.
        another_type: how the target gets the type that braces stand for; empty where it can't have another.
    """

    name: str = "target.name"
    field: str = "spec.target.name"
    take_over: str = "set target.adopt to take it over, or use creationPolicy Merge to add keys to it"
    smaller: str = "exclude keys, shorten their names, or spread them over several targets"
    another_type: str = ", or target.type {}"


@dataclass(frozen=True, slots=True)
class WriteRules:
    """What a spec lets be done about its target.

    Attributes:
        policy: whose object the target is.
        adopt: one that belongs to nobody may be taken over.
        recreate: one of ours may be deleted and created anew where Kubernetes refuses the change.
        mode: what is done with what was planned.
        guard: how many of its keys may go; None: all.
        words: how people are told what to change.
        as_found: only what the run had read before (`Start.found`) is written over, and only in that state: a write
            that arrives late changes nothing. Where nothing was read, it is created or left as it is.
        refresh_mounts: pods that mount the target are to show a change at once.
    """

    policy: CreationPolicy
    adopt: bool
    recreate: bool
    mode: Mode
    guard: GuardRules | None
    words: TargetWords = TargetWords()
    as_found: bool = False
    refresh_mounts: bool = False
