"""A push is asked for while another one of the sync runs."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

import pytest

from keybearer.client import SecretSync
from keybearer.client.syncs import SyncConnection
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.secretsync.remote_syncs import RemoteSyncs
from keybearer.controllers.service_session import ServiceSession

_RUNS = "the service refuses to run sync web: A job for this sync is already in progress. Please try again shortly."


class _Session:
    def __init__(self, message: str) -> None:
        self._message = message

    async def perform(self, _act: object, _what: str) -> SecretSync:
        raise StalledError("ServiceRefused", self._message)


async def _push(message: str) -> None:
    sync = SecretSync(
        id="s1",
        name="web",
        project_id="shop",
        connection_id="c1",
        destination="github",
        connection=SyncConnection(id="c1"),
        description="",
        is_auto_sync_enabled=False,
    )
    await RemoteSyncs(cast("ServiceSession", _Session(message))).push(sync)


async def test_it_is_waited_for_and_nobody_is_asked_to_change_anything() -> None:
    with pytest.raises(WaitingError, match="already in progress") as waited:
        await _push(_RUNS)

    assert waited.value.reason == "Pushing"
    assert waited.value.after is not None
    assert waited.value.after < timedelta(seconds=1)


async def test_any_other_refusal_is_one() -> None:
    with pytest.raises(StalledError) as refused:
        await _push("the service refuses to run sync web: no")

    assert refused.value.reason == "SyncRefused"
