"""What is said of people's mistakes, and that it helps: the command of each diagnosis is run as it is written.

All objects are made at once, and all cures begun at once: one operator looks at them side by side.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from support.certificate_objects import open_certificates
from support.command_line import PROGRAM, CommandLine
from support.connection_objects import open_connections
from support.mistakes import Scene
from support.mistakes_of_certificates import MISTAKES_OF_CERTIFICATES
from support.mistakes_of_connections import MISTAKES_OF_CONNECTIONS
from support.mistakes_of_identities import MISTAKES_OF_IDENTITIES
from support.mistakes_of_syncs import MISTAKES_OF_SYNCS
from support.operator_fixtures import Installation
from support.rows import every_row
from support.tenant import Tenant
from tools.controlplane.binaries import control_plane_binaries

pytestmark = pytest.mark.integration

_MISTAKES = (
    *MISTAKES_OF_SYNCS,
    *MISTAKES_OF_IDENTITIES,
    *MISTAKES_OF_CONNECTIONS,
    *MISTAKES_OF_CERTIFICATES,
)


@pytest.fixture
def scene(tenant: Tenant, installation: Installation, tmp_path: Path) -> Scene:
    tenant.project.store({"DB_USER": "cnry-1", "DB_HOST": "cnry-2", "DB_PASSWORD": "cnry-3"})
    connections = open_connections(tenant, installation)
    connections.keep_login()
    (tmp_path / "template").write_text("{{ DB_USER }}")
    for name, login in (("client-secret", tenant.login), ("far-secret", connections.login)):
        (tmp_path / name).write_text(login.client_secret)
    admin, plane = installation.admin, installation.cluster.plane
    kubectl = control_plane_binaries().kubectl.parent
    variables = {
        "KEYBEARER_URL": installation.service.url,
        "KEYBEARER_CLIENT_ID": admin.login.client_id,
        "KEYBEARER_CLIENT_SECRET": admin.login.client_secret,
        "KUBECONFIG": str(plane.admin_kubeconfig),
        "PATH": f"{kubectl}:{PROGRAM.parent}:/usr/bin:/bin",
        "KUBERC": "off",
    }
    certificates = open_certificates(tenant, installation)
    line = CommandLine(tmp_path, variables)
    return Scene(tenant, admin, certificates, connections, line, plane, tmp_path)


def test_each_mistake_is_diagnosed_and_the_command_of_the_diagnosis_mends_it(scene: Scene) -> None:
    for one in _MISTAKES:
        one.make(scene, one.name)
    with every_row() as row:
        found = {}
        for one in _MISTAKES:
            with row(f"{one.name}, as it is told"):
                found[one.name] = one.await_told(scene)
                one.told.compare(scene, found[one.name])
        cured = [one for one in _MISTAKES if one.cure is not None and one.name in found]
        for one in cured:
            with row(f"{one.name}, its command"):
                one.begin_cure(scene, found[one.name])
        for one in cured:
            with row(f"{one.name}, once its command was run"):
                one.await_cure(scene)
