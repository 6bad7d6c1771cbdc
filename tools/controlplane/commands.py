"""Command lines of the three servers; nothing here starts anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tools.controlplane.ports import LOOPBACK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tools.controlplane.certificates import Identity

__all__ = ["ApiServerOptions", "api_server_command", "controller_manager_command", "etcd_command", "etcd_url"]

# PodCertificateRequest and ClusterTrustBundle are beta in 1.36, and new beta APIs are off by default. The next
# version has them in certificates.k8s.io/v1, on by default.
_RUNTIME_CONFIG = {"certificates.k8s.io/v1beta1": True}
_FEATURE_GATES = {
    "ClusterTrustBundle": True,
    "ClusterTrustBundleProjection": True,
    "PodCertificateRequest": True,
}

_CONTROLLERS = ("namespace-controller", "garbage-collector-controller", "serviceaccount-controller")
# etcd wants an address to tell other members, and there are none: nothing listens here.
_UNUSED_PEER_URL = "http://localhost:2380"


@dataclass(frozen=True, slots=True)
class ApiServerOptions:
    """What callers may change about kube-apiserver, and which controllers there are.

    Attributes:
        next_version: Run the API server of the next minor version, with what is on there by default and no more.
        runtime_config: API groups and versions to switch on or off.
        feature_gates: Feature gates to switch on or off.
        extra_flags: Further flags, such as `--max-requests-inflight=50`; they win over ours.
        controllers: of kube-controller-manager, besides ours, such as `resourcequota-controller`; `*` is all that
            are on by default.
        nodes_at: The address of this machine that nodes and their pods reach, where there will be nodes: the API
            server listens there instead of on loopback, lets kubelets have only what is theirs, and asks them for
            logs and streams.
    """

    next_version: bool = False
    runtime_config: Mapping[str, bool] = field(default_factory=dict)
    feature_gates: Mapping[str, bool] = field(default_factory=dict)
    extra_flags: Sequence[str] = ()
    controllers: Sequence[str] = ()
    nodes_at: str | None = None

    @property
    def address(self) -> str:
        """Where the API server listens."""
        return self.nodes_at or LOOPBACK


def etcd_command(program: Path, directory: Path) -> list[str | Path]:
    """Etcd on the Unix socket `directory/etcd.sock`: no port to race for, and closed to other users."""
    return [
        program,
        "--name=local",
        f"--data-dir={directory / 'etcd'}",
        f"--listen-client-urls={etcd_url(directory)}",
        "--advertise-client-urls=http://localhost:2379",
        f"--listen-peer-urls=unix://{directory / 'etcd-peer.sock'}",
        f"--initial-advertise-peer-urls={_UNUSED_PEER_URL}",
        f"--initial-cluster=local={_UNUSED_PEER_URL}",
        # The data need not survive a power failure, only the death of processes.
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def etcd_url(directory: Path) -> str:
    """Where the etcd of the directory is reached."""
    return f"unix://{directory / 'etcd.sock'}"


def api_server_command(
    program: Path,
    directory: Path,
    identity: Identity,
    port: int,
    options: ApiServerOptions,
) -> list[str | Path]:
    """kube-apiserver on `port` of its address, with RBAC; without nodes this is the only authorizer."""
    return [
        program,
        f"--etcd-servers={etcd_url(directory)}",
        f"--bind-address={options.address}",
        f"--secure-port={port}",
        # The default is the address of the default route, which a machine without network lacks.
        f"--advertise-address={options.address}",
        f"--cert-dir={directory}",
        f"--tls-cert-file={identity.server.certificate}",
        f"--tls-private-key-file={identity.server.key}",
        f"--client-ca-file={identity.ca_certificate}",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={identity.service_accounts.certificate}",
        f"--service-account-signing-key-file={identity.service_accounts.key}",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--profiling=false",
        # Ends open watches at SIGTERM. The default waits a minute for clients to close them.
        "--shutdown-watch-termination-grace-period=1s",
        f"--runtime-config={_switches(_ours(_RUNTIME_CONFIG, options) | dict(options.runtime_config))}",
        f"--feature-gates={_switches(_ours(_FEATURE_GATES, options) | dict(options.feature_gates))}",
        *(_WITHOUT_NODES if options.nodes_at is None else _with_nodes(identity)),
        *options.extra_flags,
    ]


_WITHOUT_NODES = (
    "--authorization-mode=RBAC",
    # Endpoints of the kubernetes Service may not be loopback addresses, so none are written.
    "--endpoint-reconciler-type=none",
)


def _with_nodes(identity: Identity) -> tuple[str, ...]:
    return (
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        # The first kind of address by default is the node's name, which nobody resolves here.
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-client-certificate={identity.admin.certificate}",
        f"--kubelet-client-key={identity.admin.key}",
    )


def controller_manager_command(
    program: Path, kubeconfig: Path, root_ca: Path, controllers: Sequence[str] = ()
) -> list[str | Path]:
    """kube-controller-manager with these controllers, and those of namespaces, owner references and accounts.

    The certificate `root_ca` is what `root-ca-certificate-publisher-controller` gives to pods, where it runs.
    """
    return [
        program,
        f"--kubeconfig={kubeconfig}",
        f"--controllers={','.join((*_CONTROLLERS, *controllers))}",
        f"--root-ca-file={root_ca}",
        "--leader-elect=false",
        # Its user may hardly do anything; each controller acts as its own service account, as with kubeadm.
        "--use-service-account-credentials=true",
        # The default of 20 requests a second lets clearing up after a benchmark take minutes.
        "--kube-api-qps=400",
        "--kube-api-burst=800",
        # No port to race for: its health shows in what it does.
        "--secure-port=0",
    ]


def _ours(switches: Mapping[str, bool], options: ApiServerOptions) -> dict[str, bool]:
    return {} if options.next_version else dict(switches)


def _switches(values: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(value).lower()}" for name, value in values.items())
