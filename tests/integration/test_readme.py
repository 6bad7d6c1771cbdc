"""The first page's way to a Secret in a cluster of one's own, as it is pasted."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from support.pasted import Shell, blocks
from tools.chart.rendering import ROOT
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.ports import free_port

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_SET_UP = "make setup\n"
_LISTENS = "keybearer serve "
_OPERATES = "keybearer operator "
_CHANGED = "cnry-changed"
_ENCODED = base64.b64encode(_CHANGED.encode()).decode()
_ARRIVED = f"""\
held() {{ kubectl -n demo get secret web-database -o 'jsonpath={{.data.DB_PASSWORD}}'; }}
until test "$(held)" = {_ENCODED}; do sleep 0.1; done
echo the changed value arrived
"""


def test_the_readme_leads_to_a_synced_secret_and_back(control_plane: ControlPlane, tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text().partition("## In your own cluster")[2]
    begin, certify, change, end, *_ = blocks(page)
    assert begin.startswith(_SET_UP)
    port = free_port()
    script = begin.removeprefix(_SET_UP).replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    # Others on this machine may have the ports that they take by themselves.
    for program, flag in (
        (_LISTENS, f"--listen 127.0.0.1:{port} "),
        (_OPERATES, "--metrics-listen 127.0.0.1:0 "),
    ):
        assert script.count(program) == 1
        script = script.replace(program, program + flag)
    printed = Shell(tmp_path / "checkout", control_plane.admin_kubeconfig).run(
        f"set -m\n{script}{certify}{change}{_ARRIVED}{end}wait\n", given=_CHANGED
    )
    assert "secretsync.keybearer.dev/web-database condition met\n" in printed
    assert all(f"\n  {key}: " in printed for key in ("DB_HOST", "DB_PASSWORD", "DB_USER"))
    assert "certificateprofile.keybearer.dev/web condition met\n" in printed
    assert "the changed value arrived\n" in printed
    assert 'namespace "demo" deleted' in printed
    assert control_plane.kubectl("get", "namespace", "demo", "--ignore-not-found") == ""
