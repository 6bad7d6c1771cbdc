"""Where references lead when names change hands: to what they meant when they were written, or nowhere."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, ProjectId
from keybearer.domain.access import ProjectRef, open_project
from keybearer.domain.authorization import OrganizationRole, Principal
from keybearer.domain.secrets.dependents import dependent_changes
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.domain.syncs.source import read_folder
from keybearer.store.revisions import ChangeKind, ListChange
from support.quiet_service import IN_ONE_LOOP, QuietService

pytestmark = [IN_ONE_LOOP, pytest.mark.every_database]


class Place:
    """A project, as its admin sees it."""

    def __init__(self, quiet: QuietService, project: str, slug: str) -> None:
        self.admin, self.quiet, self.id, self.slug = quiet.admin, quiet, project, slug

    async def put(self, slug: str, key: str, value: str, *, method: str = "POST") -> None:
        body = {"projectId": self.id, "environment": slug, "secretValue": value}
        await self.admin.json(method, f"/api/v4/secrets/{key}", json=body)

    async def values(self, slug: str = "dev", *, expand: bool = True) -> dict[str, str]:
        at = {"projectId": self.id, "environment": slug, "expandSecretReferences": str(expand).lower()}
        answer = await self.admin.json("GET", "/api/v4/secrets", params=at)
        return {one["secretKey"]: one["secretValue"] for one in answer["secrets"]}

    async def one(self, key: str, slug: str = "dev") -> str:
        at = {"projectId": self.id, "environment": slug}
        answer = await self.admin.json("GET", f"/api/v4/secrets/{key}", params=at)
        return str(answer["secret"]["secretValue"])

    async def pushed(self, slug: str = "dev") -> dict[str, str]:
        """Return what a sync of an admin would push."""
        admin = Principal(IdentityId(str(uuid4())), self.quiet.organization_id, OrganizationRole.ADMIN, 1, "")
        at = SecretsAt(ProjectRef(id=self.id), EnvironmentSlug(slug), FolderPath("/"))
        async with self.quiet.database.reading() as unit:
            return (await read_folder(unit, await open_project(unit, admin, at.project), at)).values

    async def environment(self, slug: str) -> str:
        answer = await self.admin.json("GET", f"/api/v1/projects/{self.id}")
        (found,) = [one["id"] for one in answer["project"]["environments"] if one["slug"] == slug]
        return f"/api/v1/projects/{self.id}/environments/{found}"

    async def rename(self, old: str, new: str) -> None:
        await self.admin.json("PATCH", await self.environment(old), json={"slug": new})

    async def remove(self, slug: str) -> None:
        await self.admin.json("DELETE", await self.environment(slug))

    async def make(self, slug: str) -> None:
        body = {"name": slug, "slug": slug}
        await self.admin.json("POST", f"/api/v1/projects/{self.id}/environments", json=body)

    async def call(self, slug: str) -> None:
        await self.admin.json("PATCH", f"/api/v1/projects/{self.id}", json={"slug": slug})
        self.slug = slug


async def place(quiet: QuietService, slug: str = "") -> Place:
    slug = slug or f"p-{uuid4().hex[:8]}"
    body = {"projectName": "p", "slug": slug}
    made: dict[str, Any] = (await quiet.admin.json("POST", "/api/v1/projects", json=body))["project"]
    return Place(quiet, made["id"], slug)


async def test_a_name_that_stood_for_nothing_is_read_by_who_may_and_never_pushed(quiet: QuietService) -> None:
    here = await place(quiet)
    await here.put("prod", "DB", "cnry-db")
    await here.put("dev", "LATER", "${later.DB}")
    assert await here.pushed() == {"LATER": "${later.DB}"}

    await here.rename("prod", "later")

    assert await here.values() == {"LATER": "cnry-db"}
    assert await here.pushed() == {"LATER": "${later.DB}"}


async def test_a_text_that_is_written_anew_means_what_has_the_name_then(quiet: QuietService) -> None:
    here = await place(quiet)
    await here.put("dev", "A", "${later.DB}")
    await here.make("later")
    await here.put("later", "DB", "cnry-db")
    assert await here.pushed() == {"A": "${later.DB}"}

    await here.put("dev", "A", "<${later.DB}>", method="PATCH")

    assert await here.pushed() == {"A": "<cnry-db>"}


async def test_a_comment_or_a_rename_of_the_secret_gives_no_name_a_meaning(quiet: QuietService) -> None:
    here = await place(quiet)
    await here.put("dev", "A", "${later.DB}")
    await here.make("later")
    await here.put("later", "DB", "cnry-db")

    body = {"projectId": here.id, "environment": "dev", "secretComment": "c", "newSecretName": "B"}
    await quiet.admin.json("PATCH", "/api/v4/secrets/A", json=body)

    assert await here.pushed() == {"B": "${later.DB}"}


async def test_a_reference_ends_with_its_environment(quiet: QuietService) -> None:
    here = await place(quiet)
    await here.put("staging", "DB", "cnry-staging")
    await here.put("prod", "DB", "cnry-prod")
    await here.put("dev", "A", "${staging.DB}")
    assert await here.values() == {"A": "cnry-staging"}

    await here.remove("staging")
    await here.rename("prod", "staging")

    assert await here.values() == {"A": "${staging.DB}"}
    assert await here.one("A") == "${staging.DB}"
    assert await here.pushed() == {"A": "${staging.DB}"}
    await here.rename("staging", "live")
    assert await here.values(expand=False) == {"A": "${staging.DB}"}


async def test_references_of_the_project_follow_a_rename_and_go_on_to_be_pushed(quiet: QuietService) -> None:
    here = await place(quiet)
    await here.put("prod", "DB", "cnry-db")
    await here.put("dev", "A", "${prod.DB}")
    await here.put("dev", "B", "${prod.later.DB}")

    await here.rename("prod", "live")
    await here.make("prod")
    await quiet.folder(here.id, "/later", "live")
    body = {"projectId": here.id, "environment": "live", "secretPath": "/later", "secretValue": "cnry-later"}
    await quiet.admin.json("POST", "/api/v4/secrets/DB", json=body)

    # The folder didn't exist, so no text was found that names it; it means the same environment nevertheless.
    assert await here.values(expand=False) == {"A": "${live.DB}", "B": "${prod.later.DB}"}
    assert await here.pushed() == {"A": "cnry-db", "B": "cnry-later"}
    await here.rename("live", "again")
    assert await here.pushed() == {"A": "cnry-db", "B": "cnry-later"}


async def test_texts_of_other_projects_stay_and_lead_where_they_led(quiet: QuietService) -> None:
    there, here = await place(quiet), await place(quiet)
    slug, text = there.slug, f"<${{@{there.slug}.prod.DB}}>"
    await there.put("prod", "DB", "cnry-db")
    await here.put("dev", "A", text)
    await here.put("dev", "B", "${A}")

    await there.rename("prod", "live")
    await there.call(f"{slug}-2")

    led = {"A": "<cnry-db>", "B": "<cnry-db>"}
    assert (await here.values(), await here.pushed()) == (led, led)
    assert (await here.values(expand=False))["A"] == text
    # Another project takes the slug: nothing changes.
    other = await place(quiet, slug)
    await other.put("prod", "DB", "cnry-other")
    assert (await here.values(), await here.pushed()) == (led, led)
    await there.put("live", "DB", "cnry-new", method="PATCH")
    assert await here.values() == {"A": "<cnry-new>", "B": "<cnry-new>"}
    await quiet.admin.json("DELETE", f"/api/v1/projects/{there.id}")
    assert await here.values() == {"A": text, "B": text}


async def test_a_tree_shows_where_a_reference_leads(quiet: QuietService) -> None:
    there, here = await place(quiet), await place(quiet)
    await there.put("prod", "DB", "cnry-db")
    await here.put("dev", "A", f"${{@{there.slug}.prod.DB}}")
    await there.rename("prod", "live")

    at = {"projectId": here.id, "environment": "dev", "secretPath": "/"}
    answer = await quiet.admin.json("GET", "/api/v4/secrets/A/secret-reference-tree", params=at)

    (child,) = answer["tree"]["children"]
    assert (child["environment"], child["value"]) == ("live", "cnry-db")


async def test_readers_of_a_renamed_project_hear_of_its_changes(quiet: QuietService) -> None:
    there, here = await place(quiet), await place(quiet)
    await there.put("prod", "DB", "cnry-db")
    await here.put("dev", "A", f"${{@{there.slug}.prod.DB}}")
    await there.call(f"{there.slug}-2")
    await there.rename("prod", "live")
    changed = ListChange(
        ChangeKind.UPDATED, ProjectId(there.id), EnvironmentSlug("live"), FolderPath("/"), "DB", ""
    )

    async with quiet.database.reading() as unit:
        follow = await dependent_changes(unit, [changed])

    assert [(one.project_id, one.environment, one.key) for one in follow] == [(here.id, "dev", "A")]
