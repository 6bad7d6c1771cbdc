"""Several SecretSyncs at one target: one of them writes it, the others say whose it is."""

from __future__ import annotations

import copy
from datetime import timedelta

import pytest

from keybearer.base.backoff import Backoff
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.objects import KindReading
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.secretsync.targets import targets_of
from keybearer.controllers.target.rivals import Rivals
from keybearer.controllers.work import Lane, WorkKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.source_session import FakeSession, listing
from unit.controllers.fakes.targets import FINGERPRINTER, UID, Body, Field, desired, new_spec, present, stored
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world, secret

_RETAIN = {"name": "t", "onDelete": "Retain", "adopt": True}
_RUNS_MAX = 50
"""More than any of these take that come to rest."""
_OWNER = {"name": "t", "adopt": True}


def _merge(value: str, **more: Field) -> Field:
    return {"name": "t", "creationPolicy": "Merge", "template": {"data": {"K": value}}, **more}


class _Table:
    """A world with the watches and the queue of the operator, worked off by hand."""

    def __init__(self, world: World) -> None:
        self.world = world
        backoff = Backoff(timedelta(seconds=5), timedelta(minutes=5))
        self.queue = WorkQueue(world.clock, backoff, SteadyChance())
        self.intake = EventIntake(
            world.clock,
            self.queue,
            world.objects,
            world.observed,
            FINGERPRINTER,
            {
                "SecretSync": KindReading(targets_of),
                "AppConnection": KindReading(),
                "CertificateProfile": KindReading(),
            },
            lambda _: None,
        )
        self.intake.on_managed = world.references.noticed

    def add(self, name: str, target: Field) -> None:
        body: Body = {
            "kind": "SecretSync",
            "metadata": {"namespace": "team-a", "name": name, "uid": f"uid-{name}", "generation": 1},
            "spec": {
                "source": {"projectId": "shop", "environment": "dev"},
                "identityRef": {"name": "login"},
                "target": target,
            },
        }
        self.intake.custom_resource("SecretSync", "ADDED", self.world.gateway.put(body))

    def edit(self, name: str, target: Field) -> None:
        body = self.world.gateway.find("SecretSync", name)
        assert body is not None
        body["metadata"]["generation"] += 1
        body["spec"]["target"] = target
        self.intake.custom_resource("SecretSync", "MODIFIED", self.world.gateway.put(body))

    def see(self, kind: str, name: str, identity: str, *, version: int = 1, is_seen: bool = True) -> None:
        """Another object is there that logs in by a Secret; nobody works for it."""
        body: Body = {
            "kind": kind,
            "metadata": {"namespace": "team-a", "name": name, "uid": f"uid-{name}", "generation": version},
            "spec": {"identityRef": {"name": identity}},
        }
        put = self.world.gateway.put(body)
        if is_seen:
            self.intake.custom_resource(kind, "ADDED", put)
            self.queue.forget(WorkKey(kind, "team-a", name))

    def end(self, kind: str, name: str) -> None:
        body = self.world.gateway.find(kind, name)
        assert body is not None
        self.world.gateway.remove(kind, name)
        self.intake.custom_resource(kind, "DELETED", body)

    async def work(self) -> int:
        """Work off what is due, delivering after each run what the watch of targets shows; return the runs."""
        runs = 0
        shown = ""
        while len(self.queue) and runs < _RUNS_MAX:
            item = await self.queue.take()
            await self.world.reconciler.reconcile(item, "reconcile-1")
            self.queue.done(item.key)
            runs += 1
            now = self.world.gateway.find("Secret", "t")
            if now is not None and now["metadata"]["resourceVersion"] != shown:
                shown = now["metadata"]["resourceVersion"]
                if "keybearer.dev/managed" in now["metadata"]["labels"]:
                    self.intake.target_changed("Secret", copy.deepcopy(now))
        return runs

    def ready(self, name: str) -> tuple[str, str]:
        """Return the reason and message of Ready."""
        body = self.world.gateway.find("SecretSync", name)
        assert body is not None
        (found,) = (one for one in body["status"]["conditions"] if one["type"] == "Ready")
        return found["reason"], found["message"]


@pytest.mark.parametrize(
    ("first", "second", "refusal"),
    [
        pytest.param(_RETAIN, _RETAIN, "belongs to SecretSync one;", id="two owners that retain and adopt"),
        pytest.param(
            _OWNER,
            _OWNER,
            "or delete SecretSync one",
            id="two owners that adopt",
        ),
        pytest.param(
            {"name": "t", "onDelete": "Retain"},
            _OWNER,
            "belongs to SecretSync one;",
            id="only the second adopts",
        ),
        pytest.param(
            _RETAIN,
            _merge("b", adopt=True),
            "belongs to SecretSync one;",
            id="an owner, then a merge that adopts",
        ),
        pytest.param(
            _merge("a", adopt=True),
            _merge("b", adopt=True),
            "SecretSync one merges K into",
            id="two merges that adopt",
        ),
        pytest.param(
            _merge("a"), _merge("b", adopt=True), "SecretSync one merges K into", id="one merge adopts"
        ),
        pytest.param(_merge("a"), _OWNER, "SecretSync one merges K", id="a merge, then an owner that adopts"),
    ],
)
@in_virtual_time
async def test_what_a_living_secret_sync_writes_is_not_taken_from_it(
    first: Field, second: Field, refusal: str
) -> None:
    async with new_world(FakeSession(listing("cnry-0", "cnry-1"))) as world:
        if first.get("creationPolicy") == "Merge":
            world.gateway.put(secret("t", {"THEIRS": "cnry-t"}))
        table = _Table(world)
        table.add("one", first)
        await table.work()
        mine = world.data("t")
        world.written()
        table.add("two", second)
        runs = await table.work()

        assert table.ready("one")[0] == "Synced"
        reason, message = table.ready("two")
        assert reason == "TargetConflict"
        assert refusal in message
        assert world.data("t") == mine
        assert [write for write in world.written() if " Secret " in write] == []
        assert runs < _RUNS_MAX


@in_virtual_time
async def test_who_loses_a_key_to_another_merge_notices_and_leaves_it() -> None:
    async with new_world(FakeSession(listing("cnry-0"))) as world:
        world.gateway.put(secret("t", {"THEIRS": "cnry-t"}))
        table = _Table(world)
        table.add("one", _merge("same"))
        table.add("two", _merge("same"))
        await table.work()
        assert [table.ready(name)[0] for name in ("one", "two")] == ["Synced", "Synced"]

        body = world.gateway.find("SecretSync", "one")
        assert body is not None
        body["metadata"]["generation"] = 2
        body["spec"]["target"]["template"]["data"]["K"] = "another"
        table.intake.custom_resource("SecretSync", "MODIFIED", world.gateway.put(body))
        runs = await table.work()

        assert table.ready("one")[0] == "Synced"
        assert table.ready("two")[0] == "TargetConflict"
        assert runs < _RUNS_MAX


@in_virtual_time
async def test_what_a_deleted_secret_sync_left_behind_may_be_adopted() -> None:
    async with new_world(FakeSession(listing("cnry-0", "cnry-1"))) as world:
        table = _Table(world)
        table.add("one", _RETAIN)
        await table.work()
        body = world.gateway.find("SecretSync", "one")
        assert body is not None
        world.gateway.remove("SecretSync", "one")
        table.intake.custom_resource("SecretSync", "DELETED", body)
        table.add("two", _RETAIN)
        await table.work()

        assert table.ready("two")[0] == "Synced"


class TestIdentities:
    """No target takes the credentials by which a custom resource logs in."""

    credentials = {"clientId": "cnry-id", "clientSecret": "cnry-secret"}  # noqa: RUF012 - read only
    template = {"data": {"clientId": "cnry-new", "K": "k"}}  # noqa: RUF012 - read only

    @pytest.mark.parametrize(
        ("target", "told"),
        [
            pytest.param({}, "is the identity Secret of this object", id="as an owner"),
            pytest.param(
                {"adopt": True}, "is the identity Secret of this object", id="as an owner that adopts"
            ),
            pytest.param(
                {"adopt": True, "creationPolicy": "Merge"},
                "is the identity Secret of this object (spec.identityRef); its clientId would change; "
                "rename the keys",
                id="as a merge that adopts",
            ),
            pytest.param({"creationPolicy": "Merge"}, "rename the keys", id="as a merge"),
        ],
    )
    @in_virtual_time
    async def test_it_does_not_take_its_own(self, target: Field, told: str) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            before = world.data("login")
            table = _Table(world)
            table.add("one", {"name": "login", "template": self.template, **target})
            await table.work()

            reason, message = table.ready("one")
            assert reason == "TargetConflict"
            assert told in message
            assert "set target.adopt" not in message
            assert world.data("login") == before

    @in_virtual_time
    async def test_a_merge_may_add_other_keys(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            table = _Table(world)
            table.add("one", {"name": "login", "creationPolicy": "Merge", "template": {"data": {"K": "k"}}})
            await table.work()

            assert table.ready("one")[0] == "Synced"
            assert set(world.data("login") or {}) == {"clientId", "clientSecret", "K"}

    @pytest.mark.parametrize("kind", ["SecretSync", "AppConnection", "CertificateProfile"])
    @pytest.mark.parametrize(
        "is_seen", [True, False], ids=["that a watch showed", "that no watch has shown yet"]
    )
    @pytest.mark.parametrize("policy", ["Owner", "Merge"])
    @in_virtual_time
    async def test_it_does_not_take_that_of_another(self, policy: str, kind: str, *, is_seen: bool) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            world.gateway.put(secret("t", self.credentials))
            before = world.data("t")
            table = _Table(world)
            table.see(kind, "reader", "t", is_seen=is_seen)
            table.add(
                "one", {"name": "t", "adopt": True, "creationPolicy": policy, "template": self.template}
            )
            await table.work()

            reason, message = table.ready("one")
            assert reason == "TargetConflict"
            assert (
                f"Secret t is the identity Secret of {kind} reader (spec.identityRef); its clientId"
                in message
            )
            assert world.data("t") == before

    @pytest.mark.parametrize("own", [True, False], ids=["its own", "that of another"])
    @pytest.mark.parametrize("adopt", [True, False])
    @pytest.mark.parametrize("key", ["url", "caBundle", "accessToken"])
    @in_virtual_time
    async def test_nothing_is_added_that_changes_a_whole_login(
        self, key: str, *, own: bool, adopt: bool
    ) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            name = "login" if own else "t"
            if not own:
                world.gateway.put(secret("t", self.credentials))
            before = world.data(name)
            table = _Table(world)
            if not own:
                table.see("AppConnection", "reader", "t")
            template = {"data": {key: "cnry-other"}}
            table.add("one", {"name": name, "adopt": adopt, "creationPolicy": "Merge", "template": template})
            await table.work()

            reason, message = table.ready("one")
            assert reason == "TargetConflict"
            assert f"its {key} would change" in message
            assert world.data(name) == before

    @in_virtual_time
    async def test_who_was_refused_is_called_when_it_is_nobodys_identity_any_more(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            world.gateway.put(secret("t", self.credentials))
            table = _Table(world)
            table.see("AppConnection", "reader", "t")
            table.see("AppConnection", "other", "t")
            table.add(
                "one",
                {
                    "name": "t",
                    "adopt": True,
                    "template": {"data": {**self.template["data"], "clientSecret": "x"}},
                },
            )
            await table.work()
            assert table.ready("one")[0] == "TargetConflict"

            table.see("AppConnection", "reader", "else", version=2)
            table.end("AppConnection", "other")
            await table.work()
            assert table.ready("one")[0] == "Synced"

    @in_virtual_time
    async def test_what_one_writes_for_another_stays_its_own(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"), listing("cnry-1"))) as world:
            table = _Table(world)
            table.see("AppConnection", "reader", "t")
            table.add("one", {"name": "t", "template": self.template})
            await table.work()
            assert table.ready("one")[0] == "Synced"

            before = world.data("t")
            table.edit("one", {"name": "t", "template": {"data": {"clientId": "another"}}})
            await table.work()
            assert table.ready("one")[0] == "Synced"
            assert world.data("t") != before

    @in_virtual_time
    async def test_credentials_that_one_merged_for_another_are_repaired(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"), listing("cnry-0"))) as world:
            world.gateway.put(secret("t", {"identityId": "cnry-id"}))
            table = _Table(world)
            table.see("AppConnection", "reader", "t")
            table.add(
                "one", {"name": "t", "creationPolicy": "Merge", "template": {"data": {"password": "p"}}}
            )
            await table.work()
            assert table.ready("one")[0] == "Synced"
            before = world.data("t")
            body = world.gateway.find("Secret", "t")
            assert body is not None
            drifted = body["data"] | {"password": "Y25yeS1lZGl0ZWQ="}
            world.gateway.put({**body, "data": drifted, "metadata": body["metadata"] | {"managedFields": []}})
            table.queue.add(WorkKey("SecretSync", "team-a", "one"), Lane.URGENT)
            await table.work()

            assert table.ready("one")[0] == "Synced", table.ready("one")[1]
            assert world.data("t") == before

    @in_virtual_time
    async def test_one_that_would_stay_as_it_is_is_taken_over(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            world.gateway.put(secret("t", {"clientId": "cnry-new:cnry-0"}))
            table = _Table(world)
            table.see("AppConnection", "reader", "t")
            table.add("one", {"name": "t", "adopt": True, "template": self.template})
            await table.work()

            assert table.ready("one")[0] == "Synced", table.ready("one")[1]

    @in_virtual_time
    async def test_that_the_watches_have_shown_everybody_is_asked_once_in_a_namespace(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            asked: list[str] = []
            world.gateway.before = lambda verb, kind: asked.append(kind) if verb == "list" else None
            table = _Table(world)
            for name in ("t", "u"):
                world.gateway.put(secret(name, {"clientId": "cnry-theirs"}))
                table.add(f"one-{name}", {"name": name, "adopt": True, "template": self.template})
                await table.work()
                assert table.ready(f"one-{name}")[0] == "Synced"
            assert asked == ["SecretSync", "AppConnection", "CertificateProfile"]


class TestRivals:
    def _owned_by(self, uid: str, **metadata: Field) -> Body:
        body = stored(desired(new_spec(onDelete="Retain"), {"A": "cnry-a"}, uid=uid).body)
        body["metadata"] |= metadata
        return body

    @in_virtual_time
    async def test_one_that_no_watch_has_shown_yet_is_asked_for_once(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            asked: list[str] = []
            world.gateway.before = lambda verb, kind: asked.append(f"{verb} {kind}")
            meta: Body = {"namespace": "team-a", "name": "one", "uid": "uid-one"}
            world.gateway.put({"kind": "SecretSync", "metadata": meta})
            rivals = Rivals(world.objects, world.gateway)

            assert await rivals.of(present(self._owned_by("uid-one")), UID) == {
                "uid-one": WorkKey("SecretSync", "team-a", "one")
            }
            for _ in range(2):
                assert await rivals.of(present(self._owned_by("uid-dead")), UID) == {}
            both = ["list SecretSync", "list CertificateProfile"]
            assert asked == ["list SecretSync", *both], "a UID never comes back"

    @in_virtual_time
    async def test_a_target_of_our_own_or_of_nobody_asks_nobody(self) -> None:
        async with new_world(FakeSession(listing("cnry-0"))) as world:
            rivals = Rivals(world.objects, world.gateway)
            world.gateway.before = lambda verb, kind: pytest.fail(f"{verb} {kind}")

            assert await rivals.of(None, UID) == {}
            assert await rivals.of(present(self._owned_by(UID)), UID) == {}
            assert await rivals.of(present(self._owned_by(UID, labels={})), UID) == {}
