"""What clients of plain HTTP are given for TLS: to read the system's certificates takes longer than most requests."""

from __future__ import annotations

import ssl

__all__ = ["TRUSTS_NOBODY"]

TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Verifies, and has no authority to verify by: over TLS nothing would be reached with it."""
