"""What the Secrets of a CertificateProfile hold: those of certificates, and the keyring. Pure."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated

import orjson
from pydantic import Field, JsonValue, TypeAdapter

from keybearer.base.clock import format_instant, parse_instant
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.certificateprofile.policy import Judged
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.spec_certificate import Keystores, SecretTemplate
from keybearer.controllers.certificateprofile.status import Need
from keybearer.controllers.certificateprofile.targets import keyring_name
from keybearer.controllers.effect_budget import Ledger
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.objects import ObservedObject, TargetKey
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.target.desired import (
    DesiredTarget,
    fingerprint_of_body,
    owned_metadata,
)
from keybearer.controllers.target.spec import OPAQUE
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, load_private_key
from keybearer.pki.keystores import Keystore, Pkcs12Encryption, jks_of, pkcs12_of

__all__ = [
    "CA_KEY",
    "CERTIFICATE_KEY",
    "CERTIFICATE_LABEL",
    "PRIVATE_KEY",
    "Found",
    "KeptAttempt",
    "Keyring",
    "Origins",
    "Passwords",
    "build_certificate_secret",
    "build_keyring_secret",
    "contents_of",
    "form_digest",
    "origins_of",
    "read_contents",
    "read_keyring",
    "secret_type",
]

_INDEX = "attempts.json"
_ISSUES = TypeAdapter(Annotated[Ledger, Field(strict=False)])
CERTIFICATE_KEY = "tls.crt"
PRIVATE_KEY = "tls.key"
CA_KEY = "ca.crt"
CERTIFICATE_LABEL = "keybearer.dev/certificate"
"""Names the certificate of the profile."""
_CERTIFICATE_ID = "keybearer.dev/certificate-id"
_REVISION = "keybearer.dev/revision"
_SPEC = "keybearer.dev/spec"
_TLS = "kubernetes.io/tls"
_P12, _P12_TRUST = "keystore.p12", "truststore.p12"
_JKS, _JKS_TRUST = "keystore.jks", "truststore.jks"
_ALIAS, _TRUST_ALIAS = "certificate", "ca"
_NO_TEMPLATE = SecretTemplate()


@dataclass(frozen=True, slots=True)
class KeptAttempt:
    """An attempt as noted before it was sent.

    Attributes:
        revision: counts the attempts of the certificate.
        tag: at random, so that no other attempt of whatever life of the object is taken for this one.
        digest: of what is asked for.
        begun_at: when.
        need: why.
        issues: how often the certificate was asked for by then, this attempt included.
    """

    revision: int
    tag: str
    digest: str
    begun_at: datetime
    need: Need
    issues: Ledger = ()

    @property
    def label(self) -> str:
        """What the request's metadata says of it."""
        return f"{self.revision}-{self.tag}"


@dataclass(frozen=True, slots=True)
class Keyring:
    """The newest attempt of each certificate, and keys by certificate and revision (DER)."""

    attempts: Mapping[str, KeptAttempt] = field(default_factory=dict)
    keys: Mapping[tuple[str, int], bytes] = field(default_factory=dict, repr=False)

    def begun(self, name: str, attempt: KeptAttempt, key: bytes | None) -> Keyring:
        """Return it with another attempt."""
        keys = self.keys if key is None else {**self.keys, (name, attempt.revision): key}
        return replace(self, attempts={**self.attempts, name: attempt}, keys=keys)

    def with_key(self, which: tuple[str, int], key: bytes) -> Keyring:
        """Return it with the key of a certificate and revision."""
        return replace(self, keys={**self.keys, which: key})

    def only(self, needed: Collection[tuple[str, int]], names: Collection[str]) -> Keyring:
        """Return it with the attempts of these certificates, their keys, and the keys that are needed beside."""
        attempts = {name: attempt for name, attempt in self.attempts.items() if name in names}
        kept = {*needed, *((name, attempt.revision) for name, attempt in attempts.items())}
        return Keyring(attempts, {which: key for which, key in self.keys.items() if which in kept})

    def data(self) -> dict[str, bytes]:
        """Return what the Secret holds."""
        index = {
            name: {
                "revision": attempt.revision,
                "tag": attempt.tag,
                "spec": attempt.digest,
                "begunAt": format_instant(attempt.begun_at),
                "need": attempt.need.value,
                "issues": [one.model_dump(mode="json", by_alias=True) for one in attempt.issues],
            }
            for name, attempt in sorted(self.attempts.items())
        }
        keys = {f"{name}.{revision}": key for (name, revision), key in sorted(self.keys.items())}
        return {_INDEX: orjson.dumps(index), **keys}


def read_keyring(body: Mapping[str, JsonValue] | None) -> Keyring:
    """Return what the Secret holds; what can't be read is as good as lost."""
    data = mapping_of(body.get("data")) if body is not None else {}
    attempts: dict[str, KeptAttempt] = {}
    keys: dict[tuple[str, int], bytes] = {}
    for entry, encoded in data.items():
        raw = _decoded(encoded)
        if entry == _INDEX:
            attempts = _attempts(raw)
            continue
        name, _, revision = entry.rpartition(".")
        if name and revision.isdecimal() and raw:
            keys[name, int(revision)] = raw
    return Keyring(attempts, keys)


def _attempts(raw: bytes) -> dict[str, KeptAttempt]:
    try:
        index = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    found = {name: _attempt(mapping_of(told)) for name, told in mapping_of(index).items()}
    return {name: attempt for name, attempt in found.items() if attempt is not None}


def _attempt(told: Mapping[str, JsonValue]) -> KeptAttempt | None:
    revision = told.get("revision")
    try:
        begun_at = parse_instant(text_of(told.get("begunAt")))
        need = Need(text_of(told.get("need")))
        issues = _ISSUES.validate_python(told.get("issues") or ())
    except ValueError:
        return None
    if not isinstance(revision, int):
        return None
    return KeptAttempt(revision, text_of(told.get("tag")), text_of(told.get("spec")), begun_at, need, issues)


def _decoded(encoded: JsonValue) -> bytes:
    try:
        return base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True)
    except ValueError:
        return b""


@dataclass(frozen=True, slots=True)
class Origins:
    """Where the certificate of a Secret comes from, so that a status that was lost can be found out from it.

    Attributes:
        certificate_id: in the service.
        revision: of the attempt that brought it.
        digest: of what was asked for.
    """

    certificate_id: str | None
    revision: int
    digest: str


def build_certificate_secret(
    owner: ObservedObject,
    name: str,
    certificate: str,
    origins: Origins,
    data: Mapping[str, bytes],
    fingerprinter: Fingerprinter,
    template: SecretTemplate | None = None,
) -> DesiredTarget:
    """Return the Secret of a certificate.

    Args:
        owner: the CertificateProfile.
        name: of the Secret.
        certificate: what the profile calls it.
        origins: of the certificate.
        data: what it holds.
        fingerprinter: makes the keyed fingerprints.
        template: its further labels and annotations.
    """
    template = template or _NO_TEMPLATE
    annotations = {**template.annotations, _REVISION: str(origins.revision), _SPEC: origins.digest}
    if origins.certificate_id is not None:
        annotations[_CERTIFICATE_ID] = origins.certificate_id
    return _build(
        owner,
        name,
        secret_type(has_key=PRIVATE_KEY in data),
        data,
        {**template.labels, CERTIFICATE_LABEL: certificate},
        annotations,
        fingerprinter,
    )


def secret_type(*, has_key: bool) -> str:
    """Return the type of the Secret of a certificate."""
    return _TLS if has_key else OPAQUE


def build_keyring_secret(
    owner: ObservedObject, data: Mapping[str, bytes], fingerprinter: Fingerprinter
) -> DesiredTarget:
    """Return the Secret that holds the keys."""
    return _build(owner, keyring_name(owner.key.name), OPAQUE, data, {}, {}, fingerprinter)


def origins_of(body: Mapping[str, JsonValue], certificate: str) -> Origins | None:
    """Return what a Secret says of where it comes from; None where it isn't one of that certificate."""
    meta = mapping_of(body.get("metadata"))
    annotations = mapping_of(meta.get("annotations"))
    revision = text_of(annotations.get(_REVISION))
    if (
        text_of(mapping_of(meta.get("labels")).get(CERTIFICATE_LABEL)) != certificate
        or not revision.isdecimal()
    ):
        return None
    return Origins(
        text_of(annotations.get(_CERTIFICATE_ID)) or None, int(revision), text_of(annotations.get(_SPEC))
    )


def _build(
    owner: ObservedObject,
    name: str,
    secret_type: str,
    data: Mapping[str, bytes],
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
    fingerprinter: Fingerprinter,
) -> DesiredTarget:
    key = TargetKey("Secret", owner.key.namespace, name)
    body: dict[str, JsonValue] = {
        "apiVersion": "v1",
        "kind": key.kind,
        "metadata": owned_metadata(key, owner.key, owner.uid, labels, annotations),
        "type": secret_type,
        "data": {part: base64.b64encode(value).decode() for part, value in data.items()},
    }
    return DesiredTarget(
        key=key,
        body=body,
        keys=tuple(sorted(data)),
        fingerprint=fingerprint_of_body(key.kind, body, fingerprinter),
    )


@dataclass(frozen=True, slots=True)
class Passwords:
    """Of keystores; None where there is none of the kind."""

    pkcs12: str | None = field(default=None, repr=False)
    jks: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Found:
    """What a Secret holds, as far as it can be read.

    Attributes:
        serial: of the certificate; None where there is none.
        certificate: PEM of it.
        above: PEM of what is sent along with it.
        key: None where there is none, or it isn't the certificate's.
    """

    serial: str | None = None
    certificate: str = ""
    above: str = ""
    key: PrivateKey | None = field(default=None, repr=False)


def contents_of(
    judged: Judged,
    key: PrivateKey | None,
    anchors: str,
    keystores: Keystores | None,
    passwords: Passwords,
    now: datetime,
) -> dict[str, bytes]:
    """Return what the Secret is to hold.

    Args:
        judged: the certificate.
        key: None where it is elsewhere.
        anchors: PEM of the authorities that are to be trusted.
        keystores: further forms.
        passwords: of these.
        now: the present, which Java key stores show.

    Raises:
        StalledError: a keystore can't be made.
    """
    data = {CERTIFICATE_KEY: judged.pem.encode(), CA_KEY: anchors.encode()}
    if key is None:
        return data
    data[PRIVATE_KEY] = key.pem().encode()
    if keystores is None:
        return data
    alias = keystores.jks.alias if keystores.jks is not None else _ALIAS
    own = Keystore(alias, (judged.leaf, *judged.above), key)
    try:
        trust = Keystore(_TRUST_ALIAS, parse_certificates(anchors))
        if keystores.pkcs12 is not None and passwords.pkcs12 is not None:
            how = Pkcs12Encryption.LEGACY if keystores.pkcs12.legacy else Pkcs12Encryption.MODERN
            data[_P12] = pkcs12_of(own, passwords.pkcs12, how)
            data[_P12_TRUST] = pkcs12_of(trust, passwords.pkcs12, how)
        if keystores.jks is not None and passwords.jks is not None:
            data[_JKS] = jks_of(own, passwords.jks, now)
            data[_JKS_TRUST] = jks_of(trust, passwords.jks, now)
    except PkiError as error:
        raise StalledError(Reason.SPEC_INVALID, f"no keystore can be made: {error}") from None
    return data


def form_digest(
    keystores: Keystores | None,
    template: SecretTemplate | None,
    passwords: Passwords,
    fingerprinter: Fingerprinter,
) -> str | None:
    """Return a text that changes with keystores, their passwords, labels or annotations; None without any."""
    if keystores is None and template is None:
        return None
    forms = "" if keystores is None else keystores.model_dump_json()
    parts = (forms, passwords.pkcs12 or "", passwords.jks or "")
    # Without a template it is what it was before there were any, so that nothing is written anew for that.
    further = () if template is None else (template.model_dump_json(),)
    return fingerprinter.of_parts("keystores", (*parts, *further))


def read_contents(data: Mapping[str, str]) -> Found:
    """Return what a Secret holds, given its base64; of what can't be read, nothing."""
    try:
        leaf, *above = parse_certificates(_text(data, CERTIFICATE_KEY))
    except (PkiError, ValueError):
        return Found()
    key: PrivateKey | None = None
    try:
        key = load_private_key(_text(data, PRIVATE_KEY))
    except (PkiError, ValueError):
        key = None
    if key is not None and key.public_key != leaf.public_key:
        key = None
    return Found(leaf.serial, leaf.pem, "".join(one.pem for one in above), key)


def _text(data: Mapping[str, str], name: str) -> str:
    return base64.b64decode(data.get(name, ""), validate=True).decode()
