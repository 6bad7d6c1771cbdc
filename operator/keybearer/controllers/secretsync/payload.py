"""The data of the target, judged as the API server will judge it: names, types and size.

Judging here costs no request, names each key and leaves the last good target alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from keybearer.controllers.secretsync.key_problems import KeyProblem, KeyProblemReason
from keybearer.controllers.target.spec import TargetKind, is_target_key

__all__ = ["PAYLOAD_MAX_BYTES", "Payload", "judge_payload"]

PAYLOAD_MAX_BYTES = 1024 * 1024
"""MaxSecretSize of k8s.io/api, for Secrets and ConfigMaps alike: the sum over values; keys aren't counted."""


_ENCODED_MAX_BYTES = 5 * 512 * 1024
"""Of a ConfigMap's texts as JSON. The API server takes requests of 3 MiB (MaxRequestBodyBytes of k8s.io/apiserver);
the rest is room for metadata."""
_ESCAPED = bytes(code for code in range(32) if code not in b"\t\n\r")
_HTML_MARKS = b"<>&"
"""Go escapes these too, by six bytes each, so that what we could write could not be read."""


@dataclass(frozen=True, slots=True)
class Payload:
    """What is written, unless a problem blocks it.

    Attributes:
        data: of a Secret, all keys; of a ConfigMap, those whose bytes are no UTF-8 text (`binaryData`).
        text: of a ConfigMap, the keys of `data`; empty for a Secret.
        problems: each of them blocks; what they speak of is in neither mapping.
    """

    data: Mapping[str, bytes] = field(repr=False)
    text: Mapping[str, str] = field(repr=False)
    problems: tuple[KeyProblem, ...]


def judge_payload(
    kind: TargetKind, secret_type: str, data: Mapping[str, bytes], refs: Mapping[str, str] | None = None
) -> Payload:
    """Return what the target is to hold and every reason why it can't.

    Args:
        kind: of the target.
        secret_type: of a Secret; without meaning for a ConfigMap.
        data: by key; from a selection, a template or both.
        refs: by key, where its value comes from, for the problems.
    """
    refs = refs or {}
    problems = [
        KeyProblem(
            key,
            KeyProblemReason.INVALID_KEY,
            f"{key!r} is no valid key: 1 to 253 letters, digits, dots, hyphens and underscores, not "
            "beginning with ..; rename or exclude it",
            refs.get(key),
        )
        for key in data
        if not is_target_key(key)
    ]
    valid = {key: value for key, value in data.items() if is_target_key(key)} if problems else dict(data)
    size = sum(map(len, data.values()))
    if size > PAYLOAD_MAX_BYTES:
        largest = max(data, key=lambda key: len(data[key]))
        problems.append(
            KeyProblem(
                largest,
                KeyProblemReason.TOO_LARGE,
                f"the values take {size} bytes together and Kubernetes takes {PAYLOAD_MAX_BYTES}; this is "
                "the largest; exclude keys or spread them over several targets",
                refs.get(largest),
            )
        )
    if kind is TargetKind.SECRET:
        problems += _judge_type(secret_type, valid)
        return Payload(valid, {}, tuple(problems))
    text, binary = _split_text(valid)
    problems += _judge_encoded(text, refs)
    return Payload(binary, text, tuple(problems))


def _judge_encoded(text: Mapping[str, str], refs: Mapping[str, str]) -> list[KeyProblem]:
    sizes = {key: _encoded_size(value.encode()) for key, value in text.items()}
    size = sum(sizes.values())
    if size <= _ENCODED_MAX_BYTES:
        return []
    largest = max(sizes, key=lambda key: sizes[key])
    return [
        KeyProblem(
            largest,
            KeyProblemReason.TOO_LARGE,
            f"the values take {size} bytes as JSON, of which Kubernetes takes {_ENCODED_MAX_BYTES} in a ConfigMap; "
            "this is the largest; control characters, < > and & take six bytes each: encode it by b64encode in a "
            "template, write a Secret, or spread the keys over several targets",
            refs.get(largest),
        )
    ]


def _encoded_size(value: bytes) -> int:
    """Return the bytes that a text takes as JSON, as Go writes it."""
    sixfold = len(value) - len(value.translate(None, _ESCAPED + _HTML_MARKS))
    twofold = len(value) - len(value.translate(None, b'"\\\t\n\r'))
    return len(value) + 5 * sixfold + twofold


def _split_text(data: Mapping[str, bytes]) -> tuple[dict[str, str], dict[str, bytes]]:
    text: dict[str, str] = {}
    binary: dict[str, bytes] = {}
    for key, value in data.items():
        try:
            text[key] = value.decode()
        except UnicodeDecodeError:
            binary[key] = value
    return text, binary


def _is_json_object(value: bytes) -> bool:
    try:
        return isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        return False


@dataclass(frozen=True, slots=True)
class _TypeDemand:
    """One of `keys` must be there and fit."""

    keys: tuple[str, ...]
    fits: Callable[[bytes], bool] | None = None


_DEMANDS: Mapping[str, tuple[_TypeDemand, ...]] = {
    "kubernetes.io/tls": (_TypeDemand(("tls.crt",)), _TypeDemand(("tls.key",))),
    "kubernetes.io/dockerconfigjson": (_TypeDemand((".dockerconfigjson",), _is_json_object),),
    "kubernetes.io/dockercfg": (_TypeDemand((".dockercfg",), _is_json_object),),
    "kubernetes.io/basic-auth": (_TypeDemand(("username", "password")),),
    "kubernetes.io/ssh-auth": (_TypeDemand(("ssh-privatekey",)),),
}
"""What the API server demands by type (ValidateSecret of kubernetes/pkg/apis/core/validation)."""


def _judge_type(secret_type: str, data: Mapping[str, bytes]) -> list[KeyProblem]:
    problems: list[KeyProblem] = []
    for demand in _DEMANDS.get(secret_type, ()):
        present = [key for key in demand.keys if key in data]
        if not present:
            problems.append(
                KeyProblem(
                    demand.keys[0],
                    KeyProblemReason.MISSING_TYPE_KEY,
                    f"a Secret of type {secret_type} needs the key {' or '.join(demand.keys)}; give it by "
                    "keys.items, keys.rename or a template",
                )
            )
        problems += [
            KeyProblem(
                key,
                KeyProblemReason.INVALID_TYPE_VALUE,
                f"in a Secret of type {secret_type} the key {key} must be a JSON object",
            )
            for key in present
            if demand.fits is not None and not demand.fits(data[key])
        ]
    return problems
