"""docs/destinations.md names every app, method, field of credentials and destination that there is."""

from __future__ import annotations

import re

import pytest

from keybearer.controllers.appconnection.reasons import Reason
from keybearer.destinations.catalogue import APPS, BUILT, offered
from support.rows import each_row
from tools.chart.rendering import ROOT

_PAGE = (ROOT / "docs" / "destinations.md").read_text()
_ROWS = [line for line in _PAGE.splitlines() if line.startswith("|")]


def _fields() -> list[tuple[str, str, str, bool]]:
    return [
        (app.name, method, field.alias or name, not field.repr)
        for app in APPS
        for method, model in app.methods.items()
        for name, field in model.given.model_fields.items()
    ]


@each_row(("app", "method", "field", "is_secret"), _fields())
def test_a_field_of_credentials_stands_with_its_method(
    app: str, method: str, field: str, *, is_secret: bool
) -> None:
    start = next(
        place for place, row in enumerate(_ROWS) if row.startswith(f"| `{app}` | `") and "yes" not in row
    )
    of_app = [_ROWS[start]]
    for row in _ROWS[start + 1 :]:
        if not row.startswith("| | "):
            break
        of_app.append(row)
    row = next(row for row in of_app if f"| `{method}` |" in row)
    assert re.search(rf"\*`{field}`\*" if is_secret else rf"(?<!\*)`{field}`", row)


@pytest.mark.parametrize("destination", BUILT, ids=lambda destination: destination.name)
def test_a_destination_stands_with_its_app_and_whether_it_can_be_imported(destination: object) -> None:
    model = next(one for one in BUILT if one is destination)
    row = next(row for row in _ROWS if row.startswith(f"| `{model.name}` | `{model.connection}` |"))
    listed = offered(model.name)
    assert listed is not None
    assert row.rstrip(" |").endswith("yes" if listed.can_import else "no")


@each_row("reason", [one for one in Reason if "Cluster" not in one and "Internal" not in one])
def test_a_reason_of_an_app_connection_is_told(reason: Reason) -> None:
    assert f"`{reason.value}`" in _PAGE or reason is Reason.NAMESPACE_TERMINATING
