"""All roads within the service, in the order in which they are walked; what changes rights comes last."""

from __future__ import annotations

from collections.abc import Callable

from support.value_roads import naming, reading, writing
from support.value_roads.world import Traveller

__all__ = ["ROADS", "walk"]

ROADS: tuple[Callable[[Traveller], None], ...] = (
    reading.lists,
    reading.by_name,
    reading.by_id,
    reading.versions,
    reading.reference_trees,
    reading.event_streams,
    writing.own_references,
    writing.batches,
    writing.imports,
    writing.renamed_secrets,
    writing.deletions,
    writing.moves,
    writing.other_texts,
    naming.folders,
    naming.environments,
    naming.new_projects,
    naming.rights_of_others,
    naming.own_rights,
)


def walk(traveller: Traveller) -> None:
    """Walk all roads."""
    for road in ROADS:
        traveller.road = road.__name__.replace("_", " ")
        road(traveller)
