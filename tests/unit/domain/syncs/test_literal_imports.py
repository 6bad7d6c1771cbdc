"""What a sync brings back from a destination is text, whatever it looks like, and no reference."""

from __future__ import annotations

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.secrets.changes import ChangedSecret
from keybearer.store.records import Project
from keybearer.store.secret_places import Location
from support.service_domain import at
from support.sync_scene import SyncScene

pytestmark = pytest.mark.every_database
LOOT = "${dev.secret.DB}"


async def take_in(scene: SyncScene, project: Project) -> None:
    """Have a sync of the root take in a value that looks like a reference to a folder beside it."""
    await scene.domain.folder(project, "/secret")
    await scene.put(project, "/secret", DB="cnry-db")
    scene.remotes["one"].content = {"LOOT": LOOT}
    async with scene.running():
        sync_id = await scene.sync(project, initialSyncBehavior="import-prioritize-destination")
        await scene.succeeded(sync_id)


async def test_a_value_that_looks_like_a_reference_is_neither_pushed_nor_read_as_one(
    scene: SyncScene, project: Project
) -> None:
    await take_in(scene, project)
    await scene.put(project, USER="<${LOOT}>", SAME=LOOT)

    assert await scene.values(project) == {"LOOT": LOOT, "USER": f"<{LOOT}>", "SAME": "cnry-db"}
    async with scene.running():
        await scene.holds(scene.remotes["one"], LOOT=LOOT, USER=f"<{LOOT}>", SAME="cnry-db")


async def test_it_follows_nothing_that_moves_and_changes_with_nothing(
    scene: SyncScene, project: Project
) -> None:
    await take_in(scene, project)
    place = (project.id, EnvironmentSlug("dev"), FolderPath("/"))
    async with scene.database.reading() as unit:
        (secret,) = await unit.secrets.listed(*place, recursive=False, with_values=True)
        named = await unit.references.naming(
            project.id, "", Location(EnvironmentSlug("dev"), FolderPath("/secret"), "DB")
        )

    assert (secret.value, secret.details.is_literal, named) == (LOOT, True, [])


async def test_what_a_person_writes_over_it_is_a_reference_again_and_what_goes_beside_it_is_not(
    scene: SyncScene, project: Project
) -> None:
    await take_in(scene, project)
    commented = ChangedSecret("LOOT", comment="ours")
    await scene.domain.writing.update(scene.domain.admin, at(project), [commented])
    assert (await scene.values(project))["LOOT"] == LOOT

    await scene.put(project, LOOT=LOOT)
    assert (await scene.values(project))["LOOT"] == "cnry-db"
