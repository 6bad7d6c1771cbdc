from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal

import pytest

from keybearer.base.backoff import Backoff
from keybearer.controllers.intake import EventIntake
from keybearer.controllers.objects import KindReading, ObjectStore, TargetKey
from keybearer.controllers.observed_targets import ObservedStore, ObservedTarget
from keybearer.controllers.queue import WorkQueue
from keybearer.controllers.secretsync.targets import targets_of
from keybearer.controllers.target_watch import TargetReceiver
from keybearer.controllers.work import Lane, WorkKey
from keybearer.kube.resources import ObjectKey
from unit.controllers.fakes.chance import SteadyChance
from unit.controllers.fakes.hand_clock import HandClock
from unit.controllers.fakes.targets import (
    FINGERPRINTER,
    SYNC,
    UID,
    Body,
    Field,
    b64,
    desired,
    new_spec,
    stored,
)

_TARGET = TargetKey("Secret", "team-a", "web")
_SPEC = new_spec()


class Recorder(WorkQueue):
    """A queue that also remembers what it was told."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__(clock, Backoff(timedelta(seconds=5), timedelta(minutes=5)), SteadyChance())
        self.added: list[tuple[str, Lane]] = []
        self.later: list[tuple[str, timedelta]] = []

    def add(self, key: WorkKey, lane: Lane) -> None:
        self.added.append((key.name, lane))
        super().add(key, lane)

    def add_after(self, key: WorkKey, delay: timedelta, lane: Lane = Lane.REFRESH) -> None:  # noqa: ARG002 - its signature
        self.later.append((key.name, delay))


class Desk:
    def __init__(self) -> None:
        self.clock = HandClock()
        self.queue = Recorder(self.clock)
        self.objects = ObjectStore()
        self.observed = ObservedStore()
        self.forgotten: list[WorkKey] = []
        self.intake = EventIntake(
            self.clock,
            self.queue,
            self.objects,
            self.observed,
            FINGERPRINTER,
            {"SecretSync": KindReading(targets_of)},
            self.forgotten.append,
        )
        self.watch = TargetReceiver("Secret", self.intake, self.observed)
        self._versions = itertools.count(1)

    def sync(self, event_type: str | None, name: str = "web", **changes: Field) -> None:
        """Deliver an event, newer than all before unless it has a version of its own."""
        version = {"resourceVersion": str(next(self._versions))}
        self.intake.custom_resource("SecretSync", event_type, sync_body(name, **(version | changes)))

    def target(self, event: Literal["listed", "changed", "gone"], body: dict[str, Any]) -> None:
        key = ObjectKey(body["metadata"]["namespace"], body["metadata"]["name"])
        getattr(self.watch, event)(key, body)

    def news(self) -> list[tuple[str, Lane]]:
        """Return what was put on the queue since the last question."""
        added, self.queue.added = self.queue.added, []
        return added


def sync_body(name: str = "web", *, status: Field = None, spec: Field = None, **metadata: Field) -> Body:
    uid = UID if name == "web" else f"uid-of-{name}"
    meta = {"namespace": "team-a", "name": name, "uid": uid, "resourceVersion": "1", "generation": 1}
    body: Body = {"metadata": meta | metadata, "spec": spec or {"source": {}}}
    return body if status is None else body | {"status": status}


def target_body(data: Mapping[str, str], *, version: str = "7") -> Body:
    return stored(desired(_SPEC, data).body, version=version)


@pytest.fixture
def desk() -> Desk:
    return Desk()


class TestCustomResources:
    @pytest.mark.parametrize(
        ("event_type", "status", "lane"),
        [
            pytest.param("ADDED", None, Lane.FIRST, id="created"),
            pytest.param(None, None, Lane.FIRST, id="found, and never reported"),
            pytest.param(None, {"source": "dev:/"}, Lane.REFRESH, id="found in sync after a restart"),
            pytest.param("MODIFIED", {"source": "dev:/"}, Lane.URGENT, id="edited"),
        ],
    )
    def test_how_urgent_an_event_is(
        self, desk: Desk, event_type: str | None, status: dict[str, str] | None, lane: Lane
    ) -> None:
        desk.sync(event_type, status=status)

        assert desk.news() == [("web", lane)]

    @pytest.mark.parametrize(
        "shown",
        [
            pytest.param(
                {"source": "dev:/", "updates": "Polling"}, id="of another run of ours, which came late"
            ),
            pytest.param(None, id="none"),
        ],
    )
    def test_a_status_that_we_did_not_write_last_is_looked_at_after_a_pause(
        self, desk: Desk, shown: dict[str, str] | None
    ) -> None:
        desk.sync("ADDED", status={"source": "dev:/"}, resourceVersion="1")
        desk.objects.put_status(SYNC, UID, b'{"source":"dev:/"}', "2")
        desk.news()

        desk.sync("MODIFIED", status=shown, resourceVersion="3")

        assert desk.news() == []
        assert desk.queue.later == [("web", timedelta(seconds=20))]

    def test_a_status_of_ours_is_known_before_its_answer_comes_and_with_its_keys_in_any_order(
        self, desk: Desk
    ) -> None:
        desk.sync("ADDED", status={"source": "dev:/"}, resourceVersion="1")
        desk.news()
        desk.objects.expect_status(SYNC, b'{"updates":"Events","source":"dev:/"}')

        desk.sync("MODIFIED", status={"source": "dev:/", "updates": "Events"}, resourceVersion="2")
        desk.objects.put_status(SYNC, UID, b'{"updates":"Events","source":"dev:/"}', "2")
        desk.sync(
            None, status={"source": "dev:/", "updates": "Events"}, labels={"a": "b"}, resourceVersion="3"
        )

        assert desk.news() == []
        assert desk.queue.later == []

    def test_the_echo_of_our_status_asks_for_nothing_and_owes_no_newer_reading(self, desk: Desk) -> None:
        desk.clock.seconds = 1005.0
        desk.sync("ADDED")
        desk.clock.seconds = 1010.0
        desk.sync("MODIFIED", status={"source": "dev:/"}, resourceVersion="2")

        assert desk.news() == [("web", Lane.FIRST)]
        now = desk.objects.get(SYNC)
        assert now is not None
        assert now.trigger_at == 1005.0
        assert now.resource_version == "2"
        assert now.status_json == b'{"source":"dev:/"}'

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param({"generation": 2}, id="spec edit"),
            pytest.param({"annotations": {"keybearer.dev/requestedAt": "now"}}, id="request"),
            pytest.param({"deletionTimestamp": "2026-03-01T12:00:00Z"}, id="deletion"),
        ],
    )
    @pytest.mark.parametrize("event_type", ["MODIFIED", None], ids=["an event", "a re-list"])
    def test_what_asks_for_something_is_due_with_a_reading_from_now_on(
        self, desk: Desk, change: dict[str, Any], event_type: str | None
    ) -> None:
        desk.sync("ADDED", status={"source": "dev:/"})
        desk.news()
        desk.clock.seconds = 1060.0
        desk.sync(event_type, status={"source": "dev:/"}, **change)

        assert [name for name, _ in desk.news()] == ["web"]
        now = desk.objects.get(SYNC)
        assert now is not None
        assert now.trigger_at == 1060.0

    def test_what_the_first_listing_found_was_there_before_we_started(self, desk: Desk) -> None:
        desk.clock.seconds = 1030.0
        desk.sync(None)

        now = desk.objects.get(SYNC)
        assert now is not None
        assert now.trigger_at == 1000.0

    def test_a_re_list_that_finds_nothing_new_asks_for_nothing(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.news()
        desk.sync(None)

        assert desk.news() == []

    def test_what_is_new_here_is_told_once_whether_it_was_made_now_or_found(self, desk: Desk) -> None:
        told: list[str] = []
        desk.intake.on_new = lambda key: told.append(key.name)
        desk.sync(None, "found")
        desk.sync("ADDED", "made")
        desk.sync("MODIFIED", "found")
        assert told == ["found", "made"]
        desk.sync("DELETED", "found")
        desk.sync("ADDED", "found", uid="another")
        assert told == ["found", "made", "found"]

    def test_a_deleted_object_is_forgotten_everywhere(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.observed.expect(_TARGET, "planned")
        desk.sync("DELETED")

        assert desk.objects.get(SYNC) is None
        assert len(desk.queue) == 0
        assert desk.forgotten == [SYNC]
        assert desk.objects.writers_of(_TARGET) == ()
        assert not desk.observed.is_expected(ObservedTarget(_TARGET, "u", "1", None, "planned"))

    def test_the_end_of_an_object_that_was_never_seen_is_no_error(self, desk: Desk) -> None:
        desk.sync("DELETED")

        assert desk.forgotten == []
        assert desk.news() == []

    def test_however_late_events_come_whoever_has_the_name_now_is_held_and_was_queued(
        self, desk: Desk
    ) -> None:
        former = [("ADDED", "1"), ("MODIFIED", "2"), ("DELETED", "3")]
        events = [(kind, "former", version) for kind, version in former]
        events += [("ADDED", "new", "4"), ("MODIFIED", "new", "5")]
        # Events of one object come in their order, those of two in any.
        for places in itertools.combinations(range(len(events)), len(former)):
            desk = Desk()
            one, other = iter(events[:3]), iter(events[3:])
            for place in range(len(events)):
                kind, uid, version = next(one if place in places else other)
                desk.sync(kind, uid=uid, resourceVersion=version)
            held = desk.objects.get(SYNC)
            assert held is not None, places
            assert (held.uid, held.resource_version) == ("new", "5"), places
            assert desk.queue.is_waiting(Lane.FIRST), places

    def test_an_object_that_is_made_again_is_new_and_its_predecessor_forgotten(self, desk: Desk) -> None:
        told: list[str] = []
        desk.intake.on_new = lambda key: told.append(key.name)
        desk.sync("ADDED", status={"source": "dev:/"})
        desk.sync("ADDED", uid="another")
        desk.sync("DELETED")

        assert desk.forgotten == [SYNC]
        assert told == ["web", "web"]
        assert desk.objects.find("another") == SYNC

    def test_an_event_that_is_told_twice_or_late_changes_nothing(self, desk: Desk) -> None:
        desk.sync("ADDED", resourceVersion="1")
        desk.sync("MODIFIED", resourceVersion="3", generation=3)
        desk.news()
        for version, generation in (("3", 3), ("2", 2)):
            desk.sync("MODIFIED", resourceVersion=version, generation=generation)

        assert desk.news() == []
        held = desk.objects.get(SYNC)
        assert held is not None
        assert held.generation == 3

    def test_an_expectation_that_another_object_shares_stays(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.sync("ADDED", "other", spec={"target": {"name": "web"}})
        desk.observed.expect(_TARGET, "planned")
        desk.sync("DELETED", "other")

        assert desk.observed.is_expected(ObservedTarget(_TARGET, "u", "1", None, "planned"))

    def test_who_waits_for_a_target_is_called_when_another_leaves_it(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.sync("ADDED", "other", spec={"target": {"name": "web"}})
        desk.news()
        desk.sync("MODIFIED", spec={"target": {"name": "db"}}, generation=2)
        assert set(desk.news()) == {("web", Lane.FIRST), ("other", Lane.URGENT)}
        desk.sync("ADDED", "third", spec={"target": {"name": "web"}})
        desk.news()
        desk.sync("DELETED", "other", spec={"target": {"name": "web"}})
        assert desk.news() == [("third", Lane.URGENT)]

    def test_a_target_that_is_named_no_more_is_expected_no_more(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.observed.expect(_TARGET, "planned")
        desk.sync("MODIFIED", spec={"target": {"name": "db"}}, generation=2)

        assert not desk.observed.is_expected(ObservedTarget(_TARGET, "u", "1", None, "planned"))


class TestTargets:
    def test_the_first_listing_of_targets_calls_nobody(self, desk: Desk) -> None:
        desk.sync(None)
        desk.news()
        desk.target("listed", target_body({"A": "cnry-a"}))

        assert desk.news() == []
        assert desk.observed.get(_TARGET) is not None
        assert desk.observed.take_body(_TARGET) is None

    def test_the_echo_of_our_own_write_calls_nobody(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.news()
        desk.observed.expect(_TARGET, desired(_SPEC, {"A": "cnry-a"}).fingerprint)
        desk.target("changed", target_body({"A": "cnry-a"}))
        desk.target("changed", target_body({"A": "cnry-a"}, version="8"))

        assert desk.news() == []

    def test_drift_calls_all_writers_urgently_and_keeps_the_body_for_the_repair(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.sync("ADDED", "other", spec={"target": {"name": "web"}})
        desk.news()
        desk.observed.expect(_TARGET, desired(_SPEC, {"A": "cnry-a"}).fingerprint)
        drifted = target_body({"A": "cnry-edited"}, version="9")
        desk.target("changed", drifted)

        assert sorted(desk.news()) == [("other", Lane.URGENT), ("web", Lane.URGENT)]
        body = desk.observed.take_body(_TARGET)
        assert body is not None
        assert body["data"] == {"A": b64("cnry-edited")}

    def test_a_drifted_target_that_nobody_writes_takes_no_room(self, desk: Desk) -> None:
        desk.target("changed", target_body({"A": "cnry-edited"}))

        assert desk.observed.take_body(_TARGET) is None

    def test_a_deleted_target_calls_its_writers_even_if_it_looked_as_planned(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.news()
        body = target_body({"A": "cnry-a"})
        desk.observed.expect(_TARGET, desired(_SPEC, {"A": "cnry-a"}).fingerprint)
        desk.target("changed", body)
        desk.target("gone", body)

        assert desk.news() == [("web", Lane.URGENT)]
        assert desk.observed.get(_TARGET) is None
        assert desk.observed.take_body(_TARGET) is None
        assert desk.observed.take_end(_TARGET)
        assert not desk.observed.take_end(_TARGET), "an end is good for one use"
        desk.target("gone", body)
        desk.target("changed", body)
        assert not desk.observed.take_end(_TARGET)

    def test_the_end_of_a_target_is_remembered_only_while_somebody_writes_it(self, desk: Desk) -> None:
        desk.target("gone", target_body({"A": "cnry-a"}))
        assert not desk.observed.take_end(_TARGET)
        desk.sync("ADDED")
        desk.target("gone", target_body({"A": "cnry-a"}))
        desk.sync("DELETED")
        assert not desk.observed.take_end(_TARGET)

    def test_the_late_end_of_a_predecessor_says_nothing_of_the_one_that_is_there(self, desk: Desk) -> None:
        desk.sync("ADDED")
        body = target_body({"A": "cnry-a"})
        desk.observed.expect(_TARGET, desired(_SPEC, {"A": "cnry-a"}).fingerprint)
        desk.target("changed", body)
        desk.news()
        desk.target("gone", stored(desired(_SPEC, {"A": "cnry-a"}).body, uid="predecessor", version="5"))

        assert desk.news() == []
        assert desk.observed.get(_TARGET) is not None
        assert not desk.observed.take_end(_TARGET)

    def test_a_target_that_a_later_listing_lacks_calls_its_writers(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.target("listed", target_body({"A": "cnry-a"}))
        desk.news()
        (missing,) = desk.watch.existing(None)
        desk.watch.gone(missing, None)

        assert desk.news() == [("web", Lane.URGENT)]
        assert desk.observed.get(_TARGET) is None
        assert desk.watch.existing(None) == set()

    def test_drift_that_a_later_listing_finds_calls_its_writers(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.target("listed", target_body({"A": "cnry-a"}))
        desk.news()
        desk.target("listed", target_body({"A": "cnry-edited"}, version="9"))

        assert desk.news() == [("web", Lane.URGENT)]
        assert desk.observed.take_body(_TARGET) is not None

    def test_a_namespace_is_asked_for_its_own_targets_of_one_kind(self, desk: Desk) -> None:
        desk.target("listed", target_body({"A": "cnry-a"}))
        config_maps = TargetReceiver("ConfigMap", desk.intake, desk.observed)

        assert desk.watch.existing("team-a") == {ObjectKey("team-a", "web")}
        assert desk.watch.existing("team-b") == set()
        assert config_maps.existing(None) == set()

    def test_what_one_of_several_writers_does_is_news_to_the_others(self, desk: Desk) -> None:
        desk.sync("ADDED")
        desk.sync("ADDED", "other", spec={"target": {"name": "web"}})
        desk.news()
        desk.observed.expect(_TARGET, desired(_SPEC, {"A": "cnry-a"}).fingerprint)
        desk.target("changed", target_body({"A": "cnry-a"}))

        assert sorted(desk.news()) == [("other", Lane.URGENT), ("web", Lane.URGENT)]

    def test_a_version_that_is_known_already_is_no_news(self, desk: Desk) -> None:
        desk.sync("ADDED")
        body = target_body({"A": "cnry-edited"})
        desk.target("changed", body)
        desk.news()
        desk.target("changed", body)

        assert desk.news() == []


class TestManaged:
    """Those who refer to what we write are told by the intake, for the watch of references leaves it out."""

    def test_each_event_of_a_target_is_passed_on_with_its_version_and_writers(self, desk: Desk) -> None:
        told: list[tuple[str, str | None, tuple[WorkKey, ...]]] = []
        desk.intake.on_managed = lambda key, version, writers: told.append((key.name, version, writers))
        desk.sync("ADDED")
        desk.target("listed", target_body({"A": "cnry-a"}))
        desk.target("changed", target_body({"A": "cnry-b"}, version="8"))
        desk.target("gone", target_body({"A": "cnry-b"}, version="9"))

        assert told == [("web", "7", (SYNC,)), ("web", "8", (SYNC,)), ("web", None, (SYNC,))]
