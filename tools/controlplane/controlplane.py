"""The control plane as its users see it: URL, kubeconfig files, kubectl, and an API server that may fail."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tools.controlplane.binaries import Binaries, control_plane_binaries
from tools.controlplane.certificates import create_identity
from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.environment import kubectl_environment
from tools.controlplane.errors import ControlPlaneError, DeadlineExceededError, KubectlError
from tools.controlplane.kubeconfig import write_certificate_kubeconfig, write_token_kubeconfig
from tools.controlplane.scratch import ScratchDirectory
from tools.controlplane.servers import Servers
from tools.local.waiting import PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

__all__ = ["ControlPlane"]

_KUBECTL_SECONDS = 2 * PATIENCE_SECONDS
"""Twice as long as what kubectl is told to wait for: it says best itself what did not come."""


class ControlPlane:
    """A Kubernetes cluster, on loopback if nobody adds nodes, with RBAC, and with certificates.k8s.io whole.

    Every method blocks. Worker threads may call them, one at a time. On Linux the servers end with this
    process, however that ends; elsewhere only `stop()` ends them.

    Args:
        options: What to change about the API server.
        log_directory: Receives the servers' logs, which stay; None: `stop()` removes the logs.
    """

    def __init__(self, options: ApiServerOptions | None = None, *, log_directory: Path | None = None) -> None:
        self._options = options or ApiServerOptions()
        self._log_directory = log_directory
        self._started: _Started | None = None

    def __enter__(self) -> Self:
        """Starts it."""
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stops it."""
        self.stop()

    def start(self) -> None:
        """A new, empty cluster is ready for use; programs that are missing were built first.

        Raises:
            BuildError: A program is missing and can't be built.
            ProcessExitedError: A server ended early; the message ends with its log.
            DeadlineExceededError: A server did not become ready.
            ControlPlaneError: It already runs.
        """
        if self._started is not None:
            raise ControlPlaneError("this control plane is already started")
        binaries = control_plane_binaries()
        self._started = _Started(binaries, self._options, self._log_directory)
        try:
            self._started.servers.start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """No process and no file of it is left, except logs in a `log_directory`. May be called twice."""
        if self._started is None:
            return
        started, self._started = self._started, None
        try:
            started.servers.stop()
        finally:
            started.scratch.close()

    @property
    def server_url(self) -> str:
        """`https://127.0.0.1:<port>` without nodes; the same after a restart of the API server."""
        return self._cluster.servers.url

    @property
    def ca_pem(self) -> bytes:
        """The certificate, in PEM, that vouches for the API server."""
        return self._cluster.identity.ca_certificate.read_bytes()

    @property
    def admin_kubeconfig(self) -> Path:
        """A kubeconfig file, mode 0600, for a client certificate in `system:masters`."""
        return self._cluster.servers.admin_kubeconfig

    def kubectl(self, *args: str, input: str | None = None, kubeconfig: Path | None = None) -> str:  # noqa: A002 - named as in subprocess.run
        """What kubectl printed to standard output, as administrator unless another kubeconfig is given.

        Raises:
            KubectlError: Its status was not 0; carries what it wrote to standard error.
            DeadlineExceededError: It took more than twice the patience.
        """
        cluster = self._cluster
        try:
            finished = subprocess.run(
                [
                    cluster.binaries.kubectl,
                    f"--kubeconfig={kubeconfig or self.admin_kubeconfig}",
                    f"--cache-dir={cluster.scratch.path / 'kubectl-cache'}",
                    *args,
                ],
                input=input if input is not None else "",
                capture_output=True,
                text=True,
                env=kubectl_environment(cluster.scratch.path),
                timeout=_KUBECTL_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise DeadlineExceededError(
                f"kubectl {' '.join(args)} did not end within {_KUBECTL_SECONDS:g} s"
            ) from error
        if finished.returncode != 0:
            raise KubectlError(args, finished.returncode, finished.stderr)
        return finished.stdout

    @property
    def service_account_key(self) -> Path:
        """The private key, PEM, of the ServiceAccount tokens that the API server accepts."""
        return self._cluster.identity.service_accounts.key

    def client_kubeconfig(self, stem: str, user: str, *groups: str) -> Path:
        """A new kubeconfig file, mode 0600, of a client certificate for that user of these groups.

        Args:
            stem: Of the names of its files, which go with the control plane.
            user: Its name.
            groups: Of the user.
        """
        client = self._cluster.identity.authority.issue_client(stem, user, *groups)
        path = self._cluster.scratch.path / f"{stem}.kubeconfig"
        write_certificate_kubeconfig(path, self.server_url, self.ca_pem, client)
        return path

    def service_account_kubeconfig(self, namespace: str, name: str, *, hours: float = 8) -> Path:
        """A new kubeconfig file, mode 0600, with a fresh token of an existing service account.

        The token comes from the TokenRequest API, bound to nothing, for the API server's own audience. The
        file goes with the control plane.

        Args:
            namespace: Of the service account; also where requests go that name no namespace.
            name: Of the service account.
            hours: Lifetime of the token; at least 1/6, the API server's minimum.
        """
        seconds = round(hours * 3600)
        token = self.kubectl("create", "token", name, f"--namespace={namespace}", f"--duration={seconds}s")
        with tempfile.NamedTemporaryFile(
            dir=self._cluster.scratch.path, prefix=f"{namespace}.{name}-", suffix=".kubeconfig", delete=False
        ) as file:
            path = Path(file.name)
        write_token_kubeconfig(path, self.server_url, self.ca_pem, token.strip(), namespace)
        return path

    @property
    def api_server_pid(self) -> int:
        """Process id of the API server; ControlPlaneError while it is down."""
        return self._cluster.servers.api_server.pid

    def stop_api_server(self) -> None:
        """The API server has ended in good order. etcd and the controller manager keep running."""
        self._cluster.servers.stop_api_server()

    def kill_api_server(self) -> None:
        """The API server has ended at once, by SIGKILL."""
        self._cluster.servers.api_server.kill()

    def start_api_server(self, *, until_all_is_served: bool = True) -> None:
        """The stopped or killed API server is ready again, with its data, on the same port.

        Args:
            until_all_is_served: Wait for custom resources too, which are answered 429 or 503 at first.

        Raises:
            ControlPlaneError: It already runs.
            ProcessExitedError: It ended early.
            DeadlineExceededError: It did not become ready.
        """
        self._cluster.servers.start_api_server()
        if until_all_is_served:
            self._cluster.servers.wait_for_custom_resources()

    def restart_api_server(self, options: ApiServerOptions) -> None:
        """The API server runs with these options instead, with its data, on the same port; raises as its start."""
        self.stop_api_server()
        self._cluster.servers.change_api_server(options)
        self.start_api_server()

    def back_up(self, directory: Path) -> None:
        """What etcd holds is in a new directory. The API server was away meanwhile; raises as its start."""
        self._without_etcd(lambda data: shutil.copytree(data, directory))

    def restore(self, directory: Path) -> None:
        """Etcd holds what was backed up, and nothing else; the API server was away meanwhile; raises as its start."""

        def put(data: Path) -> None:
            shutil.rmtree(data)
            shutil.copytree(directory, data)

        self._without_etcd(put)

    def _without_etcd(self, work: Callable[[Path], object]) -> None:
        self.stop_api_server()
        self._cluster.servers.with_etcd_stopped(work)
        self.start_api_server()

    def check(self) -> None:
        """All servers run; else ProcessExitedError, which ends with the log of one that doesn't."""
        self._cluster.servers.check()

    def log_tail(self, name: str, lines: int = 40) -> str:
        """The last lines that `etcd`, `kube-apiserver` or `kube-controller-manager` logged."""
        return self._cluster.servers.log_tail(name, lines)

    @property
    def _cluster(self) -> _Started:
        if self._started is None:
            raise ControlPlaneError("this control plane is not started")
        return self._started


class _Started:
    """What exists between start and stop."""

    def __init__(self, binaries: Binaries, options: ApiServerOptions, log_directory: Path | None) -> None:
        self.binaries = binaries
        self.scratch = ScratchDirectory()
        try:
            self.identity = create_identity(self.scratch.path, datetime.now(UTC), options.address)
            logs = log_directory or self.scratch.path
            logs.mkdir(parents=True, exist_ok=True)
            self.servers = Servers(binaries, self.scratch.path, logs, self.identity, options)
        except BaseException:
            self.scratch.close()
            raise
