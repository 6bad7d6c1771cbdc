"""Who edits the database by hand is found out by the next reading: it refuses, and gives no value."""
# ruff: noqa: S608 - statements of the test's own ids

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.access import ProjectRef
from keybearer.domain.authorization import ActorKind, Principal
from keybearer.domain.errors import NotFoundError
from keybearer.domain.folders import FoldersAt
from keybearer.domain.secrets.changes import ChangedSecret, NewSecret
from keybearer.domain.secrets.questions import GetSecret, ListSecrets, SecretListing
from keybearer.store.records import Project
from keybearer.store.sealing.envelope import AlteredDatabaseError, UnsealError
from keybearer.store.sealing.keyring import Keyring
from support.databases import OwnDatabase
from support.service_domain import ServiceDomain, at, service_domain

pytestmark = pytest.mark.every_database

DEV, PROD, DEEP = "dev", "prod", "/deep/down"


@dataclass(frozen=True)
class Scene:
    """A project whose folders dev:/, prod:/ and dev:/deep/down hold A (two versions) and B each."""

    domain: ServiceDomain
    project: Project
    database: OwnDatabase
    directory: Path

    def edit(self, *statements: str) -> None:
        for statement in statements:
            self.database.execute(self.directory, statement)

    def only(self, statement: str) -> str:
        return self.database.execute(self.directory, statement).strip()

    def folder(self, environment: str, path: str) -> str:
        return self.only(
            "SELECT folders.id FROM folders JOIN environments ON environments.id = folders.environment_id "
            f"WHERE environments.slug = '{environment}' AND folders.path = '{path}'"
        )

    def secret(self, environment: str, path: str, key: str) -> str:
        return self.only(
            f"SELECT id FROM secrets WHERE folder_id = '{self.folder(environment, path)}' AND key = '{key}'"
        )

    @property
    def wrapped_as_before(self) -> str:
        """A data key's envelope, with the format that earlier versions wrapped keys in, as an expression."""
        if self.database.server is None:
            return "CAST(x'01' || substr(wrapped, 2) AS BLOB)"
        return "decode('01', 'hex') || substr(wrapped, 2)"

    @property
    def user(self) -> Principal:
        return replace(self.domain.admin, kind=ActorKind.USER)

    async def listed(
        self,
        environment: str,
        path: str = "/",
        *,
        recursive: bool = False,
        view_value: bool = True,
        user: bool = False,
    ) -> dict[str, str]:
        query = ListSecrets(
            at(self.project, path, environment),
            recursive=recursive,
            expand=False,
            view_value=view_value,
            include_imports=False,
            personal_overrides=user,
        )
        found = await self.domain.reading.list(self.user if user else self.domain.admin, query, None)
        assert isinstance(found, SecretListing)
        return {f"{one.secret.path} {one.secret.key}": one.value for one in found.secrets}

    async def get(
        self,
        environment: str,
        key: str,
        path: str = "/",
        *,
        version: int | None = None,
        view_value: bool = True,
    ) -> str:
        query = GetSecret(
            at(self.project, path, environment),
            key,
            personal=False,
            version=version,
            expand=False,
            view_value=view_value,
            include_imports=False,
        )
        return (await self.domain.reading.get(self.domain.admin, query)).value

    async def is_found(self, environment: str, path: str = "/", key: str = "A") -> None:
        """Let pass a folder that no reading gives anything of."""
        for view_value in (True, False):
            with pytest.raises(UnsealError):
                await self.listed(environment, path, view_value=view_value)
            with pytest.raises(UnsealError):
                await self.get(environment, key, path, view_value=view_value)
        with pytest.raises(UnsealError):
            await self.listed(environment, "/", recursive=True)


@pytest.fixture(params=[False, True], ids=["read before", "after a start"])
async def scene(
    own_database: OwnDatabase, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Scene]:
    """Yield the scene; what was read may be remembered, or nothing."""
    async with service_domain(tmp_path, own_database.engine_url(tmp_path)) as domain:
        project = await domain.project("p-slug")
        await domain.folder(project, DEEP)
        for environment, path in ((DEV, "/"), (PROD, "/"), (DEV, DEEP)):
            place = at(project, path, environment)
            new = [NewSecret("A", f"cnry-1-{environment}"), NewSecret("B", "cnry-b", comment="cnry-comment")]
            await domain.writing.create(domain.admin, place, new)
            await domain.writing.update(domain.admin, place, [ChangedSecret("A", f"cnry-2-{environment}")])
        made = Scene(domain, project, own_database, tmp_path)
        assert await made.listed(DEV) == {"/ A": "cnry-2-dev", "/ B": "cnry-b"}
        assert len(await made.listed(DEV, recursive=True)) == 4
        assert await made.get(PROD, "A") == "cnry-2-prod"
        assert await made.get(DEV, "A", version=1) == "cnry-1-dev"
        if request.param:
            domain.database.unlock(Keyring(domain.database.keyring.roots))
        yield made


async def test_a_secret_whose_name_was_edited(scene: Scene) -> None:
    secret = scene.secret(DEV, "/", "A")
    scene.edit(
        f"UPDATE secrets SET key = 'C' WHERE id = '{secret}'",
        f"UPDATE secret_versions SET key = 'C' WHERE secret_id = '{secret}'",
    )
    await scene.is_found(DEV)
    with pytest.raises(UnsealError):
        await scene.get(DEV, "C")


async def test_two_secrets_whose_names_were_exchanged(scene: Scene) -> None:
    first, second = scene.secret(DEV, "/", "A"), scene.secret(DEV, "/", "B")
    scene.edit(
        f"UPDATE secrets SET key = 'X' WHERE id = '{first}'",
        f"UPDATE secrets SET key = 'A' WHERE id = '{second}'",
        f"UPDATE secrets SET key = 'B' WHERE id = '{first}'",
    )
    await scene.is_found(DEV)


async def test_a_secret_that_was_moved_to_another_folder(scene: Scene) -> None:
    secret = scene.secret(PROD, "/", "A")
    scene.edit(
        f"UPDATE secrets SET key = 'LEAK', folder_id = '{scene.folder(DEV, '/')}' WHERE id = '{secret}'"
    )
    await scene.is_found(DEV, key="LEAK")
    await scene.is_found(PROD)


async def test_a_secret_that_was_moved_over_another_one(scene: Scene) -> None:
    wanted, there = scene.secret(PROD, "/", "A"), scene.secret(DEV, "/", "A")
    scene.edit(
        f"DELETE FROM secrets WHERE id = '{there}'",
        f"UPDATE secrets SET folder_id = '{scene.folder(DEV, '/')}' WHERE id = '{wanted}'",
    )
    await scene.is_found(DEV)


async def test_a_secret_that_was_rolled_back(scene: Scene) -> None:
    secret = scene.secret(DEV, "/", "A")
    former = "FROM secret_versions WHERE secret_id = secrets.id AND version = 1"
    scene.edit(
        f"UPDATE secrets SET version = 1, value = (SELECT value {former}), updated_at = "
        f"(SELECT updated_at {former}) WHERE id = '{secret}'",
        f"DELETE FROM secret_versions WHERE secret_id = '{secret}' AND version = 2",
    )
    await scene.is_found(DEV)


async def test_a_secret_that_was_deleted(scene: Scene) -> None:
    scene.edit(f"DELETE FROM secrets WHERE id = '{scene.secret(DEV, '/', 'A')}'")
    await scene.is_found(DEV)


async def test_all_secrets_of_a_folder_that_were_deleted(scene: Scene) -> None:
    scene.edit(f"DELETE FROM secrets WHERE folder_id = '{scene.folder(DEV, DEEP)}'")
    await scene.is_found(DEV, DEEP)


async def test_a_deleted_secret_that_was_put_back(scene: Scene) -> None:
    secret = scene.secret(DEV, "/", "A")
    scene.edit(f"CREATE TABLE kept AS SELECT * FROM secrets WHERE id = '{secret}'")
    await scene.domain.writing.delete(scene.domain.admin, at(scene.project), ["A"])
    with pytest.raises(NotFoundError):
        await scene.get(DEV, "A")
    scene.edit("INSERT INTO secrets SELECT * FROM kept")
    await scene.is_found(DEV)


async def test_a_comment_that_was_erased(scene: Scene) -> None:
    scene.edit(f"UPDATE secrets SET details = NULL WHERE id = '{scene.secret(DEV, '/', 'B')}'")
    await scene.is_found(DEV, key="B")


async def test_environments_whose_slugs_were_exchanged(scene: Scene) -> None:
    scene.edit(
        "UPDATE environments SET slug = 'x' WHERE slug = 'dev'",
        "UPDATE environments SET slug = 'dev' WHERE slug = 'prod'",
        "UPDATE environments SET slug = 'prod' WHERE slug = 'x'",
    )
    await scene.is_found(DEV)


async def test_an_environment_that_was_renamed(scene: Scene) -> None:
    scene.edit("UPDATE environments SET slug = 'other' WHERE slug = 'prod'")
    await scene.is_found("other")
    await scene.is_found(PROD)


async def test_a_folder_that_was_moved_to_another_environment(scene: Scene) -> None:
    dev, deep = scene.folder(DEV, "/"), scene.folder(DEV, "/deep")
    staging = scene.folder("staging", "/")
    assert dev != staging
    scene.edit(
        f"UPDATE folders SET environment_id = (SELECT environment_id FROM folders WHERE id = '{staging}'), "
        f"parent_id = '{staging}' WHERE id = '{deep}'"
    )
    await scene.is_found("staging", "/deep")
    await scene.is_found(DEV, "/deep")


async def test_a_folder_whose_path_was_edited(scene: Scene) -> None:
    scene.edit(f"UPDATE folders SET path = '/other' WHERE id = '{scene.folder(DEV, DEEP)}'")
    await scene.is_found(DEV, "/other")
    await scene.is_found(DEV, DEEP)


async def test_a_folder_that_was_deleted(scene: Scene) -> None:
    folder = scene.folder(DEV, DEEP)
    scene.edit(
        f"DELETE FROM secret_versions WHERE secret_id IN (SELECT id FROM secrets WHERE folder_id = '{folder}')",
        f"DELETE FROM secrets WHERE folder_id = '{folder}'",
        f"DELETE FROM folders WHERE id = '{folder}'",
    )
    await scene.is_found(DEV, DEEP)


async def test_a_folder_that_was_added(scene: Scene) -> None:
    columns = "environment_id, name, description, version, is_reserved, created_at, updated_at"
    scene.edit(
        f"INSERT INTO folders (id, parent_id, path, {columns}) SELECT 'added', id, '/added', {columns} "
        f"FROM folders WHERE id = '{scene.folder(DEV, '/')}'"
    )
    await scene.is_found(DEV, "/added")


@pytest.mark.parametrize("deleted", ["A", "nothing"])
async def test_a_seal_that_was_erased(scene: Scene, deleted: str) -> None:
    scene.edit(
        f"DELETE FROM secrets WHERE key = '{deleted}'",
        f"UPDATE folders SET seal = NULL WHERE id = '{scene.folder(DEV, '/')}'",
    )
    await scene.is_found(DEV, key="B")


async def test_a_seal_of_another_folder(scene: Scene) -> None:
    scene.edit(
        f"UPDATE folders SET seal = (SELECT seal FROM folders WHERE id = '{scene.folder(DEV, DEEP)}') "
        f"WHERE id = '{scene.folder(DEV, '/')}'"
    )
    await scene.is_found(DEV)


async def test_the_seal_of_a_project_that_was_erased(scene: Scene) -> None:
    scene.edit("UPDATE projects SET places = NULL")
    await scene.is_found(DEV)


async def test_all_seals_that_were_erased(scene: Scene) -> None:
    scene.edit("UPDATE projects SET places = NULL", "UPDATE folders SET seal = NULL")
    await scene.is_found(DEV)


ROLLED_BACK = (
    "UPDATE projects SET places = NULL",
    "UPDATE folders SET seal = NULL",
    (
        "UPDATE secrets SET version = 1, value = (SELECT value FROM secret_versions AS former WHERE "
        "former.secret_id = secrets.id AND former.version = 1) WHERE key = 'A'"
    ),
    "DELETE FROM secret_versions WHERE version = 2",
)


async def test_a_data_key_that_was_added_as_if_of_an_earlier_version(scene: Scene) -> None:
    scene.edit(
        *ROLLED_BACK,
        "INSERT INTO data_keys (id, project_id, version, wrapped, created_at) "
        f"SELECT '00000000-0000-4000-8000-000000000000', project_id, 99, {scene.wrapped_as_before}, created_at "
        "FROM data_keys",
    )
    await scene.is_found(DEV)


async def test_data_keys_that_were_edited_as_if_of_an_earlier_version(scene: Scene) -> None:
    """Who remembers the key opens values still; then they are judged."""
    scene.edit(*ROLLED_BACK, f"UPDATE data_keys SET wrapped = {scene.wrapped_as_before}")
    with pytest.raises(UnsealError):
        await scene.get(DEV, "A")
    with pytest.raises(UnsealError):
        await scene.listed(DEV)


async def test_a_former_version_that_was_exchanged(scene: Scene) -> None:
    dev, prod = scene.secret(DEV, "/", "A"), scene.secret(PROD, "/", "A")
    scene.edit(
        "UPDATE secret_versions SET value = (SELECT value FROM secret_versions AS others WHERE "
        f"others.secret_id = '{prod}' AND others.version = 1) WHERE secret_id = '{dev}' AND version = 1"
    )
    with pytest.raises(UnsealError):
        await scene.get(DEV, "A", version=1)


async def test_a_former_version_that_was_deleted(scene: Scene) -> None:
    scene.edit(
        f"DELETE FROM secret_versions WHERE secret_id = '{scene.secret(DEV, '/', 'A')}' AND version = 1"
    )
    with pytest.raises(UnsealError):
        await scene.get(DEV, "A", version=1)
    with pytest.raises(NotFoundError):
        await scene.get(DEV, "A", version=3)


async def test_a_personal_secret_that_was_deleted(scene: Scene) -> None:
    """Else its owner would get the shared one in its place."""
    new = [NewSecret(key, f"cnry-own-{key}") for key in ("A", "B")]
    await scene.domain.writing.create(scene.user, at(scene.project), new, personal=True)
    own = {"/ A": "cnry-own-A", "/ B": "cnry-own-B"}
    assert await scene.listed(DEV, user=True) == own
    assert await scene.listed(DEV, DEEP, user=True) == {f"{DEEP} A": "cnry-2-dev", f"{DEEP} B": "cnry-b"}
    for deleted in ("A", "B"):
        scene.edit(f"DELETE FROM secrets WHERE owner <> '' AND key = '{deleted}'")
        for recursive in (False, True):
            with pytest.raises(UnsealError):
                await scene.listed(DEV, user=True, recursive=recursive)
        scene.domain.database.unlock(Keyring(scene.domain.database.keyring.roots))
    assert await scene.listed(DEV) == {"/ A": "cnry-2-dev", "/ B": "cnry-b"}


async def test_nothing_is_written_into_a_folder_that_was_exchanged_for_another(scene: Scene) -> None:
    """Else who reads `dev` would get what is written to `prod` from then on, once both are put back."""
    dev, prod = scene.folder(DEV, "/"), scene.folder(PROD, "/")
    of_dev, of_prod = (
        scene.only(f"SELECT environment_id FROM folders WHERE id = '{folder}'") for folder in (dev, prod)
    )
    scene.edit(
        f"UPDATE folders SET path = '/x' WHERE id = '{dev}'",
        f"UPDATE folders SET environment_id = '{of_dev}' WHERE id = '{prod}'",
        f"UPDATE folders SET environment_id = '{of_prod}', path = '/' WHERE id = '{dev}'",
    )
    writing, admin, place = scene.domain.writing, scene.domain.admin, at(scene.project, "/", PROD)
    with pytest.raises(UnsealError):
        await writing.create(admin, place, [NewSecret("NEW", "cnry-new")])
    with pytest.raises(UnsealError):
        await writing.update(admin, place, [ChangedSecret("A", "cnry-new")])
    with pytest.raises(UnsealError):
        await writing.delete(admin, place, ["A"])


async def test_the_refusal_says_where_it_is_and_what_to_do(scene: Scene) -> None:
    scene.edit(f"DELETE FROM secrets WHERE id = '{scene.secret(DEV, '/', 'A')}'")
    wanted = (
        f"^Secrets of folder {scene.folder(DEV, '/')} were changed in the database.* Restore a backup, or "
    )
    with pytest.raises(AlteredDatabaseError, match=wanted):
        await scene.listed(DEV)
    scene.edit("UPDATE environments SET slug = 'other' WHERE slug = 'prod'")
    wanted = f"^Environments or folders of project {scene.project.id} were changed.* Restore a backup$"
    with pytest.raises(AlteredDatabaseError, match=wanted):
        await scene.listed("other")


async def test_a_reading_of_what_others_may_read_goes_on(scene: Scene) -> None:
    """Only the folder that was edited is refused."""
    scene.edit(f"DELETE FROM secrets WHERE id = '{scene.secret(DEV, '/', 'A')}'")
    assert await scene.listed(PROD) == {"/ A": "cnry-2-prod", "/ B": "cnry-b"}
    assert await scene.get(DEV, "A", DEEP) == "cnry-2-dev"


async def test_a_change_does_not_cover_up_what_was_edited(scene: Scene) -> None:
    secret = scene.secret(DEV, "/", "A")
    scene.edit(f"UPDATE secrets SET key = 'C' WHERE id = '{secret}'")
    # Who remembers what the folder held sees nothing wrong with another key; who looks through it does.
    with suppress(UnsealError):
        await scene.domain.writing.create(scene.domain.admin, at(scene.project), [NewSecret("D", "cnry-d")])
    await scene.is_found(DEV)
    async with scene.domain.database.writing() as unit:
        await unit.move_project(scene.project.id)
        await unit.secrets.delete([secret])
    await scene.is_found(DEV)


async def test_what_the_service_changes_itself_is_read_on(scene: Scene) -> None:
    domain, project = scene.domain, scene.project
    for number in range(3):
        await domain.writing.update(domain.admin, at(project), [ChangedSecret("B", f"cnry-{number}")])
        assert await scene.get(DEV, "B") == f"cnry-{number}"
    await domain.writing.update(domain.admin, at(project), [ChangedSecret("B", "cnry-c", new_key="C")])
    assert await scene.get(DEV, "C") == "cnry-c"
    with pytest.raises(NotFoundError):
        await scene.get(DEV, "B")
    await domain.writing.delete(domain.admin, at(project), ["C"])
    assert await scene.listed(DEV) == {"/ A": "cnry-2-dev"}
    root = FoldersAt(ProjectRef(id=project.id), EnvironmentSlug(DEV), FolderPath("/"))
    await domain.folders.delete(domain.admin, root, "deep", force=True)
    assert await scene.listed(DEV, recursive=True) == {"/ A": "cnry-2-dev"}
    with pytest.raises(NotFoundError):
        await scene.get(DEV, "A", DEEP)
