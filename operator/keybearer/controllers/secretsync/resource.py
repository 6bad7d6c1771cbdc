"""The custom resource SecretSync: its spec as users write it, and its CRD.

The halves of the spec live in `spec` and in `target.spec`, the status in `status`; this module puts them
together. Defaults here are the API server's too, except inside lists: there the API server would write them
into what GitOps tools compare item by item.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from keybearer.controllers.catalogue_texts import told, told_configs, told_destinations
from keybearer.controllers.custom_resource import (
    AGE_COLUMN,
    REASON_COLUMN,
    CustomResource,
    PrinterColumn,
    ResourceModel,
    SpecModel,
    ready_column,
    rule,
)
from keybearer.controllers.identity_ref import IdentityRef
from keybearer.controllers.mode import Mode
from keybearer.controllers.resource_fields import Duration, RefreshInterval
from keybearer.controllers.secretsync.spec import (
    CLOUD_PARAMETERS,
    CLOUD_SECRETS,
    CODE_HOST,
    ConnectionRef,
    Destination,
    DestinationConfigObject,
    DestinationDeletionPolicy,
    Source,
    SyncOptionsObject,
    has_fields_of_its_scope,
)
from keybearer.controllers.secretsync.status import SecretSyncStatus
from keybearer.controllers.target.guard import GuardRules
from keybearer.controllers.target.spec import Target, WriteRules

__all__ = ["SECRET_SYNC", "Guard", "SecretSyncSpec"]


class Guard(ResourceModel):
    """How many keys may vanish at once."""

    max_deletions: Annotated[
        int,
        Field(
            ge=0,
            le=100,
            description=(
                "Percent of the keys of the target, or of this object's names at the destination,"
                " that one change may remove. All of them at once always need a release "
                "(annotation keybearer.dev/request: release-guard). The exception is a "
                "destination with 100: then nothing is held back, and the service starts the "
                "pushes."
            ),
        ),
    ] = 50
    window: Annotated[
        Duration,
        Field(
            description=(
                "How long a removal counts towards maxDeletions, so that single removals are held"
                " back like one large one. With 0 each change counts alone. The same applies to a"
                " destination whose names the service doesn't list."
            ),
        ),
    ] = timedelta(hours=24)

    @property
    def watches_destination(self) -> bool:
        """Whether the operator looks at each push before the service makes it."""
        return self.max_deletions < _GUARD_OFF

    @property
    def rules(self) -> GuardRules:
        """What may be removed."""
        return GuardRules(self.max_deletions, self.window)


_GUARD_OFF = 100
_DEFAULT_TARGET = Target()
_DEFAULT_GUARD = Guard()


class SecretSyncSpec(SpecModel):
    """The source in the secrets service, and its target or destination."""

    identity_ref: Annotated[
        IdentityRef | None,
        Field(
            description=(
                "The Secret with the credentials of the machine identity that reads. Without it, "
                "the operator's shared identity, if its configuration allows it for this "
                "namespace."
            )
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
            description=(
                "Several folders, in order. If two have the same key, the later one wins, and the"
                " clash is reported."
            ),
        ),
    ] = None
    refresh_interval: Annotated[
        RefreshInterval,
        Field(
            description=(
                "Longest time between two comparisons with the source, if no event reports a "
                "change: digits and a unit (s, m or h), at least 10s; 0 refreshes only on change."
            )
        ),
    ] = timedelta(minutes=5)
    mode: Annotated[
        Mode,
        Field(
            strict=False,
            description=(
                "Apply writes. Plan writes nothing and lists the changes in status.plan. "
                "Suspended does nothing. CreateOnce writes the target once and never changes it "
                "afterwards."
            ),
        ),
    ] = Mode.APPLY
    given_target: Annotated[
        Target | None,
        Field(
            alias="target",
            description=(
                "The Secret or ConfigMap to write. Without it, a Secret with this object's name. "
                "With a destination and without a target, nothing is written into the cluster."
            ),
        ),
    ] = None
    destination: Annotated[
        Destination | None,
        told(told_destinations),
    ] = None
    sync_name: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=256,
            pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$",
            description=(
                "The name of the sync in the service, which no other sync of the project may "
                "have. Without it, namespace and name of this object, with digits that make it "
                "unique."
            ),
        ),
    ] = None
    connection_ref: Annotated[
        ConnectionRef | None, Field(description="The connection that the service pushes through.")
    ] = None
    destination_config: Annotated[
        DestinationConfigObject | None,
        told(told_configs),
    ] = None
    sync_options: Annotated[
        SyncOptionsObject | None,
        Field(
            description="How it is pushed. Without it, initialSyncBehavior is overwrite-destination and nothing "
            "else is set."
        ),
    ] = None
    is_auto_sync_enabled: Annotated[
        bool, Field(description="Pushes each change automatically. If false, only on request.")
    ] = True
    destination_deletion_policy: Annotated[
        DestinationDeletionPolicy,
        Field(
            strict=False,
            description=(
                "Says if the secrets in the destination are kept or removed when this object is deleted."
            ),
        ),
    ] = DestinationDeletionPolicy.RETAIN
    guard: Annotated[
        Guard, Field(description="Protects target and destination if the source becomes empty.")
    ] = Field(default_factory=lambda: _DEFAULT_GUARD)

    @rule(cel="has(self.source) != has(self.sources)", message="give exactly one of source and sources")
    def _has_one_form_of_source(self) -> bool:
        return (self.source is None) != (self.sources is None)

    @rule(
        cel="has(self.destination) ? has(self.connectionRef) && has(self.destinationConfig) && has(self.source)"
        " && has(self.identityRef) : !has(self.connectionRef) && !has(self.destinationConfig)"
        " && !has(self.syncOptions) && !has(self.syncName)",
        message="a destination needs identityRef, source (a single one), connectionRef and destinationConfig; these, "
        "syncOptions and syncName need a destination",
    )
    def _has_a_whole_destination(self) -> bool:
        parts = (self.connection_ref, self.destination_config)
        if self.destination is None:
            return all(part is None for part in (*parts, self.sync_options, self.sync_name))
        return all(part is not None for part in (*parts, self.source, self.identity_ref))

    @rule(
        cel="!has(self.destination) || !has(self.destinationConfig)"
        f" || !(self.destination in {list(CLOUD_PARAMETERS)})"
        " || (has(self.destinationConfig.region) && has(self.destinationConfig.path))",
        message="destinationConfig of this destination needs region and path",
    )
    def _says_where_parameters_go(self) -> bool:
        config = self.destination_config
        return (
            self.destination not in CLOUD_PARAMETERS or config is None or {"region", "path"} <= config.keys()
        )

    @rule(
        cel=f"!has(self.destination) || !has(self.destinationConfig) || !(self.destination in {list(CLOUD_SECRETS)})"
        " || (has(self.destinationConfig.region) && has(self.destinationConfig.mappingBehavior)"
        " && has(self.destinationConfig.secretName) == (self.destinationConfig.mappingBehavior == 'many-to-one'))",
        message="destinationConfig of this destination needs region and mappingBehavior, and secretName if and only "
        "if that is many-to-one",
    )
    def _says_where_secrets_go(self) -> bool:
        config = self.destination_config
        if self.destination not in CLOUD_SECRETS or config is None:
            return True
        is_one = config.get("mappingBehavior") == "many-to-one"
        return {"region", "mappingBehavior"} <= config.keys() and ("secretName" in config) == is_one

    @rule(
        cel=f"!has(self.destination) || !has(self.destinationConfig) || !(self.destination in {list(CODE_HOST)})"
        " || (has(self.destinationConfig.scope) && (self.destinationConfig.scope == 'organization'"
        " ? has(self.destinationConfig.org) && has(self.destinationConfig.visibility)"
        " : self.destinationConfig.scope in ['repository', 'repository-environment']"
        " && has(self.destinationConfig.owner) && has(self.destinationConfig.repo)"
        " && (self.destinationConfig.scope == 'repository' || has(self.destinationConfig.env))))",
        message="destinationConfig of this destination needs scope: organization with org and visibility, repository "
        "with owner and repo, or repository-environment with owner, repo and env",
    )
    def _says_which_repository(self) -> bool:
        config = self.destination_config
        return self.destination not in CODE_HOST or config is None or has_fields_of_its_scope(config)

    @property
    def writes_target(self) -> bool:
        """Whether anything is written into the cluster."""
        return self.given_target is not None or self.destination is None

    @property
    def target(self) -> Target:
        """The target, by default a Secret; of use only where `writes_target`."""
        return self.given_target or _DEFAULT_TARGET

    @property
    def write_rules(self) -> WriteRules:
        """What may be done about the target."""
        target = self.target
        return WriteRules(
            target.creation_policy,
            target.adopt,
            target.recreate,
            self.mode,
            self.guard.rules,
            refresh_mounts=target.refresh_mounts,
        )

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
            "Destination", ".spec.destination", description="The store that the service pushes to."
        ),
        ready_column("Target is as planned."),
        REASON_COLUMN,
        PrinterColumn("Sync", ".status.sync.syncStatus", description="How far the service's push is."),
        PrinterColumn("Updates", ".status.updates", description="How changes become known.", priority=1),
        AGE_COLUMN,
    ),
)
