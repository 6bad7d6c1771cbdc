from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from tools.bench.api_counters import AuditLog, audit_policy, count_entries


def _entry(verb: str, resource: str, *, subresource: str = "", group: str = "", code: int = 200) -> bytes:
    target = {"resource": resource, "namespace": "n", "name": "x"}
    if subresource:
        target["subresource"] = subresource
    if group:
        target["apiGroup"] = group
    return orjson.dumps({"verb": verb, "objectRef": target, "responseStatus": {"code": code}})


def test_writes_are_counted_by_resource_and_subresource() -> None:
    counts = count_entries(
        [
            _entry("patch", "secrets", code=201),
            _entry("patch", "secretsyncs", subresource="status", group="keybearer.dev"),
            _entry("patch", "secretsyncs", subresource="status", group="keybearer.dev"),
            _entry("create", "events", code=201),
        ]
    )

    assert counts.writes == {"secrets": 1, "secretsyncs/status": 2, "events": 1}
    assert counts.writes_total == 4


@pytest.mark.parametrize("verb", ["get", "list", "watch"])
def test_reads_are_no_writes(verb: str) -> None:
    counts = count_entries([_entry(verb, "secrets")])

    assert counts.writes_total == 0
    assert counts.reads == {f"{verb} secrets": 1}


@pytest.mark.parametrize("verb", ["create", "update", "patch", "delete", "deletecollection"])
def test_every_verb_that_changes_something_is_a_write(verb: str) -> None:
    assert count_entries([_entry(verb, "secrets")]).writes_total == 1


@pytest.mark.parametrize("group", ["authorization.k8s.io", "authentication.k8s.io"])
def test_questions_that_are_put_as_objects_are_no_writes(group: str) -> None:
    assert count_entries([_entry("create", "subjectaccessreviews", group=group)]).writes_total == 0


def test_a_refused_write_counts_and_is_named() -> None:
    counts = count_entries([_entry("patch", "secrets", code=409)])

    assert counts.writes == {"secrets": 1}
    assert counts.refused == {"409 secrets": 1}


def test_a_request_to_no_resource_is_counted_as_such() -> None:
    assert count_entries([orjson.dumps({"verb": "get", "requestURI": "/api"})]).reads == {"get (none)": 1}


def test_a_window_holds_what_was_logged_after_its_start(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(_entry("patch", "secrets") + b"\n")
    log = AuditLog(path)

    start = log.position()
    with path.open("ab") as growing:
        growing.write(_entry("delete", "secrets") + b"\n")

    assert log.since(start).writes == {"secrets": 1}
    assert log.since(0).writes == {"secrets": 2}


def test_a_line_that_is_still_being_written_is_left_for_later(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.write_bytes(_entry("patch", "secrets") + b"\n" + _entry("patch", "secrets")[:20])

    assert AuditLog(path).since(0).writes_total == 1


def test_a_log_that_does_not_exist_yet_is_empty(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")

    assert log.position() == 0
    assert log.since(0).writes_total == 0


def test_the_policy_logs_one_user_only_and_no_bodies() -> None:
    rules = orjson.loads(audit_policy("system:serviceaccount:a:b"))["rules"]

    assert rules == [{"level": "Metadata", "users": ["system:serviceaccount:a:b"]}, {"level": "None"}]
