from __future__ import annotations

from tools.bench.profile import Import, parse_imports

_LOG = """\
import time: self [us] | cumulative | imported package
import time:       120 |        120 |   _io
{"event": "operator_started", "logger": "x"}
import time:      1500 |       1620 | keybearer.cli.main
"""


def test_imports_are_read_from_between_other_lines_of_the_log() -> None:
    assert parse_imports(_LOG) == [Import("_io", 120, 120), Import("keybearer.cli.main", 1500, 1620)]
