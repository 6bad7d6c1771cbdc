"""Measures how long others wait when one of two dies: operators on one Lease, services on one PostgreSQL.

`PYTHONPATH=tests:. python -m chaos.takeover` repeats each case, prints a table in Markdown, and with `--json FILE`
writes every sample. Its status is 1 when anything was lost, or written by one that did not lead.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from chaos.leader_scene import LeaderScene, Replica
from chaos.replica_scene import ReplicaScene, Writers
from chaos.replica_syncs import ReplicaSyncs
from tools.local.parameter_store import ParameterStoreServer
from tools.local.postgres import PostgresServer
from tools.local.waiting import eventually

__all__ = ["Case", "main"]

_REMOTE_SECONDS = 1.5
"""Of one call of the remote: runs of secret syncs are under way when a replica dies."""

_LINES_OF_AN_OUTAGE = 100
"""One that waits tells of each attempt, and then of what it reconciles."""


@dataclass(slots=True)
class Case:
    """One row.

    Attributes:
        samples: seconds.
        wrong: what should not have been.
    """

    name: str
    samples: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def row(self) -> str:
        """Of the table."""
        median, worst = statistics.median(self.samples), max(self.samples)
        return f"| {self.name} | {len(self.samples)} | {median:.1f} s | {min(self.samples):.1f} s | {worst:.1f} s |"


def _operators(directory: Path, repeats: int) -> Iterator[Case]:
    with LeaderScene(directory) as scene:
        yield from _ends(scene, repeats, "killed", lambda first: first.operator.kill())
        yield from _ends(scene, repeats, "stopped", lambda first: first.operator.ask_to_stop())
        yield from _frozen(scene, repeats)


def _api_servers(directory: Path, repeats: int) -> Iterator[Case]:
    with LeaderScene(directory) as scene:
        yield from _api_server(scene, repeats)
        yield from _long_outage(scene, repeats)


def _ends(scene: LeaderScene, repeats: int, how: str, end: Callable[[Replica], None]) -> Iterator[Case]:
    lease = Case(f"operator {how}: until another has the Lease")
    renewed = Case(f"operator {how}: from the last renewal or the release of the Lease until another took it")
    repaired = Case(f"operator {how}: until a Secret deleted meanwhile is back")
    followed = Case(f"operator {how}: until every Secret holds what changed meanwhile")
    for _ in range(repeats):
        first, second = scene.pair()
        scene.until_followed(scene.change())
        began = time.monotonic()
        wall = time.time()
        end(first)
        newest = scene.change()
        scene.tenant.api.delete("Secret", scene.tenant.namespace, "s0")
        eventually(lambda: scene.tenant.secret("s0") is not None, awaited="the Secret")
        repaired.samples.append(time.monotonic() - began)
        scene.until_followed(newest)
        followed.samples.append(time.monotonic() - began)
        taken = scene.took_lease(second).received_at
        kept = scene.audit.lease_kept_by(first.credential)[-1].received_at
        lease.samples.append(taken.timestamp() - wall)
        renewed.samples.append((taken - kept).total_seconds())
        lease.wrong += _late(scene, first, second)
        scene.end_all()
    yield from (lease, renewed, repaired, followed)


def _frozen(scene: LeaderScene, repeats: int) -> Iterator[Case]:
    case = Case("operator suspended in the middle of its writes: until another has the Lease")
    for _ in range(repeats):
        first, second = scene.pair()
        scene.until_followed(scene.change())
        newest = scene.change()
        scene.tenant.api.delete("Secret", scene.tenant.namespace, "s1")
        first.operator.freeze()
        case.samples.append(scene.until_leads(second))
        scene.tenant.api.delete("Secret", scene.tenant.namespace, "s2")
        scene.until_followed(newest)
        first.operator.thaw()
        first.operator.wait_ended()
        case.wrong += _late(scene, first, second)
        scene.end_all()
    yield case


def _api_server(scene: LeaderScene, repeats: int) -> Iterator[Case]:
    case = Case("API server killed: from its return until every Secret holds what changed meanwhile")
    for _ in range(repeats):
        first, second = scene.pair()
        scene.until_followed(scene.change())
        scene.plane.kill_api_server()
        newest = scene.change()
        scene.plane.start_api_server(until_all_is_served=False)
        began = time.monotonic()
        scene.until_followed(newest)
        case.samples.append(time.monotonic() - began)
        if [one.operator.leads for one in (first, second)].count(True) != 1:
            case.wrong.append("not one leads after the API server has come back")
        scene.end_all()
    yield case


def _long_outage(scene: LeaderScene, repeats: int) -> Iterator[Case]:
    case = Case(
        "API server away for longer than the Lease lasts: from its return until another has the Lease"
    )
    for _ in range(repeats):
        first, second = scene.pair()
        scene.until_followed(scene.change())
        lines = len(second.operator.log().splitlines())
        scene.plane.stop_api_server()
        newest = scene.change()
        # It can't say any more that it leads.
        first.operator.wait_ended()
        scene.plane.start_api_server(until_all_is_served=False)
        case.samples.append(scene.until_leads(second))
        scene.until_followed(newest)
        if len(second.operator.log().splitlines()) - lines > _LINES_OF_AN_OUTAGE:
            case.wrong.append("one that waits logs without pause while the API server is away")
        case.wrong += _late(scene, first, second)
        scene.end_all()
    yield case


def _late(scene: LeaderScene, first: Replica, second: Replica) -> list[str]:
    taken = scene.took_lease(second).received_at
    return [
        f"written after another led: {one}"
        for one in scene.audit.changes_of(first.credential)
        if one.answered_at > taken
    ]


def _services(directory: Path, repeats: int, job_repeats: int) -> Iterator[Case]:
    postgres = PostgresServer()
    with ExitStack() as stack:
        stack.callback(postgres.stop)
        postgres.start()
        yield _requests(_made(directory / "requests"), postgres, repeats)
        yield _jobs(_made(directory / "jobs"), postgres, job_repeats)


def _requests(directory: Path, postgres: PostgresServer, repeats: int) -> Case:
    case = Case("replica of the service killed: longest wait of one of 4 writing clients for an answer")
    with ReplicaScene(directory, postgres) as scene:
        project = scene.admin.new_project("replicas")
        token = scene.admin.new_token(scene.admin.new_login(project.id, role="member"))
        for number in range(repeats):
            folder = f"/round{number}"
            with scene.new_admin() as admin:
                admin.client.folders.create(folder[1:], project_id=project.id, environment="dev", path="/")
            with Writers(scene.balancer.url, token, project, folder=folder) as writers:
                writers.until_each_wrote(10)
                victim = (scene.one, scene.two)[number % 2]
                victim.kill()
                killed = time.monotonic()
                writers.until_each_wrote(10)
            victim.start()
            case.samples.append(writers.longest_gap(killed))
            kept = writers.kept(scene.two.url)
            lost = [write.key for write in writers.answered() if kept.get(write.key) != write.value]
            case.wrong += [f"{key} was answered, and is lost" for key in lost]
            case.wrong += writers.refusals
    return case


def _jobs(directory: Path, postgres: PostgresServer, repeats: int) -> Case:
    case = Case(
        "replica of the service killed: until the secret syncs it was running have ended at the other"
    )
    with (
        ParameterStoreServer(_REMOTE_SECONDS) as store,
        ReplicaScene(directory, postgres, [f"--app-endpoint=cloud={store.url}"]) as scene,
    ):
        syncs = ReplicaSyncs(scene, store)
        for number in range(repeats):
            victim = (scene.one, scene.two)[number % 2]
            syncs.change()
            syncs.until_both_run()
            victim.kill()
            began = time.monotonic()
            syncs.until_done()
            case.samples.append(time.monotonic() - began)
            case.wrong += syncs.wrong()
            victim.start()
    return case


def _made(directory: Path) -> Path:
    directory.mkdir()
    return directory


def main(arguments: list[str] | None = None) -> int:
    """Return the exit status: 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m chaos.takeover", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="of each case")
    parser.add_argument(
        "--job-repeats", type=int, default=3, help="of the case that waits for a lease of a minute"
    )
    parser.add_argument("--json", type=Path, help="where every sample is written")
    parser.add_argument("--part", choices=("operators", "api-server", "services"), help="one alone")
    given = parser.parse_args(arguments)
    cases: list[Case] = []
    sys.stdout.write("| what happens | times | median | best | worst |\n|---|---|---|---|---|\n")
    with tempfile.TemporaryDirectory(prefix="keybearer-takeover-") as name:
        directory = Path(name)
        parts = {
            "operators": _operators(_made(directory / "operators"), given.repeats),
            "api-server": _api_servers(_made(directory / "api-server"), given.repeats),
            "services": _services(_made(directory / "services"), given.repeats, given.job_repeats),
        }
        for case in chain.from_iterable(parts[one] for one in parts if given.part in (None, one)):
            cases.append(case)
            sys.stdout.write(f"{case.row}\n")
            sys.stdout.flush()
    if given.json is not None:
        given.json.write_text(json.dumps([dataclasses.asdict(case) for case in cases], indent=2) + "\n")
    for wrong in (one for case in cases for one in case.wrong):
        sys.stderr.write(f"{wrong}\n")
    return 1 if any(case.wrong for case in cases) else 0


if __name__ == "__main__":
    sys.exit(main())
