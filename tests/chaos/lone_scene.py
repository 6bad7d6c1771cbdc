"""An operator without a Lease: it survives when the API server is away, or when it stands still itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from support.preloaded import PRELOADED
from support.tenant import Tenant, open_tenant
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.local.kube_api import KubeApi
from tools.local.operator_cluster import OperatorCluster, install_operator
from tools.local.operator_process import OperatorProcess
from tools.local.secrets_service import RestartableService, ServiceAdmin

__all__ = ["LoneScene", "open_scene"]


@dataclass(frozen=True)
class LoneScene:
    """A cluster, a service and an operator of one test's own.

    Attributes:
        plane: the cluster.
        cluster: who may do what in it.
        flags: of the operator.
        service: the service.
        admin: of the service.
        tenant: of both.
        operator: has begun.
    """

    plane: ControlPlane
    cluster: OperatorCluster
    flags: tuple[str, ...]
    service: RestartableService
    admin: ServiceAdmin
    tenant: Tenant
    operator: OperatorProcess

    @property
    def operator_namespace(self) -> str:
        """Where the operator's Secrets are."""
        return self.cluster.namespace

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The operator stands still meanwhile."""
        self.operator.freeze()
        try:
            yield
        finally:
            self.operator.thaw()


@contextmanager
def open_scene(
    directory: Path, options: ApiServerOptions | None = None, *, program: Sequence[str | Path] = ()
) -> Iterator[LoneScene]:
    """Yield such a scene; the operator has begun, and is to end in good order.

    Args:
        directory: for what the programs keep.
        options: of the API server.
        program: what runs the operator in place of the `keybearer` command.
    """
    with ExitStack() as stack:
        # What it pushes to may be on this machine.
        outbound = ["--allow-outbound=127.0.0.0/8"]
        service = stack.enter_context(RestartableService(directory, flags=outbound, launch=PRELOADED))
        admin = stack.enter_context(ServiceAdmin(service))
        plane = stack.enter_context(ControlPlane(options))
        api = stack.enter_context(KubeApi(plane.admin_kubeconfig))
        cluster = install_operator(plane, api)
        flags = [
            f"--service-url={service.url}",
            f"--lease-namespace={cluster.namespace}",
            "--no-leader-election",
        ]
        launch = None if program else PRELOADED
        operator = OperatorProcess(cluster.kubeconfig, directory, flags, program=program, launch=launch)
        stack.callback(operator.kill)
        project = admin.new_project("lonely")
        project.store({"A": "cnry-1"})
        tenant = open_tenant(api, "lonely", project, admin.new_login(project.id))
        operator.start()
        yield LoneScene(plane, cluster, tuple(flags), service, admin, tenant, operator)
        operator.terminate()
