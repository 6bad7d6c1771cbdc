"""keybearer.controllers.secretsync.destination_plan."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.controllers.objects import ObservedObject, no_targets
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import mark_of, marked
from keybearer.controllers.secretsync.destination_plan import (
    DefinitionAction,
    DesiredSync,
    PresentSync,
    build_definition,
    definition_action,
    require_whole_folder,
    sync_name,
)
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import Source
from keybearer.controllers.secretsync.status import PushStatus
from keybearer.destinations.catalogue import CATALOGUE
from unit.controllers.fakes.targets import FINGERPRINTER

_MARK = mark_of("cluster-1", "uid-1")
_SEEN = ObservedObject.from_body(
    "SecretSync",
    {"metadata": {"namespace": "team-a", "name": "web.app", "uid": "uid-1"}},
    trigger_at=0.0,
    targets_of=no_targets,
)
_SPEC = {
    "identityRef": {"name": "login"},
    "source": {"projectId": "shop", "environment": "dev"},
    "destination": "aws-parameter-store",
    "connectionRef": {"name": "store"},
    "destinationConfig": {"region": "eu-central-1", "path": "/app/"},
}


def definition(**changes: object) -> DesiredSync:
    spec = SecretSyncSpec.model_validate({**_SPEC, **changes})
    assert spec.source is not None
    return build_definition(
        _SEEN,
        spec,
        spec.source,
        project_id="shop",
        connection_id="c1",
        mark=_MARK,
        catalogue=CATALOGUE,
        fingerprinter=FINGERPRINTER,
    )


def test_a_definition_has_interface_words_a_name_a_mark_and_is_pushed_by_us_while_the_guard_watches() -> None:
    desired = definition()
    assert (desired.destination, desired.name) == ("cloud-parameter-store", f"team-a-web-app-{_MARK[:8]}")
    assert desired.description == marked("SecretSync team-a/web.app", _MARK)
    assert not desired.is_automatic
    assert definition(guard={"maxDeletions": 100}).is_automatic
    assert not definition(guard={"maxDeletions": 100}, isAutoSyncEnabled=False).is_automatic


def named(
    namespace: str, name: str, *, uid: str = "uid-1", cluster: str = "cluster-1", **changes: object
) -> str:
    seen = ObservedObject.from_body(
        "SecretSync",
        {"metadata": {"namespace": namespace, "name": name, "uid": uid}},
        trigger_at=0.0,
        targets_of=no_targets,
    )
    return sync_name(seen, SecretSyncSpec.model_validate({**_SPEC, **changes}), mark_of(cluster, uid))


def test_no_two_objects_have_the_same_name_unless_people_give_it() -> None:
    names = [
        named("a-b", "c"),
        named("a", "b-c", uid="uid-2"),
        named("a", "b.c", uid="uid-3"),
        named("a-b", "c", cluster="cluster-2"),
        named("a-b", "c", uid="uid-4"),  # deleted, and made anew
    ]
    assert len(set(names)) == 5
    assert {name.rpartition("-")[0] for name in names} == {"a-b-c"}
    assert {named("a-b", "c", syncName="mine"), named("a", "b-c", uid="u", syncName="mine")} == {"mine"}


@given(
    st.from_regex(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", fullmatch=True),
    st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", fullmatch=True),
)
def test_every_name_is_one_that_the_service_takes(namespace: str, name: str) -> None:
    given_name = named(namespace, name)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", given_name)
    assert len(given_name) <= 256


@pytest.mark.parametrize("mode", ["Plan", "CreateOnce", "Suspended"])
def test_the_service_pushes_nothing_by_itself_that_the_mode_holds_back(mode: str) -> None:
    assert not definition(mode=mode, guard={"maxDeletions": 100}).is_automatic


@pytest.mark.parametrize(
    "change",
    [
        {"destinationConfig": {"region": "eu-central-1", "path": "/other/"}},
        {"syncOptions": {"initialSyncBehavior": "import-prioritize-source"}},
        {"source": {"projectId": "shop", "environment": "prod"}},
        {"source": {"projectId": "shop", "environment": "dev", "secretPath": "/a"}},
        {"syncName": "other"},
        {"guard": {"maxDeletions": 100}},
    ],
)
def test_every_part_of_a_definition_counts(change: dict[str, object]) -> None:
    assert definition(**change).fingerprint != definition().fingerprint
    assert definition().fingerprint == definition().fingerprint


@pytest.mark.parametrize(
    ("change", "reason", "saying"),
    [
        ({"destination": "no-such-place"}, "UnknownDestination", "no-such-place"),
        ({"destination": "zabbix"}, "UnknownDestination", "spec.destination zabbix is none of"),
        (
            {"destinationConfig": {"region": "nowhere", "path": "/"}},
            "InvalidDestinationConfig",
            "spec.destinationConfig.region",
        ),
        (
            {"syncOptions": {"initialSyncBehavior": "overwrite-destination", "keySchema": "x"}},
            "InvalidDestinationConfig",
            "spec.syncOptions.keySchema",
        ),
    ],
)
def test_what_a_destination_doesn_t_take_is_told_by_field(
    change: dict[str, object], reason: str, saying: str
) -> None:
    with pytest.raises(StalledError, match=saying) as refused:
        definition(**change)
    assert refused.value.reason == reason


_DESIRED = definition()
_PRESENT = PresentSync("s1", "team-a-web-app", "cloud-parameter-store", "shop", _DESIRED.description, 3)
_PUSH = PushStatus(definition=_DESIRED.fingerprint, version=3)


@pytest.mark.parametrize(
    ("present", "known_id", "push", "action"),
    [
        (None, "s1", _PUSH, DefinitionAction.CREATE),
        (_PRESENT, "s1", _PUSH, DefinitionAction.NONE),
        (replace(_PRESENT, version=4), "s1", _PUSH, DefinitionAction.UPDATE),
        (_PRESENT, "s1", PushStatus(), DefinitionAction.UPDATE),
        (_PRESENT, None, PushStatus(), DefinitionAction.UPDATE),
        (replace(_PRESENT, description="by hand"), "s1", PushStatus(), DefinitionAction.UPDATE),
    ],
)
def test_a_definition_is_given_where_it_isn_t_as_it_was_given(
    present: PresentSync | None, known_id: str | None, push: PushStatus, action: DefinitionAction
) -> None:
    assert definition_action(_DESIRED, present, known_id, push) is action


@pytest.mark.parametrize(
    ("change", "known_id", "reason"),
    [
        ({"description": marked("x", mark_of("cluster-2", "uid-1"))}, "s1", "SyncConflict"),
        ({"description": "by hand"}, None, "SyncConflict"),
        ({"destination": "codehost"}, "s1", "ImmutableDestination"),
        ({"project_id": "other"}, "s1", "ImmutableDestination"),
    ],
)
def test_another_s_sync_is_left_alone(change: dict[str, str], known_id: str | None, reason: str) -> None:
    with pytest.raises(StalledError) as refused:
        definition_action(_DESIRED, replace(_PRESENT, **change), known_id, _PUSH)  # type: ignore[arg-type]
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"recursive": True}, "recursive"),
        ({"includeImports": False}, "includeImports"),
        ({"expandSecretReferences": False}, "expandSecretReferences"),
        ({"tagSlugs": ["web"]}, "tagSlugs"),
        ({"keys": {"include": ["DB_*"]}}, "keys"),
    ],
)
def test_a_source_that_selects_can_t_be_pushed(given: dict[str, object], named: str) -> None:
    source = Source.model_validate({"projectId": "shop", "environment": "dev"})
    require_whole_folder(source)
    with pytest.raises(StalledError, match=named):
        require_whole_folder(Source.model_validate({"projectId": "shop", "environment": "dev", **given}))
