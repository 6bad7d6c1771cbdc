from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from unittest.mock import AsyncMock, Mock

import aiohttp
import pytest
from aiohttp.abc import AbstractStreamWriter

from keybearer import __version__
from keybearer.base.errors import ConfigurationError
from keybearer.kube.body import Body
from keybearer.kube.connection import Connection, Request
from keybearer.kube.errors import AnswerTooLargeError, LeaseLostError, UnavailableError
from support.scripted_server import Reply, ScriptedServer, write_kubeconfig

GET = Request("GET", "/api/v1/namespaces/team-a/secrets/db?x=1", {"Accept": "application/json"})


async def test_requests_of_ours_and_of_a_library_say_whose_they_are(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(body={}), Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with (
            await Connection.open(kubeconfig=config) as connection,
            connection.open_session(limit=1) as session,
        ):
            await connection.send(GET)
            await (await session.get(f"{connection.server}/version")).read()

    assert [seen.headers["User-Agent"] for seen in server.seen] == [f"keybearer-operator/{__version__}"] * 2


async def test_a_request_carries_the_token_of_the_kubeconfig(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(body={"ok": True})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with await Connection.open(kubeconfig=config) as connection:
            answer = await connection.send(GET)

    assert (answer.status, answer.body) == (200, b'{"ok":true}')
    assert server.seen[0].headers["Authorization"] == "Bearer cnry-token"
    assert server.seen[0].path == "/api/v1/namespaces/team-a/secrets/db"
    assert server.seen[0].query == {"x": "1"}


async def test_the_namespace_is_that_of_the_context(tmp_path: Path) -> None:
    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")

    async with await Connection.open(kubeconfig=config) as connection:
        assert connection.namespace == "team-a"
        assert connection.server == "http://127.0.0.1:1"


async def test_nothing_of_the_credentials_shows_in_a_repr(tmp_path: Path) -> None:
    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1", {"token": "cnry-token"})

    async with await Connection.open(kubeconfig=config) as connection:
        shown = repr(connection) + repr(connection._access) + repr(GET)

    assert "cnry" not in shown


async def test_a_body_does_not_show_in_the_repr_of_a_request_or_an_answer(tmp_path: Path) -> None:
    request = Request("POST", "/x", {}, b"cnry-body")
    async with ScriptedServer(Reply(body=b"cnry-answer")) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            answer = await connection.send(request)

    assert "cnry" not in repr(request) + str(request) + repr(answer)


async def test_an_answer_over_the_bound_is_refused(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(body=b"x" * 2000)) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            with pytest.raises(AnswerTooLargeError):
                await connection.send(Request("GET", "/x", {}, max_bytes=1999))
            answer = await connection.send(Request("GET", "/x", {}, max_bytes=2000))

    assert len(answer.body) == 2000


async def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(302, b"", {"Location": "http://169.254.169.254/"})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with await Connection.open(kubeconfig=config) as connection:
            answer = await connection.send(GET)

    assert answer.status == 302
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param({"Retry-After": "7"}, 7.0, id="seconds"),
        pytest.param({"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, None, id="a date counts as nothing"),
        pytest.param({}, None, id="absent"),
    ],
)
async def test_the_wait_that_an_answer_asks_for_is_read(
    tmp_path: Path, header: dict[str, str], seconds: float | None
) -> None:
    async with ScriptedServer(Reply(429, b"", header)) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            answer = await connection.send(GET)

    assert answer.retry_after == seconds


async def test_no_server_is_unavailable_and_the_text_has_no_query(tmp_path: Path) -> None:
    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")

    async with await Connection.open(kubeconfig=config) as connection:
        with pytest.raises(UnavailableError, match=r"/secrets/db\)$") as caught:
            await connection.send(GET)

    assert caught.value.is_retryable


async def test_a_server_that_does_not_answer_in_time_is_unavailable(tmp_path: Path) -> None:
    stop = asyncio.Event()
    reply = Reply(stream=lambda _: stop.wait())  # type: ignore[arg-type,return-value]
    async with ScriptedServer(reply) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            with pytest.raises(UnavailableError, match="TimeoutError"):
                await connection.send(Request("GET", "/x", {}, timeout_seconds=0.05))
        stop.set()


async def test_a_descriptor_that_the_loop_takes_for_another_is_a_passing_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object, **__: object) -> None:
        raise RuntimeError("File descriptor 14 is used by transport <TCPTransport closed=False>")

    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    async with await Connection.open(kubeconfig=config) as connection:
        monkeypatch.setattr(aiohttp.TCPConnector, "connect", refuse)
        with pytest.raises(UnavailableError):
            await connection.send(GET)
        with pytest.raises(UnavailableError):
            async with connection.stream(GET, silence_seconds=1):
                pass
        async with connection.open_session(limit=1) as session:
            with pytest.raises(aiohttp.ClientConnectionError):
                await session.get("http://127.0.0.1:1/")


async def test_a_token_file_is_read_again_when_asked(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("cnry-old")
    async with ScriptedServer(Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"tokenFile": str(token)})
        async with await Connection.open(kubeconfig=config) as connection:
            before = connection.renewals
            await connection.send(GET)
            token.write_text("cnry-new")
            assert await connection.renew(before)
            await connection.send(GET)

    assert [seen.headers["Authorization"] for seen in server.seen] == ["Bearer cnry-old", "Bearer cnry-new"]


async def test_an_exec_plugin_is_run_again_when_asked(tmp_path: Path) -> None:
    credential = tmp_path / "credential.json"
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", "import sys; sys.stdout.write(open(sys.argv[1]).read())", str(credential)],
        "interactiveMode": "Never",
    }

    def issue(token: str) -> None:
        status = {"apiVersion": plugin["apiVersion"], "kind": "ExecCredential", "status": {"token": token}}
        credential.write_text(json.dumps(status))

    issue("cnry-old")
    async with ScriptedServer(Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"exec": plugin})
        async with await Connection.open(kubeconfig=config) as connection:
            await connection.send(GET)
            issue("cnry-new")
            assert await connection.renew(connection.renewals)
            await connection.send(GET)

    assert [seen.headers["Authorization"] for seen in server.seen] == ["Bearer cnry-old", "Bearer cnry-new"]


async def test_the_proxy_of_the_kubeconfig_is_used_and_that_of_the_environment_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    async with ScriptedServer(Reply(body={})) as server:
        direct = write_kubeconfig(tmp_path / "direct", server.url)
        async with await Connection.open(kubeconfig=direct) as connection:
            await connection.send(GET)
        proxied = write_kubeconfig(
            tmp_path / "proxied", "http://api.invalid", None, **{"proxy-url": server.url}
        )
        async with await Connection.open(kubeconfig=proxied) as connection:
            await connection.send(GET)

    assert [seen.headers["Host"] for seen in server.seen][1] == "api.invalid"
    assert server.seen[1].path == "http://api.invalid/api/v1/namespaces/team-a/secrets/db"


async def test_of_many_tasks_that_ask_only_one_reads_the_credentials_again(tmp_path: Path) -> None:
    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1", {"token": "cnry-token"})

    async with await Connection.open(kubeconfig=config) as connection:
        before = connection.renewals
        worth = await asyncio.gather(*(connection.renew(before) for _ in range(10)))
        again = await connection.renew(connection.renewals)

    assert worth == [True] * 10
    assert connection.renewals == before + 1
    assert not again, "fresh credentials that are refused too are not read again at once"


async def test_a_kubeconfig_that_went_away_leaves_the_credentials_as_they_are(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with await Connection.open(kubeconfig=config) as connection:
            (tmp_path / "config").write_text("")
            assert not await connection.renew(connection.renewals)
            await connection.send(GET)

    assert server.seen[0].headers["Authorization"] == "Bearer cnry-token"


async def test_a_session_for_others_carries_the_credentials_and_is_theirs_to_close(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with await Connection.open(kubeconfig=config) as connection:
            async with (
                connection.open_session(limit=3) as session,
                session.get(f"{server.url}/api") as response,
            ):
                assert response.status == 200
            assert (await connection.send(GET)).status == 200, "ours is still open"

    assert server.seen[0].headers["Authorization"] == "Bearer cnry-token"


async def test_a_listing_whose_token_has_expired_is_cut_off_for_the_library_to_begin_anew(
    tmp_path: Path,
) -> None:
    first = Reply(body={"metadata": {"resourceVersion": "5", "continue": "token"}, "items": [{"a": 1}]})
    gone = Reply(410, {"kind": "Status", "code": 410, "reason": "Expired"})
    whole = Reply(body={"metadata": {"resourceVersion": "7"}, "items": [{"a": 1}, {"a": 2}]})
    async with ScriptedServer(first, gone, whole) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with (
            await Connection.open(kubeconfig=config) as connection,
            connection.open_session(limit=3) as session,
        ):
            page = f"{server.url}/apis/keybearer.dev/v1alpha1/secretsyncs?limit=1"
            assert (await session.get(page)).status == 200
            with pytest.raises(aiohttp.ClientPayloadError, match="continue token"):
                await session.get(f"{page}&continue=token")
            assert (await session.get(page)).status == 200


async def test_a_kind_that_is_not_served_any_more_is_waited_for_like_an_api_server_that_is_away(
    tmp_path: Path,
) -> None:
    gone = Reply(404, {"kind": "Status", "code": 404, "reason": "NotFound"})
    async with ScriptedServer(Reply(body={"items": []}), gone, Reply(body={"items": []})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with (
            await Connection.open(kubeconfig=config) as connection,
            connection.open_session(limit=3) as session,
        ):
            kind = f"{server.url}/apis/keybearer.dev/v1alpha1/secretsyncs"
            assert (await session.get(kind)).status == 200
            with pytest.raises(aiohttp.ClientConnectionError, match="apply its CRD again"):
                await session.get(f"{kind}?watch=true&resourceVersion=5")
            assert (await session.get(kind)).status == 200


async def test_what_was_never_served_is_not_waited_for(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(404, {"kind": "Status", "code": 404})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with (
            await Connection.open(kubeconfig=config) as connection,
            connection.open_session(limit=3) as session,
            session.get(f"{server.url}/apis/keybearer.dev/v1alpha1/secretsyncs") as response,
        ):
            assert response.status == 404


async def test_a_watch_of_what_was_watched_before_is_told(tmp_path: Path) -> None:
    told = list[str]()
    async with ScriptedServer(*[Reply(body={})] * 4) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with (
            await Connection.open(kubeconfig=config) as connection,
            connection.open_session(limit=3, on_watched_again=lambda: told.append("again")) as session,
        ):
            for path in ("secretsyncs", "secretsyncs?watch=true", "appconnections?watch=true"):
                await session.get(f"{server.url}/{path}")
            assert told == []
            await session.get(f"{server.url}/secretsyncs?watch=true&resourceVersion=7")

    assert told == ["again"]


async def test_another_410_is_the_librarys_to_understand(tmp_path: Path) -> None:
    async with ScriptedServer(Reply(410, {"kind": "Status", "code": 410})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url, {"token": "cnry-token"})
        async with (
            await Connection.open(kubeconfig=config) as connection,
            connection.open_session(limit=3) as session,
            session.get(f"{server.url}/api/v1/secrets?watch=true&resourceVersion=5") as response,
        ):
            assert response.status == 410


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(None, id="absent"),
        pytest.param("", id="empty"),
        pytest.param("[1, 2", id="no YAML"),
        pytest.param("apiVersion: v1", id="without a context"),
        pytest.param(
            "current-context: a\ncontexts: [{name: a, context: {cluster: b}}]\nclusters: []",
            id="without its cluster",
        ),
        pytest.param(
            "current-context: a\ncontexts: [{name: a, context: {cluster: b, user: c}}]\n"
            "clusters: [{name: b, cluster: {server: 'https://x', certificate-authority-data: '%%%'}}]\nusers: []",
            id="with a CA that is no base64",
        ),
    ],
)
async def test_a_kubeconfig_that_cannot_be_used_is_a_configuration_error(
    tmp_path: Path, content: str | None
) -> None:
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content)

    with pytest.raises(ConfigurationError, match=str(path)):
        await Connection.open(kubeconfig=str(path))


async def test_outside_of_a_pod_there_is_no_service_account() -> None:
    with pytest.raises(ConfigurationError, match="the ServiceAccount of this pod"):
        await Connection.open(kubeconfig=None)


async def test_a_long_body_is_written_whole(tmp_path: Path) -> None:
    content = bytes(range(256)) * 4 * 3000  # three pieces, the last of them short
    async with ScriptedServer(Reply(body={})) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            await connection.send(Request("POST", "/x", {}, content), allow=lambda: None)

    assert server.seen[0].body == content


async def test_what_a_repeated_request_was_refused_before_is_forgotten() -> None:
    allow = Mock(side_effect=[LeaseLostError("not ours at that moment"), None])
    body = Body(b"{}", allow)
    writer = AsyncMock(spec=AbstractStreamWriter)
    with pytest.raises(LeaseLostError):
        await body.write_with_length(writer, 2)
    refusal = body.refusal
    assert isinstance(refusal, LeaseLostError)
    writer.write.assert_not_awaited()

    await body.write_with_length(writer, 2)
    assert body.refusal is None
    writer.write.assert_awaited_once_with(b"{}")


async def test_what_has_no_body_can_not_be_checked(tmp_path: Path) -> None:
    config = write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    async with await Connection.open(kubeconfig=config) as connection:
        with pytest.raises(TypeError, match="DELETE /x has no body"):
            await connection.send(Request("DELETE", "/x", {}), allow=lambda: None)
