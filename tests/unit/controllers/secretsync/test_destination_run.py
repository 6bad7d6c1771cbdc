"""keybearer.controllers.secretsync.destination_run: what is asked of the service, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from keybearer.client import SecretSync
from keybearer.client.syncs import SyncConnection
from keybearer.controllers.conditions import Tone
from keybearer.controllers.effect_budget import EffectBudgets
from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import StalledError, WaitingError
from keybearer.controllers.ownership import mark_of
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.conclusion import DestinationOutcome
from keybearer.controllers.secretsync.destination_names import PlacedName, PlacedNames
from keybearer.controllers.secretsync.destination_plan import DesiredSync, build_definition
from keybearer.controllers.secretsync.destination_run import DestinationRun
from keybearer.controllers.secretsync.gather import FolderReading
from keybearer.controllers.secretsync.outcome import Arrival, SyncOutcome, build_status
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.remote_syncs import (
    REFRESH,
    ImportBehavior,
    RemoteSyncs,
    SyncWatch,
    mirrored,
)
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import PushStatus, RemoteSyncStatus, SecretSyncStatus, Updates
from keybearer.destinations.catalogue import CATALOGUE
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import FINGERPRINTER

_NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
_MARK = mark_of("cluster-1", "uid-1")
_SEEN = ObservedObject.from_body(
    "SecretSync",
    {"metadata": {"namespace": "team-a", "name": "web", "uid": "uid-1", "generation": 1}},
    trigger_at=0.0,
    targets_of=no_targets,
)
_SPEC = {
    "identityRef": {"name": "login"},
    "source": {"projectId": "shop", "environment": "dev"},
    "destination": "cloud-parameter-store",
    "connectionRef": {"name": "store"},
    "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
}


class Service(RemoteSyncs):
    """One sync of a service that pushes nothing until it is told to."""

    def __init__(self) -> None:
        self.sync: SecretSync | None = None
        self.placed: PlacedNames | None = PlacedNames()
        self.asked: list[str] = []
        self.jobs = 0

    async def find(
        self, destination: str, name: str, project_id: str, known: RemoteSyncStatus | None
    ) -> SecretSync | None:
        assert self.sync is None or (destination, name) == (self.sync.destination, self.sync.name)
        assert project_id == "shop"
        assert known is None or (known.id, known.destination) == ("s1", destination)
        return self.sync

    async def create(self, desired: DesiredSync) -> SecretSync:
        self.asked.append("create")
        self.sync = SecretSync(
            id="s1",
            name=desired.name,
            project_id=desired.project_id,
            connection_id=desired.connection_id,
            destination=desired.destination,
            connection=SyncConnection(id=desired.connection_id),
            description=desired.description,
            is_auto_sync_enabled=desired.is_automatic,
        )
        return self.sync

    async def update(self, sync_id: str, desired: DesiredSync) -> SecretSync:
        self.asked.append("update")
        assert self.sync is not None
        assert (sync_id, desired.name) == (self.sync.id, self.sync.name)
        version = self.sync.version + 1
        self.sync = replace(self.sync, version=version, is_auto_sync_enabled=desired.is_automatic)
        return self.sync

    async def quiet(self, sync: SecretSync) -> SecretSync:
        self.asked.append("quiet")
        return sync

    async def names(self, sync: SecretSync) -> PlacedNames | None:
        assert sync.id == "s1"
        self.asked.append("names")
        return self.placed

    async def push(self, sync: SecretSync, *, remove_foreign: bool = False) -> SecretSync:
        self.asked.append("push and remove foreign" if remove_foreign else "push")
        self.jobs += 1
        self.sync = replace(sync, sync_status="pending", last_sync_job_id=f"j{self.jobs}")
        return self.sync

    async def take_in(self, sync: SecretSync, behavior: ImportBehavior) -> SecretSync:
        self.asked.append(f"import {behavior}")
        self.sync = replace(sync, import_status="pending", last_import_job_id="i1")
        return self.sync

    def ends(self, status: str = "succeeded", message: str | None = None) -> None:
        """The last job ended so."""
        assert self.sync is not None
        at = "2026-03-01T11:59:00Z" if status == "succeeded" else self.sync.last_synced_at
        self.sync = replace(self.sync, sync_status=status, last_sync_message=message, last_synced_at=at)

    def import_ends(self, status: str = "succeeded", message: str | None = None) -> None:
        """The import ended so."""
        assert self.sync is not None
        at = "2026-03-01T11:59:00Z" if status == "succeeded" else None
        self.sync = replace(self.sync, import_status=status, last_import_message=message, last_imported_at=at)

    def holds(self, *names: str, foreign: Sequence[str] = (), failed: Sequence[str] = ()) -> None:
        """The destination holds these, as the last run left it."""
        self.placed = PlacedNames(
            tuple(PlacedName(name, name, "synced") for name in names)
            + tuple(PlacedName(name, None, "foreign") for name in foreign)
            + tuple(PlacedName(name, name, "failed", "not taken") for name in failed)
        )

    def taken(self) -> list[str]:
        """What was asked since this was asked last."""
        asked, self.asked = self.asked, []
        return asked


class Board(SyncWatch):
    """Looks at the one sync."""

    def __init__(self, clock: HandClock, service: Service) -> None:
        super().__init__(clock)
        self._service = service
        self.begun_anew: list[bool] = []

    async def look(
        self, remote: RemoteSyncs, project_id: str, sync_id: str, *, anew: bool = False
    ) -> SecretSync | None:
        assert remote is self._service
        assert (project_id, sync_id) == ("shop", "s1")
        self.begun_anew.append(anew)
        return self._service.sync


@dataclass
class World:
    """An object and its sync; each run sees the status that the one before left."""

    service: Service = field(default_factory=Service)
    clock: HandClock = field(default_factory=HandClock)
    spec: dict[str, object] = field(default_factory=lambda: dict(_SPEC))
    status: SecretSyncStatus = field(default_factory=SecretSyncStatus)
    now: datetime = _NOW

    def __post_init__(self) -> None:
        self.watch = Board(self.clock, self.service)
        self.budgets = EffectBudgets(self.clock)

    async def run(
        self,
        *keys: str,
        request: str | None = None,
        behavior: str | None = None,
        values: str = "",
        seen: ObservedObject = _SEEN,
    ) -> DestinationOutcome:
        """One run over a folder with these keys; other `values` are another content."""
        spec = SecretSyncSpec.model_validate(self.spec)
        assert spec.source is not None
        desired = build_definition(
            seen,
            spec,
            spec.source,
            project_id="shop",
            connection_id="c1",
            mark=_MARK,
            catalogue=CATALOGUE,
            fingerprinter=FINGERPRINTER,
        )
        run = DestinationRun(
            self.watch,
            seen,
            spec,
            self.status,
            None if request is None else PendingRequest("1", request, behavior),
            desired,
            self.service,
            FolderReading(tuple(sorted(keys)), f"{sorted(keys)} {values}"),
            self.now,
            self.budgets,
        )
        outcome = await run.bring_about()
        report = SyncOutcome(
            outcome.tone,
            outcome.reason,
            outcome.message,
            changes=outcome.changes,
            sync=outcome.sync,
            push=outcome.push,
        )
        self.status = build_status(
            self.status, report, generation=seen.generation, arrival=Arrival(Updates.POLLING), now=self.now
        )
        return outcome

    async def pushed(self, *keys: str) -> None:
        """These keys were pushed, and the push succeeded."""
        await self.run(*keys)
        self.service.ends()
        self.service.holds(*keys)
        await self.run(*keys)
        self.service.taken()

    @property
    def push(self) -> PushStatus:
        assert self.status.push is not None
        return self.status.push


def keys(first: int, last: int) -> tuple[str, ...]:
    return tuple(f"K{number:03}" for number in range(first, last))


async def test_at_rest_nothing_is_asked_but_how_the_sync_stands_and_nothing_new_is_told() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    told = world.status
    for _ in range(5):
        world.now += REFRESH
        world.clock.seconds += REFRESH.total_seconds()
        outcome = await world.run(*keys(0, 10))
        assert (outcome.tone, outcome.look_again) == (Tone.READY, REFRESH)
    assert world.service.taken() == []
    assert world.status == told


async def test_what_is_told_right_after_a_push_is_of_a_look_that_began_after_it() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    world.watch.begun_anew.clear()
    await world.run(*keys(0, 10), request="sync")
    assert world.watch.begun_anew == [True]


async def test_a_source_whose_secrets_are_all_renamed_is_held_back_until_that_is_released() -> None:
    world = World()
    await world.pushed(*keys(0, 100))

    held = await world.run(*keys(100, 200))
    assert (held.tone, held.reason) == (Tone.HELD, Reason.GUARDED)
    assert world.status.plan is not None
    assert world.status.plan.remove == keys(0, 100)
    assert world.service.taken() == ["names"]

    await world.run(*keys(100, 200), request="release-guard")
    assert world.service.taken() == ["names", "push"]


async def test_a_release_passes_only_the_names_that_were_shown() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    await world.run(*keys(0, 2))

    outcome = await world.run(*keys(0, 1), request="release-guard")
    assert outcome.reason == Reason.GUARDED
    assert world.status.plan is not None
    assert world.status.plan.remove == keys(1, 10)
    assert "push" not in world.service.taken()

    await world.run(*keys(0, 1), request="release-guard", values="a value changed, no name")
    assert world.service.taken()[-1] == "push"


async def test_a_release_is_good_for_the_attempts_at_one_push_and_no_further() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    await world.run(*keys(0, 2))
    await world.run(*keys(0, 2), request="release-guard")
    world.service.ends("failed", "no such place")
    await world.run(*keys(0, 2))
    world.service.taken()
    world.clock.seconds += REFRESH.total_seconds()
    assert (await world.run(*keys(0, 2))).reason == Reason.PUSHING
    assert world.service.taken() == ["push"]
    world.service.ends()
    world.service.holds(*keys(0, 2))
    assert (await world.run()).reason == Reason.GUARDED


async def test_key_by_key_is_held_back_like_all_at_once_until_the_window_is_over() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    for step in range(1, 6):
        await world.pushed(*keys(step, 10))
    held = await world.run(*keys(6, 10))
    assert held.reason == Reason.GUARDED
    assert "after 5 others within 24h" in held.message

    world.now += timedelta(hours=24)
    await world.run(*keys(6, 10))
    assert world.service.taken()[-1] == "push"
    assert [one.names for one in world.push.removals or ()] == [("K005",)]


async def test_an_adopted_sync_is_guarded_on_its_first_push() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    world.status = SecretSyncStatus()  # as after a cluster was restored without statuses

    held = await world.run("OTHER")
    assert held.reason == Reason.GUARDED
    assert not {"update", "push"} & set(world.service.taken())


async def test_growth_is_never_held_back() -> None:
    world = World()
    await world.pushed(*keys(0, 3))
    assert (await world.run(*keys(0, 300))).reason == Reason.PUSHING
    assert world.service.taken() == ["names", "push"]


async def test_with_everything_allowed_the_service_isn_t_asked_for_names() -> None:
    world = World()
    world.spec["guard"] = {"maxDeletions": 100}
    await world.pushed(*keys(0, 10))
    assert (await world.run()).reason == Reason.SYNCED
    assert world.service.taken() == []


async def test_a_sync_that_removes_nothing_isn_t_held_back() -> None:
    world = World()
    world.spec["syncOptions"] = {
        "initialSyncBehavior": "overwrite-destination",
        "disableSecretDeletion": True,
    }
    await world.pushed(*keys(0, 10))
    assert (await world.run("OTHER")).reason == Reason.PUSHING


async def test_while_a_push_is_under_way_nothing_is_judged_yet() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    await world.run(*keys(0, 10), values="rotated")
    world.service.placed = PlacedNames(tuple(PlacedName(key, key, "pending") for key in keys(0, 10)))
    outcome = await world.run(*keys(0, 9), values="rotated")
    assert outcome.reason == Reason.PUSHING
    assert world.service.taken() == ["names", "push", "names"]

    world.service.ends()
    world.service.holds(*keys(0, 10))
    await world.run(*keys(0, 9), values="rotated")
    assert world.service.taken() == ["names", "push"]


async def test_a_service_that_tells_no_names_has_its_secrets_counted() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    world.service.placed = None
    held = await world.run(*keys(0, 4))
    assert held.reason == Reason.GUARDED
    assert "had 10 secrets and has 4" in held.message
    await world.run(*keys(0, 4), request="release-guard")
    assert world.service.taken()[-1] == "push"


async def test_an_import_isn_t_held_back_by_an_emptied_source() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    await world.run(request="import")
    assert world.service.taken() == ["import prioritize-source"]


async def test_while_an_import_runs_nothing_is_pushed_and_then_its_outcome_is_told() -> None:
    world = World(spec={**_SPEC, "guard": {"maxDeletions": 100}})

    first = await world.run(request="import")

    assert first.import_settled
    assert first.reason == Reason.IMPORTING
    assert world.service.taken() == ["create", "import prioritize-source"]
    assert world.service.sync is not None
    assert not world.service.sync.is_auto_sync_enabled, "the service would push before it imports"

    assert (await world.run("A")).reason == Reason.IMPORTING
    assert world.service.taken() == []

    world.service.import_ends()
    done = await world.run("A")
    assert "imported at 2026-03-01T11:59:00Z" in done.message
    assert world.service.taken() == ["update"]
    assert world.service.sync.is_auto_sync_enabled


async def test_a_first_import_that_failed_is_told_and_nothing_is_pushed_until_somebody_asks() -> None:
    world = World()
    await world.run(request="import")
    world.service.import_ends("failed", "the destination is locked")
    world.service.taken()

    failed = await world.run("A")

    assert (failed.tone, failed.reason) == (Tone.STALLED, Reason.IMPORT_FAILED)
    assert "the destination is locked" in failed.message
    assert world.service.taken() == []
    await world.run("A", request="sync")
    assert world.service.taken()[-1] == "push"


async def test_an_import_with_an_unknown_behavior_neither_imports_nor_pushes_and_names_the_choices() -> None:
    world = World()
    with pytest.raises(StalledError, match="neither prioritize-source nor prioritize-destination") as refused:
        await world.run("A", request="import", behavior="prioritise-source")
    assert refused.value.reason == Reason.IMPORT_BEHAVIOR_UNKNOWN
    assert "'prioritise-source'" in refused.value.message
    assert world.service.taken() == []
    await world.run("A", request="import", behavior="prioritize-destination")
    assert world.service.taken() == ["create", "import prioritize-destination"]


async def test_an_import_waits_for_a_plan_and_isn_t_answered_by_it() -> None:
    world = World(spec={**_SPEC, "mode": "Plan"})
    planned = await world.run(request="import")
    assert planned.reason == Reason.PLANNED
    assert not planned.import_settled
    assert "the import that was asked for waits" in planned.message
    assert world.service.taken() == []


async def test_an_empty_source_is_no_reason_to_offer_the_removal_of_what_the_destination_holds() -> None:
    world = World()
    await world.run()
    world.service.ends("succeeded", "2 names came from elsewhere and stayed")
    world.service.holds(foreign=["PROD", "OTHER"])

    told = await world.run()

    assert world.push.foreign_total == 2
    assert "remove-foreign" not in told.message
    assert "keybearer.dev/request: import" in told.message


async def test_names_of_others_are_shown_once_a_push_says_that_there_are_some() -> None:
    world = World()
    await world.run("A")
    world.service.ends(message="2 secrets at the destination came from elsewhere and stayed")
    world.service.holds("A", foreign=["X", "Y"])
    world.service.taken()

    outcome = await world.run("A")
    assert (world.push.foreign, world.push.foreign_total) == (("X", "Y"), 2)
    assert "status.push.foreign" in outcome.message
    assert "keybearer.dev/request: remove-foreign and a fresh keybearer.dev/requestedAt" in outcome.message
    assert outcome.tone is Tone.READY
    await world.run("A")
    assert world.service.taken() == ["names"]


async def test_names_of_others_are_removed_once_they_were_shown() -> None:
    world = World()
    await world.pushed("A")
    world.service.holds("A", foreign=["X", "Y"])

    await world.run("A", request="remove-foreign")
    assert world.service.taken() == ["names"]
    assert world.push.foreign_total == 2

    world.service.holds("A", foreign=["X", "Y", "Z"])
    await world.run("A", request="remove-foreign")
    assert world.service.taken() == ["names"]
    assert world.push.foreign_total == 3

    await world.run("A", request="remove-foreign")
    assert world.service.taken() == ["names", "push and remove foreign"]
    world.service.ends()
    world.service.holds("A")
    await world.run("A")
    assert not world.push.foreign
    assert world.service.taken() == []


async def test_where_nothing_of_others_is_known_the_destination_is_looked_at_anew() -> None:
    world = World()
    await world.pushed("A")
    await world.run("A", request="remove-foreign")
    assert world.service.taken() == ["names", "push"]


async def test_the_guard_holds_a_removal_of_others_back_as_well() -> None:
    world = World()
    await world.pushed(*keys(0, 10))
    world.service.holds(*keys(0, 10), foreign=["X"])
    await world.run(*keys(0, 10), request="remove-foreign")
    assert (await world.run(request="remove-foreign")).reason == Reason.GUARDED
    assert not [what for what in world.service.taken() if what.startswith("push")]


async def test_failed_names_are_listed_with_why_and_go_with_the_next_good_push() -> None:
    world = World()
    await world.run("A", "B")
    world.service.ends("failed", "2 names were not taken")
    world.service.holds("A", failed=["B"])
    world.service.taken()

    outcome = await world.run("A", "B")
    assert [(one.name, one.message) for one in world.push.failed or ()] == [("B", "not taken")]
    assert outcome.message.endswith("; 1 name failed, see status.push.failed")
    told = world.status
    world.now += timedelta(seconds=200)
    await world.run("A", "B")
    assert world.service.taken() == ["names"]
    assert world.status == told

    await world.run("A", request="sync")
    world.service.ends()
    world.service.holds("A")
    await world.run("A")
    assert world.push.failed is None


async def test_a_push_that_the_service_tries_again_is_left_to_it_and_looked_at_then() -> None:
    world = World()
    await world.run("A")
    world.service.ends("failed", "the host answers 502; the next attempt is at 2026-03-01T12:01:00Z")
    world.service.taken()

    outcome = await world.run("A")
    assert (outcome.tone, outcome.reason) == (Tone.STALLED, Reason.PUSH_FAILED)
    assert "the next attempt is at 2026-03-01T12:01:00Z" in outcome.message
    assert outcome.look_again == timedelta(seconds=61)
    for _ in range(30):
        world.now += REFRESH
        world.clock.seconds += REFRESH.total_seconds()
        await world.run("A")
    assert "push" not in world.service.taken()


async def test_a_push_that_its_remote_asked_to_wait_is_left_to_the_service_also_when_the_source_changes() -> (
    None
):
    world = World()
    await world.run("A")
    message = (
        "the code host asks to wait; what arrived is noted, and the rest follows at 2026-03-01T13:00:00Z"
    )
    world.service.ends("pending", message)
    world.service.taken()

    outcome = await world.run("A", values="rotated")
    assert (outcome.tone, outcome.reason) == (Tone.WAITING, Reason.PUSHING)
    assert "the rest follows at 2026-03-01T13:00:00Z" in outcome.message
    assert outcome.look_again == timedelta(seconds=15)
    assert world.service.taken() == []

    await world.run("A", values="rotated", request="sync")
    assert world.service.taken() == ["names", "push"]


async def test_once_a_parked_push_has_ended_what_changed_meanwhile_is_judged() -> None:
    world = World()
    await world.pushed(*keys(0, 4))
    message = (
        "the code host asks to wait; what arrived is noted, and the rest follows at 2026-03-01T13:00:00Z"
    )
    world.service.ends("pending", message)
    await world.run("OTHER")
    world.service.ends()
    assert (await world.run("OTHER")).reason == Reason.GUARDED


async def test_a_push_that_failed_for_good_is_set_off_again_with_growing_pauses() -> None:
    world = World()
    await world.run("A")
    pushes = []
    for minute in range(0, 400, 5):
        if world.service.sync is not None and world.service.sync.sync_status == "pending":
            world.service.ends("failed", "no such repository")
        await world.run("A")
        pushes += [minute] if "push" in world.service.taken()[0 if minute else 2 :] else []
        world.clock.seconds += 300
        world.now += timedelta(minutes=5)
    waits = [after - before for before, after in pairwise(pushes)]
    assert waits[:4] == sorted(waits[:4])
    assert 60 <= max(waits) <= 65
    assert 4 <= len(pushes) <= 9


async def test_what_is_under_way_isn_t_set_off_again() -> None:
    world = World()
    await world.run("A")
    world.service.taken()
    for _ in range(20):
        world.clock.seconds += 600
        world.now += timedelta(minutes=10)
        await world.run("A")
    assert world.service.taken() == []


async def test_a_plan_names_what_would_be_added_changed_and_removed_once_the_sync_exists() -> None:
    world = World()
    await world.pushed("A", "B", "C")
    world.spec["mode"] = "Plan"
    world.service.placed = PlacedNames(
        (
            PlacedName("A", "A", "synced"),
            PlacedName("B", "B", "pending"),
            PlacedName("C", None, "removing"),
        )
    )
    planned = await world.run("A", "B", "NEW", values="B has another")
    assert planned.reason == Reason.PLANNED
    plan = world.status.plan
    assert plan is not None
    assert (plan.add, plan.change, plan.remove) == (("NEW",), ("B",), ("C",))
    assert "(add 1, change 1, remove 1; see status.plan)" in planned.message
    assert "keybearer.dev/request: approve-plan and a fresh keybearer.dev/requestedAt" in planned.message
    assert "push" not in world.service.taken()


async def test_a_plan_is_carried_out_as_it_was_shown_and_shown_anew_where_it_is_another() -> None:
    world = World()
    await world.pushed("A", "B", "C", "D")
    world.spec["mode"] = "Plan"
    await world.run("A", "B", "C")
    await world.run("A", "B", request="approve-plan")
    assert "push" not in world.service.taken()
    assert world.status.plan is not None
    assert world.status.plan.remove == ("C", "D")

    await world.run("A", "B", request="approve-plan")
    assert world.service.taken()[-1] == "push"


async def test_what_the_guard_holds_in_a_plan_takes_a_release_alone() -> None:
    world = World()
    await world.pushed("A", "B", "C")
    world.spec["mode"] = "Plan"
    held = await world.run("A", "NEW")
    assert (held.reason, held.changes.add, held.changes.remove) == (Reason.GUARDED, ("NEW",), ("B", "C"))
    approved = await world.run("A", "NEW", request="approve-plan")
    assert approved.reason == Reason.GUARDED
    unseen = await world.run("A", "NEWER", request="release-guard")
    assert (unseen.reason, unseen.changes.add) == (Reason.GUARDED, ("NEWER",))
    assert "push" not in world.service.taken()

    await world.run("A", "NEWER", request="release-guard")
    assert world.service.taken()[-1] == "push"


async def test_a_plan_of_another_spec_is_shown_before_it_is_carried_out() -> None:
    world = World()
    world.spec["mode"] = "Plan"
    await world.run("A")
    later = replace(_SEEN, generation=2)
    outcome = await world.run("A", request="approve-plan", seen=later)
    assert outcome.reason == Reason.PLANNED
    await world.run("A", request="approve-plan", seen=later)
    assert world.service.taken() == ["create", "push"]


@pytest.mark.parametrize("request_", ["sync", "release-guard"])
async def test_in_mode_plan_nothing_else_lets_a_push_pass(request_: str) -> None:
    world = World()
    await world.pushed("A", "B", "C")
    world.spec["mode"] = "Plan"
    await world.run("A", "B")
    await world.run("A", "B", request=request_)
    assert "push" not in world.service.taken()


async def test_what_the_status_mirrors_are_the_service_s_own_fields() -> None:
    world = World()
    await world.pushed("A")
    assert world.service.sync is not None
    assert world.status.sync == mirrored(world.service.sync)


@pytest.mark.parametrize(
    "spec",
    [{"isAutoSyncEnabled": False}, {"guard": {"maxDeletions": 100}}],
    ids=["nobody pushes", "the service pushes by itself"],
)
async def test_a_look_that_has_nothing_pushed_costs_nothing_of_the_budget(spec: dict[str, object]) -> None:
    world = World()
    world.spec.update(spec)

    for number in range(70):
        await world.run("A", values=str(number))

    assert "push" not in world.service.taken()


async def test_a_push_that_another_one_is_in_the_way_of_costs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World()
    await world.pushed("A")

    async def refuse(*_: object, **__: object) -> SecretSync:
        raise WaitingError("Pushing", "already in progress", after=timedelta(milliseconds=300))

    with monkeypatch.context() as patch:
        patch.setattr(world.service, "push", refuse)
        for _number in range(100):
            with pytest.raises(WaitingError, match="already in progress"):
                await world.run("A", values="another")
    world.service.taken()
    await world.run("A", values="another")

    assert world.service.taken().count("push") == 1


async def test_a_source_that_never_rests_is_pushed_less_often_unless_a_person_asks() -> None:
    world = World()
    await world.pushed("A")
    world.service.taken()
    for number in range(39):
        await world.run("A", values=str(number))
        world.service.ends()

    with pytest.raises(WaitingError, match="pushes wait") as waited:
        await world.run("A", values="another")

    assert world.service.taken().count("push") == 39
    assert waited.value.reason == "PushedTooOften"
    assert waited.value.after is not None
    assert waited.value.after <= timedelta(minutes=5)
    await world.run("A", values="another", request="sync")
    assert world.service.taken().count("push") == 1
    world.service.ends()
    world.clock.seconds += waited.value.after.total_seconds()
    await world.run("A", values="a third one")
    assert world.service.taken().count("push") == 1
