"""The operator's fingerprint key is lost: nobody's data has changed, so nobody is restarted."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.lone_scene import LoneScene, open_scene
from support.secretsync_objects import deployment
from tools.local.kube_api import Body

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_SPEC = {"rolloutRestart": [{"kind": "Deployment", "name": "app"}]}


def test_a_lost_fingerprint_key_restarts_nothing_and_a_change_while_it_was_lost_does(tmp_path: Path) -> None:
    with open_scene(tmp_path) as scene:
        tenant = scene.tenant
        tenant.api.create(deployment(tenant.namespace, "app"))
        before = tenant.until_ready(tenant.sync("web", target=_SPEC))["status"]["target"]["fingerprint"]
        scene.operator.terminate()
        _lose_key(scene)
        scene.operator.start()
        after = tenant.until(
            "web",
            lambda sync: sync["status"]["target"]["fingerprint"] != before,
            "a fingerprint by another key",
        )
        assert after["status"]["conditions"][0]["reason"] == "Synced"
        assert _restarted_for(tenant.api.get("Deployment", tenant.namespace, "app")) is None

        scene.operator.terminate()
        _lose_key(scene)
        tenant.project.store({"A": "cnry-2"})
        scene.operator.start()
        tenant.until_data("web", {"A": "cnry-2"})
        tenant.until(
            "app",
            lambda found: _restarted_for(found) is not None,
            "a restart for the change",
            kind="Deployment",
        )


def _lose_key(scene: LoneScene) -> None:
    listed = scene.plane.kubectl("get", "secret", "--all-namespaces", "--output=name")
    (name,) = [one for one in listed.split() if one.endswith("-fingerprint-key")]
    scene.plane.kubectl("delete", name, f"--namespace={scene.operator_namespace}")


def _restarted_for(found: Body) -> str | None:
    annotations = found["spec"]["template"]["metadata"].get("annotations", {})
    told: str | None = annotations.get("keybearer.dev/restarted-for")
    return told
