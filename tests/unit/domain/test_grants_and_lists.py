"""Two laws about grants, over random ones: no list shows more than they say, and what they change changes tags."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keybearer.base.clock import SystemClock
from keybearer.base.ids import IdentityId
from keybearer.domain.authorization import Action, OrganizationRole, Principal, ProjectRole
from keybearer.domain.errors import ForbiddenError
from keybearer.domain.grants import ProjectGrants
from keybearer.domain.identity_memberships import IdentityMemberships
from keybearer.domain.permissions import Effect
from keybearer.domain.secrets.changes import NewSecret
from keybearer.domain.secrets.questions import ListSecrets, SecretListing
from keybearer.interface.grants import CreateGrant
from keybearer.server.rendering import listing_body
from keybearer.store.records import Identity, Project
from support.service_domain import ServiceDomain, at, service_domain

PATHS = ("/", "/a", "/a/b", "/ab", "/c")
PATTERNS = ("/", "/**", "/a", "/a/**", "/*", "/a*", "/**/b", "/a/*")


def means(pattern: str, path: str) -> bool:
    """Whether the pattern means the path, by a regular expression instead of the product's own walk."""
    parts = [part for part in pattern.split("/") if part]
    text = "".join(
        "(?:/[^/]+)*" if part == "**" else "/" + re.escape(part).replace(r"\*", "[^/]*") for part in parts
    )
    return re.fullmatch(text, "" if path == "/" else path) is not None


@dataclass(frozen=True)
class Given:
    """A grant as the test draws it."""

    effect: Effect
    actions: tuple[Action, ...]
    environment: str
    path: str

    def speaks(self, effect: Effect, action: Action, environment: str, path: str) -> bool:
        return (
            self.effect is effect
            and action in self.actions
            and self.environment in ("*", environment)
            and means(self.path, path)
        )


def may(role: str, grants: list[Given], action: Action, environment: str, path: str) -> bool:
    """What the documents say, written down once more."""
    if any(grant.speaks(Effect.DENY, action, environment, path) for grant in grants):
        return False
    by_role = role != ProjectRole.NO_ACCESS
    return by_role or any(grant.speaks(Effect.ALLOW, action, environment, path) for grant in grants)


grants = st.builds(
    Given,
    st.sampled_from(Effect),
    st.lists(st.sampled_from([Action.READ, Action.READ_VALUE]), min_size=1, max_size=2, unique=True).map(
        tuple
    ),
    st.sampled_from(["*", "dev", "prod"]),
    st.sampled_from(PATTERNS),
)


@dataclass(frozen=True)
class Shared:
    """One database and one project for all examples, with a secret in each folder of both environments."""

    runner: asyncio.Runner
    domain: ServiceDomain
    project: Project


async def filled(domain: ServiceDomain) -> Project:
    project = await domain.project("grants-and-lists")
    for environment in ("dev", "prod"):
        for path in PATHS:
            if path != "/":
                await domain.folder(project, path, environment)
            name = f"K{path.replace('/', '_')}"
            place = at(project, path, environment)
            await domain.writing.create(
                domain.admin, place, [NewSecret(name, f"value of {environment}{path}")]
            )
    return project


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    with asyncio.Runner() as runner:
        opened = service_domain(tmp_path_factory.mktemp("grants"))
        domain = runner.run(opened.__aenter__())
        yield Shared(runner, domain, runner.run(filled(domain)))
        runner.run(opened.__aexit__(None, None, None))


async def new_member(domain: ServiceDomain, project: Project, role: str) -> Principal:
    clock = SystemClock()
    identity = Identity(
        IdentityId(str(uuid4())),
        domain.admin.organization_id,
        "someone",
        OrganizationRole.NO_ACCESS,
        1,
        clock.now(),
        clock.now(),
    )
    async with domain.database.writing() as unit:
        await unit.identities.add(identity)
    memberships = IdentityMemberships(domain.database, clock)
    await memberships.put(domain.admin, project.id, identity.id, (role,))
    return Principal(identity.id, identity.organization_id, identity.role, 1, "token")


async def present(domain: ServiceDomain, principal: Principal) -> Principal:
    """The principal as a token's check would find it now."""
    async with domain.database.reading() as unit:
        identity = await unit.identities.get(principal.identity_id)
    assert identity is not None
    return replace(principal, permission_revision=identity.permission_revision)


async def body_and_tag(
    shared: Shared, who: Principal, environment: str, path: str, *, recursive: bool
) -> tuple[bytes, str] | None:
    """The answer to a list; None where it is refused."""
    query = ListSecrets(
        at(shared.project, path, environment),
        recursive=recursive,
        expand=True,
        view_value=True,
        include_imports=True,
    )
    try:
        listing = await shared.domain.reading.list(who, query)
    except ForbiddenError:
        return None
    assert isinstance(listing, SecretListing)
    return await listing_body(listing), listing.tag


def shown(body: bytes) -> dict[str, str]:
    """Values by path, as a body tells them; the mask stays what it is."""
    return {one["secretPath"]: one["secretValue"] for one in orjson.loads(body)["secrets"]}


def expected(role: str, some: list[Given], environment: str, path: str, *, recursive: bool) -> dict[str, str]:
    beneath = [
        place
        for place in PATHS
        if place == path or (recursive and place.startswith(path if path == "/" else f"{path}/"))
    ]
    return {
        place: f"value of {environment}{place}"
        if may(role, some, Action.READ_VALUE, environment, place)
        else "<hidden-by-infisical>"
        for place in beneath
        if may(role, some, Action.READ, environment, place)
    }


async def both_laws_hold(shared: Shared, role: str, some: list[Given]) -> None:
    service = ProjectGrants(shared.domain.database, SystemClock())
    who = await new_member(shared.domain, shared.project, role)
    before: dict[tuple[str, str, bool], tuple[bytes, str]] = {}
    for count in range(len(some) + 1):
        if count:
            drawn = some[count - 1]
            words: dict[str, Any] = {"effect": drawn.effect, "actions": drawn.actions}
            new = CreateGrant(
                who.identity_id,
                project_id=shared.project.id,
                environment=drawn.environment,
                secret_path=drawn.path,
                **words,
            )
            await service.create(shared.domain.admin, new)
        who = await present(shared.domain, who)
        for environment in ("dev", "prod"):
            for path in PATHS:
                for recursive in (False, True):
                    answer = await body_and_tag(shared, who, environment, path, recursive=recursive)
                    wanted = expected(role, some[:count], environment, path, recursive=recursive)
                    place = (environment, path, recursive)
                    if answer is None:
                        assert wanted == {}
                        continue
                    assert shown(answer[0]) == wanted
                    if place in before and before[place][0] != answer[0]:
                        assert before[place][1] != answer[1]
                    before[place] = answer


@settings(max_examples=25, deadline=None)
@given(
    role=st.sampled_from([ProjectRole.NO_ACCESS, ProjectRole.VIEWER]),
    some=st.lists(grants, min_size=1, max_size=4),
)
def test_a_list_shows_exactly_what_role_and_grants_say_and_its_tag_tells_a_change(
    shared: Shared, role: str, some: list[Given]
) -> None:
    shared.runner.run(both_laws_hold(shared, role, some))
