"""What the service says about a token review that failed, so that programs can say what to do."""

from __future__ import annotations

from typing import Final

__all__ = ["UNREACHABLE_API", "UNTRUSTED_API"]

UNTRUSTED_API: Final = "give the certificate of its authority: --ca-file of kubernetes-auth update"
"""End of the message where the certificate of the API server isn't trusted."""
UNREACHABLE_API: Final = "correct --host of kubernetes-auth update, or let the service reach it"
"""End of the message where there is no connection to the API server."""
