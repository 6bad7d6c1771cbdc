"""The tag of a list against its bytes: whatever is written, by whomever it is read, with whichever flags.

Each list is asked for in three ways: with all tags of former answers, from wherever the service has it; with a query
that it has never seen, so that nothing kept in memory can answer; and as a client does. A tag that was once given
with a body may never come with another one, whoever asks for whatever.

More of it by hand, with twenty times the examples:

    pytest tests/contract/service/test_tags_tell_of_every_change.py --hypothesis-profile thorough --timeout 0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from support.service_fixtures import Client, Project, Service

pytestmark = pytest.mark.every_database

_STEPS = 30
_FORMER_TAGS = 8
"""As many as the service reads of one header."""

ADMIN, VIEWER, BOUND, BLIND, ADA, BOB = "admin", "viewer", "bound", "blind", "ada", "bob"
MACHINES, USERS = (VIEWER, BOUND, BLIND), (ADA, BOB)
READERS = (ADMIN, *MACHINES, *USERS)

environments = st.sampled_from(["dev", "dev", "dev", "prod"])
paths = st.sampled_from(["/", "/", "/a", "/a/b", "/b", "/c"])
keys = st.sampled_from(["A", "B", "C"])
labels = st.sampled_from(["red", "green"])
values = st.sampled_from(
    [
        "cnry-1",
        "cnry-2",
        "${A}",
        "${dev.a.B}",
        "${dev.a.b.A}",
        "${prod.A} ${dev.B}",
        "${@FAR.dev.A}",
        "${@LATE.dev.A}",
    ]
)
"""FAR and LATE stand for slugs of other projects: one that there is, and one that there may be later."""

FLAGS = {
    "recursive": ["true", "false"],
    "includeImports": ["false"],
    "expandSecretReferences": ["false"],
    "viewSecretValue": ["false"],
    "includePersonalOverrides": ["true", "false"],
    "tagSlugs": ["red", "green", "red,green"],
    "metadataFilter": ["key=m", "key=m,value=1", "value=1", "key=,value=1", "key=m,value="],
}
ALL_FLAGS = [(name, value) for name, values in FLAGS.items() for value in values]
flags = st.sampled_from(ALL_FLAGS)
queries = st.fixed_dictionaries(
    {"environment": environments, "secretPath": paths},
    optional={name: st.sampled_from(values) for name, values in FLAGS.items()},
)
readers = st.sampled_from(READERS)
looks = st.tuples(queries, st.lists(readers, min_size=1, max_size=2, unique=True))
BROAD: tuple[dict[str, str], list[str]] = (
    {"environment": "dev", "secretPath": "/", "recursive": "true", "includePersonalOverrides": "true"},
    [BOUND, ADA],
)
"""What nearly every change shows in."""

texts = st.fixed_dictionaries(
    {},
    optional={
        "secretValue": values,
        "secretComment": st.sampled_from(["", "x"]),
        "skipMultilineEncoding": st.booleans(),
        "secretMetadata": st.sampled_from([[], [{"key": "m", "value": "1"}], [{"key": "n", "value": "1"}]]),
        "tagIds": st.lists(labels, max_size=2, unique=True),
    },
)


@dataclass
class World:
    """A running service with those who read from it. `comparisons` counts lists that were asked for."""

    service: Service
    clients: Mapping[str, Client]
    ids: Mapping[str, str]
    emails: Mapping[str, str]
    comparisons: int = 0


@dataclass
class Seen:
    """What was answered: by tag a body and the question it answered; by question its tags, the last last."""

    bodies: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    tags: dict[str, list[str]] = field(default_factory=dict)


class TagMachine(RuleBasedStateMachine):
    """Two projects, the second one referred to by the first; each write is followed by looks at some lists."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.admin = world.clients[ADMIN]
        self.near = world.service.create_project(name="near")
        self.far = world.service.create_project(name="far")
        self.slugs = {"FAR": self.far.slug, "LATE": f"late{self.far.slug[-9:]}"}
        self.seen = Seen()
        self.looks: list[tuple[dict[str, str], list[str]]] = []
        self.fresh = count()
        for project in (self.near, self.far):
            self.join(project, USERS, "member")
        self.join(self.near, (VIEWER, BLIND), "viewer")
        self.join(self.near, (BOUND,), "no-access")
        self.join(self.far, (VIEWER, BLIND), "viewer")
        self.grant(BOUND, "allow", ["read", "read-value"], "dev", "/a/**")
        self.grant(BLIND, "deny", ["read-value"], "*", "/**")
        self.send(ADMIN, "PATCH", f"/api/v1/identities/{world.ids[BOUND]}", {"role": "no-access"})

    @initialize(looks=st.lists(looks, min_size=1, max_size=2))
    def something_to_look_at(self, looks: list[tuple[dict[str, str], list[str]]]) -> None:
        self.looks = [BROAD, *looks]
        for slug in ("red", "green"):
            self.put_label(slug, slug)
        self.create_folder("dev", "/a", "b")
        for environment, path in (("dev", "/"), ("dev", "/a"), ("prod", "/")):
            text = {
                "secretValue": "cnry-0",
                "tagIds": ["red"],
                "secretMetadata": [{"key": "m", "value": "1"}],
            }
            self.put_secret(ADMIN, environment, path, "A", text, personal=False)
        body = {"projectId": self.far.id, "environment": "dev", "secretValue": "cnry-far"}
        self.send(ADMIN, "POST", "/api/v4/secrets/A", body)
        self.put_secret(ADMIN, "dev", "/", "C", {"secretValue": "${@FAR.dev.A}"}, personal=False)
        self.put_secret(ADA, "dev", "/a", "A", {"secretValue": "cnry-own"}, personal=True)

    # Secrets

    @rule(
        who=st.sampled_from([ADMIN, *USERS]),
        environment=environments,
        path=paths,
        key=keys,
        text=texts,
        personal=st.booleans(),
    )
    def put_secret(
        self, who: str, environment: str, path: str, key: str, text: dict[str, Any], *, personal: bool
    ) -> None:
        """Make or change a secret; a personal one is made first where it isn't yet."""
        text = {**text, "secretKey": key}
        if "secretValue" in text:
            for name, slug in self.slugs.items():
                text["secretValue"] = text["secretValue"].replace(name, slug)
        if "tagIds" in text:
            text["tagIds"] = [self.labels().get(slug, slug) for slug in text["tagIds"]]
        body = {**self.at(environment, path), "type": "personal" if personal else "shared"}
        self.send(who, "PATCH", "/api/v4/secrets/batch", {**body, "mode": "upsert", "secrets": [text]})

    @rule(environment=environments, path=paths, key=keys, new=keys)
    def rename_secret(self, environment: str, path: str, key: str, new: str) -> None:
        self.send(
            ADMIN, "PATCH", f"/api/v4/secrets/{key}", {**self.at(environment, path), "newSecretName": new}
        )

    @rule(
        who=st.sampled_from([ADMIN, *USERS]),
        environment=environments,
        path=paths,
        key=keys,
        personal=st.booleans(),
    )
    def delete_secret(self, who: str, environment: str, path: str, key: str, *, personal: bool) -> None:
        body = {**self.at(environment, path), "type": "personal" if personal else "shared"}
        self.send(who, "DELETE", f"/api/v4/secrets/{key}", body)

    @rule(
        verb=st.sampled_from(["move", "duplicate"]),
        source=st.tuples(environments, paths),
        destination=st.tuples(environments, paths),
        overwrite=st.booleans(),
    )
    def transfer(
        self, verb: str, source: tuple[str, str], destination: tuple[str, str], *, overwrite: bool
    ) -> None:
        found = self.admin.get("/api/v4/secrets", params={**self.at(*source), "includeImports": "false"})
        ids = [secret["id"] for secret in found.json().get("secrets", [])]
        body = {
            "projectId": self.near.id,
            "sourceEnvironment": source[0],
            "sourceSecretPath": source[1],
            "destinationEnvironment": destination[0],
            "destinationSecretPath": destination[1],
            "secretIds": ids or [str(uuid4())],
            "shouldOverwrite": overwrite,
        }
        self.send(ADMIN, "POST", f"/api/v4/secrets/{verb}", body)

    @rule(key=keys, value=st.sampled_from(["cnry-far-1", "${B}"]), gone=st.booleans())
    def change_far_secret(self, key: str, value: str, *, gone: bool) -> None:
        """Change what references of the first project may lead to."""
        body = {"projectId": self.far.id, "environment": "dev"}
        if gone:
            self.send(ADMIN, "DELETE", f"/api/v4/secrets/{key}", body)
            return
        item = {"secretKey": key, "secretValue": value}
        self.send(ADMIN, "PATCH", "/api/v4/secrets/batch", {**body, "mode": "upsert", "secrets": [item]})

    @rule(who=st.sampled_from(USERS), value=st.sampled_from(["cnry-own-1", "cnry-own-2"]))
    def override_far_secret(self, who: str, value: str) -> None:
        body = {"projectId": self.far.id, "environment": "dev", "type": "personal", "mode": "upsert"}
        item = {"secretKey": "A", "secretValue": value}
        self.send(who, "PATCH", "/api/v4/secrets/batch", {**body, "secrets": [item]})

    # Where secrets are, and what they carry

    @rule(environment=environments, path=paths, name=st.sampled_from(["a", "b"]))
    def create_folder(self, environment: str, path: str, name: str) -> None:
        body = {"projectId": self.near.id, "environment": environment, "path": path, "name": name}
        self.send(ADMIN, "POST", "/api/v2/folders", body)

    @rule(
        environment=environments,
        place=st.sampled_from([("/", "a"), ("/a", "b"), ("/", "b")]),
        new=st.sampled_from(["a", "b", "c"]),
    )
    def rename_folder(self, environment: str, place: tuple[str, str], new: str) -> None:
        at = {"projectId": self.near.id, "environment": environment, "path": place[0]}
        self.send(ADMIN, "PATCH", f"/api/v2/folders/{place[1]}", {**at, "name": new})

    @rule(environment=environments, place=st.sampled_from([("/a", "b"), ("/", "b"), ("/", "c")]))
    def delete_folder(self, environment: str, place: tuple[str, str]) -> None:
        at = {"projectId": self.near.id, "environment": environment, "path": place[0]}
        self.send(ADMIN, "DELETE", f"/api/v2/folders/{place[1]}", {**at, "forceDelete": True})

    @rule(environment=environments, path=paths, source=st.tuples(environments, paths))
    def import_folder(self, environment: str, path: str, source: tuple[str, str]) -> None:
        at = {"projectId": self.near.id, "environment": environment, "path": path}
        body = {**at, "import": {"environment": source[0], "path": source[1]}}
        self.send(ADMIN, "POST", "/api/v2/secret-imports", body)

    @rule(
        environment=environments,
        path=paths,
        change=st.sampled_from([None, {"position": 1}, {"position": 2}, {"path": "/b"}]),
    )
    def change_import(self, environment: str, path: str, change: dict[str, Any] | None) -> None:
        """Change the first import of the folder; take it away for None."""
        at = {"projectId": self.near.id, "environment": environment, "path": path}
        found = self.admin.get("/api/v2/secret-imports", params=at)
        for one in found.json().get("secretImports", [])[:1]:
            method, more = ("DELETE", {}) if change is None else ("PATCH", {"import": change})
            self.send(ADMIN, method, f"/api/v2/secret-imports/{one['id']}", {**at, **more})

    @rule(
        slug=st.sampled_from(["dev", "prod", "staging"]),
        new=st.sampled_from([{"slug": "prod"}, {"slug": "dev"}, {"name": "N"}, {"position": 1}, None]),
    )
    def change_environment(self, slug: str, new: dict[str, Any] | None) -> None:
        """Change an environment; delete it for None, and make it where there is none."""
        url = f"/api/v1/projects/{self.near.id}/environments"
        found = self.admin.get(f"{url}/slug/{slug}")
        if found.status_code == 404:
            self.send(ADMIN, "POST", url, {"name": slug, "slug": slug})
        else:
            one = f"{url}/{found.json()['id']}"
            self.send(ADMIN, "DELETE" if new is None else "PATCH", one, new)

    @rule(slug=labels, new=st.sampled_from(["red", "green", "blue"]))
    def put_label(self, slug: str, new: str) -> None:
        """Rename a tag of the project, or make it."""
        url, known = f"/api/v1/projects/{self.near.id}/tags", self.labels()
        if slug in known:
            self.send(ADMIN, "PATCH", f"{url}/{known[slug]}", {"slug": new, "color": f"#{new}"})
        else:
            self.send(ADMIN, "POST", url, {"slug": new})

    @rule(slug=labels)
    def delete_label(self, slug: str) -> None:
        known = self.labels()
        if slug in known:
            self.send(ADMIN, "DELETE", f"/api/v1/projects/{self.near.id}/tags/{known[slug]}", None)

    @rule(name=st.sampled_from(["FAR", "LATE"]))
    def rename_far_project(self, name: str) -> None:
        self.send(ADMIN, "PATCH", f"/api/v1/projects/{self.far.id}", {"slug": self.slugs[name]})

    # What one may

    @rule(
        who=st.sampled_from([*MACHINES, *USERS]),
        role=st.sampled_from(["admin", "member", "viewer", "no-access"]),
        far=st.booleans(),
    )
    def give_role(self, who: str, role: str, *, far: bool) -> None:
        self.join(self.far if far else self.near, (who,), role)

    @rule(who=st.sampled_from(MACHINES), far=st.booleans())
    def take_out(self, who: str, *, far: bool) -> None:
        project = self.far if far else self.near
        url = f"/api/v1/projects/{project.id}/memberships/identities/{self.world.ids[who]}"
        self.send(ADMIN, "DELETE", url, None)

    @rule(
        who=st.sampled_from([*MACHINES, *USERS]),
        effect=st.sampled_from(["allow", "deny"]),
        actions=st.sampled_from([["read"], ["read-value"], ["read", "read-value"]]),
        environment=st.sampled_from(["dev", "*"]),
        pattern=st.sampled_from(["/**", "/a/**", "/b"]),
    )
    def grant(self, who: str, effect: str, actions: list[str], environment: str, pattern: str) -> None:
        body = {"identityId": self.world.ids[who], "effect": effect, "actions": actions}
        where = {"environment": environment, "secretPath": pattern}
        self.send(ADMIN, "POST", f"/api/v1/projects/{self.near.id}/grants", {**body, **where})

    @rule(
        who=st.sampled_from([*MACHINES, *USERS]),
        change=st.sampled_from([None, {"effect": "deny"}, {"effect": "allow"}, {"secretPath": "/a"}]),
    )
    def change_grant(self, who: str, change: dict[str, Any] | None) -> None:
        """Change the first grant that somebody has; take it away for None."""
        url = f"/api/v1/projects/{self.near.id}/grants"
        found = self.admin.json("GET", url, params={"identityId": self.world.ids[who]})["grants"]
        for one in found[:1]:
            self.send(ADMIN, "DELETE" if change is None else "PATCH", f"{url}/{one['id']}", change)

    @rule(role=st.sampled_from(["admin", "member", "no-access"]))
    def give_organization_role(self, role: str) -> None:
        self.send(ADMIN, "PATCH", f"/api/v1/identities/{self.world.ids[BOUND]}", {"role": role})

    # Looking

    @rule(which=st.integers(0, 2), flag=flags, api=st.sampled_from(["v4", "v3"]))
    def look_with_another_flag(self, which: int, flag: tuple[str, str], api: str) -> None:
        query, who = self.looks[which % len(self.looks)]
        for one in who:
            self.look(one, {**query, flag[0]: flag[1]}, api)

    @invariant()
    def every_tag_tells_the_truth(self) -> None:
        for query, who in self.looks:
            for one in who:
                self.look(one, query)

    def teardown(self) -> None:
        """Ask once with each flag: tags of different questions are not to be mixed up either."""
        for query, who in self.looks[:1]:
            for name, value in ALL_FLAGS:
                for one in who:
                    self.look(one, {**query, name: value})

    def look(self, who: str, query: Mapping[str, str], api: str = "v4") -> None:
        """Ask in three ways, and hold that all of them are one answer and no tag lies."""
        url, project = (
            ("/api/v4/secrets", "projectId") if api == "v4" else ("/api/v3/secrets/raw", "workspaceId")
        )
        params = {project: self.near.id, **query}
        question = f"{who} asks {url} {dict(query)}"
        topic = str(sorted(query.items()))
        former = self.seen.tags.setdefault(topic, [])
        known = {"if-none-match": ", ".join(former[-_FORMER_TAGS:])} if former else {}
        unseen = {**params, "never-seen": str(next(self.fresh))}
        conditional = self.world.clients[who].get(url, params=params, headers=known)
        truth = self.world.clients[who].get(url, params=unseen)
        plain = self.world.clients[who].get(url, params=params)
        self.world.comparisons += 1
        assert plain.status_code == truth.status_code, question
        if truth.status_code != 200:
            assert conditional.status_code == truth.status_code, question
            return
        tag, body = truth.headers["etag"], truth.content
        assert (plain.headers["etag"], plain.content) == (tag, body), f"{question}: a list was kept too long"
        self.hold(tag, body, question)
        self.hold_conditional(conditional, truth, question)
        if tag not in former:
            former.append(tag)
            again = self.world.clients[who].get(url, params=unseen, headers={"if-none-match": tag})
            assert (again.status_code, again.headers["etag"]) == (304, tag), question

    def hold(self, tag: str, body: bytes, question: str) -> None:
        """Hold that a tag stands for one body."""
        former, asked = self.seen.bodies.setdefault(tag, (body, question))
        assert former == body, f"{question}: has the tag of another body, given when {asked}"

    def hold_conditional(self, answer: httpx.Response, truth: httpx.Response, question: str) -> None:
        """Hold that the answer to former tags is the list as it is, or says of one of them that it is that."""
        assert answer.status_code in {200, 304}, question
        tag = answer.headers["etag"]
        if answer.status_code == 304:
            held, asked = self.seen.bodies[tag]
            assert held == truth.content, f"{question}: a 304 for the list of when {asked}"
        else:
            assert (tag, answer.content) == (truth.headers["etag"], truth.content), question

    # Asking

    def at(self, environment: str, path: str) -> dict[str, str]:
        return {"projectId": self.near.id, "environment": environment, "secretPath": path}

    def labels(self) -> dict[str, str]:
        found = self.admin.json("GET", f"/api/v1/projects/{self.near.id}/tags")["tags"]
        return {tag["slug"]: tag["id"] for tag in found}

    def join(self, project: Project, who: tuple[str, ...], role: str) -> None:
        for one in who:
            if one in self.world.emails:
                named = {"usernames": [self.world.emails[one]], "roleSlugs": [role]}
                self.send(ADMIN, "POST", f"/api/v1/projects/{project.id}/memberships", named)
            else:
                url = f"/api/v1/projects/{project.id}/memberships/identities/{self.world.ids[one]}"
                self.send(ADMIN, "POST", url, {"roles": [{"role": role}]})

    def send(self, who: str, method: str, url: str, body: Mapping[str, Any] | None) -> None:
        """Write something. Whether it is refused is no matter here, as long as it is no failure."""
        answer = self.world.clients[who].request(method, url, json=body)
        assert answer.status_code < 500, f"{method} {url} failed: {answer.text}"


@pytest.fixture
def world(service: Service) -> World:
    machines = {name: service.create_identity(name=name) for name in MACHINES}
    people = {name: service.create_user() for name in USERS}
    clients = {
        ADMIN: service.admin_client(),
        **{name: service.client(service.login(machine)) for name, machine in machines.items()},
        **{name: service.client(service.login_user(person)) for name, person in people.items()},
    }
    ids = {name: machine.identity_id for name, machine in machines.items()}
    ids |= {name: person.user_id for name, person in people.items()}
    return World(service, clients, ids, {name: person.email for name, person in people.items()})


@pytest.mark.deep
def test_a_list_that_differs_has_another_tag(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    class Machine(TagMachine):
        def __init__(self) -> None:
            super().__init__(world)

    examples = max(settings().max_examples // 16, 1)
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples, stateful_step_count=_STEPS, suppress_health_check=list(HealthCheck)
        ),
    )
    record_property("operations", world.comparisons)
