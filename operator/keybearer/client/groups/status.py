"""`client.status`."""

from __future__ import annotations

from keybearer.client.operations.status import GetClock, GetStatus
from keybearer.client.resources import Resource, Shell, call

__all__ = ["StatusApi"]


class StatusApi(Resource[Shell]):
    """`client.status`."""

    get = call(GetStatus)
    clock = call(GetClock)
