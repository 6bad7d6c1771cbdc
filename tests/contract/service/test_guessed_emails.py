"""Who invites people by email learns which emails the organization has: guesses count against who makes them."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from support.databases import OwnDatabase
from support.quiet_service import AsyncClient, QuietService, quiet_service
from unit.controllers.fakes.hand_clock import HandClock

pytestmark = pytest.mark.every_database
PASSWORD = "cnry-correct-horse-battery"
PAUSE = 31
"""Seconds after which a guess is the first one again."""


@dataclass
class Inviter:
    """An identity that is no admin of the organization, and the project that it made."""

    client: AsyncClient
    project: str

    async def invite(self, *emails: str, status: int, role: str = "viewer") -> dict[str, Any]:
        body = {"emails": emails, "roleSlugs": [role]}
        return await self.client.json("POST", self.path, status=status, json=body)

    @property
    def path(self) -> str:
        return f"/api/v1/projects/{self.project}/memberships"


@dataclass
class Scene:
    service: QuietService
    clock: HandClock
    own: OwnDatabase
    directory: Path

    async def inviter(self) -> Inviter:
        client = await self.service.member()
        made = await client.json("POST", "/api/v1/projects", json={"projectName": "mine"})
        return Inviter(client, str(made["project"]["id"]))

    async def person(self) -> str:
        email = f"{secrets.token_hex(6)}@example.com"
        body = {"email": email, "password": PASSWORD}
        await self.service.admin.json("POST", "/api/v1/users", json=body)
        return email

    def counters(self) -> int:
        return int(self.own.execute(self.directory, "SELECT count(*) FROM login_failures"))


@pytest_asyncio.fixture
async def scene(own_database: OwnDatabase, tmp_path: Path) -> AsyncIterator[Scene]:
    clock = HandClock()
    async with quiet_service(tmp_path, own_database, clock=clock) as service:
        yield Scene(service, clock, own_database, tmp_path)


async def test_after_three_guesses_no_email_is_told_of_until_five_minutes_have_passed(scene: Scene) -> None:
    inviter, known = await scene.inviter(), await scene.person()
    for number in range(3):
        told = await inviter.invite(f"nobody-{number}@example.com", status=404)
        assert told["message"] == (
            f"No user of the organization has the email or username 'nobody-{number}@example.com'"
        )
    refusals = [await inviter.invite(email, status=429) for email in (known, "nobody-3@example.com")]
    assert refusals[0] == refusals[1] | {"reqId": refusals[0]["reqId"]}
    assert refusals[0]["error"] == "RateLimitExceeded"
    assert "try again in 5 minutes" in refusals[0]["message"]
    assert "admin of the organization" in refusals[0]["message"]
    scene.clock.seconds += 299
    await inviter.invite(known, status=429)
    scene.clock.seconds += 1
    [member] = (await inviter.invite(known, status=200))["memberships"]
    assert member["user"]["email"] == known


async def test_a_refusal_says_after_how_many_seconds_to_come_back(scene: Scene) -> None:
    inviter = await scene.inviter()
    for _ in range(3):
        await inviter.invite("nobody@example.com", status=404)
    scene.clock.seconds += 250.5
    refused = await inviter.client.post(inviter.path, json={"emails": ["nobody@example.com"]})
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == str(math.ceil(300 - 250.5))
    assert "try again in 1 minute." in refused.json()["message"]


async def test_known_emails_between_the_guesses_change_nothing(scene: Scene) -> None:
    inviter, known = await scene.inviter(), await scene.person()
    for number in range(3):
        await inviter.invite(known, status=200)
        await inviter.invite(known, f"nobody-{number}@example.com", status=404)
    await inviter.invite(known, status=429)


async def test_one_unknown_email_among_several_says_nothing_of_the_others(scene: Scene) -> None:
    inviter, known = await scene.inviter(), await scene.person()
    told = await inviter.invite(known, "zzz@example.com", status=404)
    assert told["message"] == (
        "At least one of these emails or usernames belongs to no user of the organization; ask an admin of the "
        "organization, who can list its users"
    )
    admin = Inviter(scene.service.admin, inviter.project)
    assert "'zzz@example.com'" in (await admin.invite(known, "zzz@example.com", status=404))["message"]


async def test_slow_guesses_are_refused_for_an_hour_after_the_fifteenth(scene: Scene) -> None:
    inviter, known = await scene.inviter(), await scene.person()
    for number in range(15):
        await inviter.invite(known, status=200)
        await inviter.invite(f"nobody-{number}@example.com", status=404)
        scene.clock.seconds += PAUSE
    told = (await inviter.invite(known, status=429))["message"]
    assert "try again in 60 minutes" in told
    scene.clock.seconds += 3600 - PAUSE
    await inviter.invite(known, status=200)


async def test_guesses_made_at_once_are_all_counted(scene: Scene) -> None:
    inviter = await scene.inviter()
    tries = [
        inviter.client.post(inviter.path, json={"emails": [f"nobody-{number}@example.com"]})
        for number in range(8)
    ]
    answered = [answer.status_code for answer in await asyncio.gather(*tries)]
    assert sorted(answered) == [404] * 3 + [429] * 5


async def test_one_who_guesses_keeps_nobody_else_from_inviting(scene: Scene) -> None:
    guesser, other = await scene.inviter(), await scene.inviter()
    known = await scene.person()
    for _ in range(3):
        await guesser.invite("nobody@example.com", status=404)
    await guesser.invite(known, status=429)
    await other.invite(known, status=200)
    # The budget is the guesser's, whichever project it invites to.
    made = await guesser.client.json("POST", "/api/v1/projects", json={"projectName": "another"})
    await Inviter(guesser.client, str(made["project"]["id"])).invite(known, status=429)


async def test_who_may_list_the_users_of_the_organization_has_no_budget(scene: Scene) -> None:
    inviter = await scene.inviter()
    admin = Inviter(scene.service.admin, inviter.project)
    for number in range(16):
        await admin.invite(f"nobody-{number}@example.com", status=404)
    await admin.invite(await scene.person(), status=200)
    assert scene.counters() == 0


async def test_whoever_may_not_give_the_role_learns_nothing_of_emails(scene: Scene) -> None:
    inviter, known = await scene.inviter(), await scene.person()
    body = {
        "identityId": inviter.client.identity_id,
        "effect": "deny",
        "actions": ["read", "read-value"],
        "environment": "prod",
    }
    await scene.service.admin.json("POST", f"/api/v1/projects/{inviter.project}/grants", json=body)
    refusals = [
        await inviter.invite(email, status=403, role="admin") for email in (known, "nobody@example.com")
    ]
    assert refusals[0] == refusals[1] | {"reqId": refusals[0]["reqId"]}


async def test_counters_end_a_day_after_the_last_guess(scene: Scene) -> None:
    guesser, other = await scene.inviter(), await scene.inviter()
    await guesser.invite("nobody@example.com", status=404)
    await other.invite(await scene.person(), status=200)
    scene.clock.seconds += 24 * 3600 + 1
    await other.invite("nobody@example.com", status=404)
    assert scene.counters() == 1


async def invitations_in_the_log(scene: Scene, inviter: Inviter) -> list[dict[str, Any]]:
    await scene.service.context.audit.flush()
    query = {"eventType": "invitation-refused", "projectId": inviter.project}
    answer = await scene.service.admin.json("GET", "/api/v1/organization/audit-logs", params=query)
    lines: list[dict[str, Any]] = answer["auditLogs"][::-1]
    return lines


async def test_the_audit_log_tells_who_invited_unknown_emails_but_not_which(scene: Scene) -> None:
    inviter, known = await scene.inviter(), await scene.person()
    await inviter.invite("cnry-nobody@example.com", status=404)
    await inviter.invite(known, "cnry-nobody@example.com", status=404)
    await inviter.invite("cnry-nobody@example.com", status=404)
    await inviter.invite(known, status=429)
    await inviter.invite("cnry-nobody@example.com", status=429)
    lines = await invitations_in_the_log(scene, inviter)
    unknown, too_many = "No user has one of the emails", "Too many unknown emails"
    told = [
        (line["event"]["metadata"]["reason"], line["event"]["metadata"]["numberOfEmails"]) for line in lines
    ]
    assert sorted(told) == [(unknown, 1), (unknown, 1), (unknown, 2), (too_many, 1), (too_many, 1)]
    assert {line["actor"]["metadata"]["identityId"] for line in lines} == {inviter.client.identity_id}
    assert "example.com" not in str(lines)


async def test_the_audit_log_tells_of_an_admin_who_invites_an_unknown_email(scene: Scene) -> None:
    inviter = await scene.inviter()
    await Inviter(scene.service.admin, inviter.project).invite("cnry-nobody@example.com", status=404)
    [line] = await invitations_in_the_log(scene, inviter)
    assert line["event"]["metadata"] == {"reason": "No user has one of the emails", "numberOfEmails": 1}
    assert "cnry" not in str(line)
