from __future__ import annotations

import asyncio
from typing import cast

import pytest

from keybearer.controllers import references as module
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.outcome import ObjectGoneError
from keybearer.controllers.references import References
from keybearer.controllers.work import Lane, WorkKey
from keybearer.kube.errors import UnavailableError
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import ObjectKey
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.targets import Body, b64
from unit.controllers.fakes.virtual_loop import in_virtual_time, settle
from unit.controllers.fakes.world import FakeWatch, secret

_A, _B = (WorkKey("SecretSync", "team-a", name) for name in "ab")
_LOGIN = ObjectKey("team-a", "login")


class Desk:
    def __init__(self) -> None:
        self.gateway = FakeGateway()
        self.called: list[tuple[str, Lane]] = []
        self.watches: dict[str, FakeWatch] = {}
        self.references = References(
            self.gateway,
            lambda key, lane: self.called.append((key.name, lane)),
            lambda resource, on_change: cast(
                "ReferenceWatch[WorkKey]",
                self.watches.setdefault(resource.kind, FakeWatch(resource, on_change)),
            ),
        )
        self.put("cnry-1")

    def put(self, value: str, name: str = "login") -> str:
        """Write the Secret, and return its version."""
        body = self.gateway.put(secret(name, {"accessToken": value}))
        return str(body["metadata"]["resourceVersion"])

    def follow(self, who: WorkKey, *names: str) -> None:
        self.references.follow(who, secrets=frozenset(names), config_maps=frozenset())

    async def value(self, who: WorkKey) -> str | None:
        body = await self.references.secret(who, "login")
        return None if body is None else str(body["accessToken"])

    def change(self, *followers: WorkKey) -> None:
        self.watches["Secret"].on_change(frozenset(followers))


@pytest.fixture
def desk() -> Desk:
    return Desk()


@in_virtual_time
async def test_an_object_is_read_once_for_all_who_refer_to_it(desk: Desk) -> None:
    for who in (_A, _B):
        desk.follow(who, "login")
    answers = await asyncio.gather(*(desk.value(who) for who in (_A, _B, _A)))

    assert set(answers) == {b64("cnry-1")}
    assert desk.gateway.reads == ["Secret team-a/login"]
    seen = desk.watches["Secret"].versions
    assert {who for who, key in seen if key == _LOGIN} == {_A, _B}, "each has told what it saw"


@in_virtual_time
async def test_a_change_calls_the_followers_urgently_and_is_read_anew(desk: Desk) -> None:
    for who in (_A, _B):
        desk.follow(who, "login")
    await desk.value(_A)
    desk.put("cnry-2")
    desk.change(_A, _B)

    assert sorted(desk.called) == [("a", Lane.URGENT), ("b", Lane.URGENT)]
    assert await desk.value(_B) == b64("cnry-2")


@in_virtual_time
async def test_a_change_during_a_read_makes_the_next_one_read_again(desk: Desk) -> None:
    desk.follow(_A, "login")

    def change(verb: str, kind: str) -> None:
        del verb, kind
        desk.gateway.before = lambda *_: None
        desk.change(_A)

    desk.gateway.before = change
    await desk.value(_A)
    await desk.value(_A)

    assert len(desk.gateway.reads) == 2


@in_virtual_time
async def test_a_missing_object_is_remembered_as_missing_until_it_comes(desk: Desk) -> None:
    desk.gateway.remove("Secret", "login")
    desk.follow(_A, "login")
    for _ in range(2):
        assert await desk.value(_A) is None
    assert len(desk.gateway.reads) == 1
    assert desk.watches["Secret"].versions[_A, _LOGIN] is None

    desk.put("cnry-1")
    desk.change(_A)
    assert await desk.value(_A) == b64("cnry-1")


@in_virtual_time
async def test_a_read_that_failed_is_no_reading(desk: Desk) -> None:
    desk.follow(_A, "login")
    desk.gateway.fail("get", "Secret", UnavailableError("no answer"))
    with pytest.raises(UnavailableError):
        await desk.value(_A)

    assert await desk.value(_A) == b64("cnry-1")


@in_virtual_time
async def test_a_cancelled_read_is_no_reading(desk: Desk) -> None:
    desk.follow(_A, "login")
    slow = asyncio.Event()
    get = desk.gateway.get

    async def slowly(*args: object, **kwargs: object) -> object:
        await slow.wait()
        return await get(*args, **kwargs)  # type: ignore[arg-type]

    desk.gateway.get = slowly  # type: ignore[method-assign,assignment]
    reading = asyncio.create_task(desk.value(_A))
    await settle()
    reading.cancel()
    await settle()
    slow.set()

    assert await desk.value(_A) == b64("cnry-1")


@in_virtual_time
async def test_who_follows_no_longer_is_called_no_longer_and_leaves_nothing_behind(desk: Desk) -> None:
    for who in (_A, _B):
        desk.follow(who, "login")
    desk.follow(_A)
    assert desk.watches["Secret"].followed == {_B: frozenset({_LOGIN})}
    desk.references.forget(_B)

    assert desk.watches["Secret"].followed == {}
    with pytest.raises(ObjectGoneError):
        await desk.value(_B)


@in_virtual_time
async def test_other_references_of_the_same_follower_stay_as_read(desk: Desk) -> None:
    desk.follow(_A, "login")
    await desk.value(_A)
    desk.follow(_A, "login", "other")
    await desk.value(_A)

    assert len(desk.gateway.reads) == 1


@in_virtual_time
async def test_references_stay_in_the_followers_own_namespace(desk: Desk) -> None:
    foreign = WorkKey("SecretSync", "team-b", "a")
    desk.follow(foreign, "login")

    assert await desk.value(foreign) is None
    assert desk.watches["Secret"].followed[foreign] == frozenset({ObjectKey("team-b", "login")})


@in_virtual_time
async def test_an_object_that_we_write_calls_those_who_refer_to_it_but_not_its_writers(desk: Desk) -> None:
    for who in (_A, _B):
        desk.follow(who, "login")
        await desk.value(who)
    target = TargetKey("Secret", "team-a", "login")
    version = desk.put("cnry-2")
    desk.references.noticed(target, version, (_A,))
    desk.references.noticed(TargetKey("Secret", "team-a", "nobody-refers-to-it"), "1", ())

    assert desk.called == [("b", Lane.URGENT)]
    assert await desk.value(_B) == b64("cnry-2")
    desk.references.noticed(target, version, (_A,))
    assert len(desk.called) == 1, "what was read is no news"
    desk.references.noticed(target, None, ())
    assert sorted(desk.called[1:]) == [("a", Lane.URGENT), ("b", Lane.URGENT)]


@in_virtual_time
async def test_secrets_and_config_maps_of_one_name_are_kept_apart(desk: Desk) -> None:
    desk.gateway.put({**secret("login", {}), "kind": "ConfigMap", "data": {"t": "text"}})
    desk.references.follow(_A, secrets=frozenset({"login"}), config_maps=frozenset({"login"}))

    assert await desk.references.config_map(_A, "login") == {"t": "text"}
    assert await desk.value(_A) == b64("cnry-1")


class TestRoom:
    @in_virtual_time
    async def test_of_an_identity_only_what_is_used_of_it_stays_and_names(self, desk: Desk) -> None:
        junk = {"junk": "x" * 900_000, "accessToken": "cnry-1", "caBundle": "y" * 900_000}
        desk.gateway.put(secret("login", junk))
        desk.follow(_A, "login")
        data = await desk.references.secret(_A, "login")

        assert data == {"accessToken": b64("cnry-1"), "caBundle": 1_200_000, "junk": 0}

    @in_virtual_time
    async def test_of_a_config_map_only_the_parts_that_are_asked_for_stay(self, desk: Desk) -> None:
        texts: Body = {"one": "1", "two": "2", "junk": "x" * 900_000}
        desk.gateway.put({**secret("texts", {}), "kind": "ConfigMap", "data": texts})
        for who in (_A, _B):
            desk.references.follow(who, secrets=frozenset(), config_maps=frozenset({"texts"}))

        assert await desk.references.config_map(_A, "texts", "one") == {"one": "1"}
        assert await desk.references.config_map(_B, "texts", "two") == {"one": "1", "two": "2"}
        assert await desk.references.config_map(_A, "texts", "one") == {"one": "1", "two": "2"}
        assert len(desk.gateway.reads) == 2, "what is kept is not read again"
        assert await desk.references.config_map(_A, "texts", "absent") == {"one": "1", "two": "2"}
        assert await desk.references.config_map(_A, "texts") == texts
        assert await desk.references.config_map(_A, "texts", "two") == texts
        assert len(desk.gateway.reads) == 4

    @in_virtual_time
    async def test_what_is_kept_is_bounded_and_the_least_recently_read_goes_first(
        self, desk: Desk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_KEPT_MAX_CHARS", 1000)
        names = ("one", "two", "three")
        for name in names:
            desk.gateway.put({**secret(name, {}), "kind": "ConfigMap", "data": {"t": name[0] * 400}})
        desk.references.follow(_A, secrets=frozenset(), config_maps=frozenset(names))
        for name in (*names, "three", "two"):
            await desk.references.config_map(_A, name)
        assert len(desk.gateway.reads) == 3

        assert await desk.references.config_map(_A, "one") == {"t": "o" * 400}
        await desk.references.config_map(_A, "two")
        assert len(desk.gateway.reads) == 4
        desk.references.forget(_A)
        assert desk.references._config_maps._size == 0
