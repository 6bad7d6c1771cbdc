"""Slugs that projects gave up, and identities that others would make members: nobody slips under what others name."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from keybearer.base.ids import OrganizationId, ProjectId
from keybearer.store.former_slugs import FormerSlug
from support.quiet_service import IN_ONE_LOOP, AsyncClient, QuietService

pytestmark = [IN_ONE_LOOP, pytest.mark.every_database]


def slug() -> str:
    return f"p-{uuid4().hex[:8]}"


async def create(who: AsyncClient, named: str, *, status: int = 200) -> str:
    body = {"projectName": "p", "slug": named}
    answer = await who.json("POST", "/api/v1/projects", status=status, json=body)
    return str(answer["project"]["id"] if status == 200 else answer["message"])


async def rename(who: AsyncClient, project: str, named: str, *, status: int = 200) -> None:
    await who.json("PATCH", f"/api/v1/projects/{project}", status=status, json={"slug": named})


async def delete(who: AsyncClient, project: str) -> None:
    await who.json("DELETE", f"/api/v1/projects/{project}")


async def note(quiet: QuietService, organization: OrganizationId, named: str, ago: timedelta) -> None:
    """Have a project have given up the slug so long ago."""
    now = quiet.database.clock.now()
    former = FormerSlug(organization, named, ProjectId(str(uuid4())), None, now - ago)
    async with quiet.database.writing() as unit:
        await unit.former_slugs.put(former, keep_since=now - 2 * ago)


class TestASlugThatWasGivenUp:
    async def test_of_a_renamed_project_is_that_projects_and_admins_alone(self, quiet: QuietService) -> None:
        named, owner, other = slug(), await quiet.member(), await quiet.member()
        project = await create(owner, named)
        await rename(owner, project, slug())

        refused = await create(other, named, status=403)
        own = await create(other, slug())
        await rename(other, own, named, status=403)

        assert f"'{named}'" in refused
        await rename(owner, project, named)
        await rename(owner, project, slug())
        await create(quiet.admin, named)

    async def test_of_a_deleted_project_is_for_who_deleted_it_and_for_admins(
        self, quiet: QuietService
    ) -> None:
        named, owner, other = slug(), await quiet.member(), await quiet.member()
        await delete(owner, await create(owner, named))

        await create(other, named, status=403)

        again = await create(owner, named)
        await delete(quiet.admin, again)
        await create(owner, named, status=403)
        await create(quiet.admin, named)

    @pytest.mark.parametrize(("days", "status"), [(29, 403), (31, 200)])
    async def test_is_everybodys_after_thirty_days(self, quiet: QuietService, days: int, status: int) -> None:
        named, other = slug(), await quiet.member()
        await note(quiet, quiet.organization_id, named, timedelta(days=days))

        await create(other, named, status=status)

    async def test_of_another_organization_is_nobodys_here(self, quiet: QuietService) -> None:
        named, other = slug(), await quiet.member()
        await note(quiet, await quiet.other_organization(), named, timedelta(0))

        await create(other, named)


class TestMembers:
    async def test_an_admin_of_a_project_alone_makes_no_identity_a_member(self, quiet: QuietService) -> None:
        admin_there, reader = await quiet.member(), await quiet.member()
        project = await create(admin_there, slug())
        path = f"/api/v1/projects/{project}/memberships/identities/{reader.identity_id}"
        roles = {"roles": [{"role": "viewer"}]}

        refused = await admin_there.json("POST", path, status=403, json=roles)
        await reader.json("GET", f"/api/v1/projects/{project}", status=403)

        assert "admin of the organization" in refused["message"]
        await quiet.admin.json("POST", path, json=roles)
        # Who is one gets other roles from the project's admins.
        await admin_there.json("PATCH", path, json={"roles": [{"role": "member"}]})
        await admin_there.json("DELETE", path)
