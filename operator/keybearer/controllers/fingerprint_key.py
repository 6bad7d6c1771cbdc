"""The key of the fingerprints: made once, kept in a Secret of the operator, the same for all replicas."""

from __future__ import annotations

import base64
import binascii
import secrets

from keybearer.base.errors import ConfigurationError
from keybearer.controllers.fingerprint import KEY_BYTES, Fingerprinter
from keybearer.kube.errors import AlreadyExistsError
from keybearer.kube.gateway import Gateway
from keybearer.kube.resources import SECRETS, JsonObject, ObjectKey

__all__ = ["load_fingerprinter"]

_DATA_KEY = "key"


async def load_fingerprinter(gateway: Gateway, key: ObjectKey) -> Fingerprinter:
    """Return the fingerprinter under the key of that Secret, which is created when there is none.

    Raises:
        ConfigurationError: the Secret exists and holds no key.
        KubeError: the API server refuses or can't be asked.
    """
    body = await gateway.get(SECRETS, key)
    if body is None:
        fresh = secrets.token_bytes(KEY_BYTES)
        data: JsonObject = {_DATA_KEY: base64.b64encode(fresh).decode()}
        try:
            await gateway.create(SECRETS, key, {"type": "Opaque", "data": data})
        except AlreadyExistsError:
            body = await gateway.get(SECRETS, key)
        else:
            return Fingerprinter(fresh)
    data_now = body.get("data") if body is not None else None
    text = data_now.get(_DATA_KEY) if isinstance(data_now, dict) else None
    try:
        return Fingerprinter(base64.b64decode(text if isinstance(text, str) else "", validate=True))
    except (binascii.Error, ValueError):
        msg = (
            f"Secret {key} holds no fingerprint key; restore it, or delete it and a new one is made: each status "
            "is then written once more"
        )
        raise ConfigurationError(msg) from None
