from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from keybearer.controllers.custom_resource import MESSAGE_MAX, Condition, ConditionStatus, describe_invalid
from keybearer.controllers.mode import Mode
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import Decoding, Source
from keybearer.controllers.secretsync.status import KeyState, KeyStatus, SecretSyncStatus, Updates
from keybearer.controllers.target.spec import CreationPolicy, DeletionPolicy, TargetKind
from support.corpus import CorpusCase, corpus_cases
from support.rows import each_row

_CASES = list(corpus_cases("secretsync"))
_SOURCE = {"projectId": "shop", "environment": "dev"}


def _refusal(spec: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refusal:
        SecretSyncSpec.model_validate(spec)
    return describe_invalid(refusal.value)


@each_row("case", [case for case in _CASES if case.accepted], ids=lambda case: case.name)
def test_the_model_takes_what_the_corpus_accepts(case: CorpusCase) -> None:
    SecretSyncSpec.model_validate(case.spec)


@each_row("case", [case for case in _CASES if not case.accepted], ids=lambda case: case.name)
def test_the_model_refuses_what_the_corpus_refuses_and_says_where_and_why(case: CorpusCase) -> None:
    said = _refusal(case.spec)

    assert case.field in said
    assert case.because in said


def test_the_least_spec_reads_with_all_defaults() -> None:
    spec = SecretSyncSpec.model_validate({"source": _SOURCE})

    assert spec.refresh_interval == timedelta(minutes=5)
    assert spec.mode is Mode.APPLY
    assert spec.deletion_deadline == timedelta(minutes=10)
    assert spec.guard.max_deletions == 50
    (source,) = spec.all_sources
    assert source.secret_path == "/"
    assert (source.recursive, source.include_imports, source.expand_secret_references) == (False, True, True)
    assert source.keys.include == ("*",)
    assert spec.target.kind is TargetKind.SECRET
    assert spec.target.type == "Opaque"
    assert spec.target.creation_policy is CreationPolicy.OWNER
    assert spec.target.on_delete is DeletionPolicy.DELETE
    assert spec.target_name("web") == "web"


@pytest.mark.parametrize(
    ("written", "read"),
    [(0, timedelta()), ("0", timedelta()), ("10s", timedelta(seconds=10)), ("12h", timedelta(hours=12))],
)
def test_an_interval_is_read_as_a_duration(written: object, read: timedelta) -> None:
    spec = SecretSyncSpec.model_validate({"source": _SOURCE, "refreshInterval": written})

    assert spec.refresh_interval == read


@pytest.mark.parametrize("written", ["", "/", "apps/web", "/apps/web/", "apps/web/"])
def test_a_path_begins_with_one_slash_and_ends_with_none(written: str) -> None:
    source = Source.model_validate({**_SOURCE, "secretPath": written})

    assert source.secret_path == ("/apps/web" if "apps" in written else "/")


def test_unknown_fields_are_ignored_so_that_a_newer_manifest_still_works() -> None:
    spec = SecretSyncSpec.model_validate({"source": {**_SOURCE, "fromTheFuture": 1}, "fromTheFuture": "x"})

    assert spec.all_sources[0].project_id == "shop"


def test_words_that_python_reserves_are_read_by_their_own_names() -> None:
    keys = {"rename": [{"from": "A", "to": "b"}], "items": [{"key": "C", "as": "d", "property": "e"}]}
    selection = Source.model_validate({**_SOURCE, "keys": keys}).keys

    assert (selection.rename[0].pattern, selection.rename[0].replacement) == ("A", "b")
    assert (selection.items[0].target_key, selection.items[0].json_property) == ("d", "e")
    assert selection.items[0].decode is Decoding.NONE


def test_a_refusal_never_repeats_what_was_given() -> None:
    said = _refusal(
        {
            "source": {**_SOURCE, "environment": "cnry-environment!", "recursive": "cnry-flag"},
            "refreshInterval": "cnry-interval",
            "target": {"kind": "cnry-kind", "labels": {"team": "cnry label"}},
        }
    )

    assert "cnry" not in said
    assert said.count("spec.") == 5


def test_many_problems_are_counted_rather_than_listed() -> None:
    said = _refusal({"sources": [{"environment": "dev", "recursive": 1}] * 20})

    assert said.endswith("and 8 more problems")
    assert "spec.sources[0].recursive must be a valid boolean" in said


def test_the_label_of_several_sources_counts_the_rest() -> None:
    spec = SecretSyncSpec.model_validate({"sources": [{**_SOURCE, "secretPath": "/db"}, _SOURCE, _SOURCE]})

    assert spec.source_label == "dev:/db +2"


def test_a_status_leaves_out_what_there_is_not() -> None:
    assert SecretSyncStatus().to_wire() == {}


def test_a_status_is_written_in_the_spelling_of_the_api_server_and_reads_back() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
    status = SecretSyncStatus(
        observed_generation=3,
        conditions=(
            Condition(
                type="Ready",
                status=ConditionStatus.TRUE,
                observed_generation=3,
                last_transition_time=at,
                reason="Synced",
                message="5 keys",
            ),
        ),
        last_refresh_time=at,
        updates=Updates.EVENTS,
        keys=(KeyStatus(key="A", state=KeyState.SYNCED, version=2, last_changed=at),),
        keys_total=1,
    )

    wire = status.to_wire()

    assert wire["observedGeneration"] == 3
    assert wire["lastRefreshTime"] == "2026-01-02T03:04:05Z"
    assert wire["keys"] == [
        {"key": "A", "state": "Synced", "version": 2, "lastChanged": "2026-01-02T03:04:05Z"}
    ]
    assert SecretSyncStatus.model_validate(wire).to_wire() == wire


def test_a_message_too_long_for_a_status_is_cut_rather_than_refused() -> None:
    condition = Condition(
        type="Ready",
        status=ConditionStatus.FALSE,
        last_transition_time=datetime(2026, 1, 1, tzinfo=UTC),
        reason="Broken",
        message="x" * (MESSAGE_MAX + 1),
    )

    assert len(condition.message) == MESSAGE_MAX
    assert condition.message.endswith("…")
