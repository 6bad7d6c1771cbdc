"""keybearer.controllers.cleanup_rights: by what is cleaned up where the identity Secret has gone."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta
from typing import cast

import httpx
import pytest
from structlog.testing import capture_logs

from keybearer.client import NO_RETRIES, AsyncKeybearer, ClientOptions, SuppliedToken, UniversalAuth
from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.assembly import READINGS
from keybearer.controllers.cleanup_rights import CleanupRights
from keybearer.controllers.cleanup_tokens import CleanupTokens
from keybearer.controllers.finalizer import FINALIZER
from keybearer.controllers.identity import ServiceIdentity, ServicePolicy
from keybearer.controllers.objects import ObjectStore, ObservedObject
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.references import References
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.work import WorkKey
from keybearer.kube.errors import ForbiddenError, UnavailableError
from keybearer.kube.reference_watch import ReferenceWatch
from keybearer.kube.resources import ObjectKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.gateway import FakeGateway
from unit.controllers.fakes.targets import FINGERPRINTER
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time
from unit.controllers.fakes.world import FakeWatch, secret

_URL = "https://keybearer.example.com"
_KEPT = ObjectKey("keybearer", "keybearer-operator-cleanup-tokens")
_STORE = WorkKey("AppConnection", "team-a", "store")
_LOGIN = ObjectKey("team-a", "login")
_TTL = 1000
_LOGINS, _RENEWALS = "/api/v1/auth/universal-auth/login", "/api/v1/auth/token/renew"
_REVOKED = "/api/v1/auth/token/revoke"


class DriftingClock(LoopClock):
    """Of which the time of the day is another each time, measured by the other clocks."""

    def __init__(self) -> None:
        self._drift = itertools.count()

    def now(self) -> datetime:
        return super().now() + timedelta(microseconds=next(self._drift))


class Service:
    """Grants tokens cnry-1, cnry-2 and so on; each request counts under its path."""

    def __init__(self) -> None:
        self.serial = itertools.count(1)
        self.asked: list[str] = []
        self.revoked: list[str] = []
        self.ttl = _TTL
        self.refuses = False

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.url.path)
        if self.refuses:
            return httpx.Response(401, json={"message": "Invalid credentials", "error": "UnauthorizedError"})
        if request.url.path == _REVOKED:
            self.revoked.append(json.loads(request.content)["accessToken"])
            return httpx.Response(200, json={"message": "ok"})
        granted = f"cnry-{next(self.serial)}"
        return httpx.Response(
            200,
            json={
                "accessToken": granted,
                "expiresIn": self.ttl,
                "accessTokenMaxTTL": 0,
                "tokenType": "Bearer",
            },
        )


class Process:
    """One operator's part of it, over a cluster and a service that outlive it."""

    def __init__(self, gateway: FakeGateway, http: httpx.AsyncClient) -> None:
        self.clock, self.gateway, self.http = DriftingClock(), gateway, http
        self.objects = ObjectStore()
        self.references = References(
            gateway,
            lambda *_: None,
            lambda resource, on_change: cast("ReferenceWatch[WorkKey]", FakeWatch(resource, on_change)),
        )
        self.tokens = CleanupTokens(gateway, _KEPT)
        self.access = ServiceAccess(
            clock=self.clock,
            gateway=gateway,
            references=self.references,
            fingerprinter=FINGERPRINTER,
            policy=ServicePolicy(_URL),
            open_session=self._open,
            shared=None,
            grants=(),
            kept_token=self.tokens.use,
        )
        self.rights = CleanupRights(self.clock, self.objects, self.access, self.tokens)

    def _open(self, session_id: str, identity: ServiceIdentity) -> ServiceSession:
        given = identity.credentials
        credentials = (
            SuppliedToken(given["accessToken"])
            if identity.method == "AccessToken"
            else UniversalAuth(given["clientId"], given["clientSecret"])
        )
        rng = SteadyChance()
        options = ClientOptions(retry=NO_RETRIES, clock=self.clock, rng=rng)
        client = AsyncKeybearer(identity.url, credentials, options=options, http=self.http)
        return ServiceSession(session_id, identity.url, client, self.clock, rng)

    def show(self, *, finalizer: bool = True, key: WorkKey = _STORE) -> None:
        """The watch shows an object that names the identity Secret `login`."""
        meta = {"namespace": key.namespace, "name": key.name, "uid": key.name, "resourceVersion": "7"}
        body = {
            "metadata": {**meta, "finalizers": [FINALIZER] if finalizer else []},
            "spec": {"identityRef": {"name": "login"}},
        }
        reading = READINGS[key.kind]
        seen = ObservedObject.from_body(
            key.kind,
            body,  # type: ignore[arg-type]
            trigger_at=0.0,
            targets_of=reading.targets_of,
            identity_of=reading.identity_of,
        )
        self.objects.put(seen)

    async def session(self, *, cleans_up: bool = False) -> ServiceSession:
        self.references.forget(_STORE)
        self.references.follow(_STORE, secrets=frozenset({"login"}), config_maps=frozenset())
        return await self.access.named_session(_STORE, "login", cleans_up=cleans_up)

    async def log_in(self) -> None:
        """A reconcile asks the service."""
        await (await self.session()).hold_token()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        started = asyncio.Event()
        tasks = [asyncio.create_task(self.rights.run(started)), asyncio.create_task(self.rights.renew())]
        await started.wait()
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task


class Scene:
    def __init__(self) -> None:
        self.service, self.gateway = Service(), FakeGateway()
        self.http = httpx.AsyncClient(transport=httpx.MockTransport(self.service))
        self.gateway.put(secret("login", {"clientId": "cnry-id", "clientSecret": "cnry-secret"}))

    def process(self) -> Process:
        return Process(self.gateway, self.http)

    async def leave_token(self) -> None:
        """A process logs in, keeps its token, and is killed."""
        former = self.process()
        former.show()
        async with former.running():
            await former.log_in()
            await asyncio.sleep(6)

    def writes(self) -> list[str]:
        return [str(write) for write in self.gateway.writes]

    async def kept(self) -> str | None:
        """The token that a process finds which starts now."""
        found = CleanupTokens(self.gateway, _KEPT)
        await found.load()
        token = found.get(_LOGIN)
        return None if token is None else token.text


@in_virtual_time
async def test_a_running_operator_goes_on_with_the_session_that_it_has_for_cleaning_up_alone() -> None:
    scene = Scene()
    process = scene.process()
    process.show()
    async with process.running():
        await process.log_in()
        scene.gateway.remove("Secret", "login")

        session = await process.session(cleans_up=True)
        assert session.token is not None
        assert session.token.text == "cnry-1"
        with pytest.raises(StalledError):
            await process.session()


@in_virtual_time
async def test_whoever_starts_after_the_secret_has_gone_uses_the_token_that_was_kept() -> None:
    scene = Scene()
    await scene.leave_token()
    scene.gateway.remove("Secret", "login")
    process = scene.process()
    async with process.running():
        process.show()
        session = await process.session(cleans_up=True)
        assert session.token is not None
        assert session.token.text == "cnry-1"
        with pytest.raises(StalledError):
            await process.session()
        await asyncio.sleep(700)
        assert scene.service.revoked == []

        process.objects.end(_STORE, "store")
        await asyncio.sleep(20)

    assert scene.service.revoked == ["cnry-1"]
    assert await scene.kept() is None


class CountingStore(ObjectStore):
    """Counts how often all its objects are gone through."""

    passes = 0

    def __iter__(self) -> Iterator[ObservedObject]:
        self.passes += 1
        return super().__iter__()


@in_virtual_time
async def test_objects_that_stay_as_they_are_are_gone_through_once() -> None:
    process = Scene().process()
    store = CountingStore()
    process.objects = store
    process.rights = CleanupRights(process.clock, store, process.access, process.tokens)
    process.show()
    async with process.running():
        await asyncio.sleep(60)
        at_rest = store.passes
        process.show(finalizer=False)
        await asyncio.sleep(60)

    assert (at_rest, store.passes) == (1, 2)


@in_virtual_time
async def test_a_token_goes_at_once_when_the_last_that_needed_it_went_between_two_looks() -> None:
    scene = Scene()
    await scene.leave_token()
    scene.gateway.remove("Secret", "login")
    process = scene.process()
    async with process.running():
        process.show()
        assert (await process.session(cleans_up=True)).token is not None
        process.objects.end(_STORE, "store")
        await asyncio.sleep(20)

    assert await scene.kept() is None
    assert scene.service.revoked == ["cnry-1"]


@in_virtual_time
async def test_a_token_that_was_found_is_revoked_once_another_is_kept_in_its_place() -> None:
    scene = Scene()
    former = scene.process()
    former.show()
    async with former.running():
        await former.log_in()
        await former.access.close(await former.rights.hand_on())
    assert scene.service.revoked == [], "whoever ends in good order leaves it"

    process = scene.process()
    async with process.running():
        process.show()
        await process.log_in()
        await asyncio.sleep(20)
        assert await scene.kept() == "cnry-2"
        assert scene.service.revoked == ["cnry-1"]
        await process.access.close()
    assert scene.service.revoked == ["cnry-1", "cnry-2"]


@in_virtual_time
async def test_nothing_is_written_at_rest_nor_for_who_has_nothing_to_clean_up() -> None:
    scene = Scene()
    scene.service.ttl = 30 * 86_400
    process = scene.process()
    process.show(finalizer=False)
    async with process.running():
        await process.log_in()
        await asyncio.sleep(60)
        assert scene.writes() == []

        process.show(key=WorkKey("SecretSync", "team-a", "merges-into-a-secret"))
        await asyncio.sleep(60)
        assert scene.writes() == []

        process.show(key=WorkKey("AppConnection", "team-a", "other"))
        process.show(key=WorkKey("AppConnection", "team-a", "third"))
        await asyncio.sleep(86_400)
        assert scene.writes() == [f"create Secret {_KEPT}"]
        assert scene.service.asked == [_LOGINS]


@in_virtual_time
async def test_tokens_are_renewed_while_they_are_needed_and_the_newest_is_kept() -> None:
    scene = Scene()
    process = scene.process()
    process.show()
    async with process.running():
        await process.log_in()
        await asyncio.sleep(0.9 * _TTL)

        assert scene.service.asked == [_LOGINS, _RENEWALS]
        assert await scene.kept() == "cnry-2"

        scene.gateway.remove("Secret", "login")
        with suppress(StalledError):
            await process.session()
        await asyncio.sleep(10 * _TTL)
        assert scene.service.asked.count(_RENEWALS) == 1, "whoever deletes the Secret wants an end of it"
        assert await scene.kept() is None


@in_virtual_time
async def test_who_asks_for_nothing_by_itself_is_logged_in_once_as_well() -> None:
    """Objects that are suspended, or whose spec can't be read."""
    scene = Scene()
    process = scene.process()
    process.show()
    async with process.running():
        await asyncio.sleep(60)

    assert scene.service.asked == [_LOGINS]
    assert await scene.kept() == "cnry-1"


@in_virtual_time
async def test_wrong_credentials_and_missing_secrets_are_tried_every_five_minutes_only() -> None:
    scene = Scene()
    scene.service.refuses = True
    scene.gateway.remove("Secret", "login")
    process = scene.process()
    process.show()
    async with process.running():
        await asyncio.sleep(400)
        assert scene.gateway.reads.count("Secret team-a/login") <= 2

        scene.gateway.put(secret("login", {"clientId": "cnry-id", "clientSecret": "cnry-wrong"}))
        await asyncio.sleep(700)
    assert 1 <= scene.service.asked.count(_LOGINS) <= 3


@in_virtual_time
async def test_what_is_found_stays_until_the_watches_have_shown_who_needs_it() -> None:
    scene = Scene()
    await scene.leave_token()
    process = scene.process()
    async with process.running():
        await asyncio.sleep(300)
        assert await scene.kept() == "cnry-1"
        await asyncio.sleep(330)
        assert await scene.kept() is None
    assert scene.service.revoked == ["cnry-1"]


@in_virtual_time
async def test_an_operator_that_may_not_keep_tokens_says_so_once_and_cleans_up_as_long_as_it_runs() -> None:
    scene = Scene()
    scene.gateway.fail("get", "Secret", ForbiddenError("no right to get"))
    process = scene.process()
    process.show()
    with capture_logs() as told:
        async with process.running():
            await asyncio.sleep(600)
    assert [one["event"] for one in told] == ["cleanup_tokens_not_kept"]
    async with process.running():
        await process.log_in()
        assert scene.writes() == []
        assert process.rights.sessions_in_use() == {(await process.session()).id}
        scene.gateway.remove("Secret", "login")
        assert (await process.session(cleans_up=True)).token is not None
        assert await process.rights.hand_on() == set()


@in_virtual_time
async def test_an_api_server_that_is_away_loses_nothing() -> None:
    scene = Scene()
    await scene.leave_token()
    scene.gateway.fail("get", "Secret", UnavailableError("no answer"), times=3)
    process = scene.process()
    process.show()
    async with process.running():
        await asyncio.sleep(12)
        assert await scene.kept() == "cnry-1"


@in_virtual_time
async def test_a_token_of_its_own_is_kept_and_never_revoked() -> None:
    scene = Scene()
    scene.gateway.put(secret("login", {"accessToken": "cnry-given"}))
    process = scene.process()
    process.show()
    async with process.running():
        await process.session()
        await asyncio.sleep(6)
        assert await scene.kept() == "cnry-given"
    after = scene.process()
    async with after.running():
        await asyncio.sleep(700)
    assert await scene.kept() is None
    assert scene.service.asked == []
