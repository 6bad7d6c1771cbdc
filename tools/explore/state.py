"""What a run leaves behind, without what is new in each run: times, versions, ids, keys and names of the run."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from keybearer.pki.certificates import parse_certificates
from keybearer.pki.keys import load_private_key
from tools.explore.moments import Naming
from tools.local.kube_api import Body

__all__ = ["State", "difference", "digest", "flat", "held_by", "lasting", "state_of"]

State = Mapping[str, str]
"""Texts by where they stand, such as `Secret/web.data.A`."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_DIGEST = re.compile(r"\b[0-9a-f]{32,128}\b")
_REQUEST = re.compile(r"\brequest-\d+\b")
"""What a person writes to ask for something: once more where the first answer was that it failed."""
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)
_SERIAL = re.compile(r"\b[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){7,}\b")
_COUNTS = re.compile(
    r"^[^/]+/[^.]+\.status\.(?!conditions\[Ready\]\.(status|reason))|annotations\.keybearer\.dev/|^service\.requests"
    r"|\.certificate-keys\.data"
)
"""Places that say how often something was done, or when."""
_VERSION = re.compile(r"\.status\.(push\.)?version$")
"""Places that say how often a definition was written to the service: once more where an answer was lost."""
_OURS = ("name", "labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp")
_PEM = "-----BEGIN CERTIFICATE"


def state_of(objects: Iterable[tuple[str, str, Body]], naming: Naming) -> dict[str, str]:
    """Return what these objects are, as far as two runs can be the same.

    Args:
        objects: kind, name and body; of others than this run's nothing is told.
        naming: of the run.
    """
    found: dict[str, str] = {}
    for kind, name, there in objects:
        if not naming.is_ours(name):
            continue
        body = _judged_generation(there)
        meta = {key: body["metadata"][key] for key in _OURS if key in body["metadata"]}
        plain: dict[str, JsonValue] = {"metadata": meta}
        for part in ("spec", "status", "type", "immutable"):
            if part in body:
                plain[part] = body[part]
        if kind == "Secret":
            plain["data"] = held_by(body)
        elif kind == "ConfigMap":
            plain["data"] = body.get("data", {})
        found |= flat(plain, f"{kind}/{naming.plain(name)}", naming)
    return {where: text for where, text in found.items() if not _VERSION.search(where)}


def _judged_generation(body: Body) -> Body:
    """Return the object with words for generations: their numbers say how often it was edited."""
    now = body["metadata"].get("generation")
    status = dict(body.get("status") or {})
    if "observedGeneration" not in status:
        return body

    def word(there: Body) -> Body:
        if "observedGeneration" not in there:
            return there
        is_current = there["observedGeneration"] == now
        return {**there, "observedGeneration": "the newest" if is_current else "an older one"}

    conditions = [word(one) for one in status.get("conditions", ())]
    return {**body, "status": {**word(status), "conditions": conditions}}


def held_by(secret: Body) -> dict[str, JsonValue]:
    """Return the data of a Secret; of certificates and keys what they say, for each run has new ones."""
    data: dict[str, JsonValue] = {}
    for key, value in (secret.get("data") or {}).items():
        raw = base64.b64decode(value)
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            data[key] = "bytes"  # a key store: sealed anew each time
            continue
        if _PEM in text:
            data[key] = [
                f"{one.subject} {sorted(map(str, one.alternative_names))} by {one.issuer}"
                for one in parse_certificates(text)
            ]
        elif "PRIVATE KEY-----" in text:
            data[key] = "a key that fits" if _fits(secret, text) else "a key"
        else:
            data[key] = text
    return data


def _fits(secret: Body, key: str) -> bool:
    leaf = (secret.get("data") or {}).get("tls.crt")
    if leaf is None:
        return False
    try:
        chain = list(parse_certificates(base64.b64decode(leaf).decode()))
        return bool(chain) and chain[0].public_key == load_private_key(key).public_key
    except (ValueError, binascii.Error):
        return False


def flat(value: JsonValue, where: str, naming: Naming) -> dict[str, str]:
    """Return the texts of a value by where they stand; lists of objects with a name or a type go by that."""
    match value:
        case dict():
            found: dict[str, str] = {}
            for key, inner in value.items():
                found |= flat(inner, f"{where}.{naming.plain(key)}", naming)
            return found or {where: "{}"}
        case list():
            found = {}
            for number, inner in enumerate(value):
                name = inner.get("name", inner.get("type", number)) if isinstance(inner, dict) else number
                found |= flat(inner, f"{where}[{naming.plain(str(name))}]", naming)
            return found or {where: "[]"}
        case _:
            return {where: _plain(str(value), naming)}


def _plain(text: str, naming: Naming) -> str:
    text = _REQUEST.sub("{request}", text)
    text = _TIME.sub("{time}", naming.plain(_CERTIFICATE.sub("{certificate}", text)))
    return _SERIAL.sub("{serial}", _DIGEST.sub("{digest}", text))


def lasting(state: State) -> dict[str, str]:
    """Return the part of a state that does not tell how often something was done."""
    return {where: text for where, text in state.items() if not _COUNTS.search(where)}


def digest(state: State) -> str:
    """Return a short word for a state, under which no value of a secret is seen."""
    told = repr(sorted(state.items())).encode()
    return hashlib.sha256(told).hexdigest()[:12]


def difference(found: State, wanted: State, masked: Iterable[str] = ()) -> list[str]:
    """Return where two states differ, but for the masked places; values of Secrets are not told."""
    told = []
    hidden = set(masked)
    for where in sorted((found.keys() | wanted.keys()) - hidden):
        one, other = found.get(where), wanted.get(where)
        if one != other:
            is_value = ".data." in where
            told.append(
                f"{where}: {_told(one, is_value=is_value)} instead of {_told(other, is_value=is_value)}"
            )
    return told


def _told(text: str | None, *, is_value: bool) -> str:
    if text is None:
        return "nothing"
    return "a value" if is_value else repr(text)
