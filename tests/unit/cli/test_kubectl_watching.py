"""`kubectl keybearer status --watch` keeps following a kind whose CRD is removed and applied again."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.kubectl import watching
from keybearer.cli.kubectl.cluster import Cluster
from keybearer.cli.kubectl.targets import Target
from keybearer.kube.connection import Connection
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import JsonObject
from support.scripted_server import Reply, ScriptedServer, write_kubeconfig
from tools.local.waiting import PATIENCE_SECONDS


def listed(version: str, *names: str) -> Reply:
    items = [
        {"metadata": {"namespace": "team-a", "name": name, "resourceVersion": version}} for name in names
    ]
    return Reply(body={"metadata": {"resourceVersion": version}, "items": items})


async def test_a_kind_that_goes_and_comes_back_is_followed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "_ABSENT_SECONDS", 0.01)
    unknown = Reply(404, {"kind": "Status", "code": 404, "message": "the server could not find it"})
    held = asyncio.Event()
    silent = Reply(stream=lambda _: held.wait())  # type: ignore[arg-type,return-value]
    shown: list[tuple[list[str], str | None]] = []

    def show(bodies: list[JsonObject], trouble: str | None) -> None:
        names = [text_of(mapping_of(body["metadata"])["name"]) for body in bodies]
        if not shown or shown[-1] != (names, trouble):
            shown.append((names, trouble))
        if names == ["after"]:
            raise EndError

    replies = (listed("1", "before"), unknown, unknown, unknown, listed("5", "after"), silent)
    async with ScriptedServer(*replies) as server:
        config = write_kubeconfig(tmp_path / "config", server.url)
        async with await Connection.open(kubeconfig=config) as connection:
            cluster = Cluster(connection, Gateway(connection, may_write=lambda: None), "team-a")
            with pytest.raises(EndError):
                async with asyncio.timeout(PATIENCE_SECONDS):
                    await watching.follow_objects(cluster, [Target("SecretSync")], show, everywhere=False)
            held.set()

    # Nobody is told of trouble: a kind without a CRD has no objects.
    assert shown == [(["before"], None), ([], None), (["after"], None)]


class EndError(Exception):
    """Ends the following."""
