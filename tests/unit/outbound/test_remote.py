"""The way out to remotes of connections, over real sockets."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from keybearer.destinations.remote import (
    Limits,
    RemoteAnswer,
    RemoteRefusedError,
    RemoteRequest,
    RemoteThrottledError,
    RemoteUnavailableError,
    quotable,
    segment,
)
from keybearer.outbound import remote
from keybearer.outbound.gate import Gate
from keybearer.outbound.remote import RemoteHttp
from keybearer.outbound.trust import trust, trust_as_well
from support.async_waiting import until
from support.directory import loopback_gate
from support.listening import listening
from support.self_signed import certificate

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LISTED = "127.0.0.0/8"
SLOW_DOWN = b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n"


def reply(status: str = "200 OK", body: bytes = b"{}", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def slow_down(retry_after: str) -> bytes:
    return reply("429 Too Many Requests", b"", f"Retry-After: {retry_after}")


@dataclass
class Clock:
    """Stands still but for what was waited for."""

    waits: list[float]

    def now(self) -> datetime:
        return NOW + timedelta(seconds=sum(self.waits))

    def monotonic(self) -> float:
        return sum(self.waits)

    def boottime(self) -> float:
        return 0.0


@dataclass
class Seen:
    """What a server was sent, and over how many connections."""

    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    at_once: int = 0
    most_at_once: int = 0
    ten_at_once: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def server(
    *replies: bytes | None,
    tls: ssl.SSLContext | None = None,
    hold: asyncio.Event | None = None,
) -> AsyncIterator[tuple[int, Seen]]:
    """Answer with these one after the other, the last of them for ever; None hangs up, a cut one does so after it."""
    seen = Seen()
    left = list(replies)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.connections += 1
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                ),
                0,
            )
            seen.requests.append(head + await reader.readexactly(length))
            seen.at_once += 1
            seen.most_at_once = max(seen.most_at_once, seen.at_once)
            if seen.at_once == 10:
                seen.ten_at_once.set()
            if hold is not None:
                await hold.wait()
            seen.at_once -= 1
            answer = left.pop(0) if len(left) > 1 else left[0]
            if answer is None:
                break
            writer.write(answer)
            await writer.drain()
            if answer.endswith(b"cut"):
                break

    async with listening(serve, tls=tls) as port:
        yield port, seen


def has_seen(seen: Seen, number: int) -> Callable[[], Awaitable[bool]]:
    async def probe() -> bool:
        return len(seen.requests) >= number

    return probe


@dataclass
class Way:
    """A way out, and the seconds that it was told to wait."""

    http: RemoteHttp
    waits: list[float] = field(default_factory=list)

    async def get(self, url: str, headers: dict[str, str] | None = None, method: str = "GET") -> RemoteAnswer:
        return await self.http.send(RemoteRequest(method, url, headers or {}))


@pytest.fixture
async def way_through() -> AsyncIterator[Callable[..., Way]]:
    """Return what makes ways out, which are closed in the end."""
    made: list[RemoteHttp] = []

    def make(gate: Gate | None = None, trusted: ssl.SSLContext | None = None) -> Way:
        waits: list[float] = []

        async def wait(seconds: float) -> None:
            waits.append(seconds)

        made.append(RemoteHttp(gate or loopback_gate(LISTED), Clock(waits), trusted, wait))
        return Way(made[-1], waits)

    yield make
    for http in made:
        await http.close()


@pytest.fixture
def way(way_through: Callable[..., Way]) -> Way:
    return way_through()


class TestTheGate:
    async def test_an_inner_address_is_refused_unless_it_is_listed(
        self, way_through: Callable[..., Way]
    ) -> None:
        async with server(reply()) as (port, seen):
            with pytest.raises(RemoteRefusedError, match="--allow-outbound"):
                await way_through(loopback_gate()).get(f"http://127.0.0.1:{port}/")
            assert (await way_through().get(f"http://127.0.0.1:{port}/")).status == 200
        assert len(seen.requests) == 1

    async def test_a_name_that_leads_inside_is_refused(self, way_through: Callable[..., Way]) -> None:
        way = way_through(loopback_gate(name="remote.example.com", answers=["169.254.169.254"]))
        with pytest.raises(RemoteRefusedError, match="link-local"):
            await way.get("https://remote.example.com/")

    async def test_without_tls_only_listed_hosts_are_called(self, way_through: Callable[..., Way]) -> None:
        way = way_through(loopback_gate(name="remote.example.com", answers=["8.8.8.8"]))
        with pytest.raises(RemoteRefusedError, match="without TLS"):
            await way.get("http://remote.example.com/")

    async def test_a_name_without_an_address_is_worth_another_try(self, way: Way) -> None:
        with pytest.raises(RemoteUnavailableError, match="resolved") as caught:
            await way.get("https://nowhere.example.com/")
        assert caught.value.is_retryable

    async def test_nobody_there_is_worth_another_try(self, way: Way) -> None:
        async with server(reply()) as (port, _):
            pass
        with pytest.raises(RemoteUnavailableError, match="reached"):
            await way.get(f"http://127.0.0.1:{port}/")

    async def test_a_redirect_is_an_answer(self, way: Way) -> None:
        async with server(reply("302 Found", b"", "Location: http://169.254.169.254/")) as (port, seen):
            answer = await way.get(f"http://127.0.0.1:{port}/")
        assert (answer.status, answer.headers["location"]) == (302, "http://169.254.169.254/")
        assert len(seen.requests) == 1

    async def test_proxies_of_the_environment_are_not_asked(
        self, way: Way, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, "http://127.0.0.1:9")
        async with server(reply()) as (port, _):
            assert (await way.get(f"http://127.0.0.1:{port}/")).status == 200


class TestThrottling:
    async def test_a_throttled_request_is_sent_again_after_a_second(self, way: Way) -> None:
        async with server(SLOW_DOWN, SLOW_DOWN, reply()) as (port, seen):
            assert (await way.get(f"http://127.0.0.1:{port}/")).status == 200
        assert way.waits == [1, 1]
        assert len(seen.requests) == 3

    async def test_a_sleep_that_ends_a_moment_early_is_no_try(self) -> None:
        slept: list[float] = []

        async def wait(seconds: float) -> None:
            # As a timer of whole milliseconds does where something else wakes the event loop.
            slept.append(max(round(seconds, 3) - 0.0004, 0))

        http = RemoteHttp(loopback_gate(LISTED), Clock(slept), None, wait)
        async with server(SLOW_DOWN, reply()) as (port, _):
            assert (await Way(http).get(f"http://127.0.0.1:{port}/")).status == 200
        await http.close()
        assert 1 <= sum(slept) < 1.01

    @pytest.mark.parametrize(
        ("told", "waited"),
        [
            ("4", 4),
            ("0", 1),
            (format_datetime(NOW + timedelta(seconds=5), usegmt=True), 5),
            (format_datetime(NOW - timedelta(seconds=9), usegmt=True), 1),
            ("soon", 1),
            ("-5", 1),
            ("Fri, 31 Dec 9999 23:59:59 -2300", 1),
        ],
    )
    async def test_the_remote_says_how_long_within_bounds(self, way: Way, told: str, waited: float) -> None:
        async with server(slow_down(told), reply()) as (port, _):
            await way.get(f"http://127.0.0.1:{port}/")
        assert way.waits == [waited]

    @pytest.mark.parametrize(
        ("answer", "waited"),
        [
            pytest.param(slow_down("3600"), timedelta(hours=1), id="seconds"),
            pytest.param(slow_down("99999999999999999999"), timedelta(days=1), id="more than a day"),
            pytest.param(
                slow_down(format_datetime(NOW + timedelta(days=9), usegmt=True)),
                timedelta(days=1),
                id="a date",
            ),
            pytest.param(
                reply(
                    "429 Too Many Requests",
                    b"",
                    "X-RateLimit-Remaining: 0",
                    f"X-RateLimit-Reset: {int(NOW.timestamp()) + 1800}",
                ),
                timedelta(minutes=30),
                id="an instant of the reset",
            ),
            pytest.param(
                reply("429 Too Many Requests", b"", "RateLimit-Remaining: 0", "RateLimit-Reset: 90"),
                timedelta(seconds=90),
                id="seconds until the reset",
            ),
            pytest.param(
                reply("429 Too Many Requests", b"", 'RateLimit: "default";r=0;t=600'),
                timedelta(minutes=10),
                id="one field of the draft",
            ),
        ],
    )
    async def test_a_long_wait_is_told_and_not_sat_out(
        self, way: Way, answer: bytes, waited: timedelta
    ) -> None:
        async with server(answer, reply()) as (port, seen):
            for _ in range(3):
                with pytest.raises(RemoteThrottledError) as caught:
                    await way.get(f"http://127.0.0.1:{port}/")
                assert caught.value.wait == waited
            # While it lasts, the remote isn't asked again.
            assert (len(seen.requests), way.waits) == (1, [])
            way.waits.append(waited.total_seconds())
            assert (await way.get(f"http://127.0.0.1:{port}/")).status == 200

    async def test_a_count_that_is_used_up_is_waited_for_before_it_is_refused(self, way: Way) -> None:
        used_up = reply("200 OK", b"{}", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 3")
        async with server(used_up, reply()) as (port, seen):
            await way.get(f"http://127.0.0.1:{port}/")
            await way.get(f"http://127.0.0.1:{port}/")
        assert (len(seen.requests), way.waits) == (2, [3])

    async def test_one_that_is_away_is_not_asked_before_the_time_that_it_says(self, way: Way) -> None:
        async with server(reply("503 Service Unavailable", b"", "Retry-After: 600"), reply()) as (port, seen):
            url = f"http://127.0.0.1:{port}/"
            assert (await way.get(url)).status == 503
            with pytest.raises(RemoteThrottledError) as caught:
                await way.get(url)
        assert caught.value.wait == timedelta(minutes=10)
        assert (len(seen.requests), way.waits) == (1, [])

    async def test_of_several_that_waited_for_a_limit_one_asks_and_the_others_follow_when_it_was_answered(
        self, way: Way
    ) -> None:
        hold = asyncio.Event()
        hold.set()
        async with server(slow_down("60"), reply(), hold=hold) as (port, seen):
            url = f"http://127.0.0.1:{port}"
            with pytest.raises(RemoteThrottledError):
                await way.get(f"{url}/limited")
            way.waits.append(60)
            hold.clear()
            async with asyncio.TaskGroup() as group:
                several = [group.create_task(way.get(f"{url}/{number}")) for number in range(5)]
                # What is sent after them in another name arrives after whatever they send.
                other = RemoteRequest("GET", f"{url}/other")
                group.create_task(way.http.send(other, place="another"))
                await until(has_seen(seen, 3), awaited="two requests after the limited one")
                assert [request.split()[1] for request in seen.requests] == [b"/limited", b"/0", b"/other"]
                # Whoever takes the turn of one that is given up is the next to be sent alone.
                several[0].cancel()
                await until(has_seen(seen, 4), awaited="the next request")
                assert seen.requests[-1].split()[1] == b"/1"
                hold.set()
            assert [task.result().status for task in several[1:]] == [200] * 4

    async def test_several_that_waited_for_a_limit_wait_again_when_the_first_is_refused(
        self, way: Way
    ) -> None:
        async with server(slow_down("60"), slow_down("90"), reply()) as (port, seen):
            url = f"http://127.0.0.1:{port}/"
            with pytest.raises(RemoteThrottledError):
                await way.get(url)
            way.waits.append(60)
            ended = await asyncio.gather(*(way.get(url) for _ in range(5)), return_exceptions=True)
            assert [type(one) for one in ended] == [RemoteThrottledError] * 5
            assert len(seen.requests) == 2

    async def test_waits_that_no_answer_tells_grow_until_one_is_well(self, way: Way) -> None:
        limits = Limits(unsaid_wait=timedelta(minutes=1))
        async with server(*[SLOW_DOWN] * 9, reply(), SLOW_DOWN) as (port, _):
            request = RemoteRequest("GET", f"http://127.0.0.1:{port}/")

            async def asked_wait() -> float:
                with pytest.raises(RemoteThrottledError) as caught:
                    await way.http.send(request, limits=limits)
                assert caught.value.wait is not None
                way.waits.append(caught.value.wait.total_seconds())
                return way.waits[-1] / 60

            assert [await asked_wait() for _ in range(9)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
            assert (await way.http.send(request, limits=limits)).status == 200
            assert await asked_wait() == 1

    async def test_who_asks_in_another_name_does_not_wait(self, way: Way) -> None:
        async with server(slow_down("3600"), reply()) as (port, _):
            url = f"http://127.0.0.1:{port}/"
            with pytest.raises(RemoteThrottledError):
                await way.http.send(RemoteRequest("GET", url), place="one")
            assert (await way.http.send(RemoteRequest("GET", url), place="two")).status == 200

    async def test_writes_are_spread_where_their_number_is_limited(self, way: Way) -> None:
        limits = Limits(writes_per_minute=80)
        async with server(reply()) as (port, seen):
            url = f"http://127.0.0.1:{port}/"

            async def write(method: str = "PUT") -> None:
                await way.http.send(RemoteRequest(method, url), limits=limits)

            for _ in range(80):
                await write()
            with pytest.raises(RemoteThrottledError) as caught:
                await write()
            assert caught.value.wait == timedelta(seconds=30)
            await write("GET")
            way.waits.append(30)
            for _ in range(40):
                await write()
            with pytest.raises(RemoteThrottledError):
                await write()
        assert len(seen.requests) == 121

    async def test_throttled_for_ever_is_given_up(self, way: Way) -> None:
        async with server(SLOW_DOWN) as (port, seen):
            with pytest.raises(RemoteThrottledError) as caught:
                await way.get(f"http://127.0.0.1:{port}/")
        assert caught.value.is_retryable
        assert len(seen.requests) == 11
        assert way.waits == [1] * 10

    async def test_the_last_try_counts(self, way: Way) -> None:
        async with server(*[SLOW_DOWN] * 10, reply()) as (port, _):
            assert (await way.get(f"http://127.0.0.1:{port}/")).status == 200

    async def test_a_remote_may_throttle_in_words_of_its_own(self, way: Way) -> None:
        async with server(reply("400 Bad Request", b"ThrottlingException"), reply()) as (port, _):
            answer = await way.http.send(
                RemoteRequest("GET", f"http://127.0.0.1:{port}/"),
                limits=Limits(is_throttled=lambda answer: answer.body == b"ThrottlingException"),
            )
        assert (answer.status, way.waits) == (200, [1])


class TestRepeats:
    @pytest.mark.parametrize("failing", [None, reply("503 Service Unavailable"), reply("500 Oh")])
    async def test_what_fails_for_a_passing_reason_is_sent_again(
        self, way: Way, failing: bytes | None
    ) -> None:
        async with server(failing, failing, reply()) as (port, seen):
            assert (await way.get(f"http://127.0.0.1:{port}/", method="PUT")).status == 200
        assert (len(seen.requests), way.waits) == (3, [0.5, 2])

    async def test_what_goes_on_failing_is_answered(self, way: Way) -> None:
        async with server(reply("502 Bad Gateway")) as (port, seen):
            assert (await way.get(f"http://127.0.0.1:{port}/")).status == 502
        assert len(seen.requests) == 3

    async def test_what_must_not_be_carried_out_twice_is_sent_once(self, way: Way) -> None:
        async with server(None) as (port, seen):
            with pytest.raises(RemoteUnavailableError):
                await way.http.send(RemoteRequest("POST", f"http://127.0.0.1:{port}/", is_repeatable=False))
        assert (len(seen.requests), way.waits) == (1, [])


class TestAnswers:
    @pytest.mark.parametrize(
        "answer",
        [
            pytest.param(
                b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this, cut", id="a body that ends early"
            ),
            pytest.param(
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nonly this, cut",
                id="a chunk that ends early",
            ),
            pytest.param(b"HTTP/1.1 200 OK\r\nContent-Len cut", id="a head that ends early"),
            pytest.param(None, id="nothing"),
            pytest.param(b"220 mail.example.com ESMTP\r\n cut", id="another protocol"),
            pytest.param(b"HTTP/1.1 200 OK\r\nX: " + b"x" * 300_000, id="a head without end"),
        ],
    )
    async def test_what_is_no_whole_answer_is_worth_another_try(self, way: Way, answer: bytes | None) -> None:
        async with server(answer) as (port, _):
            with pytest.raises(RemoteUnavailableError, match="no usable answer") as caught:
                await way.get(f"http://127.0.0.1:{port}/")
        assert "only this" not in str(caught.value)

    async def test_an_answer_has_a_largest_size(self, way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(way.http, "_body_limit_bytes", 1 << 20)
        fits, too_large = reply(body=b"x" * (1 << 20)), reply(body=b"x" * ((1 << 20) + 1))
        async with server(fits, too_large, reply()) as (port, _):
            assert len((await way.get(f"http://127.0.0.1:{port}/")).body) == 1 << 20
            with pytest.raises(RemoteUnavailableError, match="more than 1 MiB"):
                await way.get(f"http://127.0.0.1:{port}/")
            assert (await way.get(f"http://127.0.0.1:{port}/")).status == 200

    async def test_a_remote_that_never_answers_is_left(
        self, way: Way, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(remote, "_EXCHANGE", timedelta(milliseconds=100))
        async with server(reply(), hold=asyncio.Event()) as (port, _):
            with pytest.raises(RemoteUnavailableError, match="too long"):
                await way.get(f"http://127.0.0.1:{port}/")

    async def test_names_of_headers_are_in_lower_case(self, way: Way) -> None:
        async with server(reply("200 OK", b"[1]", "X-Next-PAGE: 2")) as (port, _):
            answer = await way.get(f"http://127.0.0.1:{port}/")
        assert answer.headers["x-next-page"] == "2"
        assert answer.json() == [1]

    async def test_what_is_no_json_is_told_without_it(self, way: Way) -> None:
        async with server(reply("502 Bad Gateway", b"<p>cnry-echo</p>")) as (port, _):
            answer = await way.get(f"http://127.0.0.1:{port}/")
        with pytest.raises(RemoteUnavailableError, match="502 with something other than JSON") as caught:
            answer.json()
        assert "cnry" not in str(caught.value)

    def test_neither_requests_nor_answers_show(self) -> None:
        request = RemoteRequest("PUT", "https://u/cnry-a", {"Authorization": "cnry-b"}, b"cnry-c")
        answer = RemoteAnswer(200, {"set-cookie": "cnry-d"}, b"cnry-e")
        assert "cnry" not in repr((request, answer))


class TestTls:
    async def test_who_is_not_vouched_for_is_not_told_anything(
        self, way_through: Callable[..., Way], tmp_path: Path
    ) -> None:
        chain, key = certificate(tmp_path, 1)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(chain, key)
        ca_pem = chain.read_text()
        async with server(reply(), tls=context) as (port, seen):
            with pytest.raises(RemoteUnavailableError):
                await way_through().get(f"https://127.0.0.1:{port}/")
            gate = loopback_gate(LISTED, name="remote.example.com")
            with pytest.raises(RemoteUnavailableError):
                await way_through(gate, trust(ca_pem)).get(f"https://remote.example.com:{port}/")
            assert seen.requests == []
            for trusted in (trust(ca_pem), trust_as_well(ca_pem)):
                assert (await way_through(None, trusted).get(f"https://127.0.0.1:{port}/")).status == 200

    def test_more_cas_leave_those_of_the_system(self, tmp_path: Path) -> None:
        chain, _ = certificate(tmp_path, 1)
        usual = ssl.create_default_context().cert_store_stats()["x509_ca"]
        assert trust_as_well(chain.read_text()).cert_store_stats()["x509"] >= usual

    def test_a_file_without_a_certificate_is_refused(self) -> None:
        with pytest.raises(ValueError, match="holds no PEM certificate"):
            trust_as_well("no certificate")


class TestConnections:
    async def test_a_connection_serves_many_requests(self, way: Way) -> None:
        async with server(reply()) as (port, seen):
            for _ in range(5):
                await way.get(f"http://127.0.0.1:{port}/")
        assert (len(seen.requests), seen.connections) == (5, 1)

    async def test_a_connection_that_the_remote_closed_is_replaced(self, way: Way) -> None:
        async with server(reply("200 OK", b"", "Connection: close")) as (port, seen):
            for _ in range(3):
                await way.get(f"http://127.0.0.1:{port}/")
        assert seen.connections == 3

    async def test_one_place_is_sent_ten_requests_at_once(self, way: Way) -> None:
        hold = asyncio.Event()
        async with server(reply(), hold=hold) as (port, seen), asyncio.TaskGroup() as group:
            asked = [group.create_task(way.get(f"http://127.0.0.1:{port}/")) for _ in range(25)]
            await seen.ten_at_once.wait()
            hold.set()
            await asyncio.wait(asked)
        assert seen.most_at_once == 10
        assert len(seen.requests) == 25

    async def test_a_slow_place_takes_no_turn_from_another(self, way: Way) -> None:
        hold = asyncio.Event()
        async with (
            server(reply(), hold=hold) as (slow, seen),
            server(reply()) as (quick, _),
            asyncio.TaskGroup() as group,
        ):
            asked = [group.create_task(way.get(f"http://127.0.0.1:{slow}/")) for _ in range(150)]
            await seen.ten_at_once.wait()
            assert (await way.get(f"http://127.0.0.1:{quick}/")).status == 200
            hold.set()
            await asyncio.wait(asked)

    async def test_a_closed_way_out_can_be_closed_again(self, way: Way) -> None:
        async with server(reply()) as (port, _):
            await way.get(f"http://127.0.0.1:{port}/")
            await way.http.close()
            await way.http.close()


class TestRequests:
    @pytest.mark.parametrize("value", ["a\r\nX-Injected: 1", "a\nb", "\x00", "\N{EURO SIGN}", "a\tb"])
    async def test_a_value_that_no_header_may_have_is_not_sent(self, way: Way, value: str) -> None:
        async with server(reply()) as (port, seen):
            with pytest.raises(RemoteRefusedError, match="not allowed in a header") as caught:
                await way.get(f"http://127.0.0.1:{port}/", {"Authorization": value})
        assert value not in str(caught.value)
        assert seen.requests == []

    @pytest.mark.parametrize(
        "rest", ["/a b", "/a\r\nX: 1", "/\N{EURO SIGN}", "/a\x00", "/a\tb", "/?q=\n"], ids=ascii
    )
    async def test_an_address_with_a_character_that_none_may_have_is_not_called(
        self, way: Way, rest: str
    ) -> None:
        async with server(reply()) as (port, seen):
            with pytest.raises(RemoteRefusedError, match="address"):
                await way.get(f"http://127.0.0.1:{port}{rest}")
        assert seen.requests == []

    @pytest.mark.parametrize(
        "url",
        [
            "ftp://127.0.0.1/",
            "http://",
            "http://user:cnry-password@127.0.0.1/",
            "http://[::1/",
            "http://a:70000/",
            "http://a\\@b/",
            "127.0.0.1/",
        ],
    )
    async def test_what_is_no_address_is_not_called(self, way: Way, url: str) -> None:
        with pytest.raises(RemoteRefusedError, match="the address") as caught:
            await way.get(url)
        assert "cnry" not in str(caught.value)

    async def test_path_and_query_arrive_as_they_were_written(self, way: Way) -> None:
        async with server(reply()) as (port, seen):
            await way.get(f"http://127.0.0.1:{port}")
            await way.get(f"http://127.0.0.1:{port}/a%2Fb?c=d%20e#f")
        targets = [request.split(b" ")[1] for request in seen.requests]
        assert targets == [b"/", b"/a%2Fb?c=d%20e"]
        assert f"host: 127.0.0.1:{port}\r\n".encode() in seen.requests[0].lower()
        assert b"user-agent: keybearer\r\n" in seen.requests[0].lower()

    @pytest.mark.parametrize(
        ("text", "written"),
        [("a/b", "a%2Fb"), ("a?b#c", "a%3Fb%23c"), ("...", "..."), ("\N{EURO SIGN}", "%E2%82%AC"), ("", "")],
    )
    def test_a_segment_stays_one(self, text: str, written: str) -> None:
        assert segment(text) == written

    @pytest.mark.parametrize("text", [".", ".."])
    def test_a_segment_that_would_step_out_is_refused(self, text: str) -> None:
        with pytest.raises(RemoteRefusedError):
            segment(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("permission denied", "permission denied"),
        ("two\n lines", "two lines"),
        ("no handler for route 'kv/data/team/app'", "no handler for route 'kv/data/team/app'"),
        ("bad X-Vault-Token: hvs.CAESIJ-cnry-approle-token", "bad X-Vault-Token: [...]"),
        ("jwt invalid: eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln", "jwt invalid: [...]"),
        (f"{'word ' * 58}token={'t' * 40}", f"{'word ' * 58}[...]"[:300]),
    ],
)
def test_what_a_remote_says_is_shown_without_what_looks_like_a_token(text: str, shown: str) -> None:
    assert quotable(text) == shown
