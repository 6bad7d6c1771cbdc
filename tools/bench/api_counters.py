"""Counts what one user asked of the API server, from the API server's own audit log.

The log names the user, so nothing of the harness, of the controllers or of the API server itself is counted,
and nothing has to be subtracted. Only the operator's user is audited, without bodies: see `AUDIT_POLICY`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import orjson

__all__ = ["ApiCounts", "AuditLog", "audit_flags", "audit_policy", "count_entries"]

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
# Questions put as objects: they are "created" and nothing is stored.
_ASKING_GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})


class _ObjectRef(TypedDict, total=False):
    resource: str
    subresource: str
    apiGroup: str


class _Status(TypedDict, total=False):
    code: int


class _Entry(TypedDict, total=False):
    verb: str
    objectRef: _ObjectRef
    responseStatus: _Status


@dataclass(frozen=True, slots=True)
class ApiCounts:
    """Requests of one user, in one window.

    Attributes:
        writes: by `resource` or `resource/subresource`, of any outcome: a refused write has cost as well.
        reads: get, list and watch, by `verb resource`. A watch counts when it ends.
        refused: writes that were answered with 400 or more, by `status resource`.
    """

    writes: Counter[str]
    reads: Counter[str]
    refused: Counter[str]

    @property
    def writes_total(self) -> int:
        """All writes, Events included."""
        return self.writes.total()


def audit_policy(user: str) -> str:
    """Return the policy that logs each finished request of the user at level Metadata, and nothing else."""
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived", "ResponseStarted"],
        "omitManagedFields": True,
        "rules": [{"level": "Metadata", "users": [user]}, {"level": "None"}],
    }
    return orjson.dumps(policy).decode()  # JSON is YAML


def audit_flags(policy: Path, log: Path) -> tuple[str, ...]:
    """Return flags of kube-apiserver.

    Entries are written before the answer leaves (`blocking`, the default), so that a window which ends after
    an answer holds its entry. The size keeps the log from being rotated, which would move offsets.
    """
    return (f"--audit-policy-file={policy}", f"--audit-log-path={log}", "--audit-log-maxsize=100000")


def count_entries(lines: Iterable[bytes]) -> ApiCounts:
    """Return the counts of audit entries, one JSON object per line."""
    writes: Counter[str] = Counter()
    reads: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    for line in lines:
        entry: _Entry = orjson.loads(line)
        target = entry.get("objectRef", {})
        if target.get("apiGroup") in _ASKING_GROUPS:
            continue
        resource = target.get("resource", "(none)")
        if target.get("subresource"):
            resource = f"{resource}/{target['subresource']}"
        verb = entry.get("verb", "")
        if verb not in _WRITES:
            reads[f"{verb} {resource}"] += 1
            continue
        writes[resource] += 1
        code = entry.get("responseStatus", {}).get("code", 0)
        if code >= 400:
            refused[f"{code} {resource}"] += 1
    return ApiCounts(writes, reads, refused)


class AuditLog:
    """A growing audit log, read in windows.

    Args:
        path: the file; it need not exist before the first entry.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def position(self) -> int:
        """Return where the next entry will start: the beginning of a window."""
        return self._path.stat().st_size if self._path.exists() else 0

    def since(self, position: int) -> ApiCounts:
        """Return what was logged since that position; a line that is not whole yet is left for later."""
        if not self._path.exists():
            return count_entries(())
        with self._path.open("rb") as log:
            log.seek(position)
            written = log.read()
        return count_entries(written[: written.rfind(b"\n") + 1].splitlines())
