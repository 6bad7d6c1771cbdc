"""Projects of earlier versions come under marks while they are read and written, and stay under them."""
# ruff: noqa: S608 - statements of the test's own ids

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from structlog.testing import capture_logs

from keybearer.base.clock import SystemClock
from keybearer.base.ids import ProjectId
from keybearer.domain.key_rotation import KeyRotation
from keybearer.domain.paths import ROOT
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret
from keybearer.domain.secrets.questions import SecretListing
from keybearer.store.database import Database
from keybearer.store.engines import database_url, sqlite_url
from keybearer.store.records import Project
from keybearer.store.sealing.envelope import BARE, UnsealError, format_of
from keybearer.store.sealing.keyring import Keyring
from keybearer.store.sealing.root_key import parse_root_keys
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, at, service_domain
from support.upgrade.database import OldDatabase, root_key_file
from support.upgrade.earlier_seals import seal_as_before
from tools.local.postgres import PostgresServer

pytestmark = pytest.mark.every_database


class LaterClock(SystemClock):
    """Says what a test says."""

    def __init__(self, later: timedelta = timedelta()) -> None:
        self.later = later

    def now(self) -> datetime:
        return datetime.now(UTC) + self.later


GOLDEN = Path(__file__).parents[2] / "golden/databases/7f650ac"
FOLDERS = ("/", "/a", "/b")
EARLIER = "00000000-0000-4000-8000-000000000001"


@pytest.fixture
async def domain(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[ServiceDomain]:
    async with service_domain(tmp_path, own_database.engine_url(tmp_path)) as domain:
        yield domain


@pytest.fixture
async def project(domain: ServiceDomain, own_database: OwnDatabase, tmp_path: Path) -> Project:
    """Return a project as an earlier version left it."""
    project = await domain.project("p-slug")
    for path in FOLDERS:
        if path != "/":
            await domain.folder(project, path)
        new = [NewSecret("A", "cnry-1"), NewSecret("B", "cnry-b", comment="cnry-c")]
        await domain.writing.create(domain.admin, at(project, path), new)
        await domain.writing.update(domain.admin, at(project, path), [ChangedSecret("A", "cnry-2")])
    engine = create_async_engine(own_database.engine_url(tmp_path))
    async with engine.begin() as connection:
        await connection.run_sync(seal_as_before, domain.database.keyring)
    await engine.dispose()
    forget(domain)
    return project


def forget(domain: ServiceDomain) -> None:
    domain.database.unlock(Keyring(domain.database.keyring.roots))


async def listed(domain: ServiceDomain, project: Project, path: str = "/") -> dict[str, str]:
    found = await domain.listed(project, path)
    assert isinstance(found, SecretListing)
    async with domain.database.reading() as unit:
        for one in found.secrets:
            assert one.secret.version == len(await unit.secrets.versions(one.secret, offset=0, limit=100))
    return {one.secret.key: one.value for one in found.secrets}


async def advance(domain: ServiceDomain, project: Project, limit: int = 1) -> bool:
    """Do the next step, as the service does in the background; return whether more is to be done."""
    async with domain.database.writing() as unit:
        if await unit.seal_conversion.advance(project.id, limit):
            return True
    async with domain.database.writing() as unit:
        return await unit.resealing.advance(project.id, limit)


async def converted(domain: ServiceDomain) -> None:
    rotation = KeyRotation(domain.database, None, SystemClock())
    await rotation.finish()
    async with domain.database.reading() as unit:
        assert await unit.seal_conversion.projects() == []
        assert await unit.resealing.under_way() == []


async def test_everything_is_read_and_written_between_any_two_of_its_transactions(
    domain: ServiceDomain, project: Project
) -> None:
    values = {path: {"A": "cnry-2", "B": "cnry-b"} for path in FOLDERS}
    steps, more = 0, True
    while more:
        forget(domain)
        for path in FOLDERS:
            assert await listed(domain, project, path) == values[path]
        path = FOLDERS[steps % len(FOLDERS)]
        await domain.writing.update(domain.admin, at(project, path), [ChangedSecret("B", f"cnry-{steps}")])
        await domain.writing.create(domain.admin, at(project, path), [NewSecret(f"N{steps}", "cnry-n")])
        values[path] |= {"B": f"cnry-{steps}", f"N{steps}": "cnry-n"}
        if steps == 4:
            await domain.folder(project, "/late")
            await domain.writing.delete(domain.admin, at(project, "/a"), ["A"])
            del values["/a"]["A"]
        more = await advance(domain, project, 3)
        steps += 1
    assert steps > len(FOLDERS)
    forget(domain)
    for path in FOLDERS:
        assert await listed(domain, project, path) == values[path]
    async with domain.database.reading() as unit:
        assert await unit.resealing.data_keys() == 1
        assert await unit.seal_conversion.projects() == []


async def test_replicas_of_an_earlier_version_read_and_write_until_they_end(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    if domain.database.sole_process:
        pytest.skip("SQLite serves one process")
    clock = LaterClock()
    rotation = KeyRotation(domain.database, None, clock)
    await rotation.start()
    own_database.execute(
        tmp_path,
        "INSERT INTO key_holders (process_id, root_key_id, seen_at) "
        f"SELECT '{EARLIER}', root_key_id, seen_at FROM key_holders",
    )
    with capture_logs() as logs:
        await rotation.finish()
    told = [line["processes"] for line in logs if line["event"] == "marks_wait_for_earlier_processes"]
    assert told == [1]
    await domain.writing.update(domain.admin, at(project, "/"), [ChangedSecret("A", "cnry-3")])
    async with domain.database.reading() as unit:
        assert await unit.seal_conversion.projects() == [project.id]
    engine = create_async_engine(own_database.engine_url(tmp_path))
    async with engine.connect() as connection:
        envelopes = (await connection.execute(text("SELECT value FROM secret_versions"))).scalars().all()
        sums = (await connection.execute(text("SELECT seal FROM folders"))).scalars().all()
    await engine.dispose()
    # A format that they read, and no sum, which they wouldn't keep.
    assert {format_of(envelope) for envelope in envelopes} == {BARE}
    assert set(sums) == {None}

    clock.later = timedelta(seconds=61)
    await KeyRotation(domain.database, None, clock).start()  # which forgets who has been silent
    await rotation.finish()
    async with domain.database.reading() as unit:
        assert await unit.seal_conversion.projects() == []
    assert await listed(domain, project) == {"A": "cnry-3", "B": "cnry-b"}


async def test_then_what_was_edited_is_found(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    await converted(domain)
    assert await listed(domain, project) == {"A": "cnry-2", "B": "cnry-b"}
    own_database.execute(tmp_path, "UPDATE secrets SET key = 'C' WHERE key = 'A'")
    with pytest.raises(UnsealError):
        await listed(domain, project)


async def test_then_an_envelope_of_the_earlier_version_is_refused(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    """Also by who puts the former key back, and says that nothing is under marks."""
    own_database.execute(tmp_path, "CREATE TABLE old_keys AS SELECT * FROM data_keys")
    own_database.execute(tmp_path, "CREATE TABLE old_secrets AS SELECT * FROM secrets WHERE key = 'A'")
    await converted(domain)
    own_database.execute(tmp_path, "INSERT INTO data_keys SELECT * FROM old_keys")
    assert await listed(domain, project) == {"A": "cnry-2", "B": "cnry-b"}
    own_database.execute(
        tmp_path,
        "UPDATE secrets SET value = (SELECT value FROM old_secrets WHERE old_secrets.id = secrets.id) "
        "WHERE key = 'A'",
    )
    forget(domain)
    with pytest.raises(UnsealError):
        await listed(domain, project)
    own_database.execute(tmp_path, "UPDATE folders SET seal = NULL")
    own_database.execute(tmp_path, "UPDATE projects SET places = NULL")
    with pytest.raises(UnsealError):
        await listed(domain, project)


async def test_then_it_is_not_taken_under_marks_again(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    """Not even for who puts the former key back as the latest one, and removes all sums."""
    own_database.execute(tmp_path, "CREATE TABLE old_keys AS SELECT * FROM data_keys")
    await converted(domain)
    own_database.execute(tmp_path, "UPDATE old_keys SET version = 99")
    own_database.execute(tmp_path, "INSERT INTO data_keys SELECT * FROM old_keys")
    own_database.execute(tmp_path, "UPDATE folders SET seal = NULL")
    own_database.execute(tmp_path, "UPDATE projects SET places = NULL")
    own_database.execute(tmp_path, "DELETE FROM secrets WHERE key = 'A'")
    forget(domain)
    async with domain.database.reading() as unit:
        assert await unit.seal_conversion.projects() == []
    await converted(domain)
    for path in FOLDERS:
        with pytest.raises(UnsealError):
            await listed(domain, project, path)


async def test_nor_by_a_process_that_remembers_a_key_which_somebody_removed(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    own_database.execute(tmp_path, "CREATE TABLE old_keys AS SELECT * FROM data_keys")
    await converted(domain)
    assert await listed(domain, project) == {"A": "cnry-2", "B": "cnry-b"}
    own_database.execute(tmp_path, "DELETE FROM data_keys")
    own_database.execute(tmp_path, "INSERT INTO data_keys SELECT * FROM old_keys")
    own_database.execute(tmp_path, "UPDATE folders SET seal = NULL")
    own_database.execute(tmp_path, "UPDATE projects SET places = NULL")
    own_database.execute(tmp_path, "DELETE FROM secrets WHERE key = 'A'")
    with pytest.raises(UnsealError):
        await listed(domain, project)
    with pytest.raises(UnsealError):
        await KeyRotation(domain.database, None, SystemClock()).finish()
    with pytest.raises(UnsealError):
        await listed(domain, project)


async def test_a_rotation_leaves_refused_what_was_edited_before(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    await converted(domain)
    folder = own_database.execute(tmp_path, "SELECT id FROM folders WHERE path = '/a'").strip()
    own_database.execute(tmp_path, f"DELETE FROM secrets WHERE key = 'A' AND folder_id = '{folder}'")
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
    await converted(domain)
    forget(domain)
    assert await listed(domain, project) == {"A": "cnry-2", "B": "cnry-b"}
    with pytest.raises(UnsealError):
        await listed(domain, project, "/a")


async def test_a_rotation_that_somebody_asks_for_before_does_not_hinder_it(
    domain: ServiceDomain, project: Project
) -> None:
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
    await converted(domain)
    assert await listed(domain, project) == {"A": "cnry-2", "B": "cnry-b"}


async def erased(domain: ServiceDomain, project: Project, own_database: OwnDatabase, directory: Path) -> str:
    """Delete a secret and the sum of the folder /a by hand, and return the folder's id."""
    folder = own_database.execute(directory, "SELECT id FROM folders WHERE path = '/a'").strip()
    own_database.execute(directory, f"DELETE FROM secrets WHERE key = 'A' AND folder_id = '{folder}'")
    own_database.execute(directory, f"UPDATE folders SET seal = NULL WHERE id = '{folder}'")
    forget(domain)
    with pytest.raises(UnsealError):
        await listed(domain, project, "/a")
    return folder


async def test_a_rotation_takes_no_folder_whose_sum_was_erased_as_it_is(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    await converted(domain)
    await erased(domain, project, own_database, tmp_path)
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
    await converted(domain)
    with pytest.raises(UnsealError):
        await listed(domain, project, "/a")


async def test_nor_one_whose_sum_is_erased_at_the_moment_at_which_it_is_sealed(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    await converted(domain)
    folder = await erased(domain, project, own_database, tmp_path)
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
        await unit.folder_seals.seal(project.id, folder, await unit.keys.active(project.id))
    with pytest.raises(UnsealError):
        await listed(domain, project, "/a")
    await converted(domain)
    with pytest.raises(UnsealError):
        await listed(domain, project, "/a")


async def test_folders_that_are_made_during_a_rotation_do_not_make_it_start_over(
    domain: ServiceDomain, project: Project
) -> None:
    await converted(domain)
    async with domain.database.writing() as unit:
        await unit.resealing.begin(project.id)
    phases, more = [], True
    while more:
        async with domain.database.reading() as unit:
            phases.append((await unit.resealing.under_way())[0].phase)
        assert len(phases) < 60
        await domain.folder(project, f"/made-{len(phases)}")
        await domain.writing.create(
            domain.admin, at(project, f"/made-{len(phases)}"), [NewSecret("A", "cnry-1")]
        )
        more = await advance(domain, project, 3)
    assert phases == sorted(phases, key=["secrets", "versions", "folders", "keys"].index)
    forget(domain)
    for number in range(1, len(phases) + 1):
        assert await listed(domain, project, f"/made-{number}") == {"A": "cnry-1"}
    async with domain.database.reading() as unit:
        assert await unit.resealing.data_keys() == 1


async def test_what_does_not_open_holds_up_the_rotation_of_its_own_project_only(
    domain: ServiceDomain, project: Project, own_database: OwnDatabase, tmp_path: Path
) -> None:
    await converted(domain)
    other = await domain.project("other")
    await domain.writing.create(domain.admin, at(other), [NewSecret("A", "cnry-other")])
    secret = own_database.execute(
        tmp_path,
        f"SELECT id FROM secrets WHERE key = 'A' AND project_id = '{project.id}' ORDER BY id LIMIT 1",
    ).strip()
    own_database.execute(tmp_path, f"UPDATE secrets SET key = 'C' WHERE id = '{secret}'")
    for one in (project, other):
        async with domain.database.writing() as unit:
            await unit.resealing.begin(one.id)
    clock = LaterClock()
    rotation = KeyRotation(domain.database, None, clock)
    with capture_logs() as logs:
        await rotation._advance()
        await rotation._advance()
    (stopped,) = [entry for entry in logs if entry["event"] == "data_key_rotation_stopped"]
    assert stopped["project_id"] == project.id
    assert secret in stopped["reason"]
    async with domain.database.reading() as unit:
        assert [one.project_id for one in await unit.resealing.under_way()] == [project.id]
    forget(domain)
    assert await listed(domain, other) == {"A": "cnry-other"}
    own_database.execute(tmp_path, f"UPDATE secrets SET key = 'A' WHERE id = '{secret}'")
    clock.later = timedelta(seconds=31)
    await rotation._advance()
    async with domain.database.reading() as unit:
        assert await unit.resealing.under_way() == []
    forget(domain)
    assert await listed(domain, project) == {"A": "cnry-2", "B": "cnry-b"}


@pytest.fixture
def old(database_kind: str, request: pytest.FixtureRequest) -> Iterator[OwnDatabase]:
    """Yield a database without tables."""
    if database_kind == "sqlite":
        yield OwnDatabase()
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    name = server.create(empty=True)
    yield OwnDatabase(server, name)
    server.drop(name)


async def test_a_database_of_7f650ac_comes_under_marks(old: OwnDatabase, tmp_path: Path) -> None:
    await asyncio.to_thread(OldDatabase(GOLDEN, "0010").load, old, tmp_path)
    url = sqlite_url(tmp_path / "keybearer.db") if old.url is None else database_url(old.url)
    database = Database(url, SystemClock())
    await database.prepare()
    database.unlock(Keyring(parse_root_keys(root_key_file(tmp_path).read_text(), "the root key")))
    before = await _everything(database)
    assert before
    rotation = KeyRotation(database, None, LaterClock(timedelta(seconds=61)))
    await rotation.start()
    await rotation.finish()
    assert await _everything(database) == before
    count = old.execute(tmp_path, "SELECT COUNT(*) FROM folders WHERE seal IS NULL").strip()
    assert count == "0"
    folder = old.execute(tmp_path, "SELECT folder_id FROM secrets ORDER BY id LIMIT 1").strip()
    old.execute(tmp_path, f"DELETE FROM secrets WHERE folder_id = '{folder}'")
    with pytest.raises(UnsealError):
        async with database.reading() as unit:
            await unit.secrets.of_folders([folder], key=None, with_values=True, max_bytes=1 << 30)
    await database.close()


async def _everything(database: Database) -> list[tuple[ProjectId, str, str, str | None, list[str | None]]]:
    found = []
    async with database.reading() as unit:
        for project_id in await unit.resealing.projects():
            for environment in await unit.projects.environments([project_id]):
                root = await unit.folders.at(project_id, environment.slug, ROOT)
                assert root is not None
                for secret in await unit.secrets.listed(
                    project_id, environment.slug, ROOT, recursive=True, with_values=True
                ):
                    versions = await unit.secrets.versions(secret, offset=0, limit=100)
                    values = [one.value for one in versions]
                    found.append((project_id, secret.path, secret.key, secret.value, values))
    return sorted(found)
