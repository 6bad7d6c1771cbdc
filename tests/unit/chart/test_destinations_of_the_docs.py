"""docs/destinations.md tells of every reason of an AppConnection; its tables are written from the code."""

from __future__ import annotations

from keybearer.controllers.appconnection.reasons import Reason
from support.rows import each_row
from tools.chart.rendering import ROOT

_PAGE = (ROOT / "docs" / "destinations.md").read_text()


@each_row("reason", [one for one in Reason if "Cluster" not in one and "Internal" not in one])
def test_a_reason_of_an_app_connection_is_told(reason: Reason) -> None:
    assert f"`{reason.value}`" in _PAGE


@each_row(
    "store",
    [
        *("AWS Secrets Manager", "AWS Parameter Store", "Google Secret Manager", "Azure Key Vault"),
        *("HashiCorp Vault and OpenBao", "GitHub", "GitLab", "Auth0"),
    ],
)
def test_a_store_has_a_section_by_its_published_name(store: str) -> None:
    """The search of the site shows an equal heading before a longer one."""
    assert f"\n### {store}\n" in _PAGE
