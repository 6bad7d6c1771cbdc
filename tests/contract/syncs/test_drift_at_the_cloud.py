"""What others change at a destination is put right by a service that nobody asks for it."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from support.pushed import Pushed
from support.remotes.moto import CloudFixture, CloudProxy
from support.service_fixtures import start_service
from tools.local.waiting import eventually


@pytest.mark.deep
def test_what_was_edited_at_the_destination_is_put_right(
    tmp_path: Path, account: CloudFixture, proxy: CloudProxy
) -> None:
    flags = ("--app-endpoint", f"cloud={proxy.url}", "--sync-start-delay", "0", "--sync-look-interval", "1")
    service = start_service(tmp_path / "data", *flags)
    try:
        pushed = Pushed.new(service, account, path=f"/{secrets.token_hex(4)}/")
        pushed.secrets.create("A", "cnry-1")
        pushed.secrets.create("B", "cnry-2")
        sync = pushed.create()
        before = pushed.ended(sync)
        start = pushed.asked
        eventually(
            lambda: pushed.calls(start).count("GetParametersByPath") >= 2,
            awaited="two looks at the destination",
        )
        # People see none of them.
        assert pushed.get(sync) == before
        pushed.put_by_hand(A="edited", B="edited", OTHERS="x")
        pushed.holds(A="cnry-1", B="cnry-2", OTHERS="x")
        eventually(
            lambda: "came from elsewhere" in str((pushed.get(sync) or {})["lastSyncMessage"]),
            awaited="a word about what others keep there",
        )
        lines = pushed.admin.json("GET", "/api/v1/organization/audit-logs", params={"limit": "100"})
        repaired = [line["event"]["metadata"].get("repaired", 0) for line in lines["auditLogs"]]
        assert sum(repaired) == 2
    finally:
        assert service.stop() == 0
