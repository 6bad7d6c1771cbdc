"""Much at once: no statement grows with what was asked, and others have their turn meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.base.slices import SLICE
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.questions import SecretListing
from keybearer.server import rendering
from keybearer.server.rendering import listing_body
from keybearer.store import secret_rows
from keybearer.store.records import Project
from keybearer.store.secret_places import Location
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, at, service_domain

pytestmark = pytest.mark.every_database

_P = ParamSpec("_P")
_T = TypeVar("_T")
_COUNT = 4 * SLICE
_NAMED = 40_000
"""More than PostgreSQL takes parameters in one statement (32,767), fewer than a list may refer to."""


@pytest.fixture
async def domain(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, own_database.engine_url(tmp_path)) as opened:
        yield opened


class _Turns:
    """Counts what is called within one turn of the event loop."""

    def __init__(self) -> None:
        self._turn = 0
        self.calls: Counter[tuple[str, int]] = Counter()

    def counted(self, name: str, function: Callable[_P, _T]) -> Callable[_P, _T]:
        """Return the function, with its calls counted."""

        def call(*arguments: _P.args, **keywords: _P.kwargs) -> _T:
            self.calls[name, self._turn] += 1
            return function(*arguments, **keywords)

        return call

    async def go_on(self) -> None:
        """Have a turn whenever others let go."""
        while True:
            self._turn += 1
            await asyncio.sleep(0)

    def total(self, name: str) -> int:
        return sum(count for (called, _), count in self.calls.items() if called == name)


async def _stored(domain: ServiceDomain, project: Project, value: Callable[[int], str]) -> None:
    new = [NewSecret(f"KEY_{number}", value(number)) for number in range(_COUNT)]
    await domain.writing.create(domain.admin, at(project), new)


async def test_a_long_list_lets_others_have_a_turn_between_slices(
    domain: ServiceDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = await domain.project("long")
    await _stored(domain, project, lambda number: f"value of {number}")
    turns = _Turns()
    for module, name in ((secret_rows, "open_value"), (rendering, "secret_json")):
        monkeypatch.setattr(module, name, turns.counted(name, getattr(module, name)))
    other = asyncio.create_task(turns.go_on())

    listing = await domain.listed(project, "/")
    assert isinstance(listing, SecretListing)
    await listing_body(listing)
    other.cancel()

    assert turns.total("open_value") == turns.total("secret_json") == _COUNT
    assert max(turns.calls.values()) <= SLICE


async def test_others_have_a_turn_after_each_import_however_short(
    domain: ServiceDomain, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, imports = await domain.project("imports"), 3
    for number in range(imports):
        path = f"/folder-{number}"
        await domain.folder(project, path)
        await domain.writing.create(domain.admin, at(project, path), [NewSecret(f"KEY_{number}", "value")])
        await domain.add_import(project, "/", path)
    turns = _Turns()
    monkeypatch.setattr(rendering, "secret_json", turns.counted("secret_json", rendering.secret_json))
    other = asyncio.create_task(turns.go_on())

    listing = await domain.listed(project, "/")
    assert isinstance(listing, SecretListing)
    await listing_body(listing)
    other.cancel()

    assert turns.total("secret_json") == imports
    assert max(turns.calls.values()) == 1


async def test_references_to_more_secrets_than_a_statement_may_name_are_looked_up(
    domain: ServiceDomain,
) -> None:
    project = await domain.project("wide")
    await _stored(domain, project, str)
    names = [f"KEY_{number}" for number in range(_NAMED)]

    async with domain.database.reading() as unit:
        found = await unit.secrets.at(
            project.id, [Location(EnvironmentSlug("dev"), FolderPath("/"), name) for name in names]
        )

    assert sorted(secret.key for secret in found) == sorted(names[:_COUNT])


async def test_bunches_are_bounded_by_number_and_by_bytes(domain: ServiceDomain) -> None:
    project = await domain.project("bunches")
    sizes = {"A": 10, "B": 10, "C": 10, "D": 5_000, "E": 10, "F": 10}
    new = [NewSecret(key, "x" * size) for key, size in sizes.items()]
    await domain.writing.create(domain.admin, at(project), new)
    async with domain.database.reading() as unit:
        stored = await unit.secrets.at(
            project.id, [Location(EnvironmentSlug("dev"), FolderPath("/"), key) for key in sizes]
        )
        keys = {secret.id: secret.key for secret in stored}
        bunches = await unit.secrets.in_bunches([*keys, "gone"], count_max=2, bytes_max=4_000)

    assert sorted(keys[one] for bunch in bunches for one in bunch) == sorted(sizes)
    assert max(map(len, bunches)) == 2
    assert [keys[one] for bunch in bunches if len(bunch) == 1 for one in bunch].count("D") == 1
