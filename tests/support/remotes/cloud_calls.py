"""What the suite knows of calls of the cloud, for each of its stores."""

from __future__ import annotations

from keybearer.destinations.cloud_credentials import AccessKeyCredentials
from keybearer.destinations.remote import RemoteRequest
from support.conformance.interposed import CallKind

__all__ = ["call_kind", "with_another_secret"]

_WRITES = ("PutParameter", "CreateSecret", "UpdateSecret")
_REMOVALS = ("DeleteParameters", "DeleteSecret")
_READS = ("Get", "List", "Describe", "BatchGet")


def call_kind(request: RemoteRequest) -> CallKind:
    """Return what a call is: all are POST."""
    operation = request.headers.get("X-Amz-Target", "").partition(".")[2]
    if operation in _WRITES:
        return CallKind.WRITE
    if operation in _REMOVALS:
        return CallKind.REMOVE
    return CallKind.READ if operation.startswith(_READS) else CallKind.OTHER


def with_another_secret(given: AccessKeyCredentials) -> AccessKeyCredentials:
    """Return the same key with a secret that isn't its own."""
    return given.model_copy(update={"secret_access_key": "cnry-another-secret-of-the-key"})
