from __future__ import annotations

from pathlib import Path

import pytest

from keybearer.kube import pages as pages_module
from keybearer.kube.connection import Connection
from keybearer.kube.errors import AnswerTooLargeError, GoneError
from keybearer.kube.exchange import Exchange
from keybearer.kube.pages import ListQuery, Page, pages
from keybearer.kube.resources import SECRETS
from support.scripted_server import Reply, ScriptedServer, write_kubeconfig


async def collect(tmp_path: Path, server: ScriptedServer, query: ListQuery) -> list[Page]:
    config = write_kubeconfig(tmp_path / "config", server.url)
    async with await Connection.open(kubeconfig=config) as connection:
        return [page async for page in pages(Exchange(connection, max_in_flight=1), query)]


def page(names: list[str], following: str = "") -> Reply:
    items = [{"metadata": {"name": name}} for name in names]
    return Reply(body={"metadata": {"resourceVersion": "9", "continue": following}, "items": items})


async def test_pages_follow_until_there_is_no_more(tmp_path: Path) -> None:
    async with ScriptedServer(page(["a", "b"], "to/ken=="), page(["c"])) as server:
        query = ListQuery(SECRETS, "team-a", "!keybearer.dev/managed", metadata_only=True, page_size=2)
        found = await collect(tmp_path, server, query)

    assert [item["metadata"] for part in found for item in part.items] == [
        {"name": "a"},
        {"name": "b"},
        {"name": "c"},
    ]
    assert {part.resource_version for part in found} == {"9"}
    selector = {"limit": "2", "labelSelector": "!keybearer.dev/managed"}
    assert [seen.query for seen in server.seen] == [selector, {**selector, "continue": "to/ken=="}]
    assert server.seen[0].path == "/api/v1/namespaces/team-a/secrets"
    assert server.seen[0].headers["Accept"].startswith("application/json;as=PartialObjectMetadataList")


async def test_a_page_that_is_too_long_is_asked_for_again_with_half_the_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_module, "_PAGE_BYTES", 500)
    long = Reply(body=b"x" * 501)
    async with ScriptedServer(long, long, page(["a"], "more"), page(["b"])) as server:
        found = await collect(tmp_path, server, ListQuery(SECRETS, page_size=100))

    assert [seen.query["limit"] for seen in server.seen] == ["100", "50", "25", "25"]
    assert [len(part.items) for part in found] == [1, 1]


async def test_one_object_that_is_too_long_ends_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages_module, "_PAGE_BYTES", 500)
    async with ScriptedServer(Reply(body=b"x" * 501)) as server:
        with pytest.raises(AnswerTooLargeError):
            await collect(tmp_path, server, ListQuery(SECRETS, page_size=4))

    assert [seen.query["limit"] for seen in server.seen] == ["4", "2", "1"]


async def test_a_list_whose_state_has_expired_says_so(tmp_path: Path) -> None:
    async with ScriptedServer(page(["a"], "old"), Reply(410)) as server:
        with pytest.raises(GoneError):
            await collect(tmp_path, server, ListQuery(SECRETS))
