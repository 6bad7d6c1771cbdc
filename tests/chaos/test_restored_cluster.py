"""The cluster's etcd is restored from a backup while the operator runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.lone_scene import LoneScene, open_scene
from support.secretsync_objects import config_map
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_FAR = 1000
"""More versions than a restored cluster comes to while the test runs."""


@pytest.mark.parametrize("is_bumped", [False, True], ids=["older versions", "higher versions"])
def test_a_restored_cluster_is_taken_as_it_is(tmp_path: Path, *, is_bumped: bool) -> None:
    """Restores raise the versions to come, as Kubernetes advises, or don't."""
    with open_scene(tmp_path) as scene:
        tenant = scene.tenant
        for name in ("web", "labelled"):
            tenant.until_ready(tenant.sync(name))
        # The collector of garbage goes on believing for a while that an owner which comes back is gone.
        tenant.until_ready(tenant.sync("deleted", target={"onDelete": "Retain"}))
        with scene.frozen():
            scene.plane.back_up(tmp_path / "backup")

        tenant.project.store({"A": "cnry-2"})
        for name in ("web", "labelled", "deleted"):
            tenant.until_data(name, {"A": "cnry-2"})
            tenant.until_ready(name)
        tenant.edit("web", mode="Suspended")
        tenant.edit("labelled", target={"labels": {"team": "b"}})
        tenant.until(
            "web",
            lambda found: found["status"]["observedGeneration"] == found["metadata"]["generation"],
            "a pause",
        )
        tenant.until_ready("labelled")
        tenant.delete("deleted")
        tenant.until_gone("SecretSync", "deleted")
        if not is_bumped:
            _raise_versions(scene, beyond=_FAR + int(tenant.get("labelled")["metadata"]["resourceVersion"]))
        tenant.until_ready(tenant.sync("late"))
        version = int(tenant.get("late")["metadata"]["resourceVersion"])
        with scene.frozen():
            scene.plane.restore(tmp_path / "backup")
            if is_bumped:
                _raise_versions(scene, beyond=version)

        # The Secrets are of before as well.
        for value in ("cnry-2", "cnry-3"):
            tenant.project.store({"A": value})
            for name in ("web", "labelled", "deleted"):
                tenant.until_data(name, {"A": value})
        eventually(
            lambda: scene.operator.metric('keybearer_objects{kind="SecretSync"}') == 3,
            awaited="three objects",
        )
        eventually(
            lambda: (
                "team" not in tenant.api.get("Secret", tenant.namespace, "labelled")["metadata"]["labels"]
            ),
            awaited="the labels of before",
        )
        # What others do to a target from now on is seen as well.
        tenant.api.patch("Secret", tenant.namespace, "labelled", {"data": {"A": None}})
        tenant.until_data("labelled", {"A": "cnry-3"})
        tenant.api.delete("Secret", tenant.namespace, "labelled")
        tenant.until_data("labelled", {"A": "cnry-3"})
        if not is_bumped:
            assert int(tenant.get("labelled")["metadata"]["resourceVersion"]) < version


def _raise_versions(scene: LoneScene, *, beyond: int) -> None:
    tenant, number = scene.tenant, 0
    made = tenant.api.create(config_map(tenant.namespace, "versions", {}))
    while int(made["metadata"]["resourceVersion"]) <= beyond:
        number += 1
        data = {"data": {"number": str(number)}}
        made = tenant.api.patch("ConfigMap", tenant.namespace, "versions", data)
