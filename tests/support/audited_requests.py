"""What each holder of a token asked the API server for, and when: its audit log, which no client can colour."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml

from support.api_audit import AuditLog
from support.log_lines import whole_lines

__all__ = ["AuditedRequest", "AuditedRequests", "credential_of", "subject_of"]

_WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_CREDENTIAL = "authentication.kubernetes.io/credential-id"
_LEASES = "coordination.k8s.io/leases"
_REVIEWS = ("authorization.k8s.io/", "authentication.k8s.io/")
"""Questions, which are asked by POST."""


@dataclass(frozen=True, slots=True)
class AuditedRequest:
    """One request that was answered.

    Attributes:
        received_at: when the API server began to read it.
        answered_at: when it had answered.
        status: of the answer.
    """

    verb: str
    resource: str
    namespace: str
    name: str
    status: int
    received_at: datetime
    answered_at: datetime

    @property
    def changes(self) -> bool:
        """Whether it was to change something other than a Lease."""
        return self.verb in _WRITES and self.resource != _LEASES and not self.resource.startswith(_REVIEWS)

    @property
    def keeps_lease(self) -> bool:
        """Whether it took, renewed or released a Lease, and was let."""
        return self.resource == _LEASES and self.verb in _WRITES and self.status < 300

    @property
    def reads_lease(self) -> bool:
        """Whether it asked for a Lease."""
        return self.resource == _LEASES and self.verb == "get"

    def __str__(self) -> str:
        what = f"{self.verb} {self.resource} {self.namespace}/{self.name}"
        return f"{self.received_at:%H:%M:%S.%f} {what}: {self.status}"


@dataclass(frozen=True, slots=True)
class AuditedRequests:
    """The requests in an audit log."""

    log: AuditLog

    def of(self, credential: str) -> list[AuditedRequest]:
        """All requests that came with a token so far, in the order of their arrival."""
        return sorted(self._read(credential), key=lambda one: one.received_at)

    def changes_of(self, credential: str) -> list[AuditedRequest]:
        """Those of them that were to change something other than the Lease."""
        return [one for one in self.of(credential) if one.changes]

    def lease_kept_by(self, credential: str) -> list[AuditedRequest]:
        """Those of them by which its holder took, renewed or released a Lease."""
        return [one for one in self.of(credential) if one.keeps_lease]

    def _read(self, credential: str) -> Iterator[AuditedRequest]:
        with self.log.file.open() as lines:
            # A line that is half written is another reader's.
            for line in whole_lines(lines):
                if credential in line:
                    yield from _requests(json.loads(line), credential)


def credential_of(kubeconfig: Path) -> str:
    """How the audit log names the token of a kubeconfig."""
    return f"JTI={_claims(kubeconfig)['jti']}"


def subject_of(kubeconfig: Path) -> tuple[str, str]:
    """Namespace and name of the ServiceAccount that the token of a kubeconfig is of."""
    _, _, namespace, name = str(_claims(kubeconfig)["sub"]).split(":")
    return namespace, name


def _claims(kubeconfig: Path) -> Mapping[str, Any]:
    token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
    payload = str(token).split(".")[1]
    claims: Mapping[str, Any] = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


def _requests(line: Mapping[str, Any], credential: str) -> Iterator[AuditedRequest]:
    about = line.get("objectRef", {})
    if (
        credential in line["user"].get("extra", {}).get(_CREDENTIAL, ())
        and line["stage"] != "ResponseStarted"
    ):
        plural = "/".join(filter(None, (about.get("resource"), about.get("subresource"))))
        yield AuditedRequest(
            line["verb"],
            "/".join(filter(None, (about.get("apiGroup", ""), plural))),
            about.get("namespace", ""),
            about.get("name", ""),
            line.get("responseStatus", {}).get("code", 0),
            datetime.fromisoformat(line["requestReceivedTimestamp"]),
            datetime.fromisoformat(line["stageTimestamp"]),
        )
