"""How many bytes the API server's store takes for a target, and how many it may take. Pure.

A dry run does not reach the store, and the store's refusal ("request is too large") comes as an error of the API
server itself. So it is judged here, by how Kubernetes encodes objects (protobuf). Where an object is too large, the
API server stores it without `managedFields`, but not what comes by server-side apply (handlers of k8s.io/apiserver).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import orjson

from keybearer.base.json_reading import mapping_of, texts_of
from keybearer.controllers.target.desired import DesiredTarget
from keybearer.controllers.target.observed import PresentTarget, is_own_manager

__all__ = [
    "STORED_MAX_BYTES",
    "VALUES_MAX_BYTES",
    "content_bytes",
    "managed_bytes",
    "merged_data",
    "values_bytes",
]

VALUES_MAX_BYTES = 1024 * 1024
"""MaxSecretSize of k8s.io/api, for Secrets and ConfigMaps alike: the sum over values; keys aren't counted."""

STORED_MAX_BYTES = 1536 * 1024 - 8 * 1024
"""etcd takes requests of 1.5 MiB (`--max-request-bytes`); the rest is room for the transaction and for encryption."""

_FIXED_BYTES = 1024
"""Name, UID, times, owner and the like."""
_ENTRY_BYTES = 512
"""Of an entry of `managedFields`, besides the names of keys, labels and annotations."""
_FIELD_BYTES = len('"f:":{},')


def merged_data(
    desired: DesiredTarget, present: PresentTarget, removed: Collection[str]
) -> Mapping[str, str]:
    """Return keys and base64 values of what a merge leaves: what others wrote stays."""
    kept = {key: value for key, value in present.data.items() if key not in removed}
    return kept | desired.data


def values_bytes(data: Mapping[str, str]) -> int:
    """Return how many bytes these values take together, given their base64."""
    return sum(map(_decoded_bytes, data.values()))


def content_bytes(desired: DesiredTarget, data: Mapping[str, str]) -> int:
    """Return how many bytes the target takes, without `managedFields`, once it is as desired.

    Args:
        desired: as planned.
        data: keys and base64 values that it has then, those of others included.
    """
    pairs = [(len(key), _decoded_bytes(value)) for key, value in data.items()]
    pairs += [(len(key), len(value.encode())) for key, value in _texts(desired).items()]
    return _FIXED_BYTES + sum(_field(_field(key) + _field(value)) for key, value in pairs)


def managed_bytes(desired: DesiredTarget, present: PresentTarget) -> int:
    """Return how many bytes `managedFields` take, at most, after a server-side apply of what is desired."""
    ours = _ENTRY_BYTES + sum(_FIELD_BYTES + len(key) for key in (*desired.data, *_texts(desired)))
    size = ours
    for entry in present.field_managers:
        size += ours if is_own_manager(entry) else _ENTRY_BYTES + len(orjson.dumps(entry.get("fieldsV1")))
    return size


def _texts(desired: DesiredTarget) -> dict[str, str]:
    metadata = mapping_of(desired.body.get("metadata"))
    return texts_of(metadata.get("labels")) | texts_of(metadata.get("annotations"))


def _decoded_bytes(value: str) -> int:
    return len(value) // 4 * 3 - value.count("=", -2)


def _field(size: int) -> int:
    """Return the bytes of a field of protobuf: its tag, its length, and so many."""
    return size + 2 if size < 0x80 else 1 + (size.bit_length() + 6) // 7 + size
