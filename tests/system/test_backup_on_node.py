"""Backups by the CronJob of the chart on real nodes, and their restore, as the page on operations says."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from keybearer.client import ChangedSecret, NewSecret
from support.chart_on_nodes import InstalledChart, chart_on_nodes
from support.pasted import blocks, chapter
from support.real_nodes import descendants
from support.release_shell import RELEASE_NAMESPACE
from support.releases import RELEASE_SECONDS, Release
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body
from tools.local.waiting import PATIENCE_SECONDS, eventually
from tools.node.cluster import NodeCluster

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_OPERATIONS = ROOT / "docs" / "operations.md"
_DIRECTORY = "keybearer-service"
_FILLERS, _FILLED_AT_ONCE, _FILLER_BYTES = 800, 20, 50_000
"""So much that a copy of it takes a while."""


@pytest.fixture(scope="module")
def chart(
    node_cluster: NodeCluster, released: Release, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InstalledChart]:
    directory = tmp_path_factory.mktemp("backups")
    with chart_on_nodes(node_cluster, released, directory, {"operator": {"replicas": 1}}) as installed:
        yield installed


def test_backups_are_made_and_restored_as_the_page_says_and_one_that_is_killed_spoils_nothing(
    chart: InstalledChart,
) -> None:
    first = _Store.new(chart, {"BEFORE": "cnry-before", "CHANGED": "cnry-first"})
    switch_on, make_first = blocks(chapter(_OPERATIONS, "### Backups by a CronJob"))
    chart.run(switch_on)
    said = chart.run(make_first)
    backups = chart.volume("keybearer-backups") / _DIRECTORY
    (name,) = _names(backups)
    assert f"/{name}, where 1 are kept" in said
    _assert_confined_and_beside_the_service(chart)

    first.write({"AFTER": "cnry-after", "CHANGED": "cnry-second"})
    first.fill()
    good = (backups / name).read_bytes()
    _kill_a_backup_halfway(chart, backups)
    assert _names(backups) == [name]
    assert (backups / name).read_bytes() == good

    _, by_exec, *_ = blocks(chapter(_OPERATIONS, "## Back up"))
    chart.run(by_exec)
    page = _OPERATIONS.read_text()
    under = chapter(_OPERATIONS, "### Restore what the CronJob backed up")
    bring_down, restore = blocks(under.replace(under.split("```")[1], ""))
    (chart.shell.directory / "backups-pod.yaml").write_text(under.split("```")[1].removeprefix("yaml"))
    (stop,) = re.findall(r"`(kubectl -n keybearer scale deployment/keybearer-operator --replicas=0)`", page)
    (start,) = re.findall(r"`(kubectl -n keybearer scale statefulset/keybearer-service --replicas=1)`", page)
    chart.run(stop)
    assert name in chart.run(bring_down).splitlines()
    _assert_fails_in_time_without_the_service(chart)
    assert _names(backups) == [name]
    (from_here,) = re.findall(r"`(kubectl -n keybearer exec -i backups -- [^`]+ < backup.db)`", under)
    size = (chart.shell.directory / "backup.db").stat().st_size
    assert f"Restored {size} bytes" in chart.run(f"{from_here} 2>&1")
    assert f"Restored {len(good)} bytes of /var/lib/keybearer-backups/{_DIRECTORY}/{name}" in chart.run(
        restore.replace(" --force\n", " --force 2>&1\n")
    )
    chart.run(start)
    chart.until_ready("service", 1)
    assert first.read() == {"BEFORE": "cnry-before", "CHANGED": "cnry-first"}
    # And the service that was restored is backed up like the one before; what the killed one left goes.
    chart.run(make_first.replace("first-backup", "later-backup"))
    assert [one for one in _names(backups) if one != name]
    assert len(list(backups.iterdir())) == 2
    assert not [pod for pod, text in chart.logs.of_pods().items() if "cnry-" in text]


def _assert_confined_and_beside_the_service(chart: InstalledChart) -> None:
    """The pod of the Job that has ended ran where the service does, without an account."""
    (backup,) = chart.pods("backup")
    (service,) = chart.pods("service")
    assert backup["spec"]["nodeName"] == service["spec"]["nodeName"]
    assert backup["spec"]["automountServiceAccountToken"] is False
    (container,) = backup["spec"]["containers"]
    mounts = {one["name"]: one.get("readOnly", False) for one in container["volumeMounts"]}
    assert mounts == {"data": True, "backups": False, "tmp": False}


def _assert_fails_in_time_without_the_service(chart: InstalledChart) -> None:
    """A Job that finds no node, since the service has none, has failed at its deadline."""
    command = ("create", "job", "nowhere", "--from=cronjob/keybearer-backup", "--dry-run=client")
    job = json.loads(chart.kubectl(*command, "--output=json"))
    job["spec"]["activeDeadlineSeconds"] = 5
    chart.kubectl("create", "--filename=-", given=json.dumps(job))
    eventually(
        lambda: "didn't match pod affinity rules" in chart.kubectl("get", "events"),
        awaited="a scheduler that finds no node",
    )
    chart.kubectl("wait", "--for=condition=Failed", "job/nowhere", f"--timeout={PATIENCE_SECONDS:g}s")
    conditions = _job(chart, "nowhere")["status"]["conditions"]
    assert "DeadlineExceeded" in {one["reason"] for one in conditions}


def _kill_a_backup_halfway(chart: InstalledChart, backups: Path) -> None:
    """A Job whose process is killed while its copy is being written has failed, and is gone afterwards."""
    chart.kubectl("create", "job", "killed", "--from=cronjob/keybearer-backup")
    deadline = time.monotonic() + PATIENCE_SECONDS
    # Not by the pod's status, which may come when the copy is complete already.
    while (process := _copying()) is None:
        assert time.monotonic() < deadline, chart.told()
    while not _is_half_written(backups):
        assert time.monotonic() < deadline, chart.told()
        assert Path(f"/proc/{process}").exists(), chart.logs.told()
    os.kill(process, signal.SIGSTOP)
    assert _is_half_written(backups), "it was too fast"
    os.kill(process, signal.SIGKILL)
    failed = eventually(
        lambda: _job(chart, "killed")["status"].get("failed"), awaited="a failed try", told=chart.told
    )
    assert failed == 1
    # Before it is tried again.
    chart.kubectl("delete", "job", "killed", "--cascade=foreground")


def _copying() -> int | None:
    """Return the number that this machine has for the process of a backup in a pod; None before it began."""
    for process in descendants(os.getpid()):
        with suppress(psutil.NoSuchProcess):
            if {"backup", "--output-dir"} <= set(process.cmdline()):
                return process.pid
    return None


def _job(chart: InstalledChart, name: str) -> Body:
    return chart.api.send("GET", f"/apis/batch/v1/namespaces/{RELEASE_NAMESPACE}/jobs/{name}")


def _is_half_written(backups: Path) -> bool:
    with suppress(FileNotFoundError):
        return any(one.suffix == ".partial" and one.stat().st_size for one in backups.iterdir())
    return False


def _names(backups: Path) -> list[str]:
    return sorted(one.name for one in backups.iterdir() if not one.name.startswith("."))


class _Store:
    """A project of the service."""

    def __init__(self, chart: InstalledChart, project: str) -> None:
        self._chart = chart
        self._project = project

    @classmethod
    def new(cls, chart: InstalledChart, values: dict[str, str]) -> _Store:
        with chart.administrator() as client:
            store = cls(chart, client.projects.create("my-shop", slug="my-shop").id)
        store.write(values)
        return store

    def write(self, values: dict[str, str]) -> None:
        with self._chart.administrator() as client:
            client.secrets.update_many(
                tuple(ChangedSecret(name, value) for name, value in values.items()),
                mode="upsert",
                project_id=self._project,
                environment="dev",
            )

    def fill(self) -> None:
        with self._chart.administrator() as client:
            client.folders.create("filler", project_id=self._project, environment="dev")
            for begin in range(0, _FILLERS, _FILLED_AT_ONCE):
                client.secrets.create_many(
                    tuple(
                        NewSecret(f"FILLER_{number}", "x" * _FILLER_BYTES)
                        for number in range(begin, begin + _FILLED_AT_ONCE)
                    ),
                    project_id=self._project,
                    environment="dev",
                    secret_path="/filler",
                )

    def read(self) -> dict[str, str]:
        with self._chart.administrator() as client:
            listed = client.secrets.list(project_id=self._project, environment="dev")
        return {one.secret_key: one.secret_value for one in listed}
