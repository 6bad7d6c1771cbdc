"""`client.keys`."""

from __future__ import annotations

from keybearer.client.operations import keys
from keybearer.client.resources import Resource, Shell, call

__all__ = ["KeysApi"]


class KeysApi(Resource[Shell]):
    """`client.keys`."""

    status = call(keys.GetKeyStatus)
    rotate_root = call(keys.RotateRootKey)
    rotate_data = call(keys.RotateDataKey)
