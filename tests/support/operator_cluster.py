"""A cluster into which the operator was installed, but for its pods: CRDs, ServiceAccount and the chart's rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from support.chart import NAMESPACE, ROOT, Json, Manifest, render
from support.controlplane.controlplane import ControlPlane
from support.controlplane.errors import KubectlError
from support.kube_api import KubeApi
from support.secretsync_objects import namespace
from support.waiting import eventually

__all__ = ["OPERATOR_LEASE", "OperatorCluster", "install_crds", "install_operator", "install_rights"]

OPERATOR_LEASE = "keybearer-operator"
"""The Lease that the chart's rules name; the fingerprint key's Secret is named after it."""
_INSTALLED = {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}


@dataclass(frozen=True, slots=True)
class OperatorCluster:
    """A cluster and who may do what in it.

    Attributes:
        plane: starts and stops its servers.
        api: speaks to it as administrator.
        namespace: the operator's own.
        kubeconfig: of the operator's ServiceAccount, bound to nothing but the chart's rules.
    """

    plane: ControlPlane
    api: KubeApi
    namespace: str
    kubeconfig: Path

    def lease_flags(self) -> list[str]:
        """Where the operator keeps its own objects, as the chart says it."""
        return [f"--lease-namespace={self.namespace}", f"--lease-name={OPERATOR_LEASE}"]


def install_crds(plane: ControlPlane) -> None:
    """CRDs are served."""
    plane.kubectl("apply", "--server-side", "--force-conflicts", f"--filename={ROOT / 'crds'}")
    plane.kubectl("wait", "--for=condition=Established", "crd/secretsyncs.keybearer.dev", "--timeout=60s")


def install_rights(
    plane: ControlPlane, api: KubeApi, values: Mapping[str, Json] | None = None, *, where: str = NAMESPACE
) -> OperatorCluster:
    """The operator's ServiceAccount has the rights that the chart gives it; see `install_operator`."""
    if api.find("Namespace", "", where) is None:
        api.create(namespace(where))
    wanted = [
        one
        for one in render(values, namespace=where)
        if one.kind in _INSTALLED and _component(one) == "operator"
    ]
    plane.kubectl("apply", "--filename=-", input="---\n".join(one.as_yaml() for one in wanted))
    account = next(one.name for one in wanted if one.kind == "ServiceAccount")
    # The authorizer takes rules in from a watch of its own; the last rule applied tells for all.
    eventually(
        lambda: _may_hold_lease(plane, where, f"system:serviceaccount:{where}:{account}"),
        awaited=f"the right of {account} to hold its Lease",
    )
    return OperatorCluster(plane, api, where, plane.service_account_kubeconfig(where, account))


def install_operator(
    plane: ControlPlane, api: KubeApi, values: Mapping[str, Json] | None = None, *, where: str = NAMESPACE
) -> OperatorCluster:
    """CRDs are served, and the operator's ServiceAccount has the rights that the chart gives it, and no other.

    Args:
        plane: a running cluster.
        api: its administrator.
        values: of the chart.
        where: the namespace of the release; made if need be. Two releases keep apart by it.
    """
    install_crds(plane)
    return install_rights(plane, api, values, where=where)


def _component(manifest: Manifest) -> Json:
    labels = manifest.mapping("metadata").get("labels")
    return labels.get("app.kubernetes.io/component") if isinstance(labels, Mapping) else None


def _may_hold_lease(plane: ControlPlane, where: str, who: str) -> bool:
    what = f"leases.coordination.k8s.io/{OPERATOR_LEASE}"
    try:
        plane.kubectl("auth", "can-i", "update", what, f"--namespace={where}", f"--as={who}", "--quiet")
    except KubectlError:
        return False
    return True
