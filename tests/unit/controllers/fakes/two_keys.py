"""A source of two keys as it is listed, and what a SecretSync makes of it."""

from __future__ import annotations

from unit.controllers.fakes.source_session import listing
from unit.controllers.fakes.targets import b64

__all__ = ["DATA", "OTHER_TWO", "STATUS", "TWO"]

TWO = listing("cnry-0", "cnry-1")
OTHER_TWO = listing("cnry-0", "cnry-changed")
DATA = {"K0": b64("cnry-0"), "K1": b64("cnry-1")}
STATUS = "apply_status SecretSync team-a/web"
"""How the gateway notes that a status was written."""
