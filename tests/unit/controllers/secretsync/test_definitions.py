"""keybearer.controllers.secretsync.destination_plan."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from keybearer.controllers.catalogue import own_catalogue
from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.secretsync import destination_plan as module
from keybearer.controllers.secretsync.destination_plan import Definitions, DesiredSync, build_definition
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.work import WorkKey
from unit.controllers.fakes.targets import FINGERPRINTER, Field

_SPEC = {
    "identityRef": {"name": "login"},
    "source": {"projectId": "shop", "environment": "dev"},
    "destination": "aws-parameter-store",
    "connectionRef": {"name": "store"},
    "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
}


class Shelf:
    """Definitions, and how many were built."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.definitions = Definitions(own_catalogue, FINGERPRINTER)
        self._building = Mock(wraps=build_definition)
        monkeypatch.setattr(module, "build_definition", self._building)

    @property
    def built(self) -> int:
        return self._building.call_count

    def of(
        self, name: str = "web", project_id: str = "shop", connection_id: str = "c1", **changes: Field
    ) -> DesiredSync:
        body = {"metadata": {"namespace": "team-a", "name": name, "uid": "u"}, "spec": {**_SPEC, **changes}}
        seen = ObservedObject.from_body("SecretSync", body, trigger_at=0.0, targets_of=no_targets)
        spec = SecretSyncSpec.model_validate(body["spec"])
        assert spec.source is not None
        return self.definitions.of(
            seen, spec, spec.source, project_id=project_id, connection_id=connection_id, mark="0" * 24
        )


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    return Shelf(monkeypatch)


def test_the_same_manifest_is_judged_once(shelf: Shelf) -> None:
    first = shelf.of()
    assert [shelf.of() for _ in range(3)] == [first] * 3
    assert shelf.built == 1


def test_whatever_a_definition_depends_on_has_it_built_anew(shelf: Shelf) -> None:
    first = shelf.of()
    others = [
        shelf.of(project_id="other"),
        shelf.of(connection_id="c2"),
        shelf.of(guard={"maxDeletions": 100}),
        shelf.of(destinationConfig={"region": "eu-central-1", "path": "/other/"}),
        shelf.of(name="api"),
    ]
    assert first not in others
    assert shelf.built == 6
    assert shelf.of() == first


def test_what_is_refused_is_refused_again(shelf: Shelf) -> None:
    shelf.of()
    for _ in range(2):
        with pytest.raises(StalledError, match="is none of"):
            shelf.of(destination="no-such-place")


def test_an_object_that_is_gone_leaves_nothing_behind(shelf: Shelf) -> None:
    desired = shelf.of()
    shelf.definitions.forget(WorkKey("SecretSync", "team-a", "web"))
    assert len(shelf.definitions) == 0
    assert shelf.of() == desired
    assert shelf.built == 2
