"""What Prometheus itself thinks of the operator's metrics."""

from __future__ import annotations

import subprocess

import pytest

from support.system_tools import SystemTool
from support.tenant import Tenant
from tools.local.operator_process import OperatorProcess

pytestmark = pytest.mark.system


def test_promtool_accepts_the_operators_metrics_as_they_are(
    system_tool: SystemTool, shared_operator: OperatorProcess, tenant: Tenant
) -> None:
    promtool = system_tool("promtool")
    tenant.project.store({"DB_PASSWORD": "cnry-db-password"})
    tenant.sync("web")
    tenant.until_ready("web")

    judged = subprocess.run(
        [promtool, "check", "metrics"],
        input=shared_operator.metrics(),
        capture_output=True,
        text=True,
        check=False,
    )

    assert (judged.returncode, judged.stdout, judged.stderr) == (0, "", "")
