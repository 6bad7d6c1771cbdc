"""The CronJob of backups: where the service's volume is, without rights or keys, and never two at once."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from support.chart_values import MONITORED, ROWS
from tools.chart.rendering import Json, Manifest, only, pods_of, render

_PLAIN: dict[str, Json] = {"embeddedService": {"backup": {"enabled": True}}}
_FULL = ROWS["backups with everything, in closed networks"]
_POSTGRESQL = ROWS["backups of PostgreSQL, in closed networks"]
_BROUGHT = ROWS["claims brought by the user, of data and of backups"]


def _pod(values: object) -> Manifest:
    return only(pods_of(render(values)), "Pod", "-backup")  # type: ignore[arg-type]  # JSON


def _claims(pod: Manifest) -> dict[str, str]:
    return {
        str(one["name"]): str(Manifest({"kind": "volume", **one}).at("persistentVolumeClaim", "claimName"))
        for one in pod.mappings("spec", "volumes")
        if "persistentVolumeClaim" in one
    }


def test_no_backups_are_made_unless_asked_for() -> None:
    assert not [one.name for one in render() if "backup" in one.name]
    elsewhere: dict[str, Json] = {
        "embeddedService": {"enabled": False, "backup": {"enabled": True}},
        "operator": {"serviceUrl": "https://secrets.example.com"},
    }
    assert not [one.name for one in render(elsewhere) if "backup" in one.name]


def test_a_backup_runs_on_the_node_of_the_services_pod_or_not_at_all() -> None:
    for values in (_PLAIN, _FULL):
        manifests = render(values)
        affinity = _pod(values).mapping("spec", "affinity")
        assert affinity == {
            "podAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "topologyKey": "kubernetes.io/hostname",
                        "labelSelector": only(manifests, "StatefulSet").mapping("spec", "selector"),
                    }
                ]
            }
        }
    service = only(pods_of(render(_FULL)), "Pod", "-service")
    for placed in ("nodeSelector", "tolerations"):
        assert _pod(_FULL).at("spec", placed) == service.at("spec", placed)


def test_the_services_volume_is_read_and_only_that_of_backups_written() -> None:
    assert _claims(_pod(_PLAIN)) == {"data": "data-keybearer-service-0", "backups": "keybearer-backups"}
    assert _claims(_pod(_BROUGHT)) == {"data": "my-claim", "backups": "my-backups"}
    mounts = {str(one["name"]): one for one in _pod(_PLAIN).mappings("spec", "containers", 0, "volumeMounts")}
    assert {name for name, one in mounts.items() if not one.get("readOnly")} == {"backups", "tmp"}
    service = only(pods_of(render(_PLAIN)), "Pod", "-service")
    (data,) = [
        one for one in service.mappings("spec", "containers", 0, "volumeMounts") if one["name"] == "data"
    ]
    assert mounts["data"]["mountPath"] == data["mountPath"]


def test_no_key_and_no_account_is_in_the_pod() -> None:
    for values in (_PLAIN, _FULL, _BROUGHT):
        spec = _pod(values).mapping("spec")
        assert spec["automountServiceAccountToken"] is False
        assert "serviceAccountName" not in spec
        assert "secret" not in {kind for one in _pod(values).mappings("spec", "volumes") for kind in one}


def test_of_postgresql_only_pg_dump_sees_the_url_and_it_runs_anywhere() -> None:
    pod = _pod(_POSTGRESQL)
    (dump,) = pod.mappings("spec", "initContainers")
    assert dump["image"] == "registry.example.com/postgres:17"
    assert {"data", "backups"} & {
        one["name"] for one in pod.mappings("spec", "initContainers", 0, "volumeMounts")
    } == set()
    kept = {one["name"] for one in pod.mappings("spec", "containers", 0, "volumeMounts")}
    assert kept == {"dump", "backups", "tmp"}
    assert _argument(pod, "--dump") == "/var/lib/keybearer-dump/dump.sql"
    assert "--data-dir" not in pod.as_yaml()
    assert "affinity" not in pod.mapping("spec"), "there is no volume to be near to"
    service = only(pods_of(render(_POSTGRESQL)), "Pod", "-service")
    for name in ("database", "database-ca"):
        assert _volume(pod, name) == _volume(service, name)
    assert dump["env"] == service.at("spec", "containers", 0, "env")


def test_services_that_share_a_claim_have_directories_of_their_own() -> None:
    assert _argument(_pod(_PLAIN), "--output-dir") == "/var/lib/keybearer-backups/keybearer-service"
    named: dict[str, Json] = {**_PLAIN, "fullnameOverride": "other"}
    assert _argument(_pod(named), "--output-dir") == "/var/lib/keybearer-backups/other-service"


def test_backups_never_overlap_end_in_time_and_show_their_failures() -> None:
    cron = only(render(_FULL), "CronJob")
    assert cron.at("spec", "concurrencyPolicy") == "Forbid"
    assert cron.at("spec", "schedule") == "*/15 1-5 * * mon-fri"
    assert cron.at("spec", "timeZone") == "Europe/Berlin"
    assert cron.at("spec", "suspend") is True
    assert cron.at("spec", "jobTemplate", "spec", "activeDeadlineSeconds") == 600
    assert cron.at("spec", "failedJobsHistoryLimit") == 3
    pod = _pod(_FULL)
    assert pod.at("spec", "restartPolicy") == "Never"
    assert pod.at("spec", "containers", 0, "terminationMessagePolicy") == "FallbackToLogsOnError"
    assert _argument(pod, "--keep") == "3"
    plain = only(render(_PLAIN), "CronJob").mapping("spec")
    assert (plain["schedule"], plain["suspend"]) == ("30 2 * * *", False)
    assert "timeZone" not in plain, "the cluster's"


def test_a_backup_pod_is_taken_for_no_pod_of_the_service() -> None:
    manifests = render(_FULL)
    labels = _pod(_FULL).mapping("metadata", "labels").items()
    for one in manifests:
        if one.kind in {"Service", "PodDisruptionBudget"}:
            selector = one.mapping("spec", "selector")
            assert not selector.get("matchLabels", selector).items() <= labels, one.name  # type: ignore[union-attr]  # JSON
    assert not only(manifests, "StatefulSet").mapping("spec", "selector", "matchLabels").items() <= labels


def test_a_backup_speaks_to_nobody_in_closed_networks() -> None:
    policy = only(render(_FULL), "NetworkPolicy", "-backup")
    assert (policy.at("spec", "ingress"), policy.at("spec", "egress")) == ([], [])


def test_pg_dump_reaches_dns_and_what_the_service_may_reach() -> None:
    policy = only(render(_POSTGRESQL), "NetworkPolicy", "-backup")
    assert policy.at("spec", "ingress") == []
    dns, database = policy.mappings("spec", "egress")
    assert dns == {"ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}]}
    assert database == {"ports": [{"port": 5432, "protocol": "TCP"}]}
    anywhere: dict[str, Json] = {
        "embeddedService": _POSTGRESQL["embeddedService"],
        "networkPolicy": {"enabled": True},
    }
    assert only(render(anywhere), "NetworkPolicy", "-backup").at("spec", "egress") == [{}]


def test_the_claim_of_backups_stays_when_the_release_goes() -> None:
    claim = only(render(_FULL), "PersistentVolumeClaim")
    assert claim.annotation("helm.sh/resource-policy") == "keep"
    assert claim.at("spec", "resources", "requests", "storage") == "100Gi"
    assert claim.at("spec", "storageClassName") == "slow"
    assert "storageClassName" not in only(render(_PLAIN), "PersistentVolumeClaim").mapping("spec")
    assert not [one for one in render(_BROUGHT) if one.kind == "PersistentVolumeClaim"]


@pytest.mark.parametrize("name", ["-service", "-backup", "-operator"])
def test_pods_that_share_a_volume_have_one_selinux_level(name: str) -> None:
    pod = only(pods_of(render(_FULL)), "Pod", name)
    assert pod.at("spec", "securityContext", "seLinuxOptions") == {"level": "s0:c123,c456"}
    assert "seLinuxOptions" not in only(pods_of(render()), "Pod", "-service").mapping(
        "spec", "securityContext"
    )


def test_alerts_ask_about_this_cron_job_and_only_where_there_is_one() -> None:
    rules = only(render(MONITORED), "PrometheusRule").as_yaml()
    assert 'namespace="keybearer-system", cronjob="keybearer-backup"' in rules
    assert only(render(MONITORED), "CronJob").name == "keybearer-backup"
    without = only(render(ROWS["all that watches"]), "PrometheusRule").as_yaml()
    assert "KeybearerBackup" not in without


def _volume(pod: Manifest, name: str) -> Mapping[str, Json]:
    (found,) = [one for one in pod.mappings("spec", "volumes") if one["name"] == name]
    return found


def _argument(pod: Manifest, flag: str) -> str:
    arguments = pod.texts("spec", "containers", 0, "args")
    return arguments[arguments.index(flag) + 1]
