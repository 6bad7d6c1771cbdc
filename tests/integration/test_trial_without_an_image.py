"""The tutorial that tries the operator on a cluster without an image, as it is pasted."""

from __future__ import annotations

import base64
import socket
from pathlib import Path

import pytest

from support.pasted import PastedCommandError, Shell, blocks
from tools.chart.rendering import ROOT
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.ports import free_port

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_PAGE = ROOT / "docs" / "tutorials" / "without-an-image.md"
_SET_UP = "make setup\n"
_PORTS = "port=8080 metrics_port=8081 "
_CHANGED = "cnry-changed"
_ENCODED = base64.b64encode(_CHANGED.encode()).decode()
_ARRIVED = f"""\
held() {{ kubectl -n demo get secret web-database -o 'jsonpath={{.data.DB_PASSWORD}}'; }}
until test "$(held)" = {_ENCODED}; do sleep 0.1; done
echo the changed value arrived
"""


def _with_port(script: str, port: int) -> str:
    """Return the commands with other ports: others on this machine may have those of the page."""
    assert script.count(_PORTS) == 1
    return script.replace(_PORTS, f"port={port} metrics_port=0 ")


def test_the_tutorial_leads_to_a_synced_secret_and_back(control_plane: ControlPlane, tmp_path: Path) -> None:
    begin, operate, certify, change, _log_in, end = blocks(_PAGE.read_text())
    assert begin.startswith(_SET_UP)
    script = _with_port(begin.removeprefix(_SET_UP), free_port())
    printed = Shell(tmp_path / "checkout", control_plane.admin_kubeconfig).run(
        f"set -m\n{script}{operate}{certify}{change}{_ARRIVED}{end}wait\n", given=_CHANGED
    )
    assert "secretsync.keybearer.dev/web-database condition met\n" in printed
    assert all(f"\n  {key}: " in printed for key in ("DB_HOST", "DB_PASSWORD", "DB_USER"))
    assert "certificateprofile.keybearer.dev/web condition met\n" in printed
    assert "the changed value arrived\n" in printed
    assert 'namespace "demo" deleted' in printed
    assert control_plane.kubectl("get", "namespace", "demo", "--ignore-not-found") == ""


def test_a_port_that_is_taken_ends_the_start_with_the_log_of_the_service(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    begin = blocks(_PAGE.read_text())[0]
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        script = _with_port(begin[begin.index(_PORTS) :], stranger.getsockname()[1])
        shell = Shell(tmp_path / "checkout", control_plane.admin_kubeconfig)
        printed = shell.run(f"set -m\n{script}")
        with pytest.raises(PastedCommandError, match="url"):
            shell.run(f"set -m\n{script}{blocks(_PAGE.read_text())[1]}")
    assert "in use" in printed
