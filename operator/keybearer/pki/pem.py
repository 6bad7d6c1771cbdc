"""Text that holds binary blocks (RFC 7468), read within bounds.

What stands outside of blocks is ignored, as tools write explanations there.
"""

from __future__ import annotations

import base64
import binascii
import re

from keybearer.pki.errors import MalformedError

__all__ = ["blocks_of", "single_block", "written"]

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,64})-----\r?\n([A-Za-z0-9+/=\s]*)-----END \1-----")
_BEGIN = "-----BEGIN "
_LINE = 64


def written(label: str, der: bytes) -> str:
    """Return the block as text, with a line break at its end."""
    packed = base64.b64encode(der).decode()
    lines = "\n".join(packed[start : start + _LINE] for start in range(0, len(packed), _LINE))
    return f"-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n"


def blocks_of(text: str, label: str, *, what: str, max_characters: int, max_blocks: int) -> list[bytes]:
    """Return the bytes of every block, all of which must have that label.

    Args:
        text: what was sent.
        label: that each block must have.
        what: how error texts name the text.
        max_characters: bounds the text.
        max_blocks: bounds the blocks.

    Raises:
        MalformedError: the text is too long, holds no block, one of another kind, too many, or a damaged one.
    """
    if len(text) > max_characters:
        raise MalformedError(f"{what} has more than {max_characters} characters")
    found = _BLOCK.findall(text)
    if not found or len(found) != text.count(_BEGIN):
        raise MalformedError(
            f"{what} isn't PEM: it needs a block between '-----BEGIN {label}-----' and '-----END {label}-----'"
        )
    if len(found) > max_blocks:
        raise MalformedError(f"{what} holds {len(found)} blocks; {max_blocks} may be there")
    return [_decoded(named, packed, label, what) for named, packed in found]


def single_block(text: str, label: str, *, what: str, max_characters: int) -> bytes:
    """Return the bytes of the one block in the text.

    Raises:
        MalformedError: as `blocks_of`.
    """
    return blocks_of(text, label, what=what, max_characters=max_characters, max_blocks=1)[0]


def _decoded(named: str, packed: str, label: str, what: str) -> bytes:
    # Old tools say NEW CERTIFICATE REQUEST; X509 and TRUSTED of a certificate mean other things or hold more.
    if named.removeprefix("NEW ") != label:
        raise MalformedError(f"{what} needs a block of kind {label}, this one is of kind {named}")
    try:
        return base64.b64decode("".join(packed.split()), validate=True)
    except binascii.Error as error:
        raise MalformedError(f"the base64 of {what} is damaged") from error
