from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import orjson
import pytest

from keybearer.client import (
    NO_RETRIES,
    AsyncKeybearer,
    ClientOptions,
    EventPlace,
    EventType,
    KubernetesAuth,
    ProjectEvent,
    SuppliedToken,
    UniversalAuth,
)
from keybearer.controllers.event_feed import FeedRefusal, RefusalKind
from keybearer.controllers.listing import SourceSecret
from keybearer.controllers.outcome import ReconcileError, StalledError, WaitingError
from keybearer.controllers.service_session import ANSWER_MAX_BYTES, ServiceSession
from keybearer.controllers.sources import Listing, NotChanged, SourceFailure, SourceQuery
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.virtual_loop import LoopClock, in_virtual_time

_URL = "https://keybearer.example.com"
_QUERY = SourceQuery("shop-id", by_slug=False, environment="dev", path="/apps/web")
_LIST, _FOLDERS, _LOGIN = "/api/v4/secrets", "/api/v2/folders", "/api/v1/auth/universal-auth/login"
_SLUG = "/api/v1/projects/slug/shop"
_EVENTS = "/api/v1/events/subscribe/project-events"
Answer = httpx.Response | Exception | Callable[[httpx.Request], httpx.Response]


class Service:
    """Answers by path: each of the answers once, and the last for ever."""

    def __init__(self, **answers: Answer | list[Answer]) -> None:
        named = {"list": _LIST, "folders": _FOLDERS, "login": _LOGIN, "slug": _SLUG, "one": f"{_LIST}/DB"}
        named["events"] = _EVENTS
        self.answers = {
            named[name]: given if isinstance(given, list) else [given] for name, given in answers.items()
        }
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.seen.append(request)
        answers = self.answers[request.url.path]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, httpx.Response) else answer(request)

    @property
    def paths(self) -> list[str]:
        return [request.url.path for request in self.seen]


@asynccontextmanager
async def session(service: Service, *, token: bool = True) -> AsyncIterator[ServiceSession]:
    clock, rng = LoopClock(), SteadyChance()
    options = ClientOptions(retry=NO_RETRIES, clock=clock, rng=rng, max_response_bytes=ANSWER_MAX_BYTES)
    credentials = SuppliedToken("cnry-token") if token else UniversalAuth("cnry-id", "cnry-secret")
    async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
        client = AsyncKeybearer(_URL, credentials, options=options, http=http)
        yield ServiceSession("session", _URL, client, clock, rng)


def found(*secrets: dict[str, Any], etag: str | None = '"tag"', imports: Any = ()) -> httpx.Response:  # noqa: ANN401 - JSON
    headers = {} if etag is None else {"ETag": etag}
    return httpx.Response(200, headers=headers, json={"secrets": list(secrets), "imports": list(imports)})


def wire(key: str, value: str = "cnry-value", **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return {"id": key, "secretKey": key, "secretValue": value, "version": 3, **fields}


def refused(status: int, message: Any = "because", **extra: Any) -> httpx.Response:  # noqa: ANN401 - JSON
    return httpx.Response(status, json={"message": message, "error": "X", **extra})


def listed(answer: Listing | NotChanged | SourceFailure) -> tuple[SourceSecret, ...]:
    assert isinstance(answer, Listing), answer
    return answer.secrets


def failed(answer: Listing | NotChanged | SourceFailure | SourceSecret | None) -> SourceFailure:
    assert isinstance(answer, SourceFailure), answer
    assert "cnry" not in answer.message
    return answer


class TestListing:
    @in_virtual_time
    async def test_what_is_asked_is_what_the_source_says(self) -> None:
        query = replace(
            _QUERY, recursive=True, include_imports=False, expand_references=False, tag_slugs=("a", "b")
        )
        service = Service(list=found(wire("A")))
        async with session(service) as one:
            await one.list_source(query, None)

        (request,) = service.seen
        asked = dict(request.url.params)
        assert asked["projectId"] == "shop-id"
        assert (asked["environment"], asked["secretPath"]) == ("dev", "/apps/web")
        assert (asked["recursive"], asked["includeImports"]) == ("true", "false")
        assert (asked["expandSecretReferences"], asked["tagSlugs"]) == ("false", "a,b")
        assert "if-none-match" not in request.headers

    @in_virtual_time
    async def test_imports_come_first_in_their_order_so_that_later_ones_win(self) -> None:
        imports = [
            {
                "secretPath": "/base",
                "environment": "dev",
                "secrets": [wire("X", "cnry-1"), wire("Y", "cnry-2")],
            },
            {"secretPath": "/more", "environment": "prod", "secrets": [wire("X", "cnry-3")]},
        ]
        service = Service(
            list=found(wire("X", "cnry-4", updatedAt="2026-01-02T03:04:05.678Z"), imports=imports)
        )
        async with session(service) as one:
            secrets = listed(await one.list_source(_QUERY, None))

        assert [(secret.key, secret.environment, secret.path, secret.value) for secret in secrets] == [
            ("X", "dev", "/base", "cnry-1"),
            ("Y", "dev", "/base", "cnry-2"),
            ("X", "prod", "/more", "cnry-3"),
            ("X", "dev", "/apps/web", "cnry-4"),
        ]
        assert secrets[3].version == 3
        assert secrets[3].updated_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

    @in_virtual_time
    async def test_a_tag_is_sent_back_and_nothing_changed_is_no_listing(self) -> None:
        service = Service(list=[found(wire("A")), httpx.Response(304)])
        async with session(service) as one:
            first = await one.list_source(_QUERY, None)
            assert isinstance(first, Listing)
            assert first.etag == '"tag"'
            assert isinstance(await one.list_source(_QUERY, first.etag), NotChanged)

        assert service.seen[1].headers["if-none-match"] == '"tag"'

    @pytest.mark.parametrize("etag", [None, "", '"\u00e4"'], ids=["none", "empty", "no ASCII"])
    @in_virtual_time
    async def test_without_a_usable_tag_each_read_is_a_whole_one(self, etag: str | None) -> None:
        headers = {} if etag is None else {b"ETag": etag.encode()}
        service = Service(list=httpx.Response(200, headers=headers, json={"secrets": [wire("A")]}))
        async with session(service) as one:
            answer = await one.list_source(_QUERY, None)

        assert isinstance(answer, Listing)
        assert answer.etag is None

    @in_virtual_time
    async def test_a_hidden_value_is_known_as_hidden(self) -> None:
        async with session(Service(list=found(wire("A", "***", secretValueHidden=True)))) as one:
            (secret,) = listed(await one.list_source(_QUERY, None))

        assert secret.hidden

    @pytest.mark.parametrize(
        "text", ["", "soon", "0001-01-01T00:00:00+14:00"], ids=["none", "no time", "no year"]
    )
    @in_virtual_time
    async def test_a_time_that_is_none_is_left_out(self, text: str) -> None:
        async with session(Service(list=found(wire("A", updatedAt=text)))) as one:
            (secret,) = listed(await one.list_source(_QUERY, None))

        assert secret.updated_at is None


class TestEmptyFolders:
    @pytest.mark.parametrize(
        ("folders", "exists"),
        [([{"id": "1", "name": "web"}], True), ([{"id": "1", "name": "other"}], False), ([], False)],
    )
    @in_virtual_time
    async def test_an_empty_folder_is_told_from_a_missing_one(
        self, folders: list[Any], *, exists: bool
    ) -> None:
        service = Service(list=found(), folders=httpx.Response(200, json={"folders": folders}))
        async with session(service) as one:
            answer = await one.list_source(_QUERY, None)

        assert dict(service.seen[1].url.params)["path"] == "/apps"
        if exists:
            assert listed(answer) == ()
        else:
            assert failed(answer).reason == "SourceNotFound"

    @in_virtual_time
    async def test_the_root_always_exists(self) -> None:
        service = Service(list=found())
        async with session(service) as one:
            assert listed(await one.list_source(replace(_QUERY, path="/"), None)) == ()

        assert service.paths == [_LIST]

    @in_virtual_time
    async def test_a_folder_with_imports_only_exists(self) -> None:
        block = {"secretPath": "/base", "environment": "dev", "secrets": []}
        service = Service(list=found(imports=[block]))
        async with session(service) as one:
            assert listed(await one.list_source(_QUERY, None)) == ()


def untrusted() -> httpx.ConnectError:
    """Return what httpx raises where a certificate is not trusted."""
    error = httpx.ConnectError("no")
    error.__cause__ = ssl.SSLCertVerificationError("no")
    error.__cause__.verify_message = "self-signed certificate"
    return error


class TestFailures:
    @pytest.mark.parametrize(
        ("answer", "reason", "passing", "says"),
        [
            pytest.param(refused(401), "CredentialsRejected", False, "correct the identity Secret", id="401"),
            pytest.param(refused(403), "PermissionDenied", False, "grant it a role", id="403"),
            pytest.param(refused(404), "SourceNotFound", False, "correct project, environment", id="404"),
            pytest.param(refused(400), "ServiceRefused", False, "refuses to list", id="400"),
            pytest.param(refused(422, [{"path": ["x"], "message": "no"}]), "ServiceRefused", False, "x: n", id="422"),
            pytest.param(refused(429), "ServiceThrottled", True, "slow down", id="429"),
            pytest.param(refused(500), "ServiceUnavailable", True, "fails with status 500", id="500"),
            pytest.param(httpx.Response(502, html="<p>bad gateway"), "ServiceUnavailable", True, "502", id="a proxy"),
            pytest.param(httpx.ConnectError("no"), "ServiceUnavailable", True, "can't be reached", id="no route"),
            pytest.param(untrusted(), "CertificateUntrusted", True, "into caBundle of the id", id="trust"),
            pytest.param(httpx.ReadTimeout("slow"), "ServiceUnavailable", True, "no complete answer", id="late"),
            pytest.param(httpx.Response(200, html="<p>login"), "ServiceRefused", False, "correct the url", id="page"),
            pytest.param(
                httpx.Response(302, headers={"Location": "https://evil.example/x"}), "ServiceRefused", False,
                "redirects to https://evil.example", id="a redirect, which is not followed",
            ),
        ],
    )  # fmt: skip
    @in_virtual_time
    async def test_each_failure_has_a_reason_and_a_remedy(
        self, answer: Answer, reason: str, says: str, *, passing: bool
    ) -> None:
        async with session(Service(list=answer)) as one:
            failure = failed(await one.list_source(_QUERY, None))

        assert (failure.reason, failure.passing) == (reason, passing)
        assert says in failure.message
        assert "shop-id/dev:/apps/web" in failure.message or _URL in failure.message

    @in_virtual_time
    async def test_an_answer_that_is_too_long_says_how_to_ask_for_less(self) -> None:
        huge = httpx.Response(200, content=b" " * (ANSWER_MAX_BYTES + 1))
        async with session(Service(list=huge)) as one:
            failure = failed(await one.list_source(_QUERY, None))

        assert (failure.reason, failure.passing) == ("ServiceRefused", False)
        assert "shop-id/dev:/apps/web holds more than the 16 MiB" in failure.message
        assert "split the folder, or select a narrower secretPath" in failure.message

    @pytest.mark.parametrize(
        "body",
        [
            {"secrets": [{"secretKey": "A", "secretValue": {"cnry-value": 1}}]},
            {"secrets": [{"id": "1", "secretKey": ["cnry-value"], "secretValue": "cnry-value"}]},
            {"secrets": "cnry-value"},
            ["cnry-value"],
        ],
        ids=["a value that is none", "a key that is none", "no list", "no object"],
    )
    @in_virtual_time
    async def test_an_answer_of_another_shape_is_described_without_what_it_holds(self, body: Any) -> None:  # noqa: ANN401
        async with session(Service(list=httpx.Response(200, json=body))) as one:
            failure = failed(await one.list_source(_QUERY, None))

        assert failure.reason == "ServiceRefused"

    @in_virtual_time
    async def test_a_service_that_asks_to_wait_says_for_how_long(self) -> None:
        answer = httpx.Response(429, headers={"Retry-After": "90"}, json={"message": "slow down"})
        async with session(Service(list=answer)) as one:
            assert failed(await one.list_source(_QUERY, None)).after == timedelta(seconds=90)

    @in_virtual_time
    async def test_refused_credentials_are_shown_once_a_minute_at_most(self) -> None:
        service = Service(login=refused(401, "invalid credentials cnry-secret"))
        async with session(service, token=False) as one:
            first = failed(await one.list_source(_QUERY, None))
            await asyncio.sleep(20)
            second = failed(await one.list_source(_QUERY, None))
            assert (second, second.after) == (first, timedelta(seconds=40))
            assert len(service.seen) == 1
            await asyncio.sleep(41)
            failed(await one.list_source(_QUERY, None))

        assert len(service.seen) == 2

    @pytest.mark.parametrize(
        ("error", "passing"),
        [
            (StalledError("IdentityInvalid", "create the ServiceAccount"), False),
            (WaitingError("X", "later"), True),
        ],
        ids=["a person must act", "it may pass"],
    )
    @in_virtual_time
    async def test_a_token_that_can_not_be_had_is_told_in_the_words_of_its_source(
        self, error: ReconcileError, *, passing: bool
    ) -> None:
        async def fail() -> str:
            raise error

        clock, rng = LoopClock(), SteadyChance()
        options = ClientOptions(retry=NO_RETRIES, clock=clock, rng=rng, max_response_bytes=ANSWER_MAX_BYTES)
        service = Service()
        async with httpx.AsyncClient(transport=httpx.MockTransport(service)) as http:
            client = AsyncKeybearer(_URL, KubernetesAuth("cnry-id", fail), options=options, http=http)
            one = ServiceSession("session", _URL, client, clock, rng)
            failure = failed(await one.list_source(_QUERY, None))

        assert (failure.reason, failure.message, failure.passing) == (error.reason, error.message, passing)
        assert service.seen == []


class TestBreaker:
    @in_virtual_time
    async def test_an_ailing_service_is_left_alone_and_the_same_is_said_meanwhile(self) -> None:
        service = Service(list=[*[httpx.ConnectError("x")] * 6, found(wire("A"))])
        async with session(service) as one:
            first = [failed(await one.list_source(_QUERY, None)) for _ in range(5)]
            held = [failed(await one.list_source(replace(_QUERY, path="/other"), None)) for _ in range(50)]
            assert len(service.seen) == 5
            assert set(first) | set(held) == {first[0]}, "one failure, one text"
            assert held[0].after is not None
            assert timedelta() < held[0].after <= timedelta(seconds=5)

            await asyncio.sleep(6)
            answers = await asyncio.gather(*(one.list_source(_QUERY, None) for _ in range(10)))
            assert len(service.seen) == 6, "one probe"
            assert all(isinstance(answer, SourceFailure) for answer in answers)

            await asyncio.sleep(11)
            assert listed(await one.list_source(_QUERY, None))
            assert listed(await one.list_source(_QUERY, None))

    @in_virtual_time
    async def test_refusals_are_answers_and_open_nothing(self) -> None:
        service = Service(list=refused(403))
        async with session(service) as one:
            for _ in range(20):
                failed(await one.list_source(_QUERY, None))

        assert len(service.seen) == 20

    @in_virtual_time
    async def test_a_flood_of_reads_is_spread(self) -> None:
        async with session(Service(list=found(wire("A")))) as one:
            await asyncio.gather(*(one.list_source(_QUERY, None) for _ in range(200)))

        assert asyncio.get_running_loop().time() - 1000 == pytest.approx(2.0)


class TestProjects:
    query = replace(_QUERY, project="shop", by_slug=True)

    @in_virtual_time
    async def test_a_slug_is_looked_up_once(self) -> None:
        project = httpx.Response(200, json={"id": "shop-id", "slug": "shop", "name": "Shop"})
        service = Service(slug=project, list=found(wire("A")))
        async with session(service) as one:
            for _ in range(3):
                listed(await one.list_source(self.query, None))

        assert service.paths == [_SLUG, _LIST, _LIST, _LIST]
        assert dict(service.seen[1].url.params)["projectId"] == "shop-id"

    @in_virtual_time
    async def test_a_slug_that_leads_nowhere_any_more_is_looked_up_anew(self) -> None:
        projects: list[Answer] = [
            httpx.Response(200, json={"id": name, "slug": "shop", "name": "Shop"}) for name in ("old", "new")
        ]
        service = Service(slug=projects, list=[refused(404), found(wire("A"))])
        async with session(service) as one:
            assert failed(await one.list_source(self.query, None)).reason == "SourceNotFound"
            assert listed(await one.list_source(self.query, None))

        assert dict(service.seen[-1].url.params)["projectId"] == "new"


class TestVersions:
    @in_virtual_time
    async def test_one_version_is_read_by_name(self) -> None:
        service = Service(one=httpx.Response(200, json={"secret": wire("DB", "cnry-old", version=2)}))
        async with session(service) as one:
            secret = await one.read_version(_QUERY, "DB", 2)

        assert isinstance(secret, SourceSecret)
        assert (secret.value, secret.version) == ("cnry-old", 2)
        assert dict(service.seen[0].url.params)["version"] == "2"

    @in_virtual_time
    async def test_a_version_that_does_not_exist_is_none(self) -> None:
        async with session(Service(one=refused(404))) as one:
            assert await one.read_version(_QUERY, "DB", 2) is None

    @in_virtual_time
    async def test_a_failure_is_told_as_for_a_list(self) -> None:
        async with session(Service(one=refused(503))) as one:
            assert failed(await one.read_version(_QUERY, "DB", 2)).reason == "ServiceUnavailable"


@in_virtual_time
async def test_a_supplied_token_is_never_revoked() -> None:
    service = Service(list=found(wire("A")))
    async with session(service) as one:
        await one.list_source(_QUERY, None)
        await one.close()

    assert service.paths == [_LIST]


def stream(*frames: str) -> httpx.Response:
    content = "".join(f"{frame}\n\n" for frame in frames).encode()
    return httpx.Response(200, headers={"content-type": "text/event-stream"}, content=content)


class TestFeeds:
    @in_virtual_time
    async def test_a_feed_of_the_project_or_of_places_is_opened(self) -> None:
        service = Service(events=stream("event: ping", "event: secret:update\ndata: {}"))
        async with session(service) as one:
            for places in ([], [EventPlace("dev", "/a"), EventPlace("prod")]):
                feed = await one.open_feed(_QUERY, places)
                assert not isinstance(feed, FeedRefusal)
                assert await feed.__anext__() == ProjectEvent("secret:update")
                await feed.aclose()

        whole, placed = (orjson.loads(request.content) for request in service.seen)
        assert whole["projectId"] == "shop-id"
        assert [item["event"] for item in whole["register"]] == list(EventType)
        assert all("conditions" not in item for item in whole["register"])
        conditions = [item["conditions"] for item in placed["register"]]
        assert conditions[::4] == [
            {"environmentSlug": "dev", "secretPath": "/a"},
            {"environmentSlug": "prod", "secretPath": "/"},
        ]
        assert len(conditions) == 8

    @in_virtual_time
    async def test_a_project_that_is_named_by_its_slug_is_looked_up_first(self) -> None:
        slug = httpx.Response(200, json={"id": "shop-id", "name": "shop", "slug": "shop"})
        service = Service(slug=slug, events=stream("event: ping"))
        async with session(service) as one:
            feed = await one.open_feed(replace(_QUERY, project="shop", by_slug=True), [])
            assert not isinstance(feed, FeedRefusal)
            await feed.aclose()
        assert service.paths == [_SLUG, _EVENTS]

    @pytest.mark.parametrize(
        ("answer", "kind"),
        [
            pytest.param(refused(403), RefusalKind.DENIED, id="403"),
            pytest.param(refused(404), RefusalKind.UNAVAILABLE, id="404"),
            pytest.param(refused(400), RefusalKind.UNAVAILABLE, id="400"),
            pytest.param(refused(422), RefusalKind.UNAVAILABLE, id="422"),
            pytest.param(refused(429), RefusalKind.CROWDED, id="429"),
            pytest.param(refused(401), RefusalKind.FAILED, id="401"),
            pytest.param(refused(503), RefusalKind.FAILED, id="503"),
            pytest.param(found(), RefusalKind.UNAVAILABLE, id="no stream"),
            pytest.param(httpx.ConnectError("refused"), RefusalKind.FAILED, id="no answer"),
        ],
    )
    def test_a_refusal_says_what_may_be_tried_next(self, answer: Answer, kind: RefusalKind) -> None:
        @in_virtual_time
        async def check() -> None:
            async with session(Service(events=answer)) as one:
                refusal = await one.open_feed(_QUERY, [])
                assert isinstance(refusal, FeedRefusal)
                assert refusal.kind is kind
                assert "cnry" not in refusal.why

        check()

    @in_virtual_time
    async def test_streams_that_fail_don_t_keep_lists_from_being_read(self) -> None:
        service = Service(events=httpx.ConnectError("refused"), list=found(wire("A")))
        async with session(service) as one:
            for _ in range(20):
                await one.open_feed(_QUERY, [])
            assert listed(await one.list_source(_QUERY, None))

    @in_virtual_time
    async def test_an_outage_holds_streams_back_as_well(self) -> None:
        service = Service(events=stream("event: ping"), list=httpx.ConnectError("refused"))
        async with session(service) as one:
            for _ in range(6):
                await one.list_source(_QUERY, None)
            refusal = await one.open_feed(_QUERY, [])
        assert isinstance(refusal, FeedRefusal)
        assert refusal.after is not None
        assert _EVENTS not in service.paths

    @in_virtual_time
    async def test_refused_credentials_are_not_shown_again_by_a_stream(self) -> None:
        service = Service(login=refused(401))
        async with session(service, token=False) as one:
            for _ in range(5):
                refusal = await one.open_feed(_QUERY, [])
                assert isinstance(refusal, FeedRefusal)
                assert refusal.after is not None
        assert service.paths == [_LOGIN]
