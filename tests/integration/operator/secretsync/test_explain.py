"""`keybearer explain secretsync` beside a real API server and operator: words, and never a value."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import Answer, CommandLine
from support.tenant import IDENTITY, Tenant
from tools.local.marks import find_mark
from tools.local.operator_cluster import OperatorCluster

pytestmark = pytest.mark.integration


@pytest.fixture
def keybearer(operator_cluster: OperatorCluster, tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, {"KUBECONFIG": str(operator_cluster.plane.admin_kubeconfig)})


def explained(keybearer: CommandLine, tenant: Tenant, name: str, *more: str) -> Answer:
    answer = keybearer("explain", "secretsync", f"{tenant.namespace}/{name}", *more)
    assert find_mark(answer.stdout + answer.stderr) is None
    return answer


def test_a_healthy_sync_needs_nothing(keybearer: CommandLine, tenant: Tenant) -> None:
    tenant.project.store({"DB_HOST": "cnry-1", "DB_PASSWORD": "cnry-2"})
    tenant.sync("web")
    tenant.until_data("web", {"DB_HOST": "cnry-1", "DB_PASSWORD": "cnry-2"})
    tenant.until_ready("web")
    answer = explained(keybearer, tenant, "web")
    assert (answer.status, answer.stderr) == (0, "")
    assert f"Project {tenant.project.id}, environment dev, folder /." in answer.stdout
    assert "It exists, with 2 keys: DB_HOST, DB_PASSWORD." in answer.stdout
    assert "Nothing to do." in answer.stdout
    told = explained(keybearer, tenant, "web", "--output", "json").json
    assert (told["wrong"], told["next_steps"]) == ([], [])


def test_what_is_wrong_comes_with_what_to_do(keybearer: CommandLine, tenant: Tenant) -> None:
    tenant.sync("web", source=tenant.source(environment="none"))
    tenant.until_reason("web", "SourceNotFound")
    told = explained(keybearer, tenant, "web", "-o", "json").json
    assert told["wrong"][0].startswith("SourceNotFound: ")
    assert "keybearer environments list" in told["next_steps"][0]


def test_a_missing_identity_is_named(keybearer: CommandLine, tenant: Tenant) -> None:
    tenant.api.delete("Secret", tenant.namespace, IDENTITY)
    tenant.sync("web")
    tenant.until_reason("web", "IdentityNotFound")
    told = explained(keybearer, tenant, "web").stdout
    assert told.count(f"Create the Secret {IDENTITY} ") == 1
    assert f"kubectl -n {tenant.namespace} create secret generic {IDENTITY} " in told


def test_what_is_not_there_is_status_5_and_a_name_that_is_none_status_2(
    keybearer: CommandLine, tenant: Tenant
) -> None:
    answer = explained(keybearer, tenant, "none")
    assert (answer.status, "there is no SecretSync" in answer.stderr) == (5, True)
    assert answer.stderr.splitlines()[-1] == "  List them: kubectl get secretsyncs -A"
    assert keybearer("explain", "secretsync", "web").status == 2


def test_who_may_not_look_is_told_so(
    keybearer: CommandLine, operator_cluster: OperatorCluster, tenant: Tenant
) -> None:
    tenant.sync("web")
    plane = operator_cluster.plane
    plane.kubectl("create", "serviceaccount", "nobody", f"--namespace={tenant.namespace}")
    nobody = plane.service_account_kubeconfig(tenant.namespace, "nobody")
    answer = keybearer("explain", "secretsync", f"{tenant.namespace}/web", KUBECONFIG=str(nobody))
    assert (answer.status, answer.stdout) == (4, "")


def test_a_cluster_that_is_not_there_is_told_so(keybearer: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "kubeconfig"
    file.write_text(
        "{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}], "
        "clusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}], users: [{name: a, user: {}}]}"
    )
    answer = keybearer("explain", "secretsync", "a/b", "--kubeconfig", str(file))
    assert (answer.status, "can't be reached" in answer.stderr) == (6, True)
    assert keybearer("explain", "secretsync", "a/b", "--kubeconfig", "/nonexistent").status == 2
