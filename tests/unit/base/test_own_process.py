from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")

_SEEN = """
import ctypes, json, resource
PR_GET_DUMPABLE = 3

def tell(*_, **__):
    dumpable = ctypes.CDLL(None).prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)
    print(json.dumps([dumpable, resource.getrlimit(resource.RLIMIT_CORE)]))
    raise SystemExit
"""
_SERVING = """
from keybearer.cli import main, serve
serve._run = tell
main.app(["serve", "--data-dir", "never-made"])
"""
_OPERATING = """
from keybearer.cli import main
from keybearer.controllers import settings
settings.OperatorSettings = tell
main.app(["operator", "--kubeconfig", "/dev/null"])
"""
_SHARED = """
from keybearer.base.own_process import forbid_inspection
forbid_inspection()
tell()
"""


@pytest.mark.parametrize(
    "program", [_SERVING, _OPERATING, _SHARED], ids=["serve", "operator", "what both call"]
)
def test_a_process_that_holds_values_dumps_no_core_and_is_not_looked_into(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SEEN + program], capture_output=True, text=True, check=True, env={}
    )
    assert json.loads(done.stdout) == [0, [0, 0]]
