"""Which files of a pod show which keys."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from keybearer.controllers.objects import TargetKey
from keybearer.controllers.target.mounts import Mount, mounts_of, shows

_WEB = TargetKey("Secret", "team", "web")


def _pod(
    *volumes: dict[str, JsonValue], mounts: list[JsonValue] | None = None, **more: JsonValue
) -> dict[str, JsonValue]:
    if mounts is None:
        mounts = [{"name": volume["name"], "mountPath": "/x"} for volume in volumes]
    container: dict[str, JsonValue] = {"name": "app", "volumeMounts": mounts}
    return {"spec": {"containers": [container], "volumes": [*volumes], **more}}


_SECRET: dict[str, JsonValue] = {"name": "v", "secret": {"secretName": "web"}}
_PROJECTED: dict[str, JsonValue] = {
    "name": "v",
    "projected": {
        "sources": [
            {"serviceAccountToken": {"path": "token"}},
            {"secret": {"name": "web", "items": [{"key": "A", "path": "a"}]}},
            {"configMap": {"name": "settings"}},
        ]
    },
}


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (_pod(_SECRET), {Mount("Secret", "web")}),
        (_pod({"name": "v", "configMap": {"name": "web"}}), {Mount("ConfigMap", "web")}),
        (
            _pod({"name": "v", "secret": {"secretName": "web", "items": [{"key": "A", "path": "a"}]}}),
            {Mount("Secret", "web", frozenset({"A"}))},
        ),
        (_pod(_PROJECTED), {Mount("Secret", "web", frozenset({"A"})), Mount("ConfigMap", "settings")}),
        (_pod(_SECRET, mounts=[{"name": "v", "subPath": "KEY", "mountPath": "/x"}]), set()),
        (_pod(_SECRET, mounts=[{"name": "v", "subPathExpr": "$(POD)", "mountPath": "/x"}]), set()),
        (
            _pod(
                _SECRET,
                mounts=[{"name": "v", "subPath": "KEY", "mountPath": "/x"}, {"name": "v", "mountPath": "/y"}],
            ),
            {Mount("Secret", "web")},
        ),
        (_pod(_SECRET, mounts=[]), set()),
        (_pod({"name": "v", "emptyDir": {}}), set()),
        (
            _pod(
                _SECRET,
                mounts=[],
                initContainers=[
                    {"name": "sidecar", "restartPolicy": "Always", "volumeMounts": [{"name": "v"}]}
                ],
            ),
            {Mount("Secret", "web")},
        ),
        (
            _pod(_SECRET, mounts=[], initContainers=[{"name": "first", "volumeMounts": [{"name": "v"}]}]),
            set(),
        ),
        (
            _pod(
                _SECRET, mounts=[], ephemeralContainers=[{"name": "debug", "volumeMounts": [{"name": "v"}]}]
            ),
            set(),
        ),
        ({"spec": {"containers": "nonsense", "volumes": [1, {"name": "v", "secret": []}]}}, set()),
        ({}, set()),
    ],
)
def test_only_what_a_kubelet_changes_in_files_counts(pod: dict[str, JsonValue], expected: set[Mount]) -> None:
    assert set(mounts_of(pod)) == expected


@pytest.mark.parametrize(
    ("mount", "changed"),
    [(Mount("Secret", "web"), {"A"}), (Mount("Secret", "web", frozenset({"A"})), {"A", "B"})],
)
def test_a_file_shows_changed_keys_of_its_own_object(mount: Mount, changed: set[str]) -> None:
    assert shows((mount,), _WEB, changed)


@pytest.mark.parametrize(
    ("mount", "changed"),
    [
        (Mount("Secret", "web"), set[str]()),
        (Mount("Secret", "web", frozenset({"A"})), {"B"}),
        (Mount("ConfigMap", "web"), {"A"}),
        (Mount("Secret", "other"), {"A"}),
    ],
)
def test_a_file_shows_nothing_of_other_keys_and_objects(mount: Mount, changed: set[str]) -> None:
    assert not shows((mount,), _WEB, changed)
