"""The chart starts the programs with arguments that they have."""

from __future__ import annotations

from collections.abc import Mapping

from typer.testing import CliRunner

from keybearer.cli.main import app
from support.chart_values import ROWS
from support.rows import each_row
from tools.chart.rendering import Json, pods_of, render

_COMMANDS = {
    "backup": "backup",
    "operator": "operator",
    "service": "serve",
    "uninstall": "await-cleanup",
}


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_the_programs_take_the_arguments_of_the_chart(values: Mapping[str, Json]) -> None:
    for pod in pods_of(render(values)):
        if pod.at("spec", "containers", 0, "command") != ["keybearer"]:
            continue
        arguments = pod.texts("spec", "containers", 0, "args")
        assert arguments[0] == _COMMANDS[pod.name.rpartition("-")[2]]
        # With --help a command parses all that it is given, and then doesn't run.
        answer = CliRunner().invoke(app, [*arguments, "--help"])
        assert answer.exit_code == 0, answer.output
