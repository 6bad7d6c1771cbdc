"""What `cryptography` raises at bytes that it can't read. For the other modules of this package alone."""

from __future__ import annotations

import warnings

from cryptography import x509

__all__ = ["UNREADABLE"]

UNREADABLE = (
    ValueError,
    TypeError,
    NotImplementedError,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
"""All but UnsupportedAlgorithm, which says that the bytes are well-formed."""

# Bytes come from strangers: what is wrong with them is told to them, not to who runs this.
warnings.filterwarnings("ignore", message="Parsed a serial number", category=UserWarning)
warnings.filterwarnings("ignore", message="Attribute's length must be", category=UserWarning)
