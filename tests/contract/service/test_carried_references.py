"""Nobody has a stronger owner's sync carry what they may not read, by whatever they put into its folder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId
from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.authorization import OrganizationRole, Principal
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.syncs.source import read_folder
from support.quiet_service import IN_ONE_LOOP, AsyncClient, QuietService

pytestmark = [IN_ONE_LOOP, pytest.mark.every_database]
Json = dict[str, Any]


@dataclass
class Scene:
    """`/cfg` of `dev` holds texts of an admin that lead to `prod`; `/out` is what an admin's sync carries."""

    quiet: QuietService
    project: str
    other: str
    other_slug: str
    member: AsyncClient
    """Of the project, but denied `prod`; nobody in the other one."""

    @property
    def admin(self) -> AsyncClient:
        return self.quiet.admin

    def at(self, path: str, environment: str = "dev") -> Json:
        return {"projectId": self.project, "environment": environment, "secretPath": path}

    async def put(self, path: str, key: str, value: str, *, status: int = 200, who: AsyncClient) -> Json:
        body = {**self.at(path), "secretValue": value}
        return await who.json("POST", f"/api/v4/secrets/{key}", status=status, json=body)

    async def import_to(self, path: str, source: str, *, who: AsyncClient, status: int = 200) -> str:
        environment, _, source_path = source.partition(":")
        body = {
            "projectId": self.project,
            "environment": "dev",
            "path": path,
            "import": {"environment": environment, "path": source_path},
        }
        answer = await who.json("POST", "/api/v2/secret-imports", status=status, json=body)
        return str(answer["secretImport"]["id"]) if status == 200 else ""

    async def id_of(self, path: str, key: str) -> str:
        answer = await self.admin.json("GET", f"/api/v4/secrets/{key}", params=self.at(path))
        return str(answer["secret"]["id"])

    async def transfer(self, how: str, key: str, *, who: AsyncClient, status: int = 200) -> None:
        body = {
            "projectId": self.project,
            "sourceEnvironment": "dev",
            "sourceSecretPath": "/cfg",
            "destinationEnvironment": "dev",
            "destinationSecretPath": "/out",
            "secretIds": [await self.id_of("/cfg", key)],
            "shouldOverwrite": False,
        }
        await who.json("POST", f"/api/v4/secrets/{how}", status=status, json=body)

    async def folder_id(self, name: str) -> str:
        place = {"projectId": self.project, "environment": "dev", "path": "/"}
        answer = await self.admin.json("GET", "/api/v2/folders", params=place)
        (found,) = [one["id"] for one in answer["folders"] if one["name"] == name]
        return str(found)

    async def rename_folder(self, name: str, new: str, *, who: AsyncClient, status: int = 200) -> None:
        body = {"projectId": self.project, "environment": "dev", "path": "/", "name": new}
        await who.json("PATCH", f"/api/v2/folders/{await self.folder_id(name)}", status=status, json=body)

    async def rename_key(self, path: str, key: str, new: str, *, who: AsyncClient, status: int = 200) -> None:
        body = {**self.at(path), "newSecretName": new}
        await who.json("PATCH", f"/api/v4/secrets/{key}", status=status, json=body)

    async def carried(self) -> dict[str, str]:
        """Return what a sync of the organization's admin carries from `/out`."""
        admin = Principal(IdentityId(str(uuid4())), self.quiet.organization_id, OrganizationRole.ADMIN, 1, "")
        at = SecretsAt(ProjectRef(id=self.project), EnvironmentSlug("dev"), FolderPath("/out"))
        async with self.quiet.database.reading() as unit:
            return (await read_folder(unit, await open_project(unit, admin, at.project), at)).values


@pytest_asyncio.fixture(loop_scope="module")
async def scene(quiet: QuietService) -> Scene:
    project, other = await quiet.project(), await quiet.project()
    slug = (await quiet.admin.json("GET", f"/api/v1/projects/{other}"))["project"]["slug"]
    made = Scene(quiet, project, other, slug, await quiet.member({project: "member"}))
    for name in ("cfg", "out", "mid", "free", "hiding"):
        await quiet.folder(project, f"/{name}")
    body = {"projectId": project, "environment": "prod", "secretValue": "cnry-prod"}
    await quiet.admin.json("POST", "/api/v4/secrets/DB", json=body)
    body = {"projectId": other, "environment": "prod", "secretValue": "cnry-other"}
    await quiet.admin.json("POST", "/api/v4/secrets/KEY", json=body)
    await made.put("/cfg", "R", "${prod.DB}", who=quiet.admin)
    await made.put("/cfg", "FAR", f"${{@{slug}.prod.KEY}}", who=quiet.admin)
    await made.put("/cfg", "WHERE", "prod", who=quiet.admin)
    await made.put("/cfg", "BUILT", "${${dev.cfg.WHERE}.DB}", who=quiet.admin)
    await made.put("/free", "PLAIN", "free", who=quiet.admin)
    await made.put("/free", "NEAR", "${PLAIN}", who=quiet.admin)
    await made.import_to("/mid", "prod:/", who=quiet.admin)
    denial = {
        "identityId": made.member.identity_id,
        "effect": "deny",
        "actions": ["read", "read-value", "create", "edit", "delete"],
        "subjects": ["secrets", "secret-folders", "secret-imports"],
        "environment": "prod",
        "secretPath": "/**",
    }
    await quiet.admin.json("POST", f"/api/v1/projects/{project}/grants", json=denial)
    return made


Road = Callable[[Scene, AsyncClient, int], Awaitable[object]]


def _text(value: str) -> Road:
    async def write(scene: Scene, who: AsyncClient, status: int) -> None:
        await scene.put("/out", "X", value.replace("OTHER", scene.other_slug), who=who, status=status)

    return write


async def _changed_text(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.put("/out", "X", "plain", who=scene.admin)
    body = {**scene.at("/out"), "secretValue": "${dev.cfg.R}"}
    await who.json("PATCH", "/api/v4/secrets/X", status=status, json=body)


async def _batch(scene: Scene, who: AsyncClient, status: int) -> None:
    items = [
        {"secretKey": "OK", "secretValue": "plain"},
        {"secretKey": "X", "secretValue": "${dev.cfg.R}"},
    ]
    body = {**scene.at("/out"), "secrets": items}
    await who.json("POST", "/api/v4/secrets/batch", status=status, json=body)


async def _upserted_elsewhere(scene: Scene, who: AsyncClient, status: int) -> None:
    items = [{"secretKey": "X", "secretValue": "${dev.cfg.R}", "secretPath": "/out"}]
    body = {**scene.at("/free"), "mode": "upsert", "secrets": items}
    await who.json("PATCH", "/api/v4/secrets/batch", status=status, json=body)


async def _import(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.import_to("/out", "dev:/cfg", who=who, status=status)


async def _import_of_an_import(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.import_to("/out", "dev:/mid", who=who, status=status)


async def _redirected_import(scene: Scene, who: AsyncClient, status: int) -> None:
    made = await scene.import_to("/out", "dev:/free", who=scene.admin)
    body = {
        "projectId": scene.project,
        "environment": "dev",
        "path": "/out",
        "import": {"environment": "dev", "path": "/cfg"},
    }
    await who.json("PATCH", f"/api/v2/secret-imports/{made}", status=status, json=body)


async def _shadowed_import(scene: Scene, who: AsyncClient, status: int) -> None:
    """What another import hides comes to light when that one goes."""
    await scene.put("/hiding", "R", "plain", who=scene.admin)
    for source in ("dev:/cfg", "dev:/hiding"):
        await scene.import_to("/free", source, who=scene.admin)
    await scene.import_to("/out", "dev:/free", who=who, status=status)
    body = scene.at("/hiding")
    await scene.admin.json("DELETE", "/api/v4/secrets/R", json=body)


async def _copy(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.transfer("duplicate", "R", who=who, status=status)


async def _move(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.transfer("move", "R", who=who, status=status)


async def _moved_under_another_name(scene: Scene, who: AsyncClient, status: int) -> None:
    """The text names `prod`, which the member may read, and means the environment that is called `live` by now."""
    base = f"/api/v1/projects/{scene.other}"
    found = (await scene.admin.json("GET", base))["project"]["environments"]
    (prod,) = [one["id"] for one in found if one["slug"] == "prod"]
    await scene.admin.json("PATCH", f"{base}/environments/{prod}", json={"slug": "live"})
    await scene.admin.json("POST", f"{base}/environments", json={"name": "New", "slug": "prod"})
    identity = scene.member.identity_id
    path = f"{base}/memberships/identities/{identity}"
    await scene.admin.json("POST", path, json={"roles": [{"role": "viewer"}]})
    denial = {"effect": "deny", "actions": ["read-value"], "subjects": ["secrets"], "environment": "live"}
    body = {**denial, "identityId": identity, "secretPath": "/**"}
    await scene.admin.json("POST", f"{base}/grants", json=body)
    await scene.transfer("move", "FAR", who=who, status=status)


async def _key_that_is_waited_for(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.put("/out", "X", "${dev.cfg.LATER}", who=scene.admin)
    await scene.rename_key("/cfg", "R", "LATER", who=who, status=status)


async def _folder_that_is_imported_once_it_is_there(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.import_to("/out", "dev:/later", who=scene.admin)
    await scene.rename_folder("cfg", "later", who=who, status=status)


async def _folder_that_is_named_once_it_is_there(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.put("/out", "X", "${dev.later.R}", who=scene.admin)
    await scene.rename_folder("cfg", "later", who=who, status=status)


async def _folder_with_imports(scene: Scene, who: AsyncClient, status: int) -> None:
    await scene.import_to("/out", "dev:/later", who=scene.admin)
    await scene.rename_folder("mid", "later", who=who, status=status)


ROADS = [
    pytest.param(_text("${prod.DB}"), id="a text"),
    pytest.param(_text("${dev.cfg.R}"), id="a text that names one that leads there"),
    pytest.param(_text("${@OTHER.prod.KEY}"), id="a text that names another project"),
    pytest.param(_text("${dev.cfg.FAR}"), id="a text that leads to another project"),
    pytest.param(_text("${dev.cfg.BUILT}"), id="a text that names one that is built from others"),
    pytest.param(_changed_text, id="a text that is changed"),
    pytest.param(_batch, id="a batch"),
    pytest.param(_upserted_elsewhere, id="a batch for another folder"),
    pytest.param(_import, id="an import of texts that lead there"),
    pytest.param(_import_of_an_import, id="an import of an import"),
    pytest.param(_redirected_import, id="an import that is led elsewhere"),
    pytest.param(_shadowed_import, id="an import that is hidden by another"),
    pytest.param(_copy, id="a copy"),
    pytest.param(_move, id="a move"),
    pytest.param(_moved_under_another_name, id="a move after a rename"),
    pytest.param(_key_that_is_waited_for, id="a key that a text waits for"),
    pytest.param(_folder_that_is_imported_once_it_is_there, id="a folder that an import waits for"),
    pytest.param(_folder_that_is_named_once_it_is_there, id="a folder that a text waits for"),
    pytest.param(_folder_with_imports, id="a folder with imports that an import waits for"),
]


@pytest.mark.parametrize("road", ROADS)
async def test_who_may_not_read_it_has_nobody_carry_it(scene: Scene, road: Road) -> None:
    await road(scene, scene.member, 403)
    assert "cnry" not in str(await scene.carried())


@pytest.mark.parametrize("road", ROADS)
async def test_who_may_read_it_does(scene: Scene, road: Road) -> None:
    await road(scene, scene.admin, 200)
    assert "cnry" in str(await scene.carried())


async def _changed_to_it(scene: Scene) -> str:
    await scene.put("/free", "X", "plain", who=scene.admin)
    body = {**scene.at("/free"), "secretValue": "${prod.DB}"}
    await scene.admin.json("PATCH", "/api/v4/secrets/X", json=body)
    return "${dev.free.X}"


async def _commented(scene: Scene) -> str:
    body = {**scene.at("/cfg"), "secretComment": "its value stays"}
    await scene.admin.json("PATCH", "/api/v4/secrets/R", json=body)
    return "${dev.cfg.R}"


async def _copied(scene: Scene) -> str:
    await scene.transfer("duplicate", "R", who=scene.admin)
    return "${dev.out.R}"


async def _moved(scene: Scene) -> str:
    await scene.transfer("move", "R", who=scene.admin)
    return "${dev.out.R}"


async def _with_another_name(scene: Scene) -> str:
    await scene.rename_key("/cfg", "R", "NEW", who=scene.admin)
    return "${dev.cfg.NEW}"


async def _in_a_folder_with_another_name(scene: Scene) -> str:
    await scene.rename_folder("cfg", "config", who=scene.admin)
    return "${dev.config.R}"


async def _naming_a_folder_with_another_name(scene: Scene) -> str:
    await scene.put("/free", "X", "${dev.cfg.R}", who=scene.admin)
    await scene.rename_folder("cfg", "config", who=scene.admin)
    return "${dev.free.X}"


ARRIVALS = [
    pytest.param(_changed_to_it, id="changed from plain text"),
    pytest.param(_commented, id="with a new comment"),
    pytest.param(_copied, id="a copy"),
    pytest.param(_moved, id="moved"),
    pytest.param(_with_another_name, id="with another name"),
    pytest.param(_in_a_folder_with_another_name, id="in a folder with another name"),
    pytest.param(_naming_a_folder_with_another_name, id="naming a folder that has another name"),
]


@pytest.mark.parametrize("arrive", ARRIVALS)
async def test_a_text_on_the_way_is_judged_however_it_came_there(
    scene: Scene, arrive: Callable[[Scene], Awaitable[str]]
) -> None:
    text = await arrive(scene)
    await scene.put("/hiding", "LAST", text, who=scene.member, status=403)
    await scene.put("/hiding", "LAST", text, who=scene.admin)


async def test_what_leads_only_to_what_may_be_read_is_put_there(scene: Scene) -> None:
    member = scene.member
    await scene.put("/out", "A", "${dev.free.NEAR}", who=member)
    await scene.put("/out", "B", "${B} ${dev.out.A} ${missing.X} ${@missing.dev.X}", who=member)
    await scene.import_to("/out", "dev:/free", who=member)
    await scene.import_to("/out", "dev:/nowhere", who=member)
    assert (await scene.carried())["A"] == "free"


async def test_a_folder_that_nobody_waits_for_is_renamed_whatever_it_leads_to(scene: Scene) -> None:
    await scene.rename_folder("cfg", "config", who=scene.member)


async def test_texts_may_name_more_than_is_followed_as_a_text(scene: Scene) -> None:
    """Nothing grows while a text is written: what would, is refused to who reads it."""
    await scene.put("/free", "L0", "x" * 1000, who=scene.member)
    for level in range(1, 11):
        text = f"${{L{level - 1}}}" * 10
        await scene.put("/free", f"L{level}", text, who=scene.member)
