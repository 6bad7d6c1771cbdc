"""A SecretSync's spec and status, read from what the watch showed."""

from __future__ import annotations

from pydantic import ValidationError

from keybearer.controllers.custom_resource import describe_invalid
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.status import SecretSyncStatus

__all__ = ["read_spec", "read_status", "targets_of"]


def read_spec(seen: ObservedObject) -> SecretSyncSpec:
    """Return the spec.

    Raises:
        StalledError: it can't be read; the message names the fields, never what they hold.
    """
    try:
        return SecretSyncSpec.model_validate_json(seen.spec_json)
    except ValidationError as error:
        raise StalledError(Reason.SPEC_INVALID, describe_invalid(error)) from None


def read_status(seen: ObservedObject) -> SecretSyncStatus:
    """Return the status; an empty one where there is none that we understand."""
    if seen.status_json == b"null":
        return SecretSyncStatus()
    try:
        return SecretSyncStatus.model_validate_json(seen.status_json)
    except ValidationError:
        # Written by an older version, or by a stranger: what it said is found out anew.
        return SecretSyncStatus()


def targets_of(status: SecretSyncStatus, namespace: str) -> tuple[TargetKey, ...]:
    """Return what was written, then what it was to be replaced by; none before the first sync."""
    named = (status.target, status.moving_to)
    return tuple(TargetKey(one.kind.value, namespace, one.name) for one in named if one is not None)
