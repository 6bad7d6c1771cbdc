"""Waiting for the end of what a sync was told to do, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import pytest

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.sync_jobs import Job, follow, require_succeeded
from keybearer.client import SecretSync, SyncConnection

SYNC = SecretSync(
    id="s-1",
    name="push",
    project_id="p-1",
    connection_id="c-1",
    destination="codehost",
    connection=SyncConnection(id="c-1"),
)


@dataclass
class Service:
    """Answers with one status after the other; the last one for ever."""

    job: Job
    statuses: list[str | None]
    seconds: float = 0.0
    told: list[str] = field(default_factory=list)
    asked: int = 0

    def sync(self, status: str | None) -> SecretSync:
        names: dict[str, Any] = {f"{self.job}_status": status}
        return replace(SYNC, **names)

    def read(self) -> SecretSync:
        self.asked += 1
        return self.sync(self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0])

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds

    def follow(self, begun: str | None, seconds: float = 600) -> SecretSync:
        return follow(
            self.sync(begun),
            self.job,
            self.read,
            self.told.append,
            patience=timedelta(seconds=seconds),
            sleep=self.sleep,
            monotonic=lambda: self.seconds,
        )


@pytest.mark.parametrize("job", Job)
@pytest.mark.parametrize("end", ["succeeded", "failed"])
def test_a_job_is_followed_until_it_ends(job: Job, end: str) -> None:
    service = Service(job, ["pending", "running", "running", end])
    ended = service.follow("pending")
    assert job.status_of(ended) == end
    assert service.told == ["sync push: pending", "sync push: running"]
    assert service.asked == 4


def test_one_that_is_over_at_once_is_not_asked_for() -> None:
    service = Service(Job.SYNC, ["failed"])
    assert service.follow("succeeded").sync_status == "succeeded"
    assert (service.asked, service.told, service.seconds) == (0, [], 0.0)


def test_a_job_that_takes_too_long_goes_on_by_itself() -> None:
    service = Service(Job.SYNC, ["running"])
    with pytest.raises(CommandError, match="still running after 5 s") as ended:
        service.follow("pending", seconds=5)
    assert ended.value.status is ExitStatus.UNAVAILABLE
    assert "keybearer syncs get push" in ended.value.next_step
    assert service.seconds == 5


@pytest.mark.parametrize("job", Job)
def test_how_a_job_ended_is_told(job: Job) -> None:
    succeeded = Service(job, []).sync("succeeded")
    require_succeeded(succeeded, job)
    message: dict[str, Any] = {f"last_{job}_message": "the remote refuses"}
    with pytest.raises(CommandError, match="sync push: the remote refuses") as failed:
        require_succeeded(replace(Service(job, []).sync("failed"), **message), job)
    assert failed.value.status is ExitStatus.FAILED
    with pytest.raises(CommandError, match=f"{job} ended as None"):
        require_succeeded(SYNC, job)
