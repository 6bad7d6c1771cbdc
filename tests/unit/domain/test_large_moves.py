"""Moves and copies of many or large secrets: bounded, and sealed in runs between which others go on."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from keybearer.base.clock import SystemClock
from keybearer.base.ids import ProjectId
from keybearer.domain.access import ProjectRef
from keybearer.domain.authorization import Principal, Where
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets import moving
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.moving import SecretMoving, Transfer
from keybearer.domain.secrets.questions import SecretListing
from keybearer.store.records import Project, Secret
from keybearer.store.secrets import Secrets
from support.service_domain import ServiceDomain, at, service_domain

Act = Callable[[Principal, Transfer], Awaitable[object]]
Store = Callable[[Secrets, ProjectId, Sequence[Secret]], Awaitable[None]]
MANY = 230


@dataclass(frozen=True)
class Shelf:
    """A project with the folders /from and /to, and what moves secrets between them."""

    domain: ServiceDomain
    project: Project
    moving: SecretMoving

    async def put(self, path: str, *new: NewSecret) -> tuple[str, ...]:
        """Create secrets, and return their ids."""
        made = await self.domain.writing.create(self.domain.admin, at(self.project, path), new)
        return tuple(shown.secret.id for shown in made)

    async def send(self, act: Act, *ids: str, overwrite: bool = False) -> None:
        """Move or copy secrets from /from to /to."""
        transfer = Transfer(
            ProjectRef(id=self.project.id), Where("dev", "/from"), Where("dev", "/to"), ids, overwrite
        )
        await act(self.domain.admin, transfer)

    async def values(self, path: str) -> dict[str, str]:
        """Return the values of a folder."""
        found = await self.domain.listed(self.project, path)
        assert isinstance(found, SecretListing)
        return {shown.secret.key: shown.value for shown in found.secrets}


@pytest.fixture
async def shelf(tmp_path: Path) -> AsyncIterator[Shelf]:
    async with service_domain(tmp_path) as domain:
        project = await domain.project("shelf")
        for path in ("/from", "/to"):
            await domain.folder(project, path)
        yield Shelf(domain, project, SecretMoving(domain.database, SystemClock()))


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Secret]]:
    """Return what the store is given to seal at a time."""
    given: list[Sequence[Secret]] = []

    def watched(store: Store) -> Store:
        async def noted(repository: Secrets, project_id: ProjectId, secrets: Sequence[Secret]) -> None:
            given.append(secrets)
            await store(repository, project_id, secrets)

        return noted

    for name in ("insert", "update"):
        monkeypatch.setattr(Secrets, name, watched(getattr(Secrets, name)))
    return given


@pytest.fixture(params=["move", "duplicate"])
def act(shelf: Shelf, request: pytest.FixtureRequest) -> Act:
    chosen: Act = getattr(shelf.moving, request.param)
    return chosen


async def test_what_holds_too_much_stays_where_it_is(
    shelf: Shelf, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "LISTED_MAX_BYTES", 3000)
    ids = await shelf.put("/from", *(NewSecret(key, key * 900) for key in "ABCD"))
    with pytest.raises(InvalidError, match="'/from' hold more than"):
        await shelf.send(act, *ids)
    assert await shelf.values("/to") == {}
    await shelf.send(act, *ids[:3])
    assert await shelf.values("/to") == {key: key * 900 for key in "ABC"}


async def test_what_is_in_the_way_counts_without_its_values(
    shelf: Shelf, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "LISTED_MAX_BYTES", 3000)
    ids = await shelf.put("/from", NewSecret("A", "cnry-new"), NewSecret("B", "cnry-new"))
    await shelf.put("/to", NewSecret("A", "x" * 4000), NewSecret("B", "cnry-old", comment="c" * 4000))
    await shelf.send(act, ids[0], overwrite=True)
    with pytest.raises(InvalidError, match="'/to' hold more than"):
        await shelf.send(act, ids[1], overwrite=True)
    assert await shelf.values("/to") == {"A": "cnry-new", "B": "cnry-old"}


async def test_many_are_sealed_in_runs(shelf: Shelf, act: Act, runs: list[Sequence[Secret]]) -> None:
    ids = await shelf.put("/from", *(NewSecret(f"K{number:03}", "cnry-v") for number in range(MANY)))
    runs.clear()
    await shelf.send(act, *ids)
    assert sorted(map(len, runs)) == [30, 100, 100]
    assert len(await shelf.values("/to")) == MANY


async def test_large_ones_are_sealed_in_smaller_runs(
    shelf: Shelf, act: Act, runs: list[Sequence[Secret]]
) -> None:
    ids = await shelf.put("/from", *(NewSecret(f"K{number}", "x" * 1_000_000) for number in range(6)))
    runs.clear()
    await shelf.send(act, *ids)
    assert sorted(map(len, runs)) == [2, 4]


async def test_texts_that_move_in_different_runs_name_each_other_as_before(shelf: Shelf) -> None:
    first = [NewSecret("A", "${Z}"), *(NewSecret(f"K{number:03}", "cnry-v") for number in range(MANY))]
    ids = await shelf.put("/from", *first, NewSecret("Z", "cnry-z ${K000}"))
    await shelf.send(shelf.moving.move, *ids)
    async with shelf.domain.database.reading() as unit:
        found = {secret.key: secret.value for secret in await unit.secrets.by_ids(ids)}
    assert (found["A"], found["Z"]) == ("${Z}", "cnry-z ${K000}")
