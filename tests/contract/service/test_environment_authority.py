"""What the slug of an environment gives and takes: who may rename and delete one, and what grants mean afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from support.quiet_service import IN_ONE_LOOP, AsyncClient, QuietService

pytestmark = [IN_ONE_LOOP, pytest.mark.every_database]
ALL = ["read", "read-value", "create", "edit", "delete"]
SUBJECTS = {
    "secrets": ["read", "read-value", "create", "edit", "delete"],
    "secret-folders": ["read", "create", "edit", "delete"],
    "secret-imports": ["read", "create", "edit", "delete"],
}


async def grant(
    quiet: QuietService,
    project: str,
    who: AsyncClient,
    effect: str,
    *actions: str,
    status: int = 200,
    **more: object,
) -> dict[str, Any]:
    body = {
        "identityId": who.identity_id,
        "effect": effect,
        "actions": actions,
        "environment": "prod",
        **more,
    }
    answer = await quiet.admin.json("POST", f"/api/v1/projects/{project}/grants", status=status, json=body)
    shown: dict[str, Any] = answer["grant"] if status == 200 else answer
    return shown


async def grants(quiet: QuietService, project: str) -> list[dict[str, Any]]:
    answer = await quiet.admin.json("GET", f"/api/v1/projects/{project}/grants")
    shown: list[dict[str, Any]] = answer["grants"]
    return shown


async def environment(quiet: QuietService, project: str, slug: str) -> str:
    answer = await quiet.admin.json("GET", f"/api/v1/projects/{project}")
    (found,) = [one["id"] for one in answer["project"]["environments"] if one["slug"] == slug]
    return str(found)


async def rename(
    quiet: QuietService, who: AsyncClient, project: str, old: str, new: str, *, status: int = 200
) -> dict[str, Any]:
    path = f"/api/v1/projects/{project}/environments/{await environment(quiet, project, old)}"
    return await who.json("PATCH", path, status=status, json={"slug": new})


async def remove(
    quiet: QuietService, who: AsyncClient, project: str, slug: str, *, status: int = 200
) -> dict[str, Any]:
    path = f"/api/v1/projects/{project}/environments/{await environment(quiet, project, slug)}"
    return await who.json("DELETE", path, status=status)


async def put(quiet: QuietService, project: str, slug: str, **values: str) -> None:
    for key, value in values.items():
        body = {"projectId": project, "environment": slug, "secretValue": value}
        await quiet.admin.json("POST", f"/api/v4/secrets/{key}", json=body)


async def value(who: AsyncClient, project: str, slug: str, key: str, *, status: int = 200) -> object:
    at = {"projectId": project, "environment": slug}
    answer = await who.json("GET", f"/api/v4/secrets/{key}", status=status, params=at)
    return answer["secret"]["secretValue"] if status == 200 else answer


class TestRenaming:
    @pytest.mark.parametrize(
        ("subject", "action"),
        [(subject, action) for subject, actions in SUBJECTS.items() for action in actions],
    )
    async def test_it_needs_what_moving_all_folders_needs(
        self, quiet: QuietService, subject: str, action: str
    ) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "member"})
        needed = not (action == "create" or (action == "read" and subject != "secrets"))
        await grant(quiet, project, member, "deny", action, subjects=[subject], secretPath="/deep/**")

        await rename(quiet, member, project, "prod", "later", status=403 if needed else 200)

    async def test_a_member_who_is_denied_everything_of_prod_does_not_take_its_place(
        self, quiet: QuietService
    ) -> None:
        project = await quiet.project()
        member, viewer = await quiet.member({project: "member"}), await quiet.member({project: "viewer"})
        await grant(
            quiet,
            project,
            member,
            "deny",
            *SUBJECTS["secret-folders"],
            subjects=list(SUBJECTS),
            secretPath="/**",
        )
        await put(quiet, project, "prod", DB_URL="cnry-real")
        await put(quiet, project, "dev", DB_URL="cnry-false")

        await rename(quiet, member, project, "prod", "x", status=403)
        await rename(quiet, member, project, "dev", "prod", status=400)

        assert await value(viewer, project, "prod", "DB_URL") == "cnry-real"

    @pytest.mark.parametrize("subject", ["secrets", "secret-folders", "secret-imports"])
    async def test_it_needs_the_right_to_create_under_the_new_slug(
        self, quiet: QuietService, subject: str
    ) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "member"})
        await grant(
            quiet, project, member, "deny", "create", subjects=[subject], environment="*", secretPath="/x/**"
        )

        await rename(quiet, member, project, "prod", "later", status=403)

    async def test_a_name_and_a_position_need_no_more_than_before(self, quiet: QuietService) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "member"})
        await grant(quiet, project, member, "deny", "edit", secretPath="/**")

        path = f"/api/v1/projects/{project}/environments/{await environment(quiet, project, 'prod')}"
        await member.json("PATCH", path, json={"name": "Live", "position": 1, "slug": "prod"})


class TestDeleting:
    @pytest.mark.parametrize(
        ("subject", "action"),
        [
            (subject, action)
            for subject, actions in SUBJECTS.items()
            for action in actions
            if action in ("read-value", "edit", "delete")
        ],
    )
    async def test_it_needs_what_moving_all_folders_away_needs(
        self, quiet: QuietService, subject: str, action: str
    ) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "member"})
        await grant(quiet, project, member, "deny", action, subjects=[subject], secretPath="/deep/**")

        await remove(quiet, member, project, "prod", status=403)
        await remove(quiet, member, project, "dev")


class TestGrants:
    async def test_they_follow_their_environment_to_its_new_slug(self, quiet: QuietService) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "no-access"})
        await put(quiet, project, "prod", A="cnry-a")
        await put(quiet, project, "dev", A="cnry-d")
        await grant(quiet, project, member, "allow", "read", "read-value", secretPath="/**")

        await rename(quiet, quiet.admin, project, "prod", "live")
        await rename(quiet, quiet.admin, project, "dev", "prod")

        assert await value(member, project, "live", "A") == "cnry-a"
        await value(member, project, "prod", "A", status=403)
        assert [one["environment"] for one in await grants(quiet, project)] == ["live"]

    async def test_they_end_with_their_environment(self, quiet: QuietService) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "no-access"})
        await put(quiet, project, "prod", DB="cnry-db")
        gone = await grant(
            quiet, project, member, "allow", "read", "read-value", environment="staging", secretPath="/**"
        )
        kept = await grant(quiet, project, member, "allow", "read", environment="*", secretPath="/open/**")

        await remove(quiet, quiet.admin, project, "staging")
        await rename(quiet, quiet.admin, project, "prod", "staging")

        await value(member, project, "staging", "DB", status=403)
        assert [one["id"] for one in await grants(quiet, project)] == [kept["id"]]
        log = await quiet.admin.json(
            "GET",
            "/api/v1/organization/audit-logs",
            params={"eventType": "delete-grant", "projectId": project},
        )
        assert [one["event"]["metadata"]["grantId"] for one in log["auditLogs"]] == [gone["id"]]

    async def test_one_that_names_no_environment_of_the_project_is_refused(self, quiet: QuietService) -> None:
        project = await quiet.project()
        member = await quiet.member({project: "member"})

        refused = await grant(quiet, project, member, "allow", "read", environment="later", status=404)
        made = await grant(quiet, project, member, "allow", "read")

        assert "'later'" in refused["message"]
        path = f"/api/v1/projects/{project}/grants/{made['id']}"
        await quiet.admin.json("PATCH", path, status=404, json={"environment": "later"})
        moved = await quiet.admin.json("PATCH", path, json={"environment": "dev"})
        assert moved["grant"]["environment"] == "dev"
        await remove(quiet, quiet.admin, project, "prod")
        assert [one["id"] for one in await grants(quiet, project)] == [made["id"]]
