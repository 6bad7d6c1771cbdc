"""keybearer.controllers.secretsync.remote_syncs: when a sync is looked at again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from keybearer.client import SecretSync
from keybearer.client.syncs import SyncConnection
from keybearer.controllers.secretsync.remote_syncs import REFRESH, SyncWatch
from keybearer.controllers.work import WorkKey
from unit.controllers.fakes.hand_clock import HandClock

_WEB, _API = WorkKey("SecretSync", "team-a", "web"), WorkKey("SecretSync", "team-a", "api")
_SOON, _LATER = 0.3, 2.0


def sync(sync_id: str = "s1", **statuses: str) -> SecretSync:
    bare = SecretSync(
        id=sync_id,
        name="web",
        project_id="shop",
        connection_id="c1",
        destination="cloud-parameter-store",
        connection=SyncConnection(id="c1"),
    )
    return replace(bare, **statuses)  # type: ignore[arg-type]


def test_a_sync_at_rest_is_looked_at_at_leisure() -> None:
    watch = SyncWatch(HandClock())
    for status in ("succeeded", "failed"):
        assert watch.pause(_WEB, sync(sync_status=status)) == REFRESH
    assert watch.pause(_WEB, sync()) == REFRESH


@pytest.mark.parametrize("what", ["sync_status", "import_status", "remove_status"])
@pytest.mark.parametrize("status", ["pending", "running"])
def test_what_is_under_way_is_looked_at_soon_and_less_soon_once_that_takes_long(
    what: str, status: str
) -> None:
    clock = HandClock()
    watch = SyncWatch(clock)
    busy = sync(**{what: status})

    def pause(key: WorkKey = _WEB, of: SecretSync = busy) -> float:
        return watch.pause(key, of).total_seconds()

    assert pause() == _SOON
    clock.seconds += 29
    assert pause() == _SOON
    clock.seconds += 1
    assert pause() == _LATER
    # Another object waits for its own, and so does this one for another sync, or for the next run.
    assert pause(_API) == _SOON
    assert pause(of=sync("s2", **{what: status})) == _SOON
    clock.seconds += 60
    watch.pause(_WEB, sync(sync_status="succeeded"))
    assert pause() == _SOON


def test_a_push_that_fails_again_and_again_is_due_after_growing_pauses_and_a_success_forgets_them() -> None:
    clock = HandClock()
    watch = SyncWatch(clock)
    waits = []
    for number in range(7):
        failed = sync(sync_status="failed", last_sync_job_id=f"j{number}")
        began = clock.seconds
        assert not watch.is_due_again(_WEB, failed)
        while not watch.is_due_again(_WEB, failed):
            clock.seconds += 60
        waits.append((clock.seconds - began) / 60)
    assert waits == [5, 10, 20, 40, 60, 60, 60]
    assert not watch.is_due_again(_API, sync(sync_status="failed", last_sync_job_id="j6"))

    watch.pause(_WEB, sync(sync_status="succeeded"))
    assert not watch.is_due_again(_WEB, sync(sync_status="failed", last_sync_job_id="j9"))
    clock.seconds += 300
    assert watch.is_due_again(_WEB, sync(sync_status="failed", last_sync_job_id="j9"))


def test_an_object_that_is_gone_leaves_nothing_behind() -> None:
    clock = HandClock()
    watch = SyncWatch(clock)
    watch.pause(_WEB, sync(sync_status="running"))
    clock.seconds += 60
    watch.forget(_WEB)
    watch.forget(_API)
    # One of the same name begins anew.
    assert watch.pause(_WEB, sync(sync_status="running")).total_seconds() == _SOON
