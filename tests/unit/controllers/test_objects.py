from __future__ import annotations

from typing import Any

import orjson
import pytest

from keybearer.controllers import objects as module
from keybearer.controllers.objects import ObjectStore, ObservedObject, TargetKey, no_targets
from keybearer.controllers.secretsync.targets import targets_of
from keybearer.controllers.work import WorkKey
from unit.controllers.fakes.targets import Field

_WEB = TargetKey("Secret", "team-a", "web")


def manifest(name: str = "web", *, target: Field = None, **metadata: Field) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": "team-a",
            "name": name,
            "uid": f"uid-of-{name}",
            "resourceVersion": "5",
            "generation": 2,
            **metadata,
        },
        "spec": {"source": {"projectId": "shop"}, **({} if target is None else {"target": target})},
    }


def seen(name: str = "web", *, at: float = 1.0, target: Field = None, **metadata: Field) -> ObservedObject:
    return ObservedObject.from_body(
        "SecretSync", manifest(name, target=target, **metadata), trigger_at=at, targets_of=targets_of
    )


class TestObservedObject:
    def test_a_body_is_kept_as_what_a_reconcile_needs(self) -> None:
        body = manifest(
            finalizers=["keybearer.dev/cleanup"],
            deletionTimestamp="2026-03-01T12:00:00Z",
            annotations={"keybearer.dev/request": "sync", "keybearer.dev/requestedAt": "now", "other": "x"},
            managedFields=[{"manager": "kubectl"}],
        ) | {"status": {"observedGeneration": 1}}
        one = ObservedObject.from_body("SecretSync", body, trigger_at=3.5, targets_of=no_targets)

        assert one.key == WorkKey("SecretSync", "team-a", "web")
        assert (one.uid, one.resource_version, one.generation) == ("uid-of-web", "5", 2)
        assert orjson.loads(one.spec_json) == body["spec"]
        assert orjson.loads(one.status_json) == {"observedGeneration": 1}
        assert one.finalizers == ("keybearer.dev/cleanup",)
        assert one.deletion_timestamp == "2026-03-01T12:00:00Z"
        assert (one.request, one.requested_at, one.trigger_at) == ("sync", "now", 3.5)

    @pytest.mark.parametrize(
        ("status", "new"),
        [
            ({}, True),
            ({"status": None}, True),
            ({"status": {}}, True),
            ({"status": {"observedGeneration": -1}}, True),
            ({"status": {"source": "dev:/"}}, False),
        ],
    )
    def test_an_object_without_a_status_is_new_to_us(self, status: dict[str, Any], *, new: bool) -> None:
        one = ObservedObject.from_body("SecretSync", manifest() | status, trigger_at=0, targets_of=no_targets)

        assert one.never_reported is new

    @pytest.mark.parametrize(
        ("change", "same"),
        [
            pytest.param({"resourceVersion": "6", "managedFields": []}, True, id="foreign metadata"),
            pytest.param({"finalizers": ["keybearer.dev/cleanup"]}, True, id="a finalizer"),
            pytest.param({"generation": 3}, False, id="a spec edit"),
            pytest.param({"uid": "another"}, False, id="another object of the name"),
            pytest.param({"deletionTimestamp": "2026-03-01T12:00:00Z"}, False, id="a deletion"),
            pytest.param({"annotations": {"keybearer.dev/requestedAt": "now"}}, False, id="a request"),
            pytest.param({"annotations": {"keybearer.dev/request": "release-guard"}}, False, id="its kind"),
            pytest.param({"annotations": {"theirs": "x"}}, True, id="a foreign annotation"),
        ],
    )
    def test_what_counts_as_asking_for_something_new(self, change: dict[str, Any], *, same: bool) -> None:
        assert seen().asks_the_same(seen(**change)) is same

    @pytest.mark.parametrize("body", [{}, {"metadata": None}, {"metadata": []}], ids=str)
    def test_a_body_without_metadata_is_refused(self, body: dict[str, Any]) -> None:
        with pytest.raises((KeyError, TypeError)):
            ObservedObject.from_body("SecretSync", body, trigger_at=0, targets_of=no_targets)


class TestObjectStore:
    def test_writers_are_found_by_the_target_that_they_name_now(self) -> None:
        store = ObjectStore()
        store.put(seen("web"))
        store.put(seen("other", target={"name": "web"}))
        assert set(store.writers_of(_WEB)) == {seen("web").key, seen("other").key}

        store.put(seen("other", target={"name": "else"}))
        assert store.writers_of(_WEB) == (seen("web").key,)
        assert store.writers_of(TargetKey("Secret", "team-a", "else")) == (seen("other").key,)

        for _ in range(2):
            store.end(seen("web").key, "uid-of-web")
        assert store.writers_of(_WEB) == ()
        assert len(store) == 1

    def test_who_logs_in_by_a_secret_is_found_by_what_the_spec_names_now(self) -> None:
        store = ObjectStore()

        def put(name: str, identity: str, version: str = "5") -> None:
            body = manifest(name, resourceVersion=version)
            body["spec"]["identityRef"] = {"name": identity}
            store.put(ObservedObject.from_body("AppConnection", body, trigger_at=1, targets_of=no_targets))

        one, other = (WorkKey("AppConnection", "team-a", name) for name in ("one", "other"))
        login, admin = (TargetKey("Secret", "team-a", name) for name in ("login", "admin"))
        put("one", "login")
        put("other", "login")
        put("other", "login", "6")
        assert list(store.logging_in_by(login)) == [one, other]

        put("one", "admin", "7")
        assert (list(store.logging_in_by(login)), list(store.logging_in_by(admin))) == ([other], [one])
        store.end(one, "uid-of-one")
        store.end(other, "uid-of-other")
        assert not store.logging_in_by(login)
        assert not store.logging_in_by(admin)
        assert not store.logging_in_by(TargetKey("ConfigMap", "team-a", "login"))

    def test_writers_are_listed_once_however_often_they_are_seen(self) -> None:
        store = ObjectStore()
        for version in "567":
            store.put(seen("web", resourceVersion=version))

        assert store.writers_of(_WEB) == (seen("web").key,)
        assert [one.resource_version for one in store] == ["7"]

    def test_a_status_that_we_wrote_is_taken_over_for_that_very_object_only(self) -> None:
        store = ObjectStore()
        store.put(seen("web", at=4.0))
        store.put_status(seen("web").key, "another-uid", b'{"x":1}', "9")
        store.put_status(WorkKey("SecretSync", "team-a", "unknown"), "u", b'{"x":1}', "9")
        assert store.get(seen("web").key) == seen("web", at=4.0)

        store.put_status(seen("web").key, "uid-of-web", b'{"x":1}', "9")
        now = store.get(seen("web").key)
        assert now is not None
        assert (now.status_json, now.trigger_at) == (b'{"x":1}', 4.0)

    def test_an_event_from_before_our_status_write_brings_no_old_status_back(self) -> None:
        store = ObjectStore()
        store.put(seen("web", resourceVersion="5"))
        store.put_status(seen("web").key, "uid-of-web", b'{"x":1}', "9")

        store.put(seen("web", resourceVersion="7", generation=2))
        late = store.get(seen("web").key)
        store.put(seen("web", resourceVersion="10", generation=2))
        newest = store.get(seen("web").key)

        assert late is not None
        assert (late.generation, late.status_json, late.resource_version) == (2, b'{"x":1}', "9")
        assert newest == seen("web", resourceVersion="10", generation=2)

    def test_an_object_is_found_by_its_uid_while_it_is_there(self) -> None:
        store = ObjectStore()
        store.put(seen("web"))
        assert store.find("uid-of-web") == seen("web").key

        store.put(seen("web", uid="reborn", resourceVersion="9"))
        assert store.find("uid-of-web") is None
        assert store.find("reborn") == seen("web").key

        store.end(seen("web").key, "reborn")
        assert store.find("reborn") is None

    def test_an_event_is_news_only_if_it_is_newer_than_what_is_held_for_the_name(self) -> None:
        store = ObjectStore()
        assert store.is_news(seen("web", resourceVersion="5"))
        store.put(seen("web", resourceVersion="5"))
        store.put_status(seen("web").key, "uid-of-web", b'{"x":1}', "9")

        for uid in ("uid-of-web", "predecessor"):
            assert not store.is_news(seen("web", uid=uid, resourceVersion="5"))
        assert store.is_news(seen("web", resourceVersion="7")), (
            "our own writes don't count: it may ask for more"
        )
        assert not store.is_news(seen("web", uid="predecessor", resourceVersion="7"))
        assert store.is_news(seen("web", uid="successor", resourceVersion="10"))

    def test_an_object_that_takes_a_name_ends_the_one_that_had_it(self) -> None:
        store, ended = ObjectStore(), list[str]()
        store.on_end = lambda gone: ended.append(gone.uid)
        store.put(seen("web"))
        store.put(seen("web", uid="successor", resourceVersion="9"))
        store.end(seen("web").key, "uid-of-web")

        assert ended == ["uid-of-web"]
        assert not store.is_news(seen("web", resourceVersion="20")), (
            "whoever ended comes back under another UID"
        )
        assert store.find("successor") == seen("web").key

    def test_ends_are_remembered_for_a_bounded_number_of_objects(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_ENDED_MAX", 2)
        store = ObjectStore()
        for uid in ("a", "b", "a", "c"):
            store.end(seen("web").key, uid)

        assert [store.is_news(seen("web", uid=uid)) for uid in "abc"] == [False, True, False]
