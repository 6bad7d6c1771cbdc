"""Cleaning up with a spec that can't be read, and with an identity that went while the operator was away."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path

import pytest

from chaos.lone_scene import LoneScene, open_scene
from keybearer.controllers.crds import CUSTOM_RESOURCES
from support import shifted_clock
from support.certificate_objects import ISSUER, certificate, certificates_of
from support.connection_objects import MANAGER
from support.left_behind import ENDS_WITHIN_SECONDS, Leaving, open_leaving
from tools.local.kube_api import Body
from tools.local.operator_cluster import OPERATOR_LEASE
from tools.local.waiting import eventually

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_UNREADABLE: dict[str, Body] = {
    "AppConnection": {"method": 7, "rotation": {"rotationInterval": "monthly"}},
    "CertificateProfile": {"hourlyMintBudget": "many", "mode": "Whenever"},
    "SecretSync": {"refreshInterval": ["never"]},
}
"""What no version has ever taken."""


def test_what_an_unreadable_spec_made_is_taken_back(tmp_path: Path) -> None:
    with open_scene(tmp_path) as scene:
        leaving = _leaving(scene)
        tenant = leaving.tenant
        _loosen(scene)
        for kind, change in _UNREADABLE.items():
            name = "store" if kind == "AppConnection" else "web"
            tenant.api.patch(kind, tenant.namespace, name, {"spec": change})
            tenant.until_reason(name, "SpecInvalid", kind=kind)
            tenant.api.delete(kind, tenant.namespace, name)
        for kind in _UNREADABLE:
            name = "store" if kind == "AppConnection" else "web"
            tenant.until_gone(kind, name, within=ENDS_WITHIN_SECONDS)
        tenant.api.delete("Namespace", "", tenant.namespace)
        leaving.until_clean()
    assert '"cleanup_abandoned"' not in scene.operator.log()


@pytest.mark.parametrize("in_order", [False, True], ids=["killed", "ended in order"])
def test_a_namespace_is_cleaned_up_that_was_deleted_while_the_operator_was_away(
    tmp_path: Path, *, in_order: bool
) -> None:
    with open_scene(tmp_path) as scene:
        leaving = _leaving(scene)
        tenant = leaving.tenant
        if in_order:
            scene.operator.terminate()
        else:
            eventually(lambda: _kept(scene) == {MANAGER, ISSUER}, awaited="tokens that are kept")
            scene.operator.kill()
        tenant.api.delete("Namespace", "", tenant.namespace)
        for identity in (MANAGER, ISSUER):
            tenant.until_gone("Secret", identity)
        scene.operator.start()
        leaving.until_clean()
        eventually(lambda: _kept(scene) == set(), awaited="an end of the tokens")
    assert '"cleanup_abandoned"' not in scene.operator.log()


def test_a_clock_that_is_behind_holds_no_object_longer_than_its_deadline(tmp_path: Path) -> None:
    behind = [sys.executable, shifted_clock.__file__, str(-17 * 3600)]
    with open_scene(tmp_path, program=behind) as scene:
        tenant, certificates = scene.tenant, certificates_of(scene.tenant, scene.admin)
        certificates.create("web", certificate("front", revokeOnDelete=True), deletionDeadline="5s")
        certificates.until_reason("web", "Issued")
        scene.service.stop()
        tenant.api.delete("CertificateProfile", tenant.namespace, "web")
        tenant.until_gone("CertificateProfile", "web", within=ENDS_WITHIN_SECONDS)
        scene.service.start()
    assert '"cleanup_abandoned"' in scene.operator.log()


def _kept(scene: LoneScene) -> set[str]:
    """The identity Secrets of which tokens are kept."""
    found = scene.tenant.api.find("Secret", scene.operator_namespace, f"{OPERATOR_LEASE}-cleanup-tokens")
    listed = [] if found is None else json.loads(base64.b64decode(found["data"]["tokens.json"]))
    return {name for one in listed for _, name in one["identities"]}


def _leaving(scene: LoneScene) -> Leaving:
    leaving = open_leaving(scene.tenant, scene.admin, scene.admin, scene.service.url)
    leaving.fill()
    return leaving


def _loosen(scene: LoneScene) -> None:
    """The API server takes any spec, as one of another version would."""
    for resource in CUSTOM_RESOURCES:
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{resource.name}"
        crd = scene.tenant.api.send("GET", path)
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
        }
        scene.tenant.api.send("PUT", path, crd)
