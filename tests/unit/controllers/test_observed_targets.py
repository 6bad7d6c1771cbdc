from __future__ import annotations

import pytest

from keybearer.controllers import observed_targets as module
from keybearer.controllers.objects import TargetKey
from keybearer.controllers.observed_targets import ObservedStore, ObservedTarget

_WEB = TargetKey("Secret", "team-a", "web")


def target(fingerprint: str = "f", version: str = "1", uid: str = "u") -> ObservedTarget:
    return ObservedTarget(_WEB, uid, version, "owner", fingerprint)


class TestObservedStore:
    def test_a_target_that_looks_as_planned_is_expected(self) -> None:
        store = ObservedStore()
        assert not store.is_expected(target("planned"))

        store.expect(_WEB, "planned")
        assert store.is_expected(target("planned"))
        assert not store.is_expected(target("drifted"))

        store.expect(_WEB, None)
        assert not store.is_expected(target("planned"))

    def test_the_very_version_that_is_known_is_expected_whatever_it_looks_like(self) -> None:
        store = ObservedStore()
        store.put(target("whatever", version="5"))

        assert store.is_expected(target("computed", version="5"))
        assert not store.is_expected(target("computed", version="6"))
        assert not store.is_expected(target("computed", version="5", uid="reborn"))

    def test_a_body_is_given_once_and_goes_with_its_target(self) -> None:
        store = ObservedStore()
        store.put(target())
        store.keep_body(_WEB, {"data": {"A": "Y25yeS1h"}})

        assert store.take_body(_WEB) == {"data": {"A": "Y25yeS1h"}}
        assert store.take_body(_WEB) is None
        store.keep_body(_WEB, {"data": {}})
        assert store.drop(_WEB) == target()
        assert store.take_body(_WEB) is None
        assert len(store) == 0

    def test_bodies_are_bounded_by_their_bytes_the_oldest_go_first(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_BODIES_MAX_BYTES", 1000)
        store = ObservedStore()
        keys = [TargetKey("Secret", "team-a", str(number)) for number in range(4)]
        for key in (*keys[:3], keys[0], keys[3]):
            store.keep_body(key, {"data": {"A": "Y25yeS" + "x" * 300}})

        assert [store.take_body(key) is not None for key in keys] == [True, False, True, True]
        store.keep_body(keys[0], {"data": {"A": "Y25yeS" + "x" * 2000}})
        assert store.take_body(keys[0]) is None, "too large to be kept at all"
        store.keep_body(keys[1], {"small": True})
        assert store.take_body(keys[1]) == {"small": True}
