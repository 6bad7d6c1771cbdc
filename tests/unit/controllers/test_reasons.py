"""Each reason of a condition, kind by kind, is seen on a real API server: a test there names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.secretsync.reasons import KeyProblemReason
from keybearer.controllers.secretsync.reasons import Reason as SyncReason
from keybearer.controllers.signers.remedies import REMEDIES as SIGNER_REMEDIES
from keybearer.controllers.target.reasons import TargetReason

_TESTS = Path(__file__).parents[2]
_ON_A_REAL_API_SERVER = ("integration", "chaos", "system")
_BY_KIND = _TESTS / "integration" / "operator"
"""Holds a directory of tests for each kind; kinds share reasons, so that those of another one count for nothing."""
_REASONS: Mapping[str, Iterable[str]] = {
    "appconnection": ConnectionReason,
    "certificateprofile": ProfileReason,
    "secretsync": (*SyncReason, *KeyProblemReason, *TargetReason),
    "signers": SIGNER_REMEDIES,
}
_FAULT = "a fault in the operator, which no test can bring about in one that is whole"
_NOT_SEEN_THERE = {
    ("appconnection", "InternalError"): _FAULT,
    ("certificateprofile", "InternalError"): _FAULT,
    ("secretsync", "InternalError"): _FAULT,
    (
        "certificateprofile",
        "TooLarge",
    ): "neither a service's chain nor the keys of 200 certificates fill a Secret",
    (
        "secretsync",
        "RendererUnavailable",
    ): "the process that renders templates is gone twice in a row; tests of the renderer kill it",
}


def _tests_of(kind: str) -> Iterator[str]:
    """Texts of the tests that are about the kind, or about several."""
    others = [_BY_KIND / other for other in _REASONS.keys() - {kind}]
    for name in _ON_A_REAL_API_SERVER:
        for path in (_TESTS / name).rglob("*.py"):
            if not any(path.is_relative_to(other) for other in others):
                yield path.read_text()


@pytest.mark.parametrize("kind", _REASONS)
def test_a_test_on_a_real_api_server_names_each_reason(kind: str) -> None:
    sources = tuple(_tests_of(kind))
    unnamed = {one for one in _REASONS[kind] if not any(f'"{one!s}"' in source for source in sources)}

    assert unnamed == {reason for of, reason in _NOT_SEEN_THERE if of == kind}


def test_hardly_a_reason_is_left_out() -> None:
    assert len(_NOT_SEEN_THERE) <= 5
