from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import ReconcileError, StalledError, WaitingError
from keybearer.controllers.reading import read_spec
from keybearer.controllers.secretsync import gather as module
from keybearer.controllers.secretsync import selection
from keybearer.controllers.secretsync.gather import FolderReading, Material
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.selection import KeysRefusedError, Selection, SourceContent
from keybearer.controllers.secretsync.status import KeyState
from keybearer.controllers.sources.session import SourceFailure
from keybearer.controllers.template.errors import RendererUnavailableError, TemplateError
from keybearer.controllers.template.protocol import Failure, TemplateFault
from keybearer.controllers.work import Lane
from unit.controllers.fakes.source_session import DENIED, OUTAGE, FakeSession, listing, secret
from unit.controllers.fakes.targets import SYNC, Body, Field
from unit.controllers.fakes.virtual_loop import in_virtual_time
from unit.controllers.fakes.world import World, new_world

_TWO = listing("cnry-0", "cnry-1")
_SOURCE = {"projectId": "shop", "environment": "dev"}


def spec_of(seen: ObservedObject) -> SecretSyncSpec:
    return read_spec(seen, SecretSyncSpec)


async def gather(world: World, **spec: Field) -> Material:
    seen = world.put_sync(**spec)
    return await world.gatherer.gather(seen, spec_of(seen), not_before=float("-inf"), follow_target=False)


async def refusal(world: World, **spec: Field) -> ReconcileError:
    with pytest.raises(ReconcileError) as refused:
        await gather(world, **spec)
    assert "cnry" not in refused.value.message
    return refused.value


def config_map(**data: str) -> Body:
    return {"kind": "ConfigMap", "metadata": {"namespace": "team-a", "name": "templates"}, "data": data}


@in_virtual_time
async def test_the_keys_of_all_sources_are_gathered_with_their_state() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        material = await gather(world)

    assert material.payload.data == {"K0": b"cnry-0", "K1": b"cnry-1"}
    assert [(key.key, key.state, key.version, key.source) for key in material.keys] == [
        ("K0", KeyState.SYNCED, 1, "dev:/K0"),
        ("K1", KeyState.SYNCED, 1, "dev:/K1"),
    ]
    assert material.failure is None
    assert material.read_at == 1000.0


@in_virtual_time
async def test_a_clash_of_sources_is_reported_and_blocks_nothing() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        sources = [_SOURCE, {**_SOURCE, "secretPath": "/more"}]
        world.put_sync()
        seen = world.objects.get(SYNC)
        assert seen is not None
        body = {**world.gateway.find("SecretSync", "web")}  # type: ignore[dict-item]
        body["spec"] = {"identityRef": {"name": "login"}, "sources": sources}
        seen = world.see(body)
        material = await world.gatherer.gather(seen, spec_of(seen), not_before=0.0, follow_target=False)

    assert {key.reason for key in material.keys if key.reason} == {"Clash"}
    assert set(material.payload.data) == {"K0", "K1"}


@in_virtual_time
async def test_secrets_that_can_not_become_keys_are_all_named_and_nothing_is_written() -> None:
    bad = replace(_TWO, secrets=(secret("no key"), secret("K0"), secret("K1", "cnry"), secret("neither key")))
    async with new_world(FakeSession(bad)) as world:
        error = await refusal(world)

    assert isinstance(error, KeysRefusedError)
    assert error.reason == "InvalidKey"
    assert {key.key for key in error.keys} == {"no key", "neither key"}
    assert {key.state for key in error.keys} == {KeyState.FAILED}
    assert error.message.endswith("(and 1 more, see status.keys)")


@in_virtual_time
async def test_a_type_that_the_operator_does_not_write_is_refused_before_anything_is_asked() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        error = await refusal(world, target={"type": "example.org/special"})

        assert isinstance(error, StalledError)
        assert error.reason == "TypeNotAllowed"
        assert "--allow-target-type" in error.message
        assert (world.session.asked, world.gateway.reads) == ([], [])


@in_virtual_time
async def test_a_source_that_fails_and_was_never_read_ends_it_with_the_sources_own_words() -> None:
    async with new_world(FakeSession(DENIED)) as world:
        error = await refusal(world)

    assert (error.reason, error.message, error.retry) == (DENIED.reason, DENIED.message, False)


@pytest.mark.parametrize("trouble", [OUTAGE, DENIED], ids=["an outage", "a refusal"])
@in_virtual_time
async def test_the_last_listing_is_used_through_an_outage_but_never_after_a_refusal(
    trouble: SourceFailure,
) -> None:
    async with new_world(FakeSession(_TWO, trouble)) as world:
        await gather(world)
        await asyncio.sleep(400)
        if trouble.passing:
            material = await gather(world)
            assert (material.failure, set(material.payload.data)) == (trouble, {"K0", "K1"})
        else:
            error = await refusal(world)
            assert (type(error), error.reason, error.message) == (
                StalledError,
                trouble.reason,
                trouble.message,
            )


@in_virtual_time
async def test_credentials_that_were_taken_away_are_used_no_longer() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        await gather(world)
        assert len(world.sources) == 1
        world.gateway.remove("Secret", "login")
        world.watches["Secret"].on_change(frozenset({SYNC}))
        assert world.called == [("web", Lane.URGENT)]
        assert (await refusal(world)).reason == "IdentityNotFound"

        assert len(world.sources) == 0


@in_virtual_time
async def test_without_an_identity_the_shared_one_is_asked_for() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        error = await refusal(world, identityRef=None)

        assert error.reason == "SharedIdentityRefused"
        assert SYNC not in world.watches["Secret"].followed


@in_virtual_time
async def test_sources_that_are_named_no_more_are_read_no_more() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        await gather(world)
        await gather(world, source={**_SOURCE, "secretPath": "/other"})

        assert [key.query.path for key in world.sources._sources] == ["/other"]


class TestTemplates:
    @in_virtual_time
    async def test_templates_replace_the_keys_unless_both_are_wanted(self) -> None:
        template = {"data": {"app.env": "text"}}
        async with new_world(FakeSession(_TWO)) as world:
            alone = await gather(world, target={"template": template})
            both = await gather(world, target={"template": {**template, "includeKeys": True}})

        assert alone.payload.data == {"app.env": b"text:cnry-0,cnry-1"}
        assert set(both.payload.data) == {"K0", "K1", "app.env"}
        assert {key.key: key.source for key in both.keys}["app.env"] == "template"

    @in_virtual_time
    async def test_a_template_wins_over_a_key_of_its_name(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            template = {"data": {"K0": "text"}, "includeKeys": True}
            material = await gather(world, target={"template": template})

        assert material.payload.data["K0"] == b"text:cnry-0,cnry-1"

    @pytest.mark.parametrize(
        ("reference", "inline", "rendered"),
        [
            pytest.param({"name": "templates"}, None, {"a": "A", "b": "B"}, id="all keys of a ConfigMap"),
            pytest.param({"name": "templates", "key": "a"}, None, {"a": "A"}, id="one key of it"),
            pytest.param({"name": "templates"}, {"a": "mine"}, {"a": "mine", "b": "B"}, id="inline wins"),
        ],
    )
    @in_virtual_time
    async def test_templates_come_from_a_config_map_too(
        self, reference: dict[str, str], inline: dict[str, str] | None, rendered: dict[str, str]
    ) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(config_map(a="A", b="B"))
            template = {"configMapRef": reference} | ({} if inline is None else {"data": inline})
            material = await gather(world, target={"template": template})

            assert {
                key: value.decode().partition(":")[0] for key, value in material.payload.data.items()
            } == rendered
            followed = world.watches["ConfigMap"].followed[SYNC]
            assert {key.name for key in followed} == {"templates"}

    @pytest.mark.parametrize(
        ("reference", "says"),
        [
            pytest.param(
                {"name": "missing"}, "ConfigMap team-a/missing of target.template doesn't exist", id="no map"
            ),
            pytest.param({"name": "templates", "key": "c"}, "has no key c; add it", id="no key"),
        ],
    )
    @in_virtual_time
    async def test_a_missing_template_says_what_to_create(self, reference: dict[str, str], says: str) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            world.gateway.put(config_map(a="A"))
            error = await refusal(world, target={"template": {"configMapRef": reference}})

        assert error.reason == "TemplateNotFound"
        assert says in error.message

    @pytest.mark.parametrize(
        ("error", "kind", "reason", "says"),
        [
            pytest.param(
                TemplateError(Failure(TemplateFault.SYNTAX_ERROR, "app.env", 3), "app.env, line 3: no end"),
                StalledError,
                "TemplateFailed",
                "app.env, line 3: no end",
                id="a wrong template is the user's",
            ),
            pytest.param(
                RendererUnavailableError("the sandbox doesn't start"),
                WaitingError,
                "RendererUnavailable",
                "the sandbox doesn't start; it is tried again",
                id="a sandbox that fails is not",
            ),
        ],
    )
    @in_virtual_time
    async def test_a_template_that_can_not_be_rendered_is_told(
        self, error: Exception, kind: type[ReconcileError], reason: str, says: str
    ) -> None:
        async def fail(*_: object, **__: object) -> dict[str, bytes]:
            raise error

        async with new_world(FakeSession(_TWO)) as world:
            world.gatherer._renderer.render = fail  # type: ignore[method-assign]
            refused = await refusal(world, target={"template": {"data": {"app.env": "{{ DB }}"}}})

        assert isinstance(refused, kind)
        assert (refused.reason, refused.message, refused.retry) == (reason, says, True)

    @in_virtual_time
    async def test_an_emptied_source_is_never_filled_with_templates(self) -> None:
        async with new_world(FakeSession(listing())) as world:
            assert (await refusal(world, target={"template": {"data": {"a": "A"}}})).reason == "NoKeys"

    @pytest.mark.parametrize(
        ("held", "said"),
        [
            (0, "dev:/ holds no secrets; create some, or correct the source"),
            (1, "dev:/ holds one secret, and source.keys doesn't take it; correct include, exclude or items"),
            (2, "dev:/ holds 2 secrets, and source.keys takes none; correct include, exclude or items"),
        ],
    )
    @pytest.mark.parametrize("target", [{}, {"template": {"data": {"a": "A"}}}], ids=["plain", "a template"])
    @in_virtual_time
    async def test_no_keys_says_how_many_secrets_there_were(
        self, held: int, said: str, target: Field
    ) -> None:
        async with new_world(FakeSession(listing(*["cnry-v"] * held))) as world:
            world.put_sync(source={**_SOURCE, "keys": {"include": ["OTHER"]}}, target=target)
            await world.reconcile()

            assert world.condition() == ("False", "NoKeys")
            assert world.message().startswith(said)


class TestPinned:
    keys = {"items": [{"key": "K0", "version": 2}]}  # noqa: RUF012 - read only

    @in_virtual_time
    async def test_a_pinned_version_takes_the_place_of_the_newest(self) -> None:
        session = FakeSession(_TWO)
        session.versions["K0", 2] = replace(secret("K0", "cnry-old"), version=2)
        async with new_world(session) as world:
            material = await gather(world, source={**_SOURCE, "keys": self.keys})

        assert material.payload.data["K0"] == b"cnry-old"
        assert {key.key: key.version for key in material.keys}["K0"] == 2

    @pytest.mark.parametrize("count", [256, 257])
    @in_virtual_time
    async def test_more_versions_than_can_be_read_are_refused_before_anything_is_asked(
        self, monkeypatch: pytest.MonkeyPatch, count: int
    ) -> None:
        monkeypatch.setattr(module, "is_light", lambda _: True)  # virtual time waits for no thread
        session = FakeSession(_TWO)
        session.versions = {
            (f"K{number}", 1): secret(f"K{number}", f"cnry-{number}") for number in range(count)
        }
        items = [{"key": f"K{number}", "version": 1} for number in range(count)]
        sources = [
            {**_SOURCE, "keys": {"include": [], "items": items[start : start + 100]}}
            for start in (0, 100, 200)
        ]
        async with new_world(session) as world:
            seen = world.put_sync(source=None, sources=sources)
            gathering = world.gatherer.gather(seen, spec_of(seen), not_before=0.0, follow_target=False)
            if count == 256:
                assert len((await gathering).payload.data) == 256
            else:
                with pytest.raises(StalledError, match=r"pin 257 versions.* at most 256; take") as refused:
                    await gathering
                assert refused.value.reason == "SpecInvalid"
                assert session.asked == []

    @in_virtual_time
    async def test_several_are_read_at_once(self) -> None:
        session = FakeSession(_TWO)
        session.version_seconds = 1.0
        names = [f"K{number}" for number in range(20)]
        session.versions = {(name, 1): secret(name, "cnry-old") for name in names}
        items = [{"key": name, "version": 1} for name in names]
        async with new_world(session) as world:
            began = world.clock.monotonic()
            material = await gather(world, source={**_SOURCE, "keys": {"include": [], "items": items}})

            assert len(material.payload.data) == 20
            assert session.versions_at_once == 8
            assert world.clock.monotonic() - began < 4

    @in_virtual_time
    async def test_after_one_that_can_not_be_had_no_more_are_asked_for(self) -> None:
        session = FakeSession(_TWO)
        session.version_seconds = 1.0
        items = [{"key": f"K{number}", "version": 1} for number in range(20)]
        session.versions = dict.fromkeys([(f"K{number}", 1) for number in range(20)], OUTAGE)
        async with new_world(session) as world:
            began = world.clock.monotonic()
            error = await refusal(world, source={**_SOURCE, "keys": {"include": [], "items": items}})

            assert (error.reason, error.retry) == ("ServiceUnavailable", True)
            assert world.clock.monotonic() - began < 2

    @in_virtual_time
    async def test_a_version_that_is_gone_is_a_problem_of_its_key(self) -> None:
        async with new_world(FakeSession(_TWO)) as world:
            error = await refusal(world, source={**_SOURCE, "keys": self.keys})

        assert error.reason == "KeyNotFound"
        assert "no secret K0 in version 2" in error.message


@pytest.mark.parametrize(
    ("include", "aside"), [("K*", False), ("/^K/", True)], ids=["light work", "work of unknown length"]
)
async def test_only_light_work_is_done_on_the_event_loop(
    monkeypatch: pytest.MonkeyPatch, include: str, *, aside: bool
) -> None:
    threads: list[int] = []

    def select(contents: list[SourceContent]) -> Selection:
        threads.append(threading.get_ident())
        return selection.select(contents)

    monkeypatch.setattr(module, "select", select)
    async with new_world(FakeSession(_TWO, seconds=0)) as world:
        await gather(world, source={**_SOURCE, "keys": {"include": [include]}})

    assert [thread != threading.get_ident() for thread in threads] == [aside]


@in_virtual_time
async def test_what_was_gathered_shows_no_value() -> None:
    async with new_world(FakeSession(_TWO)) as world:
        assert "cnry" not in repr(await gather(world))


@in_virtual_time
async def test_what_a_destination_gets_is_judged_once_for_each_content(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged = 0
    original = Fingerprinter.of_mappings

    def counted(self: Fingerprinter, purpose: str, head: Iterable[str], contents: Mapping[str, str]) -> str:
        nonlocal judged
        judged += purpose == "pushed secrets"
        return original(self, purpose, head, contents)

    monkeypatch.setattr(Fingerprinter, "of_mappings", counted)
    session = FakeSession(_TWO)
    async with new_world(session) as world:
        seen = world.put_sync()

        async def read() -> FolderReading:
            await asyncio.sleep(10)
            world.gatherer.follow_identity(seen, spec_of(seen))
            return await world.gatherer.read_folder(seen, spec_of(seen), not_before=world.clock.monotonic())

        first = await read()
        assert [await read() for _ in range(3)] == [first] * 3
        assert judged == 1
        session.then(listing("cnry-0", "cnry-2", "cnry-3"), _TWO)
        changed = await read()
        assert (changed.names, judged) == (("K0", "K1", "K2"), 2)
        assert changed.fingerprint != first.fingerprint
        assert await read() == first
        # Nothing stays of an object that is gone.
        world.gatherer.forget(seen.key)
        session.then(_TWO)
        assert await read() == first
    assert judged == 4


@in_virtual_time
async def test_what_a_destination_got_before_is_not_what_it_gets_once_the_identity_may_read_no_more() -> None:
    session = FakeSession(_TWO)
    async with new_world(session) as world:
        seen = world.put_sync()
        spec = spec_of(seen)
        world.gatherer.follow_identity(seen, spec)
        await world.gatherer.read_folder(seen, spec, not_before=0.0)
        await asyncio.sleep(10)
        session.then(DENIED)
        with pytest.raises(ReconcileError):
            await world.gatherer.read_folder(seen, spec, not_before=world.clock.monotonic())
