"""NetworkPolicies: closed but for what the parts need, and for what people list."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from support.chart_values import ROWS
from tools.chart.rendering import Json, Manifest, only, pods_of, render

_CLOSED = ROWS["closed networks"]
_ELSEWHERE = ROWS["closed networks, a service elsewhere, and nobody who reads metrics"]


def _policy(values: Mapping[str, Json], suffix: str) -> Manifest:
    return only(render(values), "NetworkPolicy", suffix)


def _ports(policy: Manifest, rule: int) -> list[Json]:
    return [one["port"] for one in policy.mappings("spec", "egress", rule, "ports")]


@pytest.mark.parametrize("values", [_CLOSED, _ELSEWHERE], ids=["embedded service", "service elsewhere"])
def test_every_pod_is_under_one_policy_of_both_directions(values: Mapping[str, Json]) -> None:
    manifests = render(values)
    policies = [one for one in manifests if one.kind == "NetworkPolicy"]
    for pod in pods_of(manifests):
        labels = pod.mapping("metadata", "labels").items()
        over = [
            one for one in policies if one.mapping("spec", "podSelector", "matchLabels").items() <= labels
        ]
        assert len(over) == 1, pod.name
        assert over[0].at("spec", "policyTypes") == ["Ingress", "Egress"]


def test_no_policy_is_made_unless_asked_for() -> None:
    assert "NetworkPolicy" not in {one.kind for one in render()}


def test_the_operator_reaches_dns_the_api_server_its_services_and_what_is_listed() -> None:
    policy = _policy(_CLOSED, "-operator")
    assert _ports(policy, 0) == [53, 53, 5353, 5353]
    assert _ports(policy, 1) == [6443]
    service = only(render(_CLOSED), "StatefulSet").mapping("spec", "selector")
    assert policy.at("spec", "egress", 2, "to") == [{"podSelector": service}]
    assert _ports(policy, 2) == [8443]
    assert _ports(policy, 3) == [8443, 443], "of operator.allowServiceUrls"
    assert policy.at("spec", "egress", 4, "to") == [{"ipBlock": {"cidr": "10.1.0.0/16"}}]
    assert len(policy.mappings("spec", "egress")) == 5


def test_a_service_elsewhere_is_reached_at_the_port_of_its_url() -> None:
    policy = _policy(_ELSEWHERE, "-operator")
    assert _ports(policy, 2) == [9443]
    assert len(policy.mappings("spec", "egress")) == 3


def test_metrics_are_read_by_who_is_listed_and_by_helm_test() -> None:
    (rule,) = _policy(_CLOSED, "-operator").mappings("spec", "ingress")
    listed, tests = Manifest({"kind": "rule", **rule}).mappings("from")
    assert "namespaceSelector" in listed
    assert "podSelector" in tests
    assert _policy(_ELSEWHERE, "-operator").at("spec", "ingress") == []


def test_the_service_is_reached_by_the_operator_and_who_is_listed() -> None:
    manifests = render(_CLOSED)
    (rule,) = only(manifests, "NetworkPolicy", "-service").mappings("spec", "ingress")
    operator, _, listed = Manifest({"kind": "rule", **rule}).mappings("from")
    assert operator == {"podSelector": only(manifests, "Deployment").mapping("spec", "selector")}
    assert listed == {"podSelector": {"matchLabels": {"app": "ci"}}}
    assert rule["ports"] == [{"port": "https", "protocol": "TCP"}]


def test_the_service_goes_where_it_is_told_to_or_anywhere() -> None:
    policy = _policy(_CLOSED, "-service")
    assert [_ports(policy, rule) for rule in range(3)] == [[53, 53, 5353, 5353], [6443], [5432]]
    anywhere = _policy({"networkPolicy": {"enabled": True}}, "-service")
    assert anywhere.at("spec", "egress") == [{}]
