"""What certificates are issued from in a test's project, and when it all ends."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

__all__ = ["SOON", "Setup"]

SOON = datetime.now(UTC).replace(microsecond=0) + timedelta(days=400)


@dataclass
class Setup:
    """What certificates are issued from in a test's project."""

    root_id: str
    ca_id: str
    policy_id: str
    profile_id: str
