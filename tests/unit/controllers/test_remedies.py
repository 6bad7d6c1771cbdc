"""What statuses say of failures: whose turn it is, the next step, and the command for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

import pytest
from pydantic import JsonValue

from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.appconnection.remedies import REMEDIES as CONNECTION_REMEDIES
from keybearer.controllers.certificateprofile.reasons import REMEDIES as PROFILE_REMEDIES
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.custom_resource import Diagnosis, Turn
from keybearer.controllers.remedy import Remedy, diagnosed
from keybearer.controllers.secretsync.reasons import REMEDIES as SYNC_REMEDIES
from keybearer.controllers.secretsync.reasons import Reason as SyncReason

_KINDS = pytest.mark.parametrize(
    ("reasons", "remedies"),
    [
        (SyncReason, SYNC_REMEDIES),
        (ConnectionReason, CONNECTION_REMEDIES),
        (ProfileReason, PROFILE_REMEDIES),
    ],
    ids=["SecretSync", "AppConnection", "CertificateProfile"],
)


_SOURCE: dict[str, JsonValue] = {"projectSlug": "shop", "environment": "dev", "secretPath": "/a b"}
_SPEC: dict[str, JsonValue] = {"identityRef": {"name": "reader"}, "source": _SOURCE}


def _told(remedy: Remedy, spec: Mapping[str, JsonValue] = _SPEC) -> Diagnosis:
    return diagnosed(remedy, "SecretSync", "team-a", "web", spec)


@_KINDS
def test_each_reason_has_a_remedy(reasons: type[StrEnum], remedies: Mapping[str, Remedy]) -> None:
    assert set(reasons) - remedies.keys() == set()


@_KINDS
def test_no_brace_is_left_in_a_status(reasons: type[StrEnum], remedies: Mapping[str, Remedy]) -> None:
    for reason in reasons:
        told = _told(remedies[reason])
        assert "{" not in f"{told.step}{told.command}{told.about}", reason


@_KINDS
def test_whose_turn_it_is_decides_whether_something_is_to_be_done(
    reasons: type[StrEnum], remedies: Mapping[str, Remedy]
) -> None:
    for reason in reasons:
        remedy = remedies[reason]
        is_idle = remedy.step == "" or remedy.step.startswith("Nothing")
        assert is_idle or remedy.turn is not Turn.NOBODY, reason
        assert not re.match(r"[a-z]", remedy.step), reason


def test_a_diagnosis_names_the_identity_and_the_command_that_asks() -> None:
    told = _told(SYNC_REMEDIES[SyncReason.IDENTITY_NOT_FOUND])
    assert told.command is not None
    assert told.command.startswith("kubectl -n team-a create secret generic reader ")
    assert "IDENTITY" in _told(SYNC_REMEDIES[SyncReason.IDENTITY_NOT_FOUND], {}).step
    told = _told(SYNC_REMEDIES[SyncReason.GUARDED])
    assert told.command == (
        "kubectl -n team-a annotate --overwrite secretsync web "
        'keybearer.dev/request=release-guard keybearer.dev/requestedAt="$(date +%s)"'
    )


def test_commands_name_what_the_spec_names_so_that_a_shell_takes_it_as_it_is() -> None:
    remedy = Remedy("Look into {path}.", "look --project {project} --env {environment} --path {path} {other}")
    told = _told(remedy)
    assert told.step == "Look into /a b."
    assert told.command == "look --project shop --env dev --path '/a b' {other}"
    listed = _told(remedy, {"sources": [_SOURCE, {"projectId": "other"}]})
    assert listed == told
    assert _told(remedy, {}).command == "look --project PROJECT --env ENVIRONMENT --path / {other}"
    of_profile = _told(Remedy("Look.", "look {project}"), {"projectId": "0b"})
    assert of_profile.command == "look 0b"


def test_what_a_spec_names_is_no_word_to_be_filled() -> None:
    source: dict[str, JsonValue] = {"secretPath": "/{sync}; rm", "environment": "$(id)"}
    told = _told(Remedy("Look.", "look {path} {environment}"), {"source": source})
    assert told.command == "look '/{sync}; rm' '$(id)'"


@pytest.mark.parametrize("name", ["x\x03\nid\n", "x\x1b]0;", "x\u202e", "--yes", "x\nid", "x\x85id"])
def test_what_ends_a_line_of_a_terminal_or_is_an_option_gets_into_no_command(name: str) -> None:
    told = _told(Remedy("See {policy}.", "look {policy}"), {"policyRef": {"name": name}})
    assert (told.step, told.command) == ("See POLICY.", "look POLICY")


def test_a_command_that_is_too_long_is_left_out_and_not_cut() -> None:
    told = _told(Remedy("Look.", "look {path}"), {"source": {"secretPath": "/a" * 1024}})
    assert told.command is None
    assert _told(Remedy("Look.", "look {path}"), {"source": {"secretPath": "/a" * 500}}).command is not None
