"""`kubectl keybearer` as kubectl runs it, beside a real API server, operator and service; never a value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keybearer.cli.kubectl.main import app
from support.certificate_objects import Certificates, certificate, open_certificates
from support.command_line import PROGRAM, Answer, CommandLine
from support.connection_objects import open_connections
from support.operator_fixtures import Installation
from support.secretsync_objects import secret, secret_sync
from support.tenant import IDENTITY, Tenant
from tools.controlplane.binaries import control_plane_binaries
from tools.local.kube_api import Body
from tools.local.marks import find_mark
from tools.local.operator_cluster import OperatorCluster

pytestmark = pytest.mark.integration

NOT_AS_WANTED, REFUSED = 8, 7


@pytest.fixture
def kubectl(operator_cluster: OperatorCluster, tmp_path: Path) -> CommandLine:
    """kubectl, which finds the plugin where this environment's programs are."""
    variables = {
        "KUBECONFIG": str(operator_cluster.plane.admin_kubeconfig),
        "PATH": f"{PROGRAM.parent}:/usr/bin:/bin",
        "KUBERC": "off",
    }
    return CommandLine(tmp_path, variables, (str(control_plane_binaries().kubectl), "keybearer"))


@dataclass(frozen=True)
class Plugin:
    """The plugin within this process, which takes no time to load it; faults of it are raised."""

    line: CommandLine

    def __call__(self, *arguments: str, stdin: str | None = None, **variables: str) -> Answer:
        done = CliRunner().invoke(
            app, arguments, input=stdin, env={**self.line.environment, **variables}, catch_exceptions=False
        )
        return Answer(done.exit_code, done.stdout, done.stderr)


@pytest.fixture
def plugin(operator_cluster: OperatorCluster, tmp_path: Path) -> Plugin:
    variables = {"KUBECONFIG": str(operator_cluster.plane.admin_kubeconfig)}
    return Plugin(CommandLine(tmp_path, variables, (str(PROGRAM.with_name("kubectl_complete-keybearer")),)))


def seen(answer: Answer) -> Answer:
    assert find_mark(answer.stdout + answer.stderr) is None
    assert "Traceback" not in answer.stderr
    return answer


def sync_manifest(tenant: Tenant, name: str, **spec: object) -> Body:
    whole = {"identityRef": {"name": IDENTITY}, "source": tenant.source(), **spec}
    return secret_sync(tenant.namespace, name, whole)


def applied(*manifests: Body) -> str:
    return "---\n".join(json.dumps(one) + "\n" for one in manifests)


def rows(answer: Answer) -> list[tuple[str, str, str]]:
    return [(one["subject"], one["action"], one["detail"]) for one in answer.json]


def test_kubectl_finds_it_and_troubles_come_first(
    kubectl: CommandLine, plugin: Plugin, tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"DB_HOST": "cnry-1"})
    connections = open_connections(tenant, installation)
    connections.keep_login()
    connections.create("store")
    certificates = open_certificates(tenant, installation)
    certificates.create("pki", certificate("front"))
    tenant.sync("all-well")
    tenant.sync("broken", source=tenant.source(environment="none"))
    tenant.sync("planned", mode="Plan", target={"name": "planned"})
    tenant.until_ready("all-well")
    tenant.until_reason("broken", "SourceNotFound")
    tenant.until_reason("planned", "Planned")
    connections.until_reason("store", "Connected")
    certificates.until_reason("pki", "Issued")

    answer = seen(kubectl("status", "-n", tenant.namespace))
    assert (answer.status, answer.stderr) == (0, "")
    heads, first, second, *others = [line.split() for line in answer.stdout.splitlines()]
    assert heads == ["KIND", "NAME", "READY", "REASON", "AGE", "LAST", "SYNC", "NEXT", "MESSAGE"]
    assert first[:4] == ["SecretSync", "broken", "False", "SourceNotFound"]
    assert second[:4] == ["SecretSync", "planned", "False", "Planned"]
    assert [line[:4] for line in others] == [
        ["AppConnection", "store", "True", "Connected"],
        ["CertificateProfile", "pki", "True", "Issued"],
        ["SecretSync", "all-well", "True", "Synced"],
    ]
    told = seen(plugin("status", "-A", "-o", "json")).json
    mine = {one["name"]: one for one in told if one["namespace"] == tenant.namespace}
    assert {name: one["health"] for name, one in mine.items()} == {
        "broken": "Failed",
        "planned": "InProgress",
        "store": "Current",
        "pki": "Current",
        "all-well": "Current",
    }
    assert mine["pki"]["next_sync"] is not None
    assert all(mine[name]["last_sync"] for name in ("store", "pki", "all-well"))
    assert plugin("status", "-n", tenant.namespace, "--exit-code").status == NOT_AS_WANTED
    assert plugin("status", "kbs/all-well", "-n", tenant.namespace, "--exit-code").status == 0
    assert len(plugin("status", "appconnections", "-n", tenant.namespace, "-o", "json").json) == 1


def test_a_plan_is_shown_by_names_and_approved(plugin: Plugin, tenant: Tenant) -> None:
    tenant.project.store({"DB_HOST": "cnry-1", "DB_PASSWORD": "cnry-2"})
    tenant.sync("web", mode="Plan")
    tenant.until_reason("web", "Planned")
    words = ("secretsync", "web", "-n", tenant.namespace)

    answer = seen(plugin("plan", *words))
    assert answer.status == 0
    assert [line.split() for line in answer.stdout.splitlines()][1:] == [
        ["Secret", f"{tenant.namespace}/web", "add", "DB_HOST"],
        ["Secret", f"{tenant.namespace}/web", "add", "DB_PASSWORD"],
    ]
    assert "--request approve-plan" in answer.stderr
    assert plugin("plan", *words, "--exit-code").status == NOT_AS_WANTED

    done = seen(plugin("sync", *words, "--request", "approve-plan", "--wait"))
    assert (done.status, "Synced" in done.stdout) == (0, True)
    tenant.until_data("web", {"DB_HOST": "cnry-1", "DB_PASSWORD": "cnry-2"})
    after = seen(plugin("plan", *words, "--exit-code"))
    assert (after.status, after.stdout) == (0, "")
    assert "nothing to do" in after.stderr


def test_a_plan_of_certificates_says_what_stands_against_them(
    plugin: Plugin, tenant: Tenant, installation: Installation
) -> None:
    certificates: Certificates = open_certificates(tenant, installation)
    elsewhere = {"name": "far", "attributes": {"altNames": [{"value": "www.elsewhere.example"}]}}
    certificates.create("pki", certificate("front"), elsewhere, mode="Plan")
    certificates.until_reason("pki", "PolicyViolated")
    told = rows(seen(plugin("plan", "kbcp/pki", "-n", tenant.namespace, "-o", "json")))
    assert ("certificate front", "issue", "First") in told
    assert [action for what, action, _ in told if what == "certificate far"] == ["issue", "refuse"]
    assert plugin("plan", "appconnection/a", "-n", tenant.namespace).status == 2


def test_what_a_manifest_would_change_is_told_and_nothing_is_stored(
    plugin: Plugin, tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"DB_HOST": "cnry-1"})
    tenant.sync("there")
    tenant.until_ready("there")
    tenant.api.create(secret(tenant.namespace, "foreign", {"A": "cnry-2"}))
    connections = open_connections(tenant, installation)
    space = tenant.namespace
    manifests = (
        sync_manifest(tenant, "fresh"),
        sync_manifest(tenant, "foreign"),
        sync_manifest(tenant, "there", refreshInterval="1m"),
        sync_manifest(tenant, "nobody", identityRef={"name": "none"}),
        connections.manifest("store"),
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}},
    )
    answer = seen(plugin("plan", "-f", "-", "-o", "json", stdin=applied(*manifests)))
    told = rows(answer)
    assert answer.status == 0
    assert (f"SecretSync {space}/fresh", "create", "") in told
    assert (f"Secret {space}/fresh", "create", "") in told
    assert [one[1] for one in told if one[0] == f"Secret {space}/foreign"] == ["refuse"]
    assert (f"SecretSync {space}/there", "change", "spec.refreshInterval") in told
    assert [one[1] for one in told if one[0] == f"Secret {space}/there"] == ["change"]
    assert any(one[0] == f"SecretSync {space}/nobody" and "IdentityNotFound" in one[2] for one in told)
    assert any(one[0] == f"AppConnection {space}/store" and "CredentialsNotFound" in one[2] for one in told)
    assert "1 objects of kinds that aren't ours" in answer.stderr
    assert tenant.api.find("SecretSync", space, "fresh") is None
    assert tenant.get("there")["spec"]["refreshInterval"] == "10s"


def test_a_manifest_that_changes_nothing_or_that_the_server_refuses_has_a_status_of_its_own(
    plugin: Plugin, tenant: Tenant, tmp_path: Path
) -> None:
    tenant.project.store({"DB_HOST": "cnry-1"})
    tenant.sync("web")
    tenant.until_ready("web")
    file = tmp_path / "web.yaml"
    file.write_text(applied(sync_manifest(tenant, "web", refreshInterval="10s")))
    same = seen(plugin("plan", "-f", str(file), "--exit-code", "-o", "json"))
    assert (same.status, [action for _, action, _ in rows(same)]) == (0, ["keep"])
    file.write_text(applied(sync_manifest(tenant, "web", source={"projectId": "p"}, sources=[])))
    refused = seen(plugin("plan", "-f", str(file)))
    assert (refused.status, "the API server refuses" in refused.stdout) == (REFUSED, True)
    strange = sync_manifest(tenant, "web", notThere="cnry-2")
    told = seen(plugin("plan", "-f", "-", stdin=applied(strange)))
    assert (told.status, ".spec.notThere" in told.stdout) == (REFUSED, True)
    file.write_text("a: [")
    assert seen(plugin("plan", "-f", str(file))).status == 2
    assert plugin("plan", "-f", str(tmp_path / "none")).status == 2


def test_a_sync_of_each_kind_is_asked_for_and_awaited(
    plugin: Plugin, tenant: Tenant, installation: Installation
) -> None:
    tenant.project.store({"DB_HOST": "cnry-1"})
    connections = open_connections(tenant, installation)
    connections.keep_login()
    connections.create("store")
    certificates = open_certificates(tenant, installation)
    certificates.create("pki", certificate("front"))
    tenant.sync("web", refreshInterval="1h")
    tenant.until_ready("web")
    certificates.until_reason("pki", "Issued")
    words = ("kbs/web", "kbac/store", "kbcp/pki", "-n", tenant.namespace)
    done = seen(plugin("sync", *words, "--wait", "-o", "json"))
    assert (done.status, [one["reason"] for one in done.json]) == (0, ["Synced", "Connected", "Issued"])
    serial = certificates.entry("pki", "front")["serialNumber"]
    renewed = seen(plugin("sync", "kbcp/pki", "-n", tenant.namespace, "--request", "renew", "--wait"))
    assert (renewed.status, "Issued" in renewed.stdout) == (0, True)
    assert certificates.entry("pki", "front")["serialNumber"] != serial
    found = tenant.get("web")
    managers = {
        entry["manager"]
        for entry in found["metadata"]["managedFields"]
        if "f:annotations" in entry["fieldsV1"].get("f:metadata", {})
    }
    assert managers == {"kubectl-keybearer"}


def test_a_sync_that_fails_ends_with_1_and_its_reason(plugin: Plugin, tenant: Tenant) -> None:
    tenant.sync("web", source=tenant.source(environment="none"))
    tenant.until_reason("web", "SourceNotFound")
    done = seen(plugin("sync", "kbs/web", "-n", tenant.namespace, "--wait"))
    assert (done.status, "SourceNotFound" in done.stdout) == (1, True)
    assert plugin("sync", "-n", tenant.namespace).status == 2
    assert plugin("sync", "kbac/x", "--request", "renew", "-n", tenant.namespace).status == 2
    assert plugin("sync", "kbs/none", "-n", tenant.namespace).status == 5


def test_a_renewal_that_the_service_refuses_ends_with_8_and_its_reason(
    plugin: Plugin, tenant: Tenant, installation: Installation
) -> None:
    certificates = open_certificates(tenant, installation)
    certificates.create("pki", certificate("front"))
    certificates.until_reason("pki", "Issued")
    path = f"/api/v1/cert-manager/certificate-policies/{certificates.policy_id}"
    others = [{"type": "dns_name", "allowed": ["*.elsewhere.example"]}]
    certificates.admin.send("PATCH", path, {"sans": others})
    words = ("sync", "kbcp/pki", "-n", tenant.namespace, "--wait")
    refused = seen(plugin(*words, "--request", "renew"))
    assert (refused.status, "RequestRefused" in refused.stdout) == (NOT_AS_WANTED, True)
    assert "front" in refused.stdout
    assert "front.example.com" in refused.stdout
    assert plugin("status", "kbcp", "-n", tenant.namespace, "--exit-code").status == 0


def test_what_is_wrong_with_each_kind_comes_with_what_to_do(
    plugin: Plugin, tenant: Tenant, installation: Installation
) -> None:
    connections = open_connections(tenant, installation)
    connections.create("store")
    connections.until_reason("store", "CredentialsNotFound")
    certificates = open_certificates(tenant, installation)
    certificates.create("pki", certificate("front"), policyRef={"name": "none"})
    certificates.until_reason("pki", "PolicyNotFound")
    tenant.sync("web", source=tenant.source(environment="none"))
    tenant.until_reason("web", "SourceNotFound")
    for words, step in (
        (("appconnection", "store"), "Create Secret remote-login"),
        (("certificateprofile/pki",), "keybearer policies list"),
        (("kbs", "web"), "keybearer environments list"),
    ):
        told = seen(plugin("explain", *words, "-n", tenant.namespace))
        assert told.status == 0
        assert step in told.stdout.partition("Next")[2], told.stdout
    assert plugin("explain", "pods/x").status == 2


def test_the_shell_is_offered_what_may_come_next(plugin: Plugin, tenant: Tenant) -> None:
    tenant.sync("web")
    complete = plugin.line
    assert complete("explain", "-n", tenant.namespace, "kbs/").stdout == "kbs/web\n:4\n"


def test_who_may_not_look_is_told_so(
    plugin: Plugin, operator_cluster: OperatorCluster, tenant: Tenant
) -> None:
    plane = operator_cluster.plane
    plane.kubectl("create", "serviceaccount", "nobody", f"--namespace={tenant.namespace}")
    nobody = plane.service_account_kubeconfig(tenant.namespace, "nobody")
    assert plugin("status", KUBECONFIG=str(nobody)).status == 4
