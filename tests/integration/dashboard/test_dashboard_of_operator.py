"""The dashboard beside a real operator and service: its judgements are the operator's, and its Lease is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.dashboard_scene import running_dashboard
from support.tenant import IDENTITY, Tenant
from tools.local.marks import MARK, find_mark
from tools.local.operator_cluster import OperatorCluster
from tools.local.waiting import eventually

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("installation")]


def test_it_shows_what_the_operator_did_and_diagnosed(
    operator_cluster: OperatorCluster, tenant: Tenant, tmp_path: Path
) -> None:
    tenant.project.store({"DB_PASSWORD": f"{MARK}db-password"})
    tenant.until_ready(tenant.sync("web"))
    tenant.sync("broken", identityRef={"name": "missing"})
    where = tenant.namespace
    namespaces = ("--namespace", where, "--namespace", operator_cluster.namespace)
    with running_dashboard(tmp_path, operator_cluster.plane.admin_kubeconfig, *namespaces) as client:

        def is_diagnosed() -> bool:
            rows = client.get("view/attention").json()["rows"]
            return any(row["cells"][1]["text"] == "IdentityNotFound" for row in rows)

        eventually(is_diagnosed, awaited="the operator's diagnosis")
        (broken,) = client.get("view/attention").json()["rows"]
        secrets = {row["cells"][0]["text"]: row for row in client.get("view/secrets").json()["rows"]}
        operator = client.get("view/operator").json()
        shown = "".join(
            client.get(f"view/{name}").text for name in ("attention", "secrets", "pushes", "operator")
        )

    assert broken["cells"][0]["text"] == f"SecretSync {where}/broken"
    assert broken["cells"][3]["text"] == "you"
    assert broken["cells"][4]["text"].startswith(f"kubectl -n {where} create secret generic missing")
    assert secrets[f"{where}/web"]["cells"][1]["text"] == "in step, checked"
    assert operator["summary"].endswith(" leads.")
    assert IDENTITY not in shown
    assert find_mark(shown) is None
