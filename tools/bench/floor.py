"""The floor: the two API-server writes of each sync and nothing else, by a bare aiohttp loop.

`python -m tools.bench.floor KUBECONFIG AT_ONCE < OBJECTS` is a program of its own, as the operator is, so that it
shares no event loop with the harness. OBJECTS is a JSON list of `[namespace, name, uid]` of SecretSyncs. For
each it creates a Secret, then applies the status. It prints a line when it starts and its result, as JSON.

Creating is the cheapest way to write a Secret that does not exist, and applying the only way to write a part of
a status without reading it: no operator can do with less.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson
import uvloop

from tools.bench.kube import APPLY_PATCH, KubeApi, connect, in_parallel, secret_path, secretsync_path
from tools.bench.workload import encoded

__all__ = ["STARTED", "FloorResult", "Writes", "bodies", "main"]

STARTED = "started"

_MANAGER = {"fieldManager": "keybearer"}
_APPLY = {**_MANAGER, "force": "true"}
_INSTANT = "2026-01-02T03:04:05Z"
_FINGERPRINT = "0123456789abcdef" * 2
_SOURCE = "dev:/source-0"


@dataclass(frozen=True, slots=True)
class FloorResult:
    """What the writes cost.

    Attributes:
        objects: how many had their two writes.
        seconds: from the first request to the last answer.
        cpu_seconds: of the program that sent them.
        api_server_cpu_seconds: of the API server, meanwhile.
    """

    objects: int
    seconds: float
    cpu_seconds: float
    api_server_cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Writes:
    """The two requests of one sync, ready to send."""

    secrets_path: str
    secret: bytes
    status_path: str
    status: bytes


def bodies(namespace: str, name: str, uid: str, keys: int) -> Writes:
    """Return what a sync of that many keys writes: as many bytes as the operator's own, to a few per cent."""
    values = {f"KEY_{number}": f"value-{number}-of-{name}".ljust(32, ".") for number in range(keys)}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "Opaque",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {
                "app.kubernetes.io/managed-by": "keybearer",
                "keybearer.dev/managed": "true",
                "keybearer.dev/owner-uid": uid,
            },
            "ownerReferences": [
                {
                    "apiVersion": "keybearer.dev/v1alpha1",
                    "kind": "SecretSync",
                    "name": name,
                    "uid": uid,
                    "controller": True,
                    "blockOwnerDeletion": False,
                }
            ],
        },
        "data": encoded(values),
    }
    status = {
        "apiVersion": "keybearer.dev/v1alpha1",
        "kind": "SecretSync",
        "metadata": {"name": name, "namespace": namespace},
        "status": {
            "observedGeneration": 1,
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True",
                    "reason": "Synced",
                    "message": f"{keys} keys of {_SOURCE} are in Secret {name}",
                    "lastTransitionTime": _INSTANT,
                    "observedGeneration": 1,
                }
            ],
            "lastRefreshTime": _INSTANT,
            "updates": "Events",
            "source": _SOURCE,
            "target": {"kind": "Secret", "name": name, "keys": keys, "fingerprint": _FINGERPRINT},
            "keys": [_key_status(key) for key in values],
            "keysTotal": keys,
        },
    }
    return Writes(
        secrets_path=secret_path(namespace),
        secret=orjson.dumps(secret),
        status_path=secretsync_path(namespace, name) + "/status",
        status=orjson.dumps(status),
    )


def _key_status(key: str) -> dict[str, object]:
    return {
        "key": key,
        "state": "Synced",
        "version": 1,
        "lastChanged": _INSTANT,
        "source": f"{_SOURCE}/{key}",
    }


async def _write_all(api: KubeApi, writes: Iterator[Writes], at_once: int) -> float:
    async def write(one: Writes) -> None:
        await api.send("POST", one.secrets_path, one.secret, query=_MANAGER)
        await api.send("PATCH", one.status_path, one.status, content_type=APPLY_PATCH, query=_APPLY)

    started = time.monotonic()
    await in_parallel(writes, write, at_once=at_once)
    return time.monotonic() - started


async def _run(kubeconfig: Path, at_once: int, keys: int) -> FloorResult:
    objects: list[tuple[str, str, str]] = orjson.loads(sys.stdin.buffer.read())
    writes = [bodies(*target, keys) for target in objects]
    async with connect(kubeconfig, connections=at_once) as api:
        print(STARTED, flush=True)
        cpu_before = time.process_time()
        seconds = await _write_all(api, iter(writes), at_once)
        cpu_seconds = time.process_time() - cpu_before
    return FloorResult(
        objects=len(writes),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
    )


def main() -> None:
    """Print the result of one run, as JSON."""
    kubeconfig, at_once, keys = sys.argv[1:]
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        result = runner.run(_run(Path(kubeconfig), int(at_once), int(keys)))
    print(orjson.dumps(asdict(result)).decode())


if __name__ == "__main__":
    main()
