"""Who may do what: the rules of the chart, verb by verb.

That each of them is used, and nothing beyond them asked for, is seen by `integration/test_chart_rights.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from keybearer.cli.doctor.rights import SERVED_RIGHTS
from keybearer.kube import resources
from support.chart_values import ROWS, SIGNERS
from support.rows import each_row
from tools.chart.rendering import NAMESPACE, Json, Manifest, only, render

_CLUSTER_KINDS = {"ClusterRole", "ClusterRoleBinding"}

_SERVED = {
    "keybearer.dev/secretsyncs": "get list watch patch",
    "keybearer.dev/secretsyncs/status": "patch",
    "keybearer.dev/appconnections": "get list watch patch",
    "keybearer.dev/appconnections/status": "patch",
    "keybearer.dev/certificateprofiles": "get list watch patch",
    "keybearer.dev/certificateprofiles/status": "patch",
    "/secrets": "get list watch create patch delete",
    "/configmaps": "get list watch create patch delete",
    "events.k8s.io/events": "create patch",
}
_RESTARTS = dict.fromkeys(("apps/deployments", "apps/statefulsets", "apps/daemonsets"), "patch")
_REFRESHES = {"/pods": "get list patch"}
_CERT_MANAGER = {
    "cert-manager.io/certificaterequests": "get list watch",
    "cert-manager.io/certificaterequests/status": "patch",
}
_SIGNING_REQUESTS = {
    "certificates.k8s.io/certificatesigningrequests": "get list watch",
    "certificates.k8s.io/certificatesigningrequests/status": "patch",
    "authorization.k8s.io/subjectaccessreviews": "create",
}
_POD_REQUESTS = {
    "certificates.k8s.io/podcertificaterequests": "get list watch",
    "certificates.k8s.io/podcertificaterequests/status": "patch",
}
_BUNDLES = {"certificates.k8s.io/clustertrustbundles": "list watch create patch delete"}
_OUR_SIGNERS = "certificates.k8s.io/signers certificateprofiles.keybearer.dev/*"
_APPROVED_SIGNERS = "cert-manager.io/signers certificateprofiles.keybearer.dev/*"
_OWN_UID = {"/namespaces kube-system": "get"}
_ALL_NAMESPACES = _SERVED | _RESTARTS | _OWN_UID


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


def test_the_doctor_asks_for_the_rights_that_the_chart_gives() -> None:
    asked = {f"{one.group}/{one.resource}": " ".join(one.verbs) for one in SERVED_RIGHTS}
    assert asked == _SERVED


def test_minting_tokens_is_granted_only_when_asked_for() -> None:
    asked = render({"operator": {"allowServiceAccountTokens": True}})
    granted = _rules(only(asked, "ClusterRole", "-operator"))
    assert granted == _ALL_NAMESPACES | {"/serviceaccounts/token": "create"}


def test_workloads_may_be_patched_only_where_restarts_are_on() -> None:
    without = render({"operator": {"rolloutRestart": {"enabled": False}}})
    assert _rules(only(without, "ClusterRole", "-operator")) == _SERVED | _OWN_UID


def test_pods_are_touched_only_where_mounts_are_refreshed() -> None:
    asked = render({"operator": {"refreshMounts": {"enabled": True}}})
    granted = _rules(only(asked, "ClusterRole", "-operator"))
    assert granted == _ALL_NAMESPACES | _REFRESHES


def test_namespaces_are_read_for_what_is_asked_of_them() -> None:
    named = render({"operator": {"clusterId": "edge"}})
    assert _rules(only(named, "ClusterRole", "-operator")) == _SERVED | _RESTARTS
    grant: Json = {"namespaceLabels": {"team": "a"}, "projectId": "p", "environment": "dev"}
    shared: Mapping[str, Json] = {"sharedGrants": [grant], "sharedIdentity": {"existingSecret": "shared"}}
    by_label = render({"operator": {"clusterId": "edge", **shared}})
    assert _rules(only(by_label, "ClusterRole", "-operator")) == _SERVED | _RESTARTS | {"/namespaces": "get"}


_SIGNER_VALUES = {
    "certManager": (_CERT_MANAGER, ""),
    "certificateSigningRequests": (_SIGNING_REQUESTS, "sign"),
    "podCertificates": (_POD_REQUESTS, "sign"),
    "trustBundles": (_BUNDLES, "attest"),
}


@pytest.mark.parametrize(
    "wanted", [(), *((one,) for one in _SIGNER_VALUES)], ids=lambda one: "".join(one) or "none"
)
def test_each_signer_brings_its_own_rights_and_no_other(wanted: tuple[str, ...]) -> None:
    switches: Mapping[str, Json] = {name: {"enabled": True} for name in wanted}
    granted = _rules(only(render({"operator": {"signers": switches}}), "ClusterRole", "-operator"))

    expected: dict[str, str] = {**_ALL_NAMESPACES}
    for name in wanted:
        rules, verb = _SIGNER_VALUES[name]
        expected |= rules | ({_OUR_SIGNERS: verb} if verb else {})
    assert granted == expected


def test_those_who_sign_and_those_who_vouch_share_one_rule() -> None:
    granted = _rules(only(render(ROWS["every signer, and no restarts"]), "ClusterRole", "-operator"))
    assert granted[_OUR_SIGNERS] == "sign attest"
    assert _SIGNER_VALUES.keys() == set(SIGNERS)


def test_cert_manager_may_approve_for_our_profiles_only_where_it_is_named() -> None:
    approver: Mapping[str, Json] = {"enabled": True, "approver": {"name": "cert-manager"}}
    unnamed = render({"operator": {"signers": {"certManager": {"enabled": True}}}})
    assert not [one.name for one in unnamed if one.name.endswith("-approver")]

    manifests = render({"operator": {"signers": {"certManager": approver}}})
    assert _rules(only(manifests, "ClusterRole", "-approver")) == {_APPROVED_SIGNERS: "approve"}
    (subject,) = only(manifests, "ClusterRoleBinding", "-approver").mappings("subjects")
    assert (subject["namespace"], subject["name"]) == ("cert-manager", "cert-manager")


@pytest.mark.parametrize(
    ("row", "served", "wanted"),
    [
        pytest.param(
            "two namespaces only", ("team-a", "team-b"), _SERVED | _RESTARTS, id="as they are by themselves"
        ),
        pytest.param(
            "two namespaces with all that they can have, and grants by label",
            ("team-a", NAMESPACE),
            _SERVED | _RESTARTS | _REFRESHES | _CERT_MANAGER | {"/serviceaccounts/token": "create"},
            id="with all that they can have",
        ),
    ],
)
def test_an_operator_for_single_namespaces_has_no_right_across_the_cluster(
    row: str, served: tuple[str, ...], wanted: dict[str, str]
) -> None:
    manifests = render(ROWS[row])
    own = _of_the_operator(manifests)
    assert {one.kind for one in own} <= {"ServiceAccount", "Role", "RoleBinding"}
    labels = "by label" in row
    for namespace in served:
        (role,) = [one for one in own if one.kind == "Role" and _is_of(one, namespace)]
        (binding,) = [one for one in own if one.kind == "RoleBinding" and _is_of(one, namespace)]
        assert _rules(role) == wanted | ({f"/namespaces {namespace}": "get"} if labels else {})
        assert binding.mapping("roleRef")["name"] == role.name


def _of_the_operator(manifests: list[Manifest]) -> list[Manifest]:
    kinds = {"ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
    return [
        one
        for one in manifests
        if one.kind in kinds
        and one.mapping("metadata", "labels").get("app.kubernetes.io/component") == "operator"
    ]


def _is_of(one: Manifest, namespace: str) -> bool:
    """Whether it is the Role, or its binding, for serving a namespace, not for the operator's own objects."""
    return one.namespace == namespace and one.name == f"{NAMESPACE}-keybearer-operator"


_LEASE = {
    "coordination.k8s.io/leases": "create",
    "coordination.k8s.io/leases keybearer-operator": "get patch",
}
_OWN_SECRETS = {
    "/secrets": "create",
    "/secrets keybearer-operator-fingerprint-key": "get",
    "/secrets keybearer-operator-cleanup-tokens": "get patch",
}


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        pytest.param("defaults", _LEASE, id="who writes all Secrets anyway"),
        pytest.param("two namespaces only", _LEASE | _OWN_SECRETS, id="who serves other namespaces"),
        pytest.param(
            "two namespaces with all that they can have, and grants by label",
            _LEASE,
            id="who serves its own namespace too",
        ),
        pytest.param("one replica without a Lease", {}, id="who needs none"),
    ],
)
def test_in_its_own_namespace_the_operator_adds_its_lease_and_its_own_secrets(
    row: str, wanted: dict[str, str]
) -> None:
    roles = [
        one
        for one in _of_the_operator(render(ROWS[row]))
        if (one.kind, one.name) == ("Role", "keybearer-operator")
    ]
    assert [(role.namespace, _rules(role)) for role in roles] == ([(NAMESPACE, wanted)] if wanted else [])


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


@pytest.mark.parametrize(("delete", "verbs"), [(False, "list"), (True, "list delete")])
@pytest.mark.parametrize("namespaces", [[], ["team-a"]], ids=["everywhere", "in one namespace"])
def test_the_hook_of_the_removal_may_look_and_delete_only_where_asked(
    namespaces: list[Json], verbs: str, *, delete: bool
) -> None:
    manifests = render(
        {
            "operator": {"namespaces": namespaces, "clusterId": "edge"},
            "uninstall": {"deleteCustomResources": delete},
        }
    )
    roles = [one for one in manifests if one.name.endswith("-uninstall") and one.kind.endswith("Role")]
    kinds = ("secretsyncs", "appconnections", "certificateprofiles")
    assert [(one.kind, one.namespace, _rules(one)) for one in roles] == [
        (
            "Role" if namespaces else "ClusterRole",
            str(namespaces[0]) if namespaces else "",
            {f"keybearer.dev/{kind}": verbs for kind in kinds},
        )
    ]


def test_a_service_without_token_reviews_has_no_token_and_no_role() -> None:
    manifests = render()
    assert not [one.name for one in manifests if one.kind in _CLUSTER_KINDS and one.name.endswith("-service")]
    pod = only(manifests, "StatefulSet").mapping("spec", "template", "spec")
    assert pod["automountServiceAccountToken"] is False


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_no_rule_has_a_wildcard_or_a_verb_that_hands_on_rights(values: Mapping[str, Json]) -> None:
    for role in render(values):
        if role.kind in {"Role", "ClusterRole"}:
            for target, verbs in _rules(role).items():
                if target in (_OUR_SIGNERS, _APPROVED_SIGNERS):
                    continue  # our own domain of signers, whose names come and go with the profiles
                assert "*" not in target + verbs, role.name
                assert not {"impersonate", "escalate", "bind", "approve", "sign"} & set(verbs.split()), (
                    role.name
                )


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_every_binding_leads_from_an_account_of_the_release_to_a_role_that_exists(
    values: Mapping[str, Json],
) -> None:
    manifests = render(values)
    accounts = {
        one.text("spec", "template", "spec", "serviceAccountName") for one in manifests if _has_account(one)
    }
    roles = {(one.kind, one.namespace, one.name) for one in manifests}
    for one in manifests:
        if one.kind.endswith("RoleBinding"):
            kind, name = one.text("roleRef", "kind"), one.text("roleRef", "name")
            assert (kind, one.namespace if kind == "Role" else "", name) in roles
            for subject in one.mappings("subjects"):
                if one.name.endswith("-cert-manager-approver"):
                    continue  # another program's, named by the values
                assert subject["name"] in accounts
                assert subject["namespace"] == NAMESPACE


def test_the_rules_cover_every_resource_that_the_operator_speaks_of() -> None:
    # The command line alone looks at these, with the rights of a person.
    not_needed = {resources.CRON_JOBS, resources.CUSTOM_RESOURCE_DEFINITIONS, resources.SERVICE_ACCOUNTS}
    every: Mapping[str, Json] = {name: {"enabled": True} for name in SIGNERS}
    grant: Json = {"namespaceLabels": {"team": "a"}, "projectId": "p", "environment": "dev"}
    refreshes: Json = {"enabled": True}
    shared: Mapping[str, Json] = {"sharedGrants": [grant], "sharedIdentity": {"existingSecret": "shared"}}
    operator: Json = {"signers": every, **shared, "refreshMounts": refreshes}
    manifests = render({"operator": operator})
    granted = _rules(only(manifests, "ClusterRole", "-operator")) | _rules(only(manifests, "Role"))
    spoken_of = {one for one in vars(resources).values() if isinstance(one, resources.Resource)} - not_needed
    assert spoken_of
    assert {f"{one.group}/{one.plural}" for one in spoken_of} <= granted.keys()


def test_users_who_may_view_or_edit_come_to_cover_our_kinds() -> None:
    manifests = render()
    view, edit = only(manifests, "ClusterRole", "-view"), only(manifests, "ClusterRole", "-edit")
    kinds = tuple(
        f"keybearer.dev/{kind}" for kind in ("secretsyncs", "appconnections", "certificateprofiles")
    )
    assert _rules(view) == dict.fromkeys(kinds, "get list watch")
    assert _rules(edit) == dict.fromkeys(kinds, "create update patch delete deletecollection")


def _has_account(manifest: Manifest) -> bool:
    return manifest.kind in {"Deployment", "StatefulSet", "Job"}
