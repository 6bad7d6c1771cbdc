"""The release in the hands of a team that has its own namespaces and no right across the cluster."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.helm_house import RESTRICTED, HelmHouse, open_house
from support.installed_service import reached_from_outside
from support.pasted import PastedCommandError, Shell, block_with, yaml_with
from support.proofs import Observe
from support.release_shell import RELEASE_NAMESPACE
from support.released_nodes import ReleasedNodes
from support.releases import RELEASE_SECONDS
from support.secretsync_objects import namespace, reason_of
from support.tenant import open_tenant
from tools.chart.rendering import ROOT
from tools.controlplane.errors import KubectlError
from tools.local.secrets_service import ServiceAdmin

# The first one waits for the release, whose image the pods run.
pytestmark = [pytest.mark.system, pytest.mark.timeout(RELEASE_SECONDS)]

_PAGE = ROOT / "docs" / "installing.md"
_TEAM, _OTHERS = "team-a", "team-b"
_ACCOUNT = "owner"
_OPERATOR = f"system:serviceaccount:{RELEASE_NAMESPACE}:keybearer-operator"


@pytest.fixture
def house(released_nodes: ReleasedNodes, tmp_path: Path) -> Iterator[HelmHouse]:
    """Somebody at a shell who may do everything in two namespaces and nothing beyond; CRDs are there."""
    with open_house(released_nodes, tmp_path) as administrator:
        administrator.run("kubectl apply --server-side -f crds")
        kubectl, api = released_nodes.cluster.plane.kubectl, released_nodes.api
        for name in (_TEAM, _OTHERS):
            api.create(namespace(name, RESTRICTED))
        kubectl("create", "serviceaccount", _ACCOUNT, f"--namespace={_TEAM}")
        for name in (_TEAM, RELEASE_NAMESPACE):
            kubectl(
                *("create", "rolebinding", _ACCOUNT, "--clusterrole=cluster-admin", f"--namespace={name}"),
                f"--serviceaccount={_TEAM}:{_ACCOUNT}",
            )
        kubeconfig = released_nodes.cluster.plane.service_account_kubeconfig(_TEAM, _ACCOUNT)
        shell = Shell(tmp_path / "of-the-team", kubeconfig, released_nodes.release.dist)
        yield HelmHouse(released_nodes.api, shell, administrator.logs, released_nodes)


def test_a_team_installs_and_uses_it_without_any_right_across_the_cluster(
    house: HelmHouse, observe: Observe
) -> None:
    (house.shell.directory / "this-team-only.yaml").write_text(yaml_with(_PAGE, f"namespaces: [{_TEAM}]"))
    install = block_with(_PAGE, "this-team-only.yaml")
    with pytest.raises(PastedCommandError, match="cannot list resource"):
        house.run("kubectl get secrets --all-namespaces")
    house.run(install)
    house.run("helm test keybearer --namespace keybearer")
    assert house.nodes.made_across_the_cluster() == set()
    with reached_from_outside(house) as service, ServiceAdmin(service) as admin:
        project = admin.new_project("team-a")
        project.store({"PASSWORD": "cnry-first"})
        login = admin.new_login(project.id)
        others, team = (open_tenant(house.api, name, project, login) for name in (_OTHERS, _TEAM))
        others.sync("web")
        team.sync("web")
        team.until_data("web", {"PASSWORD": "cnry-first"})
        team.until_updates("web")
        project.store({"PASSWORD": "cnry-second"})
        team.until_data("web", {"PASSWORD": "cnry-second"})
    assert (others.secret("web"), reason_of(others.get("web"))) == (None, "")
    assert [name for name in (_TEAM, _OTHERS, "kube-system") if _may_write_secrets(house, name)] == [_TEAM]
    team.delete("web")
    team.until_gone("SecretSync", "web")
    house.run("helm uninstall keybearer --namespace keybearer --wait --cascade foreground")
    assert not house.api.list("Deployment", RELEASE_NAMESPACE)
    observe(f"no ClusterRole, no ClusterRoleBinding; a SecretSync of {_OTHERS} was left alone")


def _may_write_secrets(house: HelmHouse, where: str) -> bool:
    try:
        house.nodes.cluster.plane.kubectl(
            *("auth", "can-i", "create", "secrets", f"--namespace={where}", f"--as={_OPERATOR}", "--quiet")
        )
    except KubectlError:
        return False
    return True
