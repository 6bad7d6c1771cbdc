"""Moments have the same name in every run."""

from __future__ import annotations

import pytest

from tools.explore.moments import Naming, call_moment, event_moment, read_kube_ask

_NAMING = Naming(17, "lane-3")
_SECRETS = "/api/v1/namespaces/lane-3/secrets"
_SYNCS = "/apis/keybearer.dev/v1alpha1/namespaces/lane-3/secretsyncs"


@pytest.mark.parametrize(
    ("method", "target", "body", "moment"),
    [
        ("POST", _SECRETS, b'{"metadata":{"name":"web-x17"}}', "write POST secrets/web"),
        ("POST", f"{_SECRETS}?dryRun=All", b'{"metadata":{"name":"web-x17"}}', "write POST? secrets/web"),
        ("DELETE", f"{_SECRETS}/web-x17", b"{}", "write DELETE secrets/web"),
        ("PATCH", f"{_SYNCS}/web-x17/status?fieldManager=a", b"", "write PATCH secretsyncs/status/web"),
        (
            "DELETE",
            f"{_SECRETS}/web-x17.keybearer-backup-0123abcd",
            b"",
            "write DELETE secrets/web.keybearer-backup-{tag}",
        ),
    ],
)
def test_a_write_is_called_by_what_it_is(method: str, target: str, body: bytes, moment: str) -> None:
    ask = read_kube_ask(method, target, body)

    assert ask.is_write
    assert ask.namespace == "lane-3"
    assert _NAMING.is_ours(ask.name)
    assert ask.moment(_NAMING) == moment


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", f"{_SECRETS}/web-x17"),
        ("POST", "/apis/events.k8s.io/v1/namespaces/lane-3/events"),
        ("PATCH", "/apis/coordination.k8s.io/v1/namespaces/home/leases/keybearer-operator"),
    ],
)
def test_what_is_read_or_written_beside_the_work_is_no_write(method: str, target: str) -> None:
    assert not read_kube_ask(method, target, b"{}").is_write


@pytest.mark.parametrize("name", ["web-x1", "web-x170", "web", "x17"])
def test_names_of_other_runs_are_told_apart(name: str) -> None:
    assert not _NAMING.is_ours(name)


def test_an_event_is_called_by_its_watch_type_and_object() -> None:
    ask = read_kube_ask("GET", f"{_SECRETS}?watch=1&labelSelector=a", b"")
    line = b'{"type":"ADDED","object":{"metadata":{"name":"web-x17"}}}'

    assert ask.is_watch
    assert event_moment(ask, line, _NAMING) == "event ADDED secrets(labels)/web"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b'{"type":"BOOKMARK","object":{"metadata":{"name":"web-x17"}}}',
        b'{"type":"ADDED","object":{"metadata":{"name":"web-x18"}}}',
        b'{"type":"ERROR","object":{"code":410}}',
    ],
)
def test_what_is_of_no_object_of_the_run_is_no_event(line: bytes) -> None:
    ask = read_kube_ask("GET", f"{_SECRETS}?watch=1", b"")

    assert event_moment(ask, line, _NAMING) is None


def test_a_call_of_the_service_is_called_by_its_path() -> None:
    path = "/api/v1/secret-syncs/x/0b7e9a52-4a3c-4d5e-8f90-a1b2c3d4e5f6"

    assert call_moment("DELETE", path, _NAMING) == "call DELETE /api/v1/secret-syncs/x/{id}"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v4/secrets"),
        ("POST", "/api/v1/auth/universal-auth/login"),
        ("POST", "/api/v1/cert-manager/certificates/certificate-requests/search"),
        ("POST", "/api/v1/events/subscribe/project-events"),
    ],
)
def test_a_call_that_changes_nothing_is_no_moment(method: str, path: str) -> None:
    assert call_moment(method, path, _NAMING) is None
