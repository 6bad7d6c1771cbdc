"""What the Secret of a certificate holds: put together, and read back. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from keybearer.controllers.certificateprofile.gate import Judged
from keybearer.controllers.certificateprofile.reasons import Reason
from keybearer.controllers.certificateprofile.secret_body import CA_KEY, CERTIFICATE_KEY, PRIVATE_KEY
from keybearer.controllers.certificateprofile.spec_certificate import Keystores
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.outcome import StalledError
from keybearer.pki.certificates import parse_certificates
from keybearer.pki.errors import PkiError
from keybearer.pki.keys import PrivateKey, load_private_key
from keybearer.pki.keystores import Keystore, Pkcs12Encryption, jks_of, pkcs12_of

__all__ = ["Found", "Passwords", "contents_of", "keystores_digest", "read_contents"]

_P12, _P12_TRUST = "keystore.p12", "truststore.p12"
_JKS, _JKS_TRUST = "keystore.jks", "truststore.jks"
_ALIAS, _TRUST_ALIAS = "certificate", "ca"


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


def keystores_digest(
    keystores: Keystores | None, passwords: Passwords, fingerprinter: Fingerprinter
) -> str | None:
    """Return what tells one form of keystores, or password of theirs, from another; None without keystores."""
    if keystores is None:
        return None
    return fingerprinter.of_parts(
        "keystores", (keystores.model_dump_json(), passwords.pkcs12 or "", passwords.jks or "")
    )


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
