"""The pods: confined, started with arguments that the programs have, and given only what they need."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
import yaml

from keybearer.controllers.shared_identity import SharedGrant
from support.chart_values import ROWS
from support.rows import each_row
from tools.chart.rendering import Json, Manifest, only, pods_of, render

_CONTAINER = ("spec", "template", "spec", "containers", 0)
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_EVERYTHING = ROWS["everything about pods"]
_WITH_VARIABLES = (_EVERYTHING, ROWS["nearly all values at once"])


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_every_pod_is_confined(values: Mapping[str, Json]) -> None:
    for pod in pods_of(render(values)):
        context = pod.mapping("spec", "securityContext")
        assert context["runAsNonRoot"] is True
        assert context["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in _containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert isinstance(container["resources"], Mapping)
            assert "requests" in container["resources"]


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_every_mount_has_its_volume_and_every_volume_its_mount(values: Mapping[str, Json]) -> None:
    for pod in pods_of(render(values)):
        volumes = [volume["name"] for volume in pod.mappings("spec", "volumes")]
        mounts = [
            mount["name"]
            for container in _containers(pod)
            for mount in Manifest({"kind": "container", **container}).mappings("volumeMounts")
        ]
        assert len(set(volumes)) == len(volumes)
        assert set(volumes) == set(mounts)


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_every_file_that_an_argument_names_is_mounted(values: Mapping[str, Json]) -> None:
    for pod in pods_of(render(values)):
        container = ("spec", "containers", 0)
        mounts = [str(mount["mountPath"]) for mount in pod.mappings(*container, "volumeMounts")]
        if pod.mapping("spec").get("automountServiceAccountToken"):
            mounts.append(_ACCOUNT)  # by the API server
        for file in (argument for argument in pod.texts(*container, "args") if argument.startswith("/")):
            assert any(file == mount or file.startswith(f"{mount}/") for mount in mounts), file


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_no_secret_reaches_the_environment_or_the_arguments(values: Mapping[str, Json]) -> None:
    manifests = render(values)
    secrets = [one.mapping("data").values() for one in manifests if one.kind == "Secret"]
    for pod in pods_of(manifests):
        names = {
            str(one["name"])
            for container in _containers(pod)
            for one in Manifest({"kind": "container", **container}).mappings("env")
        }
        if all(values is not one for one in _WITH_VARIABLES):  # which bring some of their own
            assert names <= {"PGSSLMODE", "PGSSLROOTCERT"}
        assert "secretKeyRef" not in pod.as_yaml()
        assert not [container for container in _containers(pod) if "envFrom" in container]
        assert not [value for data in secrets for value in data if str(value) in pod.as_yaml()]


@each_row("values", ROWS.values(), ids=ROWS.keys())
def test_only_who_speaks_to_the_api_server_has_a_token_for_it(values: Mapping[str, Json]) -> None:
    manifests = render(values)
    reviews = any("tokenreviews" in one.as_yaml() for one in manifests)
    for pod in pods_of(manifests):
        part = pod.name.rpartition("-")[2]
        expected = {
            "backup": False,
            "operator": True,
            "service": reviews,
            "test": False,
            "uninstall": True,
        }[part]
        assert pod.at("spec", "automountServiceAccountToken") is expected


def test_the_platform_may_choose_users_and_groups() -> None:
    for pod in pods_of(render(_EVERYTHING)):
        context = pod.mapping("spec", "securityContext")
        assert context.keys() & {"runAsUser", "runAsGroup"} == set()
        assert context["fsGroup"] == 1000
    for pod in pods_of(render()):
        assert pod.at("spec", "securityContext", "runAsUser") == 65532


@pytest.mark.parametrize("part", ["operator", "service"])
def test_what_people_add_to_pods_is_there(part: str) -> None:
    manifests = render(_EVERYTHING)
    workload = next(
        one for one in manifests if one.kind in {"Deployment", "StatefulSet"} and one.name == f"kb-{part}"
    )
    assert workload.mapping("metadata", "labels")["i"] == "j"
    assert workload.annotation("k") == "l"
    assert workload.annotation("example.com/owner") == "platform"
    (pod,) = [one for one in pods_of(manifests) if one.name == f"kb-{part}"]
    assert pod.mapping("metadata", "labels")["a"] == "b"
    assert pod.annotation("c") == "d"
    container = ("spec", "containers", 0)
    env = {one["name"]: one for one in pod.mappings(*container, "env")}
    assert env["TZ"]["value"] == "UTC"
    assert "valueFrom" in env["NODE"]
    assert {"name": "extra", "configMap": {"name": "extra"}} in pod.mappings("spec", "volumes")
    assert "/etc/extra" in {mount["mountPath"] for mount in pod.mappings(*container, "volumeMounts")}
    liveness = pod.mapping(*container, "livenessProbe")
    assert (liveness["periodSeconds"], liveness["timeoutSeconds"]) == (20, 5), "the rest stays"
    extra = {"operator": "--api-audience=https://kubernetes.default.svc", "service": "--sync-workers=5"}[part]
    assert pod.texts(*container, "args")[-1] == extra
    assert pod.at("spec", "imagePullSecrets") == [{"name": "registry"}]


def test_replicas_spread_over_zones_and_nodes_where_that_is_possible() -> None:
    pod = only(pods_of(render()), "Pod", "-operator")
    (zones,) = pod.mappings("spec", "topologySpreadConstraints")
    assert (zones["topologyKey"], zones["whenUnsatisfiable"]) == (
        "topology.kubernetes.io/zone",
        "ScheduleAnyway",
    )
    selected = only(render(), "Deployment").mapping("spec", "selector")
    assert zones["labelSelector"] == selected
    alone = only(pods_of(render(ROWS["one replica without a Lease"])), "Pod", "-operator")
    assert alone.mapping("spec").keys() & {"affinity", "topologySpreadConstraints"} == set()


def test_a_constraint_of_ones_own_counts_these_pods_unless_it_says_which() -> None:
    manifests = render(_EVERYTHING)
    own, other = only(pods_of(manifests), "Pod", "-operator").mappings("spec", "topologySpreadConstraints")
    assert own["labelSelector"] == only(manifests, "Deployment").mapping("spec", "selector")
    assert other["labelSelector"] == {"matchLabels": {"app": "other"}}


def test_of_several_operators_one_may_be_disrupted_at_a_time() -> None:
    manifests = render()
    budget = only(manifests, "PodDisruptionBudget", "-operator")
    assert budget.at("spec", "maxUnavailable") == 1
    assert budget.mapping("spec", "selector") == only(manifests, "Deployment").mapping("spec", "selector")
    for row in ("one replica without a Lease", "everything about pods"):
        assert "PodDisruptionBudget" not in {one.kind for one in render(ROWS[row])}


def test_the_operator_sees_of_the_services_tls_secret_the_ca_certificate_alone() -> None:
    volumes = only(render(), "Deployment").mappings("spec", "template", "spec", "volumes")
    (secret,) = [volume["secret"] for volume in volumes if "secret" in volume]
    assert secret == {
        "secretName": "keybearer-service-tls",
        "items": [{"key": "ca.crt", "path": "ca.crt"}],
    }


def test_the_service_keeps_its_root_key_and_its_administrator_off_its_volume() -> None:
    service = only(render(), "StatefulSet")
    container = ("spec", "template", "spec", "containers", 0)
    mounts = {
        mount["name"]: str(mount["mountPath"]) for mount in service.mappings(*container, "volumeMounts")
    }
    assert _argument(service, "--data-dir").startswith(mounts["data"] + "/")
    assert _argument(service, "--root-key-file").startswith(mounts["root-key"] + "/")
    assert not mounts["root-key"].startswith(mounts["data"])
    assert not mounts["admin"].startswith(mounts["data"])


def test_the_operator_talks_to_the_service_by_the_name_in_its_certificate() -> None:
    operator = only(render(), "Deployment")
    assert _argument(operator, "--service-url") == "https://keybearer-service.keybearer-system.svc"
    other_port = only(render({"embeddedService": {"port": 8443}}), "Deployment")
    assert _argument(other_port, "--service-url") == "https://keybearer-service.keybearer-system.svc:8443"


def test_probes_of_the_service_have_a_port_of_their_own_that_no_service_leads_to() -> None:
    manifests = render()
    pod = only(manifests, "StatefulSet")
    container = Manifest({"kind": "container", **pod.mappings("spec", "template", "spec", "containers")[0]})
    assert _argument(pod, "--probe-listen") == "0.0.0.0:8081"
    assert {"name": "probes", "containerPort": 8081} in container.mappings("ports")
    for kind in ("startup", "liveness", "readiness"):
        assert container.mapping(f"{kind}Probe", "httpGet") == {"path": "/api/status", "port": "probes"}
    led = only(manifests, "Service", "-service").mappings("spec", "ports")
    assert [port["targetPort"] for port in led] == ["https"]


def test_connections_of_an_address_are_bounded_as_the_values_say() -> None:
    assert _argument(only(render(), "StatefulSet"), "--max-connections-per-address") == "64"
    raised = render({"embeddedService": {"connectionsPerAddress": 500}})
    assert _argument(only(raised, "StatefulSet"), "--max-connections-per-address") == "500"


def test_an_operator_for_another_service_is_not_given_our_ca() -> None:
    operator = only(render(ROWS["a service elsewhere over plain http"]), "Deployment")
    assert "--service-ca-file" not in operator.texts("spec", "template", "spec", "containers", 0, "args")


def test_the_operator_reads_the_grants_as_the_chart_writes_them() -> None:
    settings = only(render(ROWS["a shared identity with grants"]), "ConfigMap")
    grants = yaml.safe_load(settings.text("data", "shared-grants.yaml"))
    read = [SharedGrant.model_validate(grant) for grant in grants]
    assert [grant.project_slug or grant.project_id for grant in read] == ["web-shop", "8a0d"]
    assert [grant.namespace_labels for grant in read] == [{}, {"team": "web"}]


def test_a_change_of_the_grants_restarts_the_operator() -> None:
    def checksum(environment: str) -> str:
        grant: Json = {
            "namespaces": ["a"],
            "projectId": "p",
            "environment": environment,
            "secretPath": "/",
        }
        operator = only(
            render({"operator": {"sharedGrants": [grant], "sharedIdentity": {"existingSecret": "shared"}}}),
            "Deployment",
        )
        return operator.text("spec", "template", "metadata", "annotations", "checksum/settings")

    assert checksum("dev") != checksum("prod")


def _containers(pod: Manifest) -> list[Mapping[str, Json]]:
    return [*pod.mappings("spec", "initContainers"), *pod.mappings("spec", "containers")]


def _argument(workload: Manifest, flag: str) -> str:
    arguments = workload.texts("spec", "template", "spec", "containers", 0, "args")
    return arguments[arguments.index(flag) + 1]


@pytest.mark.parametrize("enabled", [True, False])
def test_the_service_reviews_tokens_as_itself_where_that_is_asked_for(*, enabled: bool) -> None:
    manifests = render({"embeddedService": {"tokenReviews": {"enabled": enabled}}})
    arguments = only(manifests, "StatefulSet").texts("spec", "template", "spec", "containers", 0, "args")
    assert (("--service-account-dir", _ACCOUNT) in itertools.pairwise(arguments)) is enabled
    assert any("tokenreviews" in one.as_yaml() for one in manifests) is enabled


def test_the_service_may_call_inner_addresses_that_are_listed() -> None:
    listed: list[Json] = ["10.0.0.0/8", "ldap.example.com:636"]
    manifests = render({"embeddedService": {"allowOutbound": listed}})
    arguments = only(manifests, "StatefulSet").texts("spec", "template", "spec", "containers", 0, "args")
    given = [value for flag, value in itertools.pairwise(arguments) if flag == "--allow-outbound"]
    assert given == listed
    assert "--allow-outbound" not in only(render(), "StatefulSet").as_yaml()


def test_both_programs_load_destinations_from_the_same_packages() -> None:
    listed: list[Json] = ["acme-for-keybearer", "their.store"]
    for manifests, expected in ((render({"destinationsFrom": listed}), listed), (render(), [])):
        for workload in (only(manifests, "StatefulSet"), only(manifests, "Deployment", "-operator")):
            arguments = workload.texts("spec", "template", "spec", "containers", 0, "args")
            pairs = itertools.pairwise(arguments)
            assert [value for flag, value in pairs if flag == "--destinations-from"] == expected


def test_certificates_say_where_the_service_is_if_that_is_told() -> None:
    url = "http://pki.example.com/under"
    told = only(render({"embeddedService": {"publicUrl": url}}), "StatefulSet")
    assert _argument(told, "--public-url") == url
    assert "--public-url" not in only(render(), "StatefulSet").as_yaml()


def test_services_on_postgresql_have_the_url_from_a_file_and_no_volume() -> None:
    manifests = render(ROWS["three services on PostgreSQL"])
    assert "StatefulSet" not in {one.kind for one in manifests}
    service = only(manifests, "Deployment", "-service")
    assert service.at("spec", "replicas") == 3
    assert _argument(service, "--database-url-file") == "/etc/keybearer/database/url"
    volumes = {one["name"]: one for one in service.mappings("spec", "template", "spec", "volumes")}
    assert volumes["database"]["secret"] == {
        "secretName": "my-database",
        "defaultMode": 0o400,
        "items": [{"key": "url", "path": "url"}],
    }
    assert "emptyDir" in volumes["data"]
    assert "PersistentVolumeClaim" not in service.as_yaml()


def test_of_several_services_one_may_be_disrupted_at_a_time_and_nodes_are_shared_last() -> None:
    manifests = render(ROWS["three services on PostgreSQL"])
    service, budget = (
        only(manifests, "Deployment", "-service"),
        only(manifests, "PodDisruptionBudget", "-service"),
    )
    assert budget.at("spec", "maxUnavailable") == 1
    assert budget.mapping("spec", "selector") == service.mapping("spec", "selector")
    assert "podAntiAffinity" in service.mapping("spec", "template", "spec", "affinity")
    alone = render(ROWS["one service on PostgreSQL, with its CA"])
    assert [one.name for one in alone if one.kind == "PodDisruptionBudget"] == ["keybearer-operator"]


def test_the_ca_of_postgresql_has_its_server_verified_unless_the_url_says_otherwise() -> None:
    service = only(render(ROWS["one service on PostgreSQL, with its CA"]), "Deployment", "-service")
    variables = {str(one["name"]): one["value"] for one in service.mappings(*_CONTAINER, "env")}
    assert variables == {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": "/etc/keybearer/database-ca/ca.crt"}
    mounts = {one["name"]: one["mountPath"] for one in service.mappings(*_CONTAINER, "volumeMounts")}
    assert mounts["database-ca"] == "/etc/keybearer/database-ca"
    without = only(render(ROWS["three services on PostgreSQL"]), "Deployment", "-service")
    assert not without.mappings(*_CONTAINER, "env")


def test_an_operator_without_a_lease_is_gone_before_the_next_one_starts() -> None:
    alone = only(render(ROWS["one replica without a Lease"]), "Deployment")
    assert alone.at("spec", "strategy") == {"type": "Recreate"}
    assert alone.at("spec", "replicas") == 1
    assert only(render(), "Deployment").text("spec", "strategy", "type") == "RollingUpdate"
