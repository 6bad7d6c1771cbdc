"""docs/destinations.md tells of every reason of an AppConnection; its tables are written from the code."""

from __future__ import annotations

from keybearer.controllers.appconnection.reasons import Reason
from support.rows import each_row
from tools.chart.rendering import ROOT

_PAGE = (ROOT / "docs" / "destinations.md").read_text()


@each_row("reason", [one for one in Reason if "Cluster" not in one and "Internal" not in one])
def test_a_reason_of_an_app_connection_is_told(reason: Reason) -> None:
    assert f"`{reason.value}`" in _PAGE
