"""Recreating a Secret while the operator is killed, and under a quota that is full."""

from __future__ import annotations

from pathlib import Path

import pytest

from chaos.lone_scene import open_scene
from support.admission import refused_creation
from tools.controlplane.commands import ApiServerOptions
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_OF_THIS_NAME = "object.metadata.name in ['web', 'probe']"
_TARGET = {"immutable": True, "recreate": True}


def test_an_operator_that_is_killed_between_deletion_and_creation_loses_nothing(tmp_path: Path) -> None:
    """The next one puts the Secret back, also where the source is away."""
    with open_scene(tmp_path) as scene:
        tenant = scene.tenant
        tenant.until_ready(tenant.sync("web", target=_TARGET))
        with refused_creation(scene.plane, tenant, _OF_THIS_NAME, only_for_real=True):
            tenant.project.store({"B": "cnry-2"})
            tenant.until_gone("Secret", "web")
            scene.operator.kill()
            scene.service.stop()
        assert tenant.secret("web") is None
        scene.operator.start()

        tenant.until_data("web", {"A": "cnry-1"})
        scene.service.start()
        tenant.until_data("web", {"A": "cnry-1", "B": "cnry-2"})


def test_a_full_quota_keeps_no_secret_from_being_made_anew(tmp_path: Path) -> None:
    with open_scene(tmp_path, ApiServerOptions(controllers=["resourcequota-controller"])) as scene:
        tenant = scene.tenant
        before = tenant.until_ready(tenant.sync("web", target=_TARGET))
        there = len(tenant.api.list("Secret", tenant.namespace))
        quota = f"--hard=count/secrets={there}"
        scene.plane.kubectl("create", "quota", "small", quota, f"--namespace={tenant.namespace}")

        def is_full() -> bool:
            path = "jsonpath={.status.used}"
            used = scene.plane.kubectl(
                "get", "quota", "small", f"--namespace={tenant.namespace}", f"--output={path}"
            )
            return f'"count/secrets":"{there}"' in used

        eventually(is_full, awaited="a quota that is used up")
        tenant.project.store({"B": "cnry-2"})

        tenant.until_data("web", {"A": "cnry-1", "B": "cnry-2"})
        assert tenant.until_ready("web")["metadata"]["uid"] == before["metadata"]["uid"]
