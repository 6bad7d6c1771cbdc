"""`refreshMounts`: pods on nodes that mount a target are annotated once for each change that their files show."""

from __future__ import annotations

import pytest

from support.mounting_pods import mounting_pod, refreshed_at, until_refreshed
from support.tenant import Tenant

pytestmark = pytest.mark.integration


def test_pods_whose_files_show_the_change_are_annotated_and_no_others(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1", "B": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    mounting_pod(tenant, "all-keys", secret="web")
    mounting_pod(tenant, "key-a", secret="web", keys=("A",))
    mounting_pod(tenant, "key-b", secret="web", keys=("B",))
    mounting_pod(tenant, "another", secret="another")
    mounting_pod(tenant, "starting", secret="web", phase="Pending")
    mounting_pod(tenant, "without-node", secret="web", node=None, phase="Pending")
    mounting_pod(tenant, "ended", secret="web", phase="Succeeded")

    tenant.project.store({"A": "cnry-2", "B": "cnry-1"})
    tenant.ask("web")

    first = until_refreshed(tenant, "all-keys")
    until_refreshed(tenant, "key-a")
    until_refreshed(tenant, "starting")
    # The pods of one target are seen to together, so what isn't annotated by the next change wasn't by this one.
    tenant.project.store({"A": "cnry-3", "B": "cnry-1"})
    tenant.ask("web")
    until_refreshed(tenant, "all-keys", since=first)
    others = ("key-b", "another", "without-node", "ended")
    assert [refreshed_at(tenant, name) for name in others] == [None] * len(others)


def test_a_change_that_no_file_shows_and_a_run_without_one_annotate_nothing(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    mounting_pod(tenant, "app", secret="web")
    tenant.project.store({"A": "cnry-2"})
    tenant.ask("web")
    before = until_refreshed(tenant, "app")

    tenant.ask("web")
    tenant.edit("web", target={"labels": {"only": "metadata"}})
    tenant.until_ready("web")
    mounting_pod(tenant, "later", secret="web")
    tenant.project.store({"B": "cnry-new"})
    tenant.ask("web")
    until_refreshed(tenant, "later")

    written = [refreshed_at(tenant, name) for name in ("app", "later")]
    assert written[0] == written[1] != before, "one annotation for the one change since"


def test_a_repair_shows_in_files_as_well(tenant: Tenant) -> None:
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    mounting_pod(tenant, "app", secret="web")

    tenant.api.patch("Secret", tenant.namespace, "web", {"data": {"A": "ZWRpdGVk"}})
    tenant.until_data("web", {"A": "cnry-1"})

    until_refreshed(tenant, "app")


def test_config_maps_are_refreshed_too(tenant: Tenant) -> None:
    tenant.project.store({"LEVEL": "cnry-1"})
    tenant.sync("settings", refreshInterval="1h", target={"kind": "ConfigMap", "refreshMounts": True})
    tenant.until_ready("settings")
    mounting_pod(tenant, "app", configMap="settings")

    tenant.project.store({"LEVEL": "cnry-2"})
    tenant.ask("settings")

    until_refreshed(tenant, "app")


def test_many_pods_are_all_annotated(tenant: Tenant) -> None:
    """More than are read one by one, and more than are annotated within a second."""
    tenant.project.store({"A": "cnry-1"})
    tenant.sync("web", refreshInterval="1h", target={"refreshMounts": True})
    tenant.until_ready("web")
    names = [f"app-{number}" for number in range(120)]
    for name in names:
        mounting_pod(tenant, name, secret="web")

    tenant.project.store({"A": "cnry-2"})
    tenant.ask("web")

    for name in names:
        until_refreshed(tenant, name)
