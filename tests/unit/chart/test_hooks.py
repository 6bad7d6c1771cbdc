"""What exists for the time of `helm test` and `helm uninstall` only."""

from __future__ import annotations

from support.chart_values import ROWS
from tools.chart.rendering import Json, only, pods_of, render


def test_the_hook_of_the_removal_comes_after_its_rights_and_before_the_operator_goes() -> None:
    hooks = [one for one in render() if one.annotation("helm.sh/hook") == "pre-delete"]
    weights = {one.kind: int(one.annotation("helm.sh/hook-weight")) for one in hooks}
    assert weights.keys() == {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Job"}
    job = weights.pop("Job")
    assert max(weights.values()) < job
    assert {one.annotation("helm.sh/hook-delete-policy") for one in hooks} == {
        "before-hook-creation,hook-succeeded"
    }


def test_the_hook_looks_where_the_operator_serves_and_deletes_only_where_asked() -> None:
    def arguments(row: str) -> list[str]:
        return only(pods_of(render(ROWS[row])), "Pod", "-uninstall").texts("spec", "containers", 0, "args")

    assert arguments("defaults") == ["await-cleanup", "--timeout", "300"]
    assert arguments("two namespaces with all that they can have, and grants by label") == [
        *("await-cleanup", "--timeout", "60", "--delete-all"),
        *("--namespace", "team-a", "--namespace", "keybearer-system"),
    ]


def test_the_hook_has_longer_than_the_program_that_it_runs() -> None:
    values: dict[str, Json] = {"uninstall": {"timeoutSeconds": 600}}
    assert int(str(only(render(values), "Job").at("spec", "activeDeadlineSeconds"))) > 600


def test_without_the_hook_nothing_of_it_is_made() -> None:
    off: dict[str, Json] = {"uninstall": {"waitForFinalizers": False}, "tests": {"enabled": False}}
    assert not [one.name for one in render(off) if one.annotation("helm.sh/hook")]
    deleting: dict[str, Json] = {"uninstall": {"waitForFinalizers": False, "deleteCustomResources": True}}
    assert only(render(deleting), "Job").annotation("helm.sh/hook") == "pre-delete"


def test_helm_test_asks_the_service_that_the_operator_uses_under_the_ca_that_it_trusts() -> None:
    def arguments(row: str) -> list[str]:
        return only(pods_of(render(ROWS[row])), "Pod", "-test").texts("spec", "containers", 0, "args")[2:]

    operator = "http://keybearer-operator-metrics.keybearer-system.svc:8081"
    ca = "/etc/keybearer/service-ca/ca.crt"
    assert arguments("defaults") == ["https://keybearer-service.keybearer-system.svc", operator, ca]
    assert arguments("a service elsewhere") == ["https://secrets.example.com/base", operator, ca]
    assert arguments("a service elsewhere over plain http") == [
        "http://secrets.example.com",
        operator,
    ]
