"""What all runs of secret syncs share."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from keybearer.base.backoff import Backoff
from keybearer.base.clock import Clock
from keybearer.destinations.catalogue import Catalogue
from keybearer.destinations.form import DestinationKind
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.errors import InvalidError
from keybearer.domain.outbound import Remotes
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.source import Source, read_source
from keybearer.domain.syncs.tallies import PushTallies
from keybearer.store.database import Database
from keybearer.store.secret_syncs import SecretSync
from keybearer.store.unit import UnitOfWork

__all__ = ["Pace", "Pushing"]

_BACKOFF = Backoff(floor=timedelta(seconds=3), ceiling=timedelta(hours=1))


@dataclass(frozen=True, slots=True)
class Pace:
    """Intervals of runs.

    Attributes:
        look_interval: time after which a destination is checked for changes by others.
        backoff: between attempts.
    """

    look_interval: timedelta = timedelta(hours=1)
    backoff: Backoff = _BACKOFF


class Pushing:
    """What all runs share: database, destinations, keys, clock and counters."""

    def __init__(
        self,
        database: Database,
        catalogue: Catalogue,
        remotes: Remotes,
        digest_key: bytes,
        writing: SecretWriting,
        trail: AuditTrail,
        clock: Clock,
        *,
        pace: Pace | None = None,
    ) -> None:
        self.database = database
        self.catalogue = catalogue
        self.remotes = remotes
        self.digest_key = digest_key
        self.writing = writing
        self.trail = trail
        self.clock = clock
        self.pace = pace or Pace()
        self.tallies = PushTallies()

    def model_of(self, sync: SecretSync) -> DestinationKind:
        """Return the kind of the sync's destination.

        Raises:
            InvalidError: there is no driver for it.
        """
        model = self.catalogue.kind(sync.record.destination)
        if model is None:
            raise InvalidError(
                f"The service can't push to the destination '{sync.record.destination}'; if a package ships it, "
                "start the service with --destinations-from and the name of that package"
            )
        return model

    async def source_of(self, unit: UnitOfWork, sync: SecretSync) -> tuple[Source, bytes]:
        """Return what the sync pushes, and its digest.

        Raises:
            DomainError: it can't be read.
            ValidationError: the stored options of the sync are no longer valid.
        """
        options = self.model_of(sync).options.model_validate(dict(sync.record.sync_options))
        with_metadata = getattr(options, "sync_secret_metadata_as_tags", None) is True
        source = await read_source(unit, sync, with_metadata=with_metadata)
        return source, Digests(self.digest_key, sync.record).of_source(source.secrets)
