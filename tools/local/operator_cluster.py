"""A cluster into which the operator was installed, but for its pods: CRDs, ServiceAccount and the chart's rights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from keybearer.controllers.crds import CUSTOM_RESOURCES
from tools.chart.rendering import NAMESPACE, ROOT, Json, Manifest, render
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import KubectlError
from tools.local.kube_api import KubeApi
from tools.local.waiting import PATIENCE_SECONDS, eventually

__all__ = [
    "EVERY_SIGNER",
    "OPERATOR_LEASE",
    "SIGNERS_ENABLED",
    "OperatorCluster",
    "install_crds",
    "install_operator",
    "install_rights",
    "wait_established",
]

OPERATOR_LEASE = "keybearer-operator"
"""The Lease that the chart's rules name; the fingerprint key's Secret is named after it."""
SIGNERS_ENABLED: Mapping[str, Json] = {
    "signers": {
        name: {"enabled": True}
        for name in ("certManager", "certificateSigningRequests", "podCertificates", "trustBundles")
    }
}
"""Settings of the operator with the rights for all signers, which are off by themselves."""
EVERY_SIGNER: Mapping[str, Json] = {"operator": SIGNERS_ENABLED}
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
    wait_established(plane, *(resource.name for resource in CUSTOM_RESOURCES))


def wait_established(plane: ControlPlane, *names: str) -> None:
    """The kinds of these CRDs are served."""
    crds = [f"crd/{name}" for name in names]

    def established() -> bool:
        try:
            plane.kubectl("wait", "--for=condition=Established", *crds, f"--timeout={PATIENCE_SECONDS:g}s")
        except KubectlError:  # it can't wait for what has no conditions yet
            return False
        return True

    eventually(established, awaited=f"the kinds of {', '.join(names)}")


def install_rights(
    plane: ControlPlane, api: KubeApi, values: Mapping[str, Json] | None = None, *, where: str = NAMESPACE
) -> OperatorCluster:
    """The operator's ServiceAccount has the rights that the chart gives it; see `install_operator`."""
    if api.find("Namespace", "", where) is None:
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": where}})
    wanted = [
        one
        for one in render(EVERY_SIGNER if values is None else values, namespace=where)
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
        values: of the chart; with the rights of all signers where none are given.
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
        plane.kubectl("auth", "can-i", "patch", what, f"--namespace={where}", f"--as={who}", "--quiet")
    except KubectlError:
        return False
    return True
