"""Present and former places of a sync, and how a run opens them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import JsonValue

from keybearer.destinations.engine.opening import Opening, open_destination
from keybearer.destinations.form import DestinationKind
from keybearer.destinations.protocol import Destination, Present, Traits
from keybearer.domain.access import ProjectAccess
from keybearer.domain.connections.credentials import credentials_of
from keybearer.domain.connections.use import stored_place_of
from keybearer.domain.errors import InvalidError
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.outcomes import confidential_texts
from keybearer.domain.syncs.plan import Settings, naming_of
from keybearer.domain.syncs.pushing import Pushing
from keybearer.domain.syncs.using import require_use
from keybearer.store.app_connections import OpenedConnection
from keybearer.store.former_places import FormerPlace
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork
from keybearer.wire.destination_forms import SyncOptions
from keybearer.wire.key_schema import KeyNaming

__all__ = ["Place", "Reach", "Setup", "is_same_place"]


@dataclass(frozen=True, slots=True)
class Setup:
    """Where a sync writes, and by which names.

    Attributes:
        digest: of the part of the configuration that identifies the place.
        environment: slug for the key schema; empty if the folder is gone.
    """

    connection_id: str
    config: Mapping[str, JsonValue]
    digest: str
    options: Mapping[str, JsonValue] = field(repr=False)
    environment: str

    @classmethod
    def of(cls, sync: SecretSync) -> Self:
        """Return the present setup of a sync."""
        record = sync.record
        return cls(
            record.connection_id,
            record.destination_config,
            record.destination_digest,
            record.sync_options,
            sync.environment_slug or "",
        )

    @classmethod
    def of_former(cls, place: FormerPlace) -> Self:
        """Return the setup of a former place."""
        return cls(
            place.connection_id,
            place.destination_config,
            place.destination_digest,
            place.sync_options,
            place.environment or "",
        )

    @property
    def naming(self) -> KeyNaming:
        """Names of keys by the key schema, or of the one object that holds them."""
        schema = self.options.get("keySchema")
        return KeyNaming.of(schema if isinstance(schema, str) else None, self.environment)


def is_same_place(model: DestinationKind, one: Setup, other: Setup) -> bool:
    """Return whether two setups of one sync lead to the same place, as far as their configuration shows.

    The configuration of the second one must be valid in this version.
    """
    if (one.connection_id, one.digest) != (other.connection_id, other.digest):
        return False
    is_one_object = model.traits(model.config.validate_python(dict(other.config))).is_one_object
    return not is_one_object or one.naming == other.naming


@dataclass(frozen=True, slots=True)
class Place:
    """An opened destination."""

    destination: Destination
    options: SyncOptions
    naming: KeyNaming

    @property
    def traits(self) -> Traits:
        """What kind of place it is."""
        return self.destination.traits

    def settings(
        self, digests: Digests, shared: Collection[str], *, removes_foreign: bool = False
    ) -> Settings:
        """Return the settings of plans for it; `shared` are names that other syncs wrote there."""
        return Settings(
            self.traits,
            self.naming,
            bool(self.options.disable_secret_deletion),
            digests.of,
            self.destination.extras_of,
            removes_foreign=removes_foreign,
            shared=shared,
        )


class Reach:
    """Opens and lists places for one run.

    `confidential` collects all texts that no message may show.

    Args:
        pushing: what all runs share.
        sync: as it was when the run began.
        is_removal: whether the run only removes what was pushed: then the owner may be gone.
    """

    def __init__(self, pushing: Pushing, sync: SecretSync, *, is_removal: bool = False) -> None:
        self._pushing = pushing
        self._sync = sync
        self._is_removal = is_removal
        self.confidential: list[str] = []

    async def opened(self, unit: UnitOfWork, connection_id: str) -> OpenedConnection:
        """Return a connection with its credentials.

        Raises:
            InvalidError: it is gone.
        """
        opened = await unit.app_connections.opened(connection_id)
        if opened is None:
            raise InvalidError("The app connection of the sync is gone; choose another one")
        self.confidential += confidential_texts(opened.credentials, opened.connection.shown)
        return opened

    async def usable(
        self, unit: UnitOfWork, setup: Setup, access: ProjectAccess | None = None
    ) -> OpenedConnection:
        """Return the connection of a setup with its credentials, if the sync may use it now.

        Args:
            unit: of the run.
            setup: the present one, or a former one.
            access: of the owner to the project, where this unit has opened it already.

        Raises:
            InvalidError: it is gone, or the owner of the sync is.
            ForbiddenError: the owner of the sync may not use it, or it doesn't allow the project or the place.
        """
        opened = await self.opened(unit, setup.connection_id)
        model = self._pushing.model_of(self._sync)
        await require_use(
            unit,
            self._sync,
            opened.connection,
            lambda: stored_place_of(model, dict(setup.config), setup.naming),
            access=access,
            is_removal=self._is_removal,
        )
        return opened

    def place(self, setup: Setup, opened: OpenedConnection) -> Place:
        """Return the place over that connection.

        Raises:
            InvalidError: there is no driver for it, or this version can't use the credentials.
            ValidationError: the stored configuration or options are no longer valid.
        """
        model = self._pushing.model_of(self._sync)
        options = model.options.model_validate(dict(setup.options))
        destination = open_destination(
            model,
            Opening(
                config=model.config.validate_python(dict(setup.config)),
                options=options,
                naming=setup.naming,
                credentials=credentials_of(model.app, opened),
                context=self._pushing.remotes.context(
                    opened.connection.organization_id, opened.connection.app
                ),
            ),
        )
        return Place(destination, options, naming_of(destination.traits, setup.naming))

    async def listed(self, place: Place, names: list[str]) -> Mapping[str, Present]:
        """Return what is there.

        Raises:
            RemoteError: it can't be read.
        """
        listing = await place.destination.read(names)
        self.confidential += [present.value for present in listing.values() if present.value]
        return listing

    async def shared(self, setup: Setup, names: Collection[str]) -> dict[str, str | None]:
        """Return the names that other syncs wrote to the same place, each with the name of a visible sync if any."""
        if not names:
            return {}
        there = replace(self._sync.record, connection_id=setup.connection_id, destination_digest=setup.digest)
        async with self._pushing.database.reading() as unit:
            return await unit.pushes.of_others(there, names)
