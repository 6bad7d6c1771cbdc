"""The custom resource SecretSync: its spec as users write it, and its CRD.

Halves of the spec live in `spec_source` and `spec_target`, the status in `status`; this module puts them
together. Defaults here are the API server's too, except inside lists: there the API server would write them
into what GitOps tools compare item by item.
"""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import (
    CustomResource,
    PrinterColumn,
    ResourceModel,
    RuledModel,
    rule,
)
from keybearer.controllers.identity_ref import IdentityRef
from keybearer.controllers.resource_fields import Duration, RefreshInterval
from keybearer.controllers.secretsync.spec_source import Source
from keybearer.controllers.secretsync.spec_target import Target
from keybearer.controllers.secretsync.status import SecretSyncStatus

__all__ = [
    "SECRET_SYNC",
    "Guard",
    "Mode",
    "SecretSyncSpec",
]


class Mode(StrEnum):
    """What the operator does with what it planned."""

    APPLY = "Apply"
    PLAN = "Plan"
    SUSPENDED = "Suspended"
    CREATE_ONCE = "CreateOnce"


class Guard(ResourceModel):
    """How many keys may vanish at once."""

    max_deletions: Annotated[
        int,
        Field(
            ge=0,
            le=100,
            description="Percent of the keys of the target that one change may remove. All keys at once are "
            "never removed without a release (annotation keybearer.dev/request: release-guard).",
        ),
    ] = 50


_DEFAULT_TARGET = Target()
_DEFAULT_GUARD = Guard()


class SecretSyncSpec(RuledModel):
    """What is read from the secrets service, and where it is written."""

    identity_ref: Annotated[
        IdentityRef | None,
        Field(
            description="The Secret with the credentials of the machine identity that reads. Without it, the "
            "operator's shared identity, where its configuration lets this namespace use it."
        ),
    ] = None
    source: Annotated[Source | None, Field(description="The folder that is read. Give this or sources.")] = (
        None
    )
    sources: Annotated[
        tuple[Source, ...] | None,
        Field(
            strict=False,
            min_length=1,
            max_length=20,
            description="Several folders, in order: where two have the same key, the later wins and the "
            "clash is reported.",
        ),
    ] = None
    refresh_interval: Annotated[
        RefreshInterval,
        Field(
            description="How often the source is compared at least, when no event told of a change: digits "
            "and a unit (s, m or h), 10s at least; 0 refreshes only on change."
        ),
    ] = timedelta(minutes=5)
    mode: Annotated[
        Mode,
        Field(
            strict=False,
            description="Apply writes. Plan writes nothing and lists in status.plan what would change. "
            "Suspended does nothing. CreateOnce writes the target once and leaves it alone from then on.",
        ),
    ] = Mode.APPLY
    target: Annotated[Target, Field(description="The Secret or ConfigMap that is written.")] = Field(
        default_factory=lambda: _DEFAULT_TARGET
    )
    guard: Annotated[Guard, Field(description="Protects the target from a source that was emptied.")] = Field(
        default_factory=lambda: _DEFAULT_GUARD
    )
    deletion_deadline: Annotated[
        Duration,
        Field(
            description="How long the deletion of this object waits for cleaning up; after that it goes, and "
            "an Event names what was left."
        ),
    ] = timedelta(minutes=10)

    @rule(cel="has(self.source) != has(self.sources)", message="give exactly one of source and sources")
    def _has_one_form_of_source(self) -> bool:
        return (self.source is None) != (self.sources is None)

    @property
    def all_sources(self) -> tuple[Source, ...]:
        """The sources in order, whichever way they were given; later ones win."""
        return self.sources if self.sources is not None else (self.source,) if self.source is not None else ()

    @property
    def source_label(self) -> str:
        """What the column Source shows: the first source, and how many more there are."""
        first, *more = self.all_sources
        return f"{first.label} +{len(more)}" if more else first.label

    def target_name(self, own_name: str) -> str:
        """Return the name of the target; `own_name` is the name of the SecretSync."""
        return self.target.name or own_name


SECRET_SYNC = CustomResource(
    kind="SecretSync",
    plural="secretsyncs",
    singular="secretsync",
    short_names=("kbs",),
    description="Carries the secrets of one or more folders of the secrets service into a Secret.",
    spec=SecretSyncSpec,
    status=SecretSyncStatus,
    columns=(
        PrinterColumn("Source", ".status.source", description="Environment and folder that are read."),
        PrinterColumn(
            "Target", ".status.target.name", description="The Secret or ConfigMap that is written."
        ),
        PrinterColumn(
            "Ready", '.status.conditions[?(@.type=="Ready")].status', description="Target is as planned."
        ),
        PrinterColumn(
            "Reason",
            '.status.conditions[?(@.type=="Ready")].reason',
            description="Why, in a word.",
            priority=1,
        ),
        PrinterColumn("Updates", ".status.updates", description="How changes become known.", priority=1),
        PrinterColumn("Age", ".metadata.creationTimestamp", type="date"),
    ),
)
