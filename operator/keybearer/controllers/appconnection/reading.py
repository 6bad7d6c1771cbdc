"""An AppConnection's spec and status, read from what the watch showed."""

from __future__ import annotations

from pydantic import ValidationError

from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.appconnection.status import AppConnectionStatus
from keybearer.controllers.custom_resource import describe_invalid
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError

__all__ = ["read_spec", "read_status"]


def read_spec(seen: ObservedObject) -> AppConnectionSpec:
    """Return the spec.

    Raises:
        StalledError: it can't be read; the message names the fields, never what they hold.
    """
    try:
        return AppConnectionSpec.model_validate_json(seen.spec_json)
    except ValidationError as error:
        raise StalledError(Reason.SPEC_INVALID, describe_invalid(error)) from None


def read_status(seen: ObservedObject) -> AppConnectionStatus:
    """Return the status; an empty one where there is none that we understand."""
    if seen.status_json == b"null":
        return AppConnectionStatus()
    try:
        return AppConnectionStatus.model_validate_json(seen.status_json)
    except ValidationError:
        # Written by an older version, or by a stranger: what it said is found out anew.
        return AppConnectionStatus()
