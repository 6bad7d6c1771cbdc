"""Alerts and dashboard ask for metrics that the operator has, by labels that these have."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping

from prometheus_client import CollectorRegistry

from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.telemetry import OperatorMetrics
from keybearer.controllers.work import Lane
from support.chart_values import MONITORED
from support.rows import each_row
from tools.chart.rendering import NAMESPACE, RELEASE, Json, Manifest, only, render
from tools.reference.metrics import service_registry

_JOB = f"{RELEASE}-operator-metrics"
_SERVICE_JOB = f"{RELEASE}-service-metrics"
_BY_PROMETHEUS = {"job", "instance", "le"}
_ASKED = re.compile(r"\b(keybearer_\w+)(?:\{([^}]*)\})?")
_CONDITION = re.compile(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"([^\"]*)\"")
_PARTS = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
_GROUPING = re.compile(r"\bby \(([^)]*)\)")


def _labels_of() -> dict[str, set[str]]:
    """Each name that can be asked for, with its labels."""
    labels: dict[str, set[str]] = {}
    registries = OperatorMetrics(CollectorRegistry()).registry, service_registry()
    for collector, names in itertools.chain(*(one._collector_to_names.items() for one in registries)):
        own = getattr(collector, "_labelnames", None)
        if own is None:  # a collector of ours, whose families say it
            for family in collector.collect():
                own = set(getattr(family, "_labelnames"))  # noqa: B009 - it has no public name
                labels |= {family.name + part: own for part in _PARTS.get(family.type, ("",))}
        else:
            # Of a counter or a histogram, the first is the family, which nobody can ask for.
            labels |= {name: set(own) for name in (names if len(names) == 1 else names[1:])}
    return labels


_LABELS_OF = _labels_of()


def _panels() -> list[Mapping[str, Json]]:
    board = only(render(MONITORED), "ConfigMap", "-dashboard").text("data", "keybearer.json")
    return [dict(panel) for panel in json.loads(board)["panels"]]


def _queries_of_panels() -> Iterator[tuple[str, str]]:
    for panel in _panels():
        for target in Manifest(panel).mappings("targets"):
            yield str(panel["title"]), str(target["expr"])


def _alerts() -> dict[str, Mapping[str, Json]]:
    groups = only(render(MONITORED), "PrometheusRule").mappings("spec", "groups")
    rules = [rule for group in groups for rule in Manifest(group).mappings("rules")]
    return {str(rule["alert"]): rule for rule in rules}


_OF_SERVICE = {
    "KeybearerServiceDown",
    "KeybearerServiceFails",
    "KeybearerAuditLinesLost",
    "KeybearerPushesLate",
}
_OF_BACKUPS = {"KeybearerBackupOld", "KeybearerBackupUnwatched"}
"""They ask kube-state-metrics, which no Service of the release leads to."""
_QUERIES = [*_queries_of_panels(), *((name, str(rule["expr"])) for name, rule in _alerts().items())]


@each_row(("where", "query"), _QUERIES)
def test_a_query_asks_for_metrics_that_exist_by_labels_that_they_have(where: str, query: str) -> None:
    asked = _ASKED.findall(query)
    assert asked or "up{" in query or where in _OF_BACKUPS, where
    known = set(_BY_PROMETHEUS)
    for name, conditions in asked:
        assert name in _LABELS_OF, f"{where}: no metric {name}"
        used = {label for label, _ in _CONDITION.findall(conditions)}
        # The dashboard's namespace is that of objects; an alert also asks for that of who was scraped.
        of_the_scraped = {"namespace"} if where in _alerts() else set()
        assert used <= _LABELS_OF[name] | _BY_PROMETHEUS | of_the_scraped, where
        assert "job" in used, f"{where}: {name} is asked of every job"
        known |= _LABELS_OF[name]
    for grouping in _GROUPING.findall(query):
        assert set(grouping.split(", ")) <= known, where


def test_words_in_queries_are_those_that_the_operator_says() -> None:
    said: dict[str, set[str]] = {
        "lane": {lane.name.lower() for lane in Lane},
        "reason": {reason.value for reason in Reason},
        "result": {"changed", "unchanged", "failed"},
    }
    for where, query in _QUERIES:
        for label, words in _CONDITION.findall(query):
            if label in said:
                assert set(words.split("|")) <= said[label], where


def test_every_metric_is_on_the_dashboard() -> None:
    shown = {name for _, query in _queries_of_panels() for name, _ in _ASKED.findall(query)}
    families = {name for name in _LABELS_OF if not name.endswith(("_created", "_sum", "_count"))}
    not_of_use_alone = {"keybearer_certificate_not_before_timestamp_seconds"}
    assert families - shown - not_of_use_alone == set()


def test_nothing_else_is_on_the_dashboard_twice() -> None:
    titles = [panel["title"] for panel in _panels() if panel["type"] != "row"]
    assert len(set(titles)) == len(titles)


def test_an_alert_asks_about_this_release_alone() -> None:
    for name, rule in _alerts().items():
        asked = _CONDITION.findall(str(rule["expr"]))
        if name in _OF_BACKUPS:
            assert set(asked) == {("namespace", NAMESPACE), ("cronjob", f"{RELEASE}-backup")}, name
        else:
            jobs = {value for label, value in asked if label == "job"}
            assert jobs == {_SERVICE_JOB if name in _OF_SERVICE else _JOB}, name


def test_an_alert_is_about_the_release_of_this_namespace_alone() -> None:
    for name, rule in _alerts().items():
        query = str(rule["expr"])
        of_objects = False
        for metric, conditions in re.findall(r"\b(up|keybearer_\w+)\{([^}]*)\}", query):
            asked = dict(_CONDITION.findall(conditions))
            has_its_own = "namespace" in _LABELS_OF.get(metric, ())
            assert asked.get("namespace") == (None if has_its_own else NAMESPACE), (name, metric)
            of_objects = of_objects or has_its_own
        # Those tell of objects anywhere, so that who was scraped says whose they are.
        assert (f'and on (job, instance) keybearer_leader{{job="{_JOB}"' in query) is of_objects, name


def test_an_alert_about_the_release_itself_says_which_one_it_is() -> None:
    for name, rule in _alerts().items():
        labels = rule["labels"]
        assert isinstance(labels, Mapping)
        if name in _OF_BACKUPS:
            assert (labels["cronjob"], labels["namespace"]) == (f"{RELEASE}-backup", NAMESPACE), name
        elif name.startswith("KeybearerCertificate") or name == "KeybearerNotReady":
            assert not {"job", "namespace"} & labels.keys(), "or they would hide those of the object"
        else:
            job = _SERVICE_JOB if name in _OF_SERVICE else _JOB
            assert (labels["job"], labels["namespace"]) == (job, NAMESPACE), name


def test_without_metrics_of_the_service_nothing_asks_for_them() -> None:
    manifests = render({"monitoring": {"prometheusRule": {"enabled": True}}})
    assert not [name for name in _OF_SERVICE if name in only(manifests, "PrometheusRule").as_yaml()]
    assert "--metrics-listen" not in only(manifests, "StatefulSet").as_yaml()


def test_an_alert_says_how_bad_it_is_and_what_to_do() -> None:
    alerts = _alerts()
    assert len(alerts) > 10
    for name, rule in alerts.items():
        labels, annotations = rule["labels"], rule["annotations"]
        assert isinstance(labels, Mapping)
        assert isinstance(annotations, Mapping)
        assert labels["severity"] in {"critical", "warning"}
        assert labels["team"] == "platform", "from monitoring.prometheusRule.alertLabels"
        assert annotations["summary"]
        assert annotations["description"]
        assert annotations["runbook_url"] == f"https://runbooks.example.com/keybearer#{name.lower()}"


@each_row("address", ["https://docs.example.com/keybearer", "https://docs.example.com/keybearer/"])
def test_an_alert_leads_to_the_runbook_of_the_documentation(address: str) -> None:
    """tests/unit/docs/test_runbook.py checks that the page has these anchors."""
    rule = only(
        render({"docsUrl": address, "monitoring": {"prometheusRule": {"enabled": True}}}), "PrometheusRule"
    )
    (leading,) = {line for line in rule.as_yaml().splitlines() if "#keybearernotready" in line}
    assert leading.endswith(
        "runbook_url: https://docs.example.com/keybearer/docs/runbook.html#keybearernotready"
    )


def test_no_runbook_is_named_where_there_is_none() -> None:
    manifests = render({"monitoring": {"prometheusRule": {"enabled": True}}})
    assert "runbook_url" not in only(manifests, "PrometheusRule").as_yaml()


def test_the_operators_metrics_are_scraped_by_the_name_that_alerts_ask_for() -> None:
    manifests = render(MONITORED)
    monitor = only(manifests, "ServiceMonitor", "-operator")
    service = only(manifests, "Service", "-operator-metrics")
    selected = monitor.mapping("spec", "selector", "matchLabels")
    assert selected.items() <= service.mapping("metadata", "labels").items()
    others = [one for one in manifests if one.kind == "Service" and one.name != service.name]
    assert not [one for one in others if selected.items() <= one.mapping("metadata", "labels").items()]
    assert service.name == _JOB, "Prometheus takes the Service's name for the job"
    (endpoint,) = monitor.mappings("spec", "endpoints")
    assert endpoint["port"] == service.at("spec", "ports", 0, "name")
    assert endpoint["honorLabels"] is True, "or `namespace` would be the operator's"
    assert monitor.mapping("metadata", "labels")["release"] == "prometheus"


def test_the_services_metrics_are_scraped_apart_from_the_service() -> None:
    manifests = render(MONITORED)
    monitor = only(manifests, "ServiceMonitor", "-service")
    service = only(manifests, "Service", "-service-metrics")
    selected = monitor.mapping("spec", "selector", "matchLabels")
    found = [
        one.name
        for one in manifests
        if one.kind == "Service" and selected.items() <= one.mapping("metadata", "labels").items()
    ]
    assert found == [service.name] == [_SERVICE_JOB], "Prometheus takes the Service's name for the job"
    (endpoint,) = monitor.mappings("spec", "endpoints")
    assert endpoint["port"] == service.at("spec", "ports", 0, "name")
    pod = only(manifests, "StatefulSet")
    assert (
        service.mapping("spec", "selector").items()
        <= pod.mapping("spec", "template", "metadata", "labels").items()
    )
    container = Manifest({"kind": "container", **pod.mappings("spec", "template", "spec", "containers")[0]})
    args = list(map(str, container.at("args")))  # type: ignore[arg-type] # a list, or the test fails
    assert args[args.index("--metrics-listen") + 1] == "0.0.0.0:9090"
    assert {"name": "metrics", "containerPort": 9090} in container.mappings("ports")


def test_panels_have_names_and_places_of_their_own() -> None:
    panels = _panels()
    assert len({panel["id"] for panel in panels}) == len(panels)
    for one, other in itertools.combinations(panels, 2):
        assert not _overlap(one["gridPos"], other["gridPos"]), (one["title"], other["title"])


def _overlap(one: Json, other: Json) -> bool:
    return all(_begins_inside(one, other, *axis) for axis in (("x", "w"), ("y", "h")))


def _begins_inside(one: Json, other: Json, place: str, size: str) -> bool:
    assert isinstance(one, Mapping)
    assert isinstance(other, Mapping)
    starts = [int(str(part[place])) for part in (one, other)]
    ends = [start + int(str(part[size])) for start, part in zip(starts, (one, other), strict=True)]
    return starts[0] < ends[1] and starts[1] < ends[0]


def test_nothing_of_monitoring_is_made_unless_asked_for() -> None:
    kinds = {one.kind for one in render()}
    assert kinds & {"ServiceMonitor", "PrometheusRule", "ConfigMap"} == set()
