"""keybearer.controllers.reading: what can be read of a spec that can't be read as a whole."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.reading import read_spec, read_spec_in_part
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import DestinationDeletionPolicy
from keybearer.controllers.target.spec import DeletionPolicy

_SPEC: dict[str, Any] = {
    "identityRef": {"name": "reader"},
    "source": {"projectId": "shop", "environment": "dev"},
    "target": {"name": "web", "onDelete": "Retain"},
    "destination": "gitlab",
    "destinationDeletionPolicy": "RemoveSecrets",
    "deletionDeadline": "1m",
    "mode": "Plan",
    "guard": {"maxDeletions": 10, "window": "1h"},
}


def seen(spec: object) -> ObservedObject:
    body: Any = {
        "metadata": {"namespace": "team-a", "name": "web", "uid": "u", "resourceVersion": "1"},
        "spec": spec,
    }
    return ObservedObject.from_body("SecretSync", body, trigger_at=0, targets_of=no_targets)


def told(spec: SecretSyncSpec) -> dict[str, Any]:
    return {name: getattr(spec, name) for name in SecretSyncSpec.model_fields}


def test_a_spec_that_can_be_read_is_read_as_ever() -> None:
    whole = {name: _SPEC[name] for name in ("source", "target", "mode", "deletionDeadline")}
    assert told(read_spec_in_part(seen(whole), SecretSyncSpec)) == told(
        read_spec(seen(whole), SecretSyncSpec)
    )


def in_part(spec: object) -> dict[str, object]:
    """What cleaning up looks at."""
    read = read_spec_in_part(seen(spec), SecretSyncSpec)
    return {
        "identityRef": None if read.identity_ref is None else read.identity_ref.name,
        "source": None if read.source is None else read.source.project_id,
        "target": read.target.on_delete,
        "destination": read.destination,
        "destinationDeletionPolicy": read.destination_deletion_policy,
        "deletionDeadline": read.deletion_deadline,
    }


_READ: dict[str, object] = {
    "identityRef": "reader",
    "source": "shop",
    "target": DeletionPolicy.RETAIN,
    "destination": "gitlab",
    "destinationDeletionPolicy": DestinationDeletionPolicy.REMOVE_SECRETS,
    "deletionDeadline": timedelta(minutes=1),
}
_DEFAULTS: dict[str, object] = {
    "identityRef": None,
    "source": None,
    "target": DeletionPolicy.DELETE,
    "destination": None,
    "destinationDeletionPolicy": DestinationDeletionPolicy.RETAIN,
    "deletionDeadline": timedelta(minutes=10),
}


@pytest.mark.parametrize("broken", [*_SPEC, "refreshInterval"])
def test_one_field_that_can_not_be_read_takes_nothing_but_itself(broken: str) -> None:
    spec = {**_SPEC, broken: [{"of": "another version"}]}
    with pytest.raises(StalledError):
        read_spec(seen(spec), SecretSyncSpec)

    assert in_part(spec) == {**_READ, **({broken: _DEFAULTS[broken]} if broken in _DEFAULTS else {})}


def test_one_field_of_a_part_takes_nothing_but_itself() -> None:
    target = {**_SPEC["target"], "labels": [], "kind": "Deployment"}
    assert in_part({**_SPEC, "target": target}) == _READ


@pytest.mark.parametrize("spec", [None, [], "text", {}])
def test_where_there_is_nothing_to_read_there_are_defaults(spec: object) -> None:
    read = read_spec_in_part(seen(spec), SecretSyncSpec)
    assert (read.identity_ref, read.destination, read.target.name) == (None, None, None)


def test_what_must_not_be_guessed_is_read_or_not_given() -> None:
    spec = {**_SPEC, "mode": [1]}
    for needed in ({"identity_ref", "destination"}, {"deletion_deadline", "sync_name"}):
        assert read_spec_in_part(seen(spec), SecretSyncSpec, needed).destination == "gitlab"

    with pytest.raises(StalledError) as refused:
        read_spec_in_part(seen(spec), SecretSyncSpec, {"identity_ref", "mode"})
    assert refused.value.reason == "SpecInvalid"
    with pytest.raises(StalledError):
        read_spec_in_part(seen({"app": 7}), AppConnectionSpec, {"identity_ref"})
