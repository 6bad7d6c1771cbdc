"""The pods: confined, started with arguments that the programs have, and given only what they need."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
import yaml

from keybearer.controllers.shared_identity import SharedGrant
from support.chart import Json, Manifest, only, render
from support.chart_values import ROWS

_CONTAINER = ("spec", "template", "spec", "containers", 0)
_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"


def _pods(values: Mapping[str, Json]) -> list[Manifest]:
    return [one for one in render(values) if one.kind in {"Deployment", "StatefulSet"}]


@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_every_pod_is_confined(values: Mapping[str, Json]) -> None:
    for workload in _pods(values):
        pod = workload.mapping("spec", "template", "spec", "securityContext")
        assert pod["runAsNonRoot"] is True
        assert pod["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in workload.mappings("spec", "template", "spec", "containers"):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_every_mount_has_its_volume_and_every_volume_its_mount(values: Mapping[str, Json]) -> None:
    for workload in _pods(values):
        pod = ("spec", "template", "spec")
        volumes = {volume["name"] for volume in workload.mappings(*pod, "volumes")}
        for position, _ in enumerate(workload.mappings("spec", "volumeClaimTemplates")):
            volumes.add(workload.text("spec", "volumeClaimTemplates", position, "metadata", "name"))
        mounts = {mount["name"] for mount in workload.mappings(*pod, "containers", 0, "volumeMounts")}
        assert volumes == mounts


@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_every_file_that_an_argument_names_is_mounted(values: Mapping[str, Json]) -> None:
    for workload in _pods(values):
        container = ("spec", "template", "spec", "containers", 0)
        mounts = [str(mount["mountPath"]) for mount in workload.mappings(*container, "volumeMounts")]
        if workload.mapping("spec", "template", "spec").get("automountServiceAccountToken"):
            mounts.append(_ACCOUNT)  # by the API server
        files = [argument for argument in workload.texts(*container, "args") if argument.startswith("/")]
        for file in files:
            assert any(file == mount or file.startswith(f"{mount}/") for mount in mounts), file


@pytest.mark.parametrize("values", ROWS.values(), ids=ROWS.keys())
def test_no_secret_reaches_the_environment_or_the_arguments(values: Mapping[str, Json]) -> None:
    secrets = [one.mapping("data").values() for one in render(values) if one.kind == "Secret"]
    for workload in _pods(values):
        container = workload.mappings("spec", "template", "spec", "containers")[0]
        env = {str(one["name"]): one for one in workload.mappings(*_CONTAINER, "env")}
        assert env.keys() <= {"PGSSLMODE", "PGSSLROOTCERT"}
        assert all("valueFrom" not in one for one in env.values())
        assert "envFrom" not in container
        assert not [value for data in secrets for value in data if str(value) in workload.as_yaml()]


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


def test_an_operator_for_another_service_is_not_given_our_ca() -> None:
    operator = only(render(ROWS["the embedded service, yet an operator for another"]), "Deployment")
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
        operator = only(render({"operator": {"sharedGrants": [grant]}}), "Deployment")
        return operator.text("spec", "template", "metadata", "annotations", "checksum/settings")

    assert checksum("dev") != checksum("prod")


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
    service, budget = only(manifests, "Deployment", "-service"), only(manifests, "PodDisruptionBudget")
    assert budget.at("spec", "maxUnavailable") == 1
    assert budget.mapping("spec", "selector") == service.mapping("spec", "selector")
    assert "podAntiAffinity" in service.mapping("spec", "template", "spec", "affinity")
    alone = render(ROWS["one service on PostgreSQL, with its CA"])
    assert "PodDisruptionBudget" not in {one.kind for one in alone}


def test_the_ca_of_postgresql_has_its_server_verified_unless_the_url_says_otherwise() -> None:
    service = only(render(ROWS["one service on PostgreSQL, with its CA"]), "Deployment", "-service")
    variables = {str(one["name"]): one["value"] for one in service.mappings(*_CONTAINER, "env")}
    assert variables == {"PGSSLMODE": "verify-full", "PGSSLROOTCERT": "/etc/keybearer/database-ca/ca.crt"}
    mounts = {one["name"]: one["mountPath"] for one in service.mappings(*_CONTAINER, "volumeMounts")}
    assert mounts["database-ca"] == "/etc/keybearer/database-ca"
    without = only(render(ROWS["three services on PostgreSQL"]), "Deployment", "-service")
    assert not without.mappings(*_CONTAINER, "env")
