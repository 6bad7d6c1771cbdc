"""Each reason of a condition is seen on a real API server: a test there names it."""

from __future__ import annotations

from pathlib import Path

from keybearer.controllers.appconnection.reasons import Reason as ConnectionReason
from keybearer.controllers.certificateprofile.reasons import Reason as ProfileReason
from keybearer.controllers.secretsync.reasons import KeyProblemReason
from keybearer.controllers.secretsync.reasons import Reason as SyncReason
from keybearer.controllers.target.reasons import TargetReason

_TESTS = Path(__file__).parents[2]
_ON_A_REAL_API_SERVER = ("integration", "chaos", "system")
_NOT_SEEN_THERE = {
    "InternalError": "a fault in the operator, which no test can bring about in one that is whole",
    "RendererUnavailable": "the process that renders templates is gone twice in a row; tests of the renderer kill it",
}


def test_a_test_on_a_real_api_server_names_each_reason() -> None:
    kinds = (ConnectionReason, ProfileReason, KeyProblemReason, SyncReason, TargetReason)
    reasons = {one.value for kind in kinds for one in kind}
    sources = [path.read_text() for name in _ON_A_REAL_API_SERVER for path in (_TESTS / name).rglob("*.py")]
    named = {one for one in reasons if any(f'"{one}"' in source for source in sources)}

    assert reasons - named == _NOT_SEEN_THERE.keys()
