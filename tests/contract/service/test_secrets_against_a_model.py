"""The secrets API against a model in memory: random operations of several actors, each answer and list compared.

More of it by hand, with twenty times the examples:

    pytest tests/contract/service/test_secrets_against_a_model.py --hypothesis-profile thorough --timeout 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from support.secrets_model import MASK, Outcome, SecretsModel, Shown, plain_path
from support.service_fixtures import Client, Person, Service

pytestmark = [pytest.mark.deep, pytest.mark.every_database]

ADMIN, USERS = "admin", ("ada", "bob")
DEEP = "/a" + "/d" * 20
_STEPS = 60

actors = st.sampled_from([ADMIN, *USERS])
apis = st.sampled_from(["v4", "v3"])
environments = st.sampled_from([*["dev"] * 8, "prod", "new", "gone"])
paths = st.sampled_from([*["/"] * 4, *["/a"] * 4, "/a/b", "/b", "a//b/", "/gone", DEEP])
folder_names = st.sampled_from(["a", "b", "c", "B_2-x", "not valid"])
keys = st.sampled_from([*["A"] * 4, *["B"] * 4, " B ", "C", "a key.with-%?#&é", "no:colon"])
tags = st.sampled_from(["red", "green", "gone"])
values = st.sampled_from(
    ["cnry-1", "cnry-2", "", "\n", "  cnry-trimmed \t\n", "cnry-a\ncnry-b", "cnry-ü\u2028nï", MASK]
)
personal = st.sampled_from([False, False, True])
metadata = st.lists(st.tuples(st.sampled_from(["m", "n"]), st.sampled_from(["", "1", "2"])), max_size=2)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


texts = {
    "secretComment": st.sampled_from(["", "a comment"]),
    "skipMultilineEncoding": maybe(st.booleans()),
    "tagIds": st.lists(tags, max_size=2, unique=True),
    "secretMetadata": metadata,
}
reminders = {
    "secretReminderNote": maybe(st.just("soon")),
    "secretReminderRepeatDays": maybe(st.integers(1, 365)),
}
named = {"secretKey": keys}
changed = {**texts, **reminders, "secretValue": values, "newSecretName": keys | st.just(" ")}
new_secrets = st.fixed_dictionaries({"secretValue": values}, optional={**texts, **reminders})
new_items = st.fixed_dictionaries({**named, "secretValue": values}, optional=texts)
changes = st.fixed_dictionaries({}, optional=changed)
changed_items = st.fixed_dictionaries(named, optional={**changed, "secretPath": paths})


@dataclass
class World:
    """A running service, and who speaks to it. `operations` counts requests that were compared."""

    service: Service
    people: Mapping[str, Person]
    clients: Mapping[str, Client]
    operations: int = 0


class SecretsMachine(RuleBasedStateMachine):
    """One project of its own, and the model of it."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.project = world.service.create_project()
        admin = world.clients[ADMIN]
        named = {"usernames": [person.email for person in world.people.values()], "roleSlugs": ["member"]}
        admin.json("POST", f"/api/v1/projects/{self.project.id}/memberships", json=named)
        self.model = SecretsModel(frozenset(USERS))
        self.ids: dict[int, str] = {}
        self.touched = "dev"
        shown = admin.json("GET", f"/api/v1/projects/{self.project.id}")["project"]["environments"]
        for environment in shown:
            outcome = self.model.create_environment(environment["slug"])
            self.learn(outcome.shown[0]["serial"], environment["id"])

    @initialize()
    def something_to_begin_with(self) -> None:
        self.put_tag(None, "red")
        self.put_tag(None, "green")
        self.create_folder("dev", "/a", "b", None)
        self.create_folder("dev", "/", "b", None)
        for path in ("/", "/a"):
            for key in ("A", "B"):
                self.create("v4", ADMIN, "dev", path, key, {"secretValue": "cnry-0"}, personal=False)
            self.create("v4", "ada", "dev", path, "A", {"secretValue": "cnry-own"}, personal=True)

    # Writing secrets

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        key=keys,
        texts=new_secrets,
        personal=personal,
    )
    def create(
        self,
        api: str,
        actor: str,
        environment: str,
        path: str,
        key: str,
        texts: dict[str, Any],
        *,
        personal: bool,
    ) -> None:
        items = [self.modelled({**texts, "secretKey": key})]
        outcome = self.model.create(actor, environment, path, items, personal=personal)
        body = {**self.place(api, environment, path, personal=personal), **self.worded(items[0])}
        answer = self.ask(actor, "POST", one(api, key), outcome, body)
        self.compare(outcome, [answer["secret"]] if answer else [])

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        key=keys,
        change=changes,
        personal=personal,
    )
    def update(
        self,
        api: str,
        actor: str,
        environment: str,
        path: str,
        key: str,
        change: dict[str, Any],
        *,
        personal: bool,
    ) -> None:
        items = [self.modelled({**change, "secretKey": key})]
        outcome = self.model.update(actor, environment, path, items, personal=personal)
        body = {**self.place(api, environment, path, personal=personal), **self.worded(items[0])}
        answer = self.ask(actor, "PATCH", one(api, key), outcome, body)
        self.compare(outcome, [answer["secret"]] if answer else [])

    @rule(path=paths, key=keys, new=keys)
    def rename(self, path: str, key: str, new: str) -> None:
        self.update("v4", ADMIN, "dev", path, key, {"newSecretName": new}, personal=False)

    @rule(user=st.sampled_from(USERS), path=paths, key=keys, value=values)
    def override(self, user: str, path: str, key: str, value: str) -> None:
        self.create("v4", user, "dev", path, key, {"secretValue": value}, personal=True)

    @rule(api=apis, actor=actors, environment=environments, path=paths, key=keys, personal=personal)
    def delete(self, api: str, actor: str, environment: str, path: str, key: str, *, personal: bool) -> None:
        outcome = self.model.delete(actor, environment, path, [key], personal=personal)
        body = self.place(api, environment, path, personal=personal)
        answer = self.ask(actor, "DELETE", one(api, key), outcome, body)
        self.compare(outcome, [answer["secret"]] if answer else [])

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        items=st.lists(new_items, min_size=1, max_size=3),
        personal=personal,
    )
    def create_many(
        self,
        api: str,
        actor: str,
        environment: str,
        path: str,
        items: list[dict[str, Any]],
        *,
        personal: bool,
    ) -> None:
        modelled = [self.modelled(item) for item in items]
        outcome = self.model.create(actor, environment, path, modelled, personal=personal)
        body = {**self.place(api, environment, path, personal=personal), "secrets": self.worded_all(modelled)}
        answer = self.ask(actor, "POST", many(api), outcome, body)
        self.compare(outcome, answer["secrets"] if answer else [])

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        items=st.lists(changed_items, min_size=1, max_size=4),
        mode=st.sampled_from(["failOnNotFound", "upsert", "ignore"]),
        personal=personal,
    )
    def update_many(
        self,
        api: str,
        actor: str,
        environment: str,
        path: str,
        items: list[dict[str, Any]],
        mode: str,
        *,
        personal: bool,
    ) -> None:
        modelled = [self.modelled(item) for item in items]
        outcome = self.model.update(actor, environment, path, modelled, personal=personal, mode=mode)
        body = {**self.place(api, environment, path, personal=personal), "secrets": self.worded_all(modelled)}
        answer = self.ask(actor, "PATCH", many(api), outcome, {**body, "mode": mode})
        self.compare(outcome, answer["secrets"] if answer else [])

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        gone=st.lists(keys, min_size=1, max_size=2),
        personal=personal,
    )
    def delete_many(
        self, api: str, actor: str, environment: str, path: str, gone: list[str], *, personal: bool
    ) -> None:
        outcome = self.model.delete(actor, environment, path, gone, personal=personal)
        kind = "personal" if personal else "shared"
        body = self.place(api, environment, path, personal=False)
        body["secrets"] = [{"secretKey": key, "type": kind} for key in gone]
        answer = self.ask(actor, "DELETE", many(api), outcome, body)
        self.compare(outcome, answer["secrets"] if answer else [], in_any_order=True)

    @rule(
        actor=actors,
        verb=st.sampled_from(["move", "duplicate"]),
        source=st.tuples(environments, paths),
        destination=st.tuples(environments, paths),
        chosen=st.lists(keys, min_size=1, max_size=2, unique=True),
        overwrite=st.booleans(),
    )
    def transfer(
        self,
        actor: str,
        verb: str,
        source: tuple[str, str],
        destination: tuple[str, str],
        chosen: list[str],
        *,
        overwrite: bool,
    ) -> None:
        here, there = (source[0], plain_path(source[1])), (destination[0], plain_path(destination[1]))
        serials = [self.serial_at(*here, key) for key in chosen]
        if verb == "move":
            outcome = self.model.move(here, there, serials, overwrite=overwrite)
        else:
            outcome = self.model.duplicate(here, there, serials, overwrite=overwrite)
        body = {
            "projectId": self.project.id,
            "sourceEnvironment": source[0],
            "sourceSecretPath": source[1],
            "destinationEnvironment": destination[0],
            "destinationSecretPath": destination[1],
            "secretIds": [self.id_of(serial) for serial in serials],
            "shouldOverwrite": overwrite,
        }
        answer = self.ask(actor, "POST", f"/api/v4/secrets/{verb}", outcome, body)
        if verb == "duplicate":
            self.compare(outcome, answer["secrets"] if answer else [], in_any_order=True)
        self.touched = destination[0]

    # Folders, environments, tags

    @rule(
        environment=environments, path=paths, name=folder_names, description=maybe(st.sampled_from(["", "x"]))
    )
    def create_folder(self, environment: str, path: str, name: str, description: str | None) -> None:
        outcome = self.model.create_folder(environment, path, name, description)
        at = {"projectId": self.project.id, "environment": environment, "path": path}
        body = {**at, "name": name, "description": description}
        answer = self.ask(ADMIN, "POST", "/api/v2/folders", outcome, body)
        self.compare_folders(outcome, [answer["folder"]] if answer else [])

    @rule(
        environment=environments,
        path=paths.map(plain_path),
        name=folder_names,
        by_id=st.booleans(),
        description=maybe(st.just("y")),
    )
    def rename_folder(
        self, environment: str, path: str, name: str, description: str | None, *, by_id: bool
    ) -> None:
        reference, at = self.folder_named(environment, path, by_id=by_id or path == "/")
        outcome = self.model.rename_folder(environment, path, name, description)
        body = {**at, "name": name, "description": description}
        answer = self.ask(ADMIN, "PATCH", f"/api/v2/folders/{reference}", outcome, body)
        self.compare_folders(outcome, [answer["folder"]] if answer else [])

    @rule(environment=environments, path=paths.map(plain_path), by_id=st.booleans(), force=st.booleans())
    def delete_folder(self, environment: str, path: str, *, by_id: bool, force: bool) -> None:
        reference, at = self.folder_named(environment, path, by_id=by_id or path == "/")
        outcome = self.model.delete_folder(environment, path, force=force)
        body = {**at, "forceDelete": force}
        answer = self.ask(ADMIN, "DELETE", f"/api/v2/folders/{reference}", outcome, body)
        self.compare_folders(outcome, [answer["folder"]] if answer else [])

    @rule(slug=environments)
    def create_environment(self, slug: str) -> None:
        outcome = self.model.create_environment(slug)
        body = {"name": slug, "slug": slug}
        self.of_environment("POST", "", outcome, body)

    @rule(old=environments, new=environments)
    def rename_environment(self, old: str, new: str) -> None:
        reference = self.id_of(self.model.environments.get(old))
        outcome = self.model.rename_environment(old, new)
        self.of_environment("PATCH", f"/{reference}", outcome, {"slug": new})
        self.touched = new

    @precondition(lambda self: len(self.model.environments) > 1)
    @rule(slug=environments)
    def delete_environment(self, slug: str) -> None:
        reference = self.id_of(self.model.environments.get(slug))
        outcome = self.model.delete_environment(slug)
        self.of_environment("DELETE", f"/{reference}", outcome, None)

    @rule(old=maybe(tags), new=tags)
    def put_tag(self, old: str | None, new: str) -> None:
        """Make a tag, or rename one if there is one."""
        serial = None if old is None else self.model.tag_of(old)
        outcome = self.model.put_tag(serial, new)
        method, tail = ("POST", "") if serial is None else ("PATCH", f"/{self.id_of(serial)}")
        self.of_tag(method, tail, outcome, {"slug": new})

    @rule(slug=tags)
    def delete_tag(self, slug: str) -> None:
        serial = self.model.tag_of(slug)
        if serial is not None:
            self.of_tag("DELETE", f"/{self.id_of(serial)}", self.model.delete_tag(serial), None)

    # Reading

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        recursive=st.booleans(),
        overrides=st.booleans(),
        values=st.booleans(),
        slugs=st.lists(tags, max_size=2),
        pairs=metadata,
    )
    def list_secrets(
        self,
        api: str,
        actor: str,
        environment: str,
        path: str,
        slugs: list[str],
        pairs: list[tuple[str, str]],
        *,
        recursive: bool,
        overrides: bool,
        values: bool,
    ) -> None:
        outcome = self.model.listed(
            actor,
            environment,
            path,
            recursive=recursive,
            overrides=overrides,
            values=values,
            tag_slugs=slugs,
            metadata=pairs,
        )
        query = {
            **self.place(api, environment, path),
            "recursive": recursive,
            "includePersonalOverrides": overrides,
            "viewSecretValue": values,
            "tagSlugs": ",".join(slugs),
            "metadataFilter": "|".join(f"key={key},value={value}" for key, value in pairs),
        }
        answer = self.ask(actor, "GET", collection(api), outcome, query=query)
        self.compare(outcome, answer["secrets"] if answer else [])

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths,
        key=keys.filter(lambda key: ":" not in key),
        personal=personal,
        version=maybe(st.integers(1, 4)),
    )
    def get(
        self,
        api: str,
        actor: str,
        environment: str,
        path: str,
        key: str,
        version: int | None,
        *,
        personal: bool,
    ) -> None:
        outcome = self.model.get(actor, environment, path, key, personal=personal, version=version)
        query = {**self.place(api, environment, path, personal=personal), "version": version}
        answer = self.ask(actor, "GET", one(api, key), outcome, query=query)
        self.compare(outcome, [answer["secret"]] if answer else [])

    @rule(
        api=apis,
        actor=actors,
        environment=environments,
        path=paths.map(plain_path),
        key=keys,
        owner=st.sampled_from(["", *USERS]),
    )
    def get_by_id(self, api: str, actor: str, environment: str, path: str, key: str, owner: str) -> None:
        serial = self.serial_at(environment, path, key, owner)
        outcome = self.model.get_by_serial(actor, serial)
        answer = self.ask(actor, "GET", f"{collection(api)}/id/{self.id_of(serial)}", outcome)
        self.compare(outcome, [answer["secret"]] if answer else [])

    @rule(
        actor=actors,
        environment=environments,
        path=paths.map(plain_path),
        key=keys,
        owner=st.sampled_from(["", *USERS]),
        offset=st.integers(0, 2),
        limit=st.integers(1, 4),
    )
    def list_versions(
        self, actor: str, environment: str, path: str, key: str, owner: str, offset: int, limit: int
    ) -> None:
        serial = self.serial_at(environment, path, key, owner)
        outcome = self.model.versions(actor, serial, offset=offset, limit=limit)
        url = f"/api/v1/secret/{self.id_of(serial)}/secret-versions"
        answer = self.ask(actor, "GET", url, outcome, query={"offset": offset, "limit": limit})
        self.compare(outcome, answer["secretVersions"] if answer else [])

    @rule(environment=environments, path=paths, recursive=st.booleans())
    def list_folders(self, environment: str, path: str, *, recursive: bool) -> None:
        outcome = self.model.list_folders(environment, path, recursive=recursive)
        at = {"projectId": self.project.id, "environment": environment, "path": path}
        answer = self.ask(ADMIN, "GET", "/api/v2/folders", outcome, query={**at, "recursive": recursive})
        self.compare_folders(outcome, answer["folders"] if answer else [])

    @invariant()
    def the_environment_that_was_touched_holds_what_the_model_holds(self) -> None:
        if self.touched:
            self.compare_all(ADMIN, self.touched)
            self.touched = ""

    def teardown(self) -> None:
        for environment in self.model.environments:
            for actor in (ADMIN, *USERS):
                self.compare_all(actor, environment)

    def compare_all(self, actor: str, environment: str) -> None:
        outcome = self.model.listed(actor, environment, "/", recursive=True, overrides=True)
        query = {
            **self.place("v4", environment, "/"),
            "recursive": "true",
            "includePersonalOverrides": "true",
        }
        answer = self.ask(actor, "GET", "/api/v4/secrets", outcome, query=query)
        self.compare(outcome, answer["secrets"] if answer else [])

    # Asking and comparing

    def ask(
        self,
        actor: str,
        method: str,
        url: str,
        outcome: Outcome,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> dict[str, Any] | None:
        """Return the answer, which must have a status that the model foresaw; None where it refuses."""
        response = self.world.clients[actor].request(method, url, json=body, params=written(query or {}))
        self.world.operations += 1
        if method != "GET":
            self.touched = str((body or {}).get("environment", self.touched))
        told = f"{method} {url} answered {response.status_code}, not {sorted(outcome.statuses)}"
        assert response.status_code in outcome.statuses, f"{told}: {response.text}"
        return response.json() if outcome.succeeds else None

    def compare(
        self, outcome: Outcome, answered: Sequence[dict[str, Any]], *, in_any_order: bool = False
    ) -> None:
        if not outcome.succeeds:
            return
        expected, found = copies(outcome.shown), [self.read(secret) for secret in answered]
        if in_any_order:
            expected.sort(key=lambda shown: str(shown["secretKey"]))
            found.sort(key=lambda shown: str(shown["secretKey"]))
        serials = [shown.pop("serial") for shown in expected]
        ids = [shown.pop("id") for shown in found]
        assert found == expected
        for serial, identifier in zip(serials, ids, strict=True):
            self.learn(serial, identifier)

    def read(self, secret: Mapping[str, Any]) -> Shown:
        """Return what an answer says of a secret, in the words of the model."""
        owners = {person.user_id: name for name, person in self.world.people.items()}
        assert secret["workspace"] == self.project.id
        return {
            "id": secret["id"],
            "environment": secret["environment"],
            "secretPath": secret["secretPath"],
            "secretKey": secret["secretKey"],
            "secretValue": secret["secretValue"],
            "secretValueHidden": secret["secretValueHidden"],
            "secretComment": secret["secretComment"],
            "version": secret["version"],
            "type": secret["type"],
            "user": owners[secret["user"]] if "user" in secret else None,
            "skipMultilineEncoding": secret["skipMultilineEncoding"],
            "secretMetadata": [(item["key"], item["value"]) for item in secret["secretMetadata"]],
            "secretReminderNote": secret["secretReminderNote"],
            "secretReminderRepeatDays": secret["secretReminderRepeatDays"],
            "tags": sorted(tag["slug"] for tag in secret["tags"]),
        }

    def compare_folders(self, outcome: Outcome, answered: Sequence[dict[str, Any]]) -> None:
        if not outcome.succeeds:
            return
        expected = copies(outcome.shown)
        serials = [shown.pop("serial") for shown in expected]
        found = [{name: folder[name] for name in expected[0]} for folder in answered] if expected else []
        found.sort(key=lambda folder: str(folder["path"]))
        assert found == expected
        for serial, folder in zip(serials, sorted(answered, key=lambda folder: folder["path"]), strict=True):
            self.learn(serial, folder["id"])

    def of_environment(
        self, method: str, tail: str, outcome: Outcome, body: Mapping[str, Any] | None
    ) -> None:
        url = f"/api/v1/projects/{self.project.id}/environments{tail}"
        answer = self.ask(ADMIN, method, url, outcome, body)
        if answer is not None:
            assert answer["environment"]["slug"] == outcome.shown[0]["slug"]
            self.learn(outcome.shown[0]["serial"], answer["environment"]["id"])

    def of_tag(self, method: str, tail: str, outcome: Outcome, body: Mapping[str, Any] | None) -> None:
        answer = self.ask(ADMIN, method, f"/api/v1/projects/{self.project.id}/tags{tail}", outcome, body)
        if answer is not None:
            assert answer["tag"]["slug"] == outcome.shown[0]["slug"]
            self.learn(outcome.shown[0]["serial"], answer["tag"]["id"])

    def learn(self, serial: int, identifier: str) -> None:
        """Hold that one thing has one id for as long as it lives, and no two have the same."""
        if serial not in self.ids:
            assert identifier not in self.ids.values()
            self.ids[serial] = identifier
        assert self.ids[serial] == identifier

    # From the model's words to those of the wire

    def id_of(self, serial: int | None) -> str:
        """Return the id of a thing. What nobody has been told of has one that nobody has."""
        return str(uuid4()) if serial is None else self.ids.get(serial) or str(uuid4())

    def serial_at(self, environment: str, path: str, key: str, owner: str = "") -> int | None:
        """Return the serial of the secret that stands there."""
        for place, held in self.model.secrets.items():
            if place == (environment, path, key, owner):
                return held.serial
        return None

    def modelled(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Name the tags by their serials."""
        if "tagIds" not in item:
            return dict(item)
        return {**item, "tagIds": [self.model.tag_of(slug) for slug in item["tagIds"]]}

    def worded(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the item as a request has it."""
        body = dict(item)
        if "tagIds" in body:
            body["tagIds"] = [self.id_of(serial) for serial in body["tagIds"]]
        if "secretMetadata" in body:
            body["secretMetadata"] = [{"key": key, "value": value} for key, value in body["secretMetadata"]]
        return body

    def worded_all(self, items: Iterable[Mapping[str, Any]]) -> Sequence[dict[str, Any]]:
        return [self.worded(item) for item in items]

    def place(self, api: str, environment: str, path: str, *, personal: bool | None = None) -> dict[str, Any]:
        project = {"projectId": self.project.id} if api == "v4" else {"workspaceId": self.project.id}
        kind = {} if personal is None else {"type": "personal" if personal else "shared"}
        return {**project, "environment": environment, "secretPath": path, **kind}

    def folder_named(self, environment: str, path: str, *, by_id: bool) -> tuple[str, dict[str, Any]]:
        """Return how a request names the folder, and where it looks for it."""
        above, _, name = path.rpartition("/")
        at = {"projectId": self.project.id, "environment": environment, "path": above or "/"}
        folder = self.model.folders.get((environment, path))
        if not by_id:
            return name, at
        if folder is None:
            return str(uuid4()), at
        if folder.serial not in self.ids:  # made on the way to another one, or the root
            self.learn(folder.serial, self.look_up(environment, path))
        return self.ids[folder.serial], at

    def look_up(self, environment: str, path: str) -> str:
        url = f"/api/v1/folders/{self.project.id}/{environment}/{quote(path, safe='')}"
        return str(self.world.clients[ADMIN].json("GET", url)["folder"]["id"])


def collection(api: str) -> str:
    return "/api/v4/secrets" if api == "v4" else "/api/v3/secrets/raw"


def one(api: str, key: str) -> str:
    return f"{collection(api)}/{quote(key, safe='')}"


def many(api: str) -> str:
    return "/api/v4/secrets/batch" if api == "v4" else "/api/v3/secrets/batch/raw"


def written(query: Mapping[str, Any]) -> dict[str, str]:
    """Return the query as text: flags in small letters, nothing for None."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in query.items()
        if value is not None
    }


def copies(shown: Sequence[Shown]) -> list[Shown]:
    return [dict(one) for one in shown]


@pytest.fixture
def world(service: Service) -> World:
    people = {name: service.create_user() for name in USERS}
    clients = {name: service.client(service.login_user(person)) for name, person in people.items()}
    return World(service, people, {ADMIN: service.admin_client(), **clients})


def test_every_answer_is_the_one_that_the_model_gives(
    world: World, record_property: Callable[[str, object], None]
) -> None:
    class Machine(SecretsMachine):
        def __init__(self) -> None:
            super().__init__(world)

    examples = max(settings().max_examples // 7, 1)
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples, stateful_step_count=_STEPS, suppress_health_check=list(HealthCheck)
        ),
    )
    record_property("operations", world.operations)
