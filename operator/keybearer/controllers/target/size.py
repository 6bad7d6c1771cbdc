"""How many bytes the API server's store takes for a target, and how many it may take. Pure.

A dry run does not reach the store, and the store's refusal ("request is too large") comes as an error of the API
server itself. So it is judged here, by how Kubernetes encodes objects (protobuf). Where an object is too large, the
API server stores it without `managedFields`, but not what comes by server-side apply (handlers of k8s.io/apiserver).
"""

from __future__ import annotations

import orjson

from keybearer.controllers.json_reading import mapping_of, texts_of
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget, is_own_manager

__all__ = ["STORED_MAX_BYTES", "content_bytes", "managed_bytes"]

STORED_MAX_BYTES = 1536 * 1024 - 8 * 1024
"""etcd takes requests of 1.5 MiB (`--max-request-bytes`); the rest is room for the transaction and for encryption."""

_FIXED_BYTES = 1024
"""Name, UID, times, owner and the like."""
_ENTRY_BYTES = 512
"""Of an entry of `managedFields`, besides the names of keys, labels and annotations."""
_FIELD_BYTES = len('"f:":{},')


def content_bytes(desired: DesiredTarget, present: PresentTarget | None, *, merges: bool) -> int:
    """Return how many bytes the target takes, without `managedFields`, once it is as desired.

    Args:
        desired: as planned.
        present: what it is written into; None where it is created.
        merges: whether keys that others wrote stay.
    """
    data = {**present.data, **desired.data} if merges and present is not None else desired.data
    pairs = [(len(key), len(value) // 4 * 3 - value[-2:].count("=")) for key, value in data.items()]
    pairs += [(len(key), len(value.encode())) for key, value in _texts(desired).items()]
    return _FIXED_BYTES + sum(_field(_field(key) + _field(value)) for key, value in pairs)


def managed_bytes(desired: DesiredTarget, present: PresentTarget) -> int:
    """Return how many bytes `managedFields` take, at most, after a server-side apply of what is desired."""
    ours = _ENTRY_BYTES + sum(_FIELD_BYTES + len(key) for key in (*desired.data, *_texts(desired)))
    size = ours
    for entry in present.field_managers():
        size += ours if is_own_manager(entry) else _ENTRY_BYTES + len(orjson.dumps(entry.get("fieldsV1")))
    return size


def _texts(desired: DesiredTarget) -> dict[str, str]:
    metadata = mapping_of(desired.body.get("metadata"))
    return texts_of(metadata.get("labels")) | texts_of(metadata.get("annotations"))


def _field(size: int) -> int:
    """Return the bytes of a field of protobuf: its tag, its length, and so many."""
    return 1 + (size.bit_length() + 6) // 7 + size if size else 2
