"""Sealed boxes of libsodium: texts that only the holder of a private key can open (X25519, XSalsa20, Poly1305)."""

from __future__ import annotations

import base64
import binascii

from keybearer.pki.errors import MalformedError

__all__ = ["sealed"]


def sealed(value: str, public_key: str) -> str:
    """Return the text in UTF-8 as a box (`crypto_box_seal`), in base64; no two boxes are equal.

    Args:
        value: what is sealed.
        public_key: whose owner may open it; 32 bytes in base64.

    Raises:
        MalformedError: the key is none.
    """
    # Models are imported together with what seals for them; only who seals needs these.
    from nacl.exceptions import CryptoError  # noqa: PLC0415
    from nacl.public import PublicKey, SealedBox  # noqa: PLC0415

    try:
        box = SealedBox(PublicKey(base64.b64decode(public_key, validate=True))).encrypt(value.encode())
    except (binascii.Error, CryptoError, ValueError):
        raise MalformedError("that is no public key that a value can be sealed for") from None
    return base64.b64encode(box).decode()
