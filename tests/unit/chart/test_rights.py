"""Who may do what: the rules of the chart, verb by verb."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from keybearer.kube import resources
from support.chart import NAMESPACE, Json, Manifest, only, render
from support.chart_values import ROWS

_CLUSTER_KINDS = {"ClusterRole", "ClusterRoleBinding"}

_SERVED = {
    "keybearer.dev/secretsyncs": "get list watch patch",
    "keybearer.dev/secretsyncs/status": "patch",
    "keybearer.dev/appconnections": "get list watch patch",
    "keybearer.dev/appconnections/status": "patch",
    "/secrets": "get list watch create patch delete",
    "/configmaps": "get list watch create patch delete",
    "apps/deployments": "get patch",
    "apps/statefulsets": "get patch",
    "apps/daemonsets": "get patch",
    "events.k8s.io/events": "create patch",
}
_ALL_NAMESPACES = _SERVED | {"/namespaces": "get"}


def _rules(role: Manifest) -> dict[str, str]:
    """`group/resource[ name]` to the verbs, in their order."""
    rules: dict[str, str] = {}
    for position, _ in enumerate(role.mappings("rules")):
        names = role.mappings("rules")[position].get("resourceNames", [])
        assert isinstance(names, list)
        for group in role.texts("rules", position, "apiGroups"):
            for resource in role.texts("rules", position, "resources"):
                for name in names or [""]:
                    target = f"{group}/{resource} {name}".strip()
                    assert target not in rules, target
                    rules[target] = " ".join(role.texts("rules", position, "verbs"))
    return rules


def test_the_operator_may_do_what_the_table_says_and_nothing_else() -> None:
    assert _rules(only(render(), "ClusterRole", "-operator")) == _ALL_NAMESPACES


def test_minting_tokens_is_granted_only_when_asked_for() -> None:
    asked = render({"operator": {"allowServiceAccountTokens": True}})
    granted = _rules(only(asked, "ClusterRole", "-operator"))
    assert granted == _ALL_NAMESPACES | {"/serviceaccounts/token": "create"}


def test_an_operator_for_single_namespaces_has_no_right_across_the_cluster() -> None:
    manifests = render(ROWS["two namespaces only"])
    assert not [
        one.name for one in manifests if one.kind in _CLUSTER_KINDS and one.name.endswith("-operator")
    ]
    for namespace in ("team-a", "team-b"):
        (role,) = [one for one in manifests if one.kind == "Role" and one.namespace == namespace]
        (binding,) = [one for one in manifests if one.kind == "RoleBinding" and one.namespace == namespace]
        assert _rules(role) == _SERVED | {f"/namespaces {namespace}": "get"}
        assert binding.mapping("roleRef")["name"] == role.name


def test_in_its_own_namespace_the_operator_adds_its_lease_and_its_fingerprint_key() -> None:
    (role,) = [one for one in render() if one.kind == "Role"]
    assert role.namespace == NAMESPACE
    assert _rules(role) == {
        "coordination.k8s.io/leases": "create",
        "coordination.k8s.io/leases keybearer-operator": "get update patch",
        "/secrets": "create",
        "/secrets keybearer-operator-fingerprint-key": "get",
    }


def test_the_service_may_create_token_reviews_when_asked_and_nothing_else() -> None:
    manifests = render({"embeddedService": {"tokenReviews": {"enabled": True}}})
    assert _rules(only(manifests, "ClusterRole", "-service")) == {
        "authentication.k8s.io/tokenreviews": "create"
    }
    account = only(manifests, "StatefulSet").text("spec", "template", "spec", "serviceAccountName")
    bound = [
        one.name
        for one in manifests
        if one.kind.endswith("RoleBinding")
        and account in {subject["name"] for subject in one.mappings("subjects")}
    ]
    assert bound == [f"{NAMESPACE}-keybearer-service"]


def test_a_service_without_token_reviews_has_no_token_and_no_role() -> None:
    manifests = render()
    assert not [one.name for one in manifests if one.kind in _CLUSTER_KINDS and one.name.endswith("-service")]
    pod = only(manifests, "StatefulSet").mapping("spec", "template", "spec")
    assert pod["automountServiceAccountToken"] is False


@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_no_rule_has_a_wildcard_or_a_verb_that_hands_on_rights(values: Mapping[str, Json]) -> None:
    for role in render(values):
        if role.kind in {"Role", "ClusterRole"}:
            for target, verbs in _rules(role).items():
                assert "*" not in target + verbs, role.name
                assert not {"impersonate", "escalate", "bind", "approve", "sign"} & set(verbs.split()), (
                    role.name
                )


@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_every_binding_leads_from_an_account_of_the_release_to_a_role_that_exists(
    values: Mapping[str, Json],
) -> None:
    manifests = render(values)
    accounts = {
        one.text("spec", "template", "spec", "serviceAccountName") for one in manifests if _is_workload(one)
    }
    roles = {(one.kind, one.namespace, one.name) for one in manifests}
    for one in manifests:
        if one.kind.endswith("RoleBinding"):
            kind, name = one.text("roleRef", "kind"), one.text("roleRef", "name")
            assert (kind, one.namespace if kind == "Role" else "", name) in roles
            for subject in one.mappings("subjects"):
                assert subject["name"] in accounts
                assert subject["namespace"] == NAMESPACE


def test_the_rules_cover_every_resource_that_the_operator_speaks_of() -> None:
    not_needed = {resources.CUSTOM_RESOURCE_DEFINITIONS, resources.SERVICE_ACCOUNTS}
    granted = _rules(only(render(), "ClusterRole", "-operator")) | _rules(only(render(), "Role"))
    spoken_of = {one for one in vars(resources).values() if isinstance(one, resources.Resource)} - not_needed
    assert spoken_of
    assert {f"{one.group}/{one.plural}" for one in spoken_of} <= granted.keys()


def test_users_who_may_view_or_edit_come_to_cover_our_kinds() -> None:
    manifests = render()
    view, edit = only(manifests, "ClusterRole", "-view"), only(manifests, "ClusterRole", "-edit")
    kinds = ("keybearer.dev/secretsyncs", "keybearer.dev/appconnections")
    assert _rules(view) == dict.fromkeys(kinds, "get list watch")
    assert _rules(edit) == dict.fromkeys(kinds, "create update patch delete deletecollection")


def _is_workload(manifest: Manifest) -> bool:
    return manifest.kind in {"Deployment", "StatefulSet"}
