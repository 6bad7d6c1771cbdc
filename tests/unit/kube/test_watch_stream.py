from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from keybearer.kube.connection import Connection, Request
from keybearer.kube.errors import AnswerTooLargeError, ForbiddenError, GoneError, KubeError, UnavailableError
from keybearer.kube.resources import JsonObject
from keybearer.kube.watch_stream import LineSplitter, watch_events
from support.scripted_server import Reply, ScriptedServer, lines_of, write_kubeconfig

WATCH = Request("GET", "/api/v1/secrets?watch=1", {"Accept": "application/json"})


@given(
    lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=10),
    cuts=st.lists(st.integers(0, 400), max_size=10),
)
def test_lines_come_out_as_they_went_in_wherever_the_stream_is_cut(
    lines: list[bytes], cuts: list[int]
) -> None:
    whole = b"".join(line + b"\n" for line in lines)
    edges = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    splitter = LineSplitter(1000)

    found = [line for start, end in itertools.pairwise(edges) for line in splitter.feed(whole[start:end])]

    assert found == [line for line in lines if line]


def test_a_line_that_never_ends_is_not_kept() -> None:
    splitter = LineSplitter(100)
    list(splitter.feed(b"x" * 100))

    with pytest.raises(AnswerTooLargeError):
        list(splitter.feed(b"x"))


async def follow(tmp_path: Path, *replies: Reply, silence: float = 5.0) -> list[tuple[str, JsonObject]]:
    async with ScriptedServer(*replies) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            return [
                event
                async for event in watch_events(
                    connection, WATCH, silence_seconds=silence, on_open=lambda: None
                )
            ]


async def test_events_come_one_by_one_until_the_server_ends(tmp_path: Path) -> None:
    events = [{"type": "ADDED", "object": {"a": 1}}, {"type": "BOOKMARK", "object": {"b": 2}}]

    found = await follow(tmp_path, Reply(body=lines_of(events)))

    assert found == [("ADDED", {"a": 1}), ("BOOKMARK", {"b": 2})]


async def test_an_expired_version_is_gone_however_it_is_said(tmp_path: Path) -> None:
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}

    with pytest.raises(GoneError):
        await follow(tmp_path, Reply(410, status))
    with pytest.raises(GoneError):
        await follow(tmp_path, Reply(body=lines_of([{"type": "ERROR", "object": status}])))


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(Reply(403, b""), ForbiddenError, id="a missing right"),
        pytest.param(Reply(500, b""), UnavailableError, id="a broken server"),
        pytest.param(Reply(body=b"cnry-no-json\n"), UnavailableError, id="a line that is no JSON"),
        pytest.param(Reply(body=b'{"type":"ADDED"}\n'), UnavailableError, id="a line that is no event"),
        pytest.param(
            Reply(body=b'{"type":"ERROR","object":{"code":500}}\n'),
            UnavailableError,
            id="an error amid events",
        ),
    ],
)
async def test_a_refusal_is_the_error_it_stands_for(
    tmp_path: Path, reply: Reply, kind: type[KubeError]
) -> None:
    with pytest.raises(kind) as caught:
        await follow(tmp_path, reply)

    assert "cnry" not in str(caught.value)


async def test_a_silent_connection_is_given_up(tmp_path: Path) -> None:
    stop = asyncio.Event()

    async def fall_silent(response: web.StreamResponse) -> None:
        await response.write(lines_of([{"type": "ADDED", "object": {}}]))
        await stop.wait()

    asyncio.get_running_loop().call_later(2, stop.set)  # the server must end at last, also when we wait on
    with pytest.raises(UnavailableError, match="Timeout"):
        await follow(tmp_path, Reply(stream=fall_silent), silence=0.1)
