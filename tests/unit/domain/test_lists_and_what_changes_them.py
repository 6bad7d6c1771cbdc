"""Two laws about lists, over random projects: whatever changes a body changes its tag, and is told of."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.access import ProjectRef
from keybearer.domain.errors import DomainError
from keybearer.domain.folders import FolderChange, FoldersAt
from keybearer.domain.paths import parent_of
from keybearer.domain.secrets.changes import ChangedSecret, OnMissing
from keybearer.domain.secrets.dependents import dependent_changes
from keybearer.domain.secrets.questions import NotModified
from keybearer.interface.imports import DeleteImport, ListImports
from keybearer.server.rendering import listing_body
from keybearer.store.records import Project
from keybearer.store.revisions import Changes, ListChange
from support.service_domain import ServiceDomain, at, service_domain

SLUGS = ("alpha", "bravo")
PATHS = ("/", "/a", "/b", "/a/c")
KEYS = ("K0", "K1", "K2")

paths = st.sampled_from(PATHS)
keys = st.sampled_from(KEYS)
projects = st.sampled_from((0, 0, 0, 1))
named = st.one_of(
    keys,
    st.builds(lambda key: f"dev.{key}", keys),
    st.builds(lambda path, key: f"dev{path.replace('/', '.')}.{key}".replace("..", "."), paths, keys),
    st.builds(lambda slug, key: f"@{slug}.dev.{key}", st.sampled_from((*SLUGS, "later")), keys),
)
texts = st.lists(
    st.one_of(
        st.sampled_from(("x", "y", "a", "b", "K1", "${dev.", "K0}", ".K2}", "$", "{K1}", "${", "}")),
        st.builds("${{{}}}".format, named),
        st.builds("${{dev.${{{}}}.{}}}".format, keys, keys),
    ),
    min_size=1,
    max_size=3,
).map("".join)


@dataclass
class World:
    """The domain, its projects, and what its commits told."""

    domain: ServiceDomain
    projects: list[Project]
    told: list[Changes] = field(default_factory=list)

    async def bodies(self) -> dict[tuple[str, str], tuple[bytes, str]]:
        """Return body and tag of every list, by project and path."""
        found: dict[tuple[str, str], tuple[bytes, str]] = {}
        for project in self.projects:
            for path in ("/", "/a", "/b", "/a/c", "/n"):
                listing = await self.domain.listed(project, path)
                assert not isinstance(listing, NotModified)
                found[project.id, path] = (await listing_body(listing), listing.tag)
        return found

    async def reached(self) -> set[tuple[str, str]] | None:
        """Return the lists that commits since the last look were told to change; None for all."""
        told = list(self.told)
        self.told.clear()
        if any(changes.organizations for changes in told):
            return None
        direct: list[ListChange] = [change for changes in told for change in changes.folders]
        async with self.domain.database.reading() as unit:
            everything = [*direct, *await dependent_changes(unit, direct)]
        return {(change.project_id, change.path) for change in everything}


Step = Callable[[World], Awaitable[object]]


def put(index: int, path: str, key: str, text: str) -> Step:
    async def step(world: World) -> None:
        value = text
        for name, project in zip(SLUGS, world.projects, strict=True):
            value = value.replace(f"@{name}", f"@{project.slug}")
        changes = [ChangedSecret(key, value)]
        await world.domain.writing.update(
            world.domain.admin, at(world.projects[index], path), changes, on_missing=OnMissing.UPSERT
        )

    return step


def remove(index: int, path: str, key: str) -> Step:
    return lambda world: world.domain.writing.delete(
        world.domain.admin, at(world.projects[index], path), [key]
    )


def rename(index: int, path: str, key: str, new: str) -> Step:
    return lambda world: world.domain.writing.update(
        world.domain.admin, at(world.projects[index], path), [ChangedSecret(key, new_key=new)]
    )


def bring(index: int, into: str, source: str) -> Step:
    return lambda world: world.domain.add_import(world.projects[index], into, source)


def drop(index: int, into: str, count: int) -> Step:
    async def step(world: World) -> None:
        folder = {"project_id": world.projects[index].id, "environment": "dev", "path": into}
        items = await world.domain.imports.list(world.domain.admin, ListImports(**folder))
        named = items[count % max(len(items), 1)].item.id if items else "none"
        await world.domain.imports.delete(world.domain.admin, DeleteImport(named, **folder))

    return step


def rename_folder(index: int, old: str, new: str) -> Step:
    async def step(world: World) -> None:
        ref = ProjectRef(id=world.projects[index].id)
        dev = EnvironmentSlug("dev")
        view = await world.domain.folders.get_at(world.domain.admin, FoldersAt(ref, dev, FolderPath(old)))
        change = FolderChange(view.folder.id, dev, parent_of(FolderPath(old)), new, None)
        await world.domain.folders.update(world.domain.admin, ref, [change])

    return step


def delete_folder(index: int, path: str) -> Step:
    async def step(world: World) -> None:
        place = FoldersAt(ProjectRef(id=world.projects[index].id), EnvironmentSlug("dev"), FolderPath("/"))
        await world.domain.folders.delete(world.domain.admin, place, path.strip("/"), force=True)

    return step


def make_folder(index: int, path: str) -> Step:
    return lambda world: world.domain.folder(world.projects[index], path)


steps = st.one_of(
    st.builds(put, projects, paths, keys, texts),
    st.builds(put, projects, paths, keys, texts),
    st.builds(put, projects, paths, keys, texts),
    st.builds(bring, projects, paths, paths),
    st.builds(bring, projects, paths, paths),
    st.builds(remove, projects, paths, keys),
    st.builds(rename, projects, paths, keys, keys),
    st.builds(drop, projects, paths, st.integers(0, 3)),
    st.builds(rename_folder, projects, st.sampled_from(("/a", "/b", "/n")), st.sampled_from(("a", "b", "n"))),
    st.builds(delete_folder, projects, st.sampled_from(("/a", "/b"))),
    st.builds(make_folder, projects, st.sampled_from(("/a", "/b", "/a/c"))),
)


async def both_laws_hold(domain: ServiceDomain, first: list[Step], then: list[Step]) -> None:
    suffix = secrets.token_hex(4)
    world = World(domain, [await domain.project(f"{slug}-{suffix}") for slug in SLUGS])
    for project in world.projects:
        for path in ("/a/c", "/b"):
            await domain.folder(project, path)
    domain.database.bus.subscribe(world.told.append)
    for step in first:
        await attempt(step, world)
    await world.reached()
    before = await world.bodies()
    for step in then:
        await attempt(step, world)
        reached = await world.reached()
        after = await world.bodies()
        for place, (body, tag) in after.items():
            old_body, old_tag = before[place]
            if body != old_body:
                assert tag != old_tag
            if shown(body) != shown(old_body):
                assert reached is None or place in reached
        before = after
        for project in world.projects:
            again = await domain.listed(project, "/", tag=before[project.id, "/"][1])
            assert isinstance(again, NotModified)


def shown(body: bytes) -> bytes:
    """Return what a body says of secrets: an empty folder that goes changes the id in its block alone."""
    return re.sub(rb'"folderId":("[^"]*"|null)', b"", body)


async def attempt(step: Step, world: World) -> None:
    """Take a step; one that can't be taken changes nothing."""
    try:
        await step(world)
    except DomainError:
        world.told.clear()


@dataclass(frozen=True)
class Shared:
    """One database for all examples: each makes projects of its own."""

    runner: asyncio.Runner
    domain: ServiceDomain


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with asyncio.Runner() as runner:
        opened = service_domain(tmp_path_factory.mktemp("lists"))
        yield Shared(runner, runner.run(opened.__aenter__()))
        runner.run(opened.__aexit__(None, None, None))


@settings(max_examples=20, deadline=None)
@given(first=st.lists(steps, min_size=4, max_size=12), then=st.lists(steps, min_size=1, max_size=4))
def test_whatever_changes_a_list_changes_its_tag_and_is_told_of(
    shared: Shared, first: list[Step], then: list[Step]
) -> None:
    shared.runner.run(both_laws_hold(shared.domain, first, then))
