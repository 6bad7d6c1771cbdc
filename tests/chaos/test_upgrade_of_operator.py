"""An operator of an earlier commit leaves its objects to this one: nothing is written anew, nothing restarts."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from contextlib import ExitStack
from pathlib import Path

import pytest

from chaos.lone_scene import LoneScene, open_scene
from support.certificate_objects import Certificates, certificate, certificates_of
from support.secretsync_objects import deployment
from tools.chart.rendering import ROOT
from tools.local.kube_api import Body
from tools.local.operator_cluster import install_crds
from tools.local.operator_process import OperatorProcess

pytestmark = [pytest.mark.deep, pytest.mark.integration]

_BEFORE = "7f650ac976d8f84249de87b47220f8bf55416067"
_RUN = "import sys; sys.path.insert(0, {path!r}); from keybearer.cli.main import app; sys.exit(app())"
_RESTART = [{"kind": "Deployment", "name": "app"}]


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """Return where the earlier commit's package and CRDs are."""
    archived = subprocess.run(
        ["git", "archive", _BEFORE, "operator", "crds"], cwd=ROOT, capture_output=True, check=False
    )
    if archived.returncode:
        pytest.skip(
            f"the history here is too short to have {_BEFORE[:7]}: {archived.stderr.decode().strip()}"
        )
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        archive.extractall(tmp_path / "before", filter="data")
    return tmp_path / "before"


def test_what_an_earlier_operator_wrote_is_left_as_it_is(tmp_path: Path, before: Path) -> None:
    with open_scene(tmp_path) as scene, ExitStack() as stack:
        scene.operator.terminate()
        scene.plane.kubectl("apply", "--server-side", "--force-conflicts", f"--filename={before / 'crds'}")
        program = [sys.executable, "-c", _RUN.format(path=str(before / "operator"))]
        earlier = OperatorProcess(
            scene.cluster.kubeconfig, tmp_path, list(scene.flags), "earlier", program=program
        )
        stack.callback(earlier.kill)
        earlier.start()
        certificates = certificates_of(scene.tenant, scene.admin)
        written = _written(scene, certificates)
        earlier.terminate()

        install_crds(scene.plane)
        scene.operator.start()
        for name in ("web", "kept"):
            scene.tenant.ask(name)
            assert scene.tenant.until_ready(name)["status"]["conditions"][0]["reason"] == "Synced"
        certificates.ask("www", "sync")
        certificates.tenant.until(
            "www",
            lambda found: found["status"].get("lastHandledRequestedAt") is not None,
            "an answer to a request",
            kind="CertificateProfile",
        )
        certificates.until_reason("www", "Issued")

        assert _all(scene) == written
        assert len(certificates.requests()) == 2


def _written(scene: LoneScene, certificates: Certificates) -> dict[str, tuple[str, str]]:
    tenant = scene.tenant
    tenant.api.create(deployment(tenant.namespace, "app"))
    tenant.sync(
        "web", target={"labels": {"team": "a"}, "annotations": {"note": "b"}, "rolloutRestart": _RESTART}
    )
    tenant.sync("kept", target={"kind": "ConfigMap", "onDelete": "Retain"})
    certificates.create("www", certificate("front", rolloutRestart=_RESTART), certificate("back"))
    for name in ("web", "kept"):
        tenant.until_ready(name)
    certificates.until_reason("www", "Issued")
    return _all(scene)


def _all(scene: LoneScene) -> dict[str, tuple[str, str]]:
    """Return UID and version of all that an operator wrote, or could restart."""

    def listed(kind: str) -> list[Body]:
        return scene.tenant.api.list(kind, scene.tenant.namespace)

    return {
        f"{kind} {one['metadata']['name']}": (one["metadata"]["uid"], one["metadata"]["resourceVersion"])
        for kind in ("Secret", "ConfigMap", "Deployment")
        for one in listed(kind)
    }
