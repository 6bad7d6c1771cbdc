"""A release whose service reviews tokens with its own ServiceAccount, while the service runs as a process of ours."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tools.chart.rendering import Json, only, render
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import OperatorCluster, install_operator

__all__ = ["Account", "install_with_reviews", "mount_account"]

_SERVICE_RIGHTS = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")


class Account(NamedTuple):
    """The ServiceAccount of a service: the flags that give it to a process, and its token."""

    flags: list[str]
    token: str


def install_with_reviews(
    plane: ControlPlane, api: KubeApi, values: Mapping[str, Json], *, where: str
) -> OperatorCluster:
    """The operator of a release is installed, and its service has the rights of the chart.

    Args:
        plane: a running cluster.
        api: its administrator.
        values: of the chart, with `embeddedService.tokenReviews`.
        where: the namespace and the name of the release.
    """
    installed = install_operator(plane, api, values, where=where)
    rendered = render(values, namespace=where)
    rights = [only(rendered, kind, "-service") for kind in _SERVICE_RIGHTS]
    plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in rights))
    return installed


def mount_account(plane: ControlPlane, values: Mapping[str, Json], folder: Path, *, where: str) -> Account:
    """Return the ServiceAccount of the service, for a process that has it as a pod has it.

    Args:
        plane: has the release.
        values: of the release.
        folder: gets the files that the kubelet mounts into a pod.
        where: the namespace of the release.
    """
    name = only(render(values, namespace=where), "ServiceAccount", "-service").name
    mounted = folder / "serviceaccount"
    mounted.mkdir()
    token = plane.kubectl("create", "token", name, f"--namespace={where}")
    (mounted / "token").write_text(token)
    (mounted / "ca.crt").write_bytes(plane.ca_pem)
    flags = [f"--service-account-dir={mounted}", f"--service-account-api={plane.server_url}"]
    return Account(flags, token.strip())
