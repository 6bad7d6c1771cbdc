from __future__ import annotations

import asyncio

import orjson
import pytest

from tools.bench.errors import BenchError, NotInTimeError
from tools.bench.observer import Observer
from tools.bench.rows.repair import first_right_after, first_right_after_deletion
from tools.bench.watching import WatchEvent, read_event
from tools.bench.workload import Dimensions, Source, Workload, encoded

_VALUES = ({"A": "cnry-first"}, {"A": "cnry-second"})
_KEY = ("w-0", "sync-00000")


def _workload() -> Workload:
    sources = tuple(Source("project", "dev", f"/{number}", values) for number, values in enumerate(_VALUES))
    return Workload("w", Dimensions(syncs=2, sources=2, keys=1, namespaces=1), sources)


def _secret(
    number: int, values: dict[str, str], *, kind: str = "ADDED", version: int = 1, uid: str = "u"
) -> WatchEvent:
    metadata = {
        "name": f"sync-{number:05}",
        "namespace": "w-0",
        "uid": uid,
        "resourceVersion": str(version),
    }
    return read_event(orjson.dumps({"type": kind, "object": {"metadata": metadata, "data": encoded(values)}}))


def _secretsync(number: int, ready: str, *, observed: int = 1, generation: int = 1) -> WatchEvent:
    metadata = {
        "name": f"sync-{number:05}",
        "namespace": "w-0",
        "uid": "u",
        "resourceVersion": "1",
        "generation": generation,
    }
    condition = {"type": "Ready", "status": ready, "reason": "PathNotFound", "message": "no such folder"}
    status = {"observedGeneration": observed, "conditions": [condition]}
    return read_event(orjson.dumps({"type": "MODIFIED", "object": {"metadata": metadata, "status": status}}))


def test_a_workload_is_complete_when_all_secrets_are_right_and_all_objects_ready() -> None:
    observer = Observer(_workload())

    observer.see_secret(_secret(0, _VALUES[0]), 1.0)
    observer.see_secret(_secret(1, _VALUES[1]), 2.0)
    observer.see_secretsync(_secretsync(0, "True"), 3.0)
    assert len(observer.missing()) == 1
    observer.see_secretsync(_secretsync(1, "True"), 4.0)

    assert observer.complete
    assert observer.missing() == []


async def test_the_time_of_completion_is_that_of_the_last_event() -> None:
    observer = Observer(_workload())
    for number in (0, 1):
        observer.see_secretsync(_secretsync(number, "True"), 1.0)
    observer.see_secret(_secret(1, _VALUES[1]), 7.0)
    observer.see_secret(_secret(0, _VALUES[0]), 5.0)

    assert await observer.until_complete(within_seconds=1) == 7.0


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(_secret(0, _VALUES[1]), id="values of another source"),
        pytest.param(_secret(0, {**_VALUES[0], "B": "cnry-more"}), id="a key too many"),
        pytest.param(_secret(0, {}), id="no keys"),
        pytest.param(_secret(0, _VALUES[0], kind="DELETED"), id="a deleted Secret"),
        pytest.param(_secret(9, _VALUES[0]), id="a Secret of another workload"),
    ],
)
def test_a_secret_is_right_only_with_exactly_the_bytes_of_its_source(event: WatchEvent) -> None:
    observer = Observer(_workload())

    observer.see_secret(event, 1.0)

    assert observer.secret_at == {}


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(_secretsync(0, "False"), id="not ready"),
        pytest.param(_secretsync(0, "True", observed=1, generation=2), id="ready in an older generation"),
    ],
)
def test_an_object_is_ready_only_in_its_present_generation(event: WatchEvent) -> None:
    observer = Observer(_workload())

    observer.see_secretsync(event, 1.0)

    assert observer.ready_at == {}


def test_a_changed_value_makes_the_dependents_of_that_source_wrong_until_they_have_it() -> None:
    observer = Observer(_workload())
    for number in (0, 1):
        observer.see_secret(_secret(number, _VALUES[number]), 1.0)

    assert observer.expect(0, {"A": "cnry-changed"}) == [_KEY]
    observer.see_secret(_secret(0, _VALUES[0]), 2.0)
    assert _KEY not in observer.secret_at
    observer.see_secret(_secret(0, {"A": "cnry-changed"}), 3.0)

    assert observer.secret_at == {_KEY: 3.0, ("w-0", "sync-00001"): 1.0}


async def test_what_misses_at_the_deadline_is_named_with_the_reason_it_gives() -> None:
    observer = Observer(_workload())
    observer.see_secret(_secret(0, _VALUES[0]), 1.0)
    observer.see_secretsync(_secretsync(0, "True"), 1.0)
    observer.see_secretsync(_secretsync(1, "False"), 1.0)

    with pytest.raises(
        NotInTimeError, match=r"w-0/sync-00001 lacks Secret and Ready .*no such folder"
    ) as caught:
        await observer.until_complete(within_seconds=0.01)

    assert len(caught.value.missing) == 1


async def test_two_waiters_are_told_apart() -> None:
    observer = Observer(_workload())
    first = asyncio.create_task(observer.until(lambda: _KEY in observer.secret_at, "it", 5, list))
    both = asyncio.create_task(observer.until(lambda: len(observer.secret_at) == 2, "both", 5, list))
    await asyncio.sleep(0)

    observer.see_secret(_secret(0, _VALUES[0]), 1.0)
    await first
    assert not both.done()
    observer.see_secret(_secret(1, _VALUES[1]), 1.0)
    await both


def test_an_error_in_the_stream_is_raised() -> None:
    line = orjson.dumps({"type": "ERROR", "object": {"message": "too old resource version"}})

    with pytest.raises(BenchError, match="too old resource version"):
        read_event(line)


def test_a_repair_is_the_first_right_version_younger_than_the_damage() -> None:
    observer = Observer(_workload())
    trail = observer.follow(_KEY)
    observer.see_secret(_secret(0, _VALUES[0], version=5), 1.0)
    observer.see_secret(_secret(0, {"A": "cnry-edited"}, kind="MODIFIED", version=6), 2.0)
    assert first_right_after(trail, 6) is None
    observer.see_secret(_secret(0, _VALUES[0], kind="MODIFIED", version=7), 3.0)

    found = first_right_after(trail, 6)

    assert found is not None
    assert (found.at, found.resource_version) == (3.0, 7)


def test_a_recreation_is_the_first_right_version_after_the_deletion() -> None:
    observer = Observer(_workload())
    trail = observer.follow(_KEY)
    observer.see_secret(_secret(0, _VALUES[0], kind="MODIFIED", version=5), 1.0)
    observer.see_secret(_secret(0, _VALUES[0], kind="DELETED", version=6), 2.0)
    assert first_right_after_deletion(trail) is None
    observer.see_secret(_secret(0, _VALUES[0], version=8, uid="v"), 3.0)

    found = first_right_after_deletion(trail)

    assert found is not None
    assert (found.at, found.uid) == (3.0, "v")


def test_a_trail_that_is_no_longer_followed_stays_as_it_is() -> None:
    observer = Observer(_workload())
    trail = observer.follow(_KEY)
    observer.unfollow(_KEY)

    observer.see_secret(_secret(0, _VALUES[0]), 1.0)

    assert trail == []
