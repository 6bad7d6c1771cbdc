"""Requests that a SecretSync can't carry out as its spec is. Pure."""

from __future__ import annotations

from keybearer.controllers.mode import Mode
from keybearer.controllers.requests import PendingRequest
from keybearer.controllers.secretsync.resource import SecretSyncSpec

__all__ = ["why_refused"]


def why_refused(request: PendingRequest, spec: SecretSyncSpec) -> str | None:
    """Return why what is asked isn't done, for people; None where nothing stands against it."""
    if not request.removes_foreign:
        return None
    if spec.destination is None:
        return "there is no spec.destination that names could be removed from; nothing was removed"
    if spec.mode in (Mode.SUSPENDED, Mode.CREATE_ONCE):
        return f"mode is {spec.mode.value}, which leaves the destination alone; nothing was removed"
    if (spec.sync_options or {}).get("disableSecretDeletion") is True:
        return "syncOptions.disableSecretDeletion is set; nothing was removed"
    return None
