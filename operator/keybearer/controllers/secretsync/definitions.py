"""Definitions of syncs, kept while what they are built from stays: a run that is awaited is looked at often."""

from __future__ import annotations

from dataclasses import dataclass

from keybearer.controllers.catalogue import CatalogueOf
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.secretsync.destination_plan import DesiredSync, build_definition
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec_source import Source
from keybearer.controllers.work import WorkKey

__all__ = ["Definitions"]


@dataclass(frozen=True, slots=True)
class _Ground:
    """All that a definition depends on, besides the object's name."""

    spec_json: bytes
    project_id: str
    connection_id: str
    mark: str


class Definitions:
    """One for each object."""

    def __init__(self, catalogue: CatalogueOf, fingerprinter: Fingerprinter) -> None:
        self._catalogue = catalogue
        self._fingerprinter = fingerprinter
        self._kept: dict[WorkKey, tuple[_Ground, DesiredSync]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        source: Source,
        *,
        project_id: str,
        connection_id: str,
        mark: str,
    ) -> DesiredSync:
        """Return the sync that a manifest describes.

        Raises:
            StalledError: as `build_definition` says.
        """
        ground = _Ground(seen.spec_json, project_id, connection_id, mark)
        kept = self._kept.get(seen.key)
        if kept is not None and kept[0] == ground:
            return kept[1]
        desired = build_definition(
            seen,
            spec,
            source,
            project_id=project_id,
            connection_id=connection_id,
            mark=mark,
            catalogue=self._catalogue(),
            fingerprinter=self._fingerprinter,
        )
        self._kept[seen.key] = ground, desired
        return desired

    def forget(self, key: WorkKey) -> None:
        """Drop what is kept for an object that is gone."""
        self._kept.pop(key, None)
