"""A destination whose runs end with a call that has them take effect: of the catalogue none has one yet."""

from __future__ import annotations

from dataclasses import replace

from keybearer.destinations.session import Call
from support.conformance.interposed import CallKind, of_method
from support.conformance.variants import of_table
from support.remotes.gitlab import UNDER_TEST as GITLAB

__all__ = ["REDEPLOYING"]

_LAST = Call(method="GET", path="/user?last", to="redeploy")
REDEPLOYING = replace(
    GITLAB,
    kind=of_table(lambda table: replace(table, finish=_LAST))(GITLAB.kind),
    label="with a last call",
    kind_of=lambda request: CallKind.FINISH if request.url.endswith(_LAST.path) else of_method(request),
    finishes=1,
)
