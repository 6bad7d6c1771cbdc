"""The three servers of a control plane: what each waits for, and in which order they start and stop."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from tools.controlplane.binaries import next_api_server
from tools.controlplane.commands import api_server_command, controller_manager_command, etcd_command
from tools.controlplane.errors import ControlPlaneError, ProcessExitedError
from tools.controlplane.kubeconfig import write_certificate_kubeconfig
from tools.controlplane.ports import free_port
from tools.controlplane.probe import ApiProbe, accepts_connections
from tools.controlplane.process import Process
from tools.local.waiting import GRACE, PATIENCE, PATIENCE_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tools.controlplane.binaries import Binaries
    from tools.controlplane.certificates import Identity
    from tools.controlplane.commands import ApiServerOptions

__all__ = ["Servers"]

_PORT_TAKEN = "address already in use"
_PORTS_TO_TRY = 5


class Servers:
    """etcd, kube-apiserver and kube-controller-manager over one directory. Used once: start, then stop.

    Args:
        binaries: The programs.
        directory: Private and empty; holds data, certificates and kubeconfig files.
        logs: Exists; receives one file per server.
        identity: Certificates of this cluster.
        options: What the caller changed about the API server.
    """

    def __init__(
        self, binaries: Binaries, directory: Path, logs: Path, identity: Identity, options: ApiServerOptions
    ) -> None:
        self._binaries = binaries
        self._directory = directory
        self._logs = logs
        self._identity = identity
        self._options = options
        self.port = free_port()
        self.admin_kubeconfig = directory / "admin.kubeconfig"
        controller_kubeconfig = directory / "controller-manager.kubeconfig"
        self._etcd = self._process("etcd", etcd_command(binaries.etcd, directory))
        self.api_server = self._api_server_process()
        self._controller_manager = self._process(
            "kube-controller-manager",
            controller_manager_command(
                binaries.kube_controller_manager,
                controller_kubeconfig,
                identity.ca_certificate,
                options.controllers,
            ),
        )
        self._clients = (
            (self.admin_kubeconfig, identity.admin),
            (controller_kubeconfig, identity.controller_manager),
        )

    @property
    def url(self) -> str:
        """Where the API server listens."""
        return f"https://{self._options.address}:{self.port}"

    def start(self) -> None:
        """All three work: the namespace `default` exists and has its service account.

        Raises:
            ProcessExitedError: A server ended early.
            DeadlineExceededError: A server did not become ready.
        """
        self._start_etcd()
        self._start_api_server_on_some_port()
        for path, client in self._clients:
            write_certificate_kubeconfig(path, self.url, self._identity.ca_certificate.read_bytes(), client)
        self._controller_manager.start()
        self._controller_manager.wait_until(
            lambda: self._answers("/api/v1/namespaces/default/serviceaccounts/default"),
            awaited="create the default service account",
            within=PATIENCE,
        )

    def _start_etcd(self) -> None:
        self._etcd.start()
        self._etcd.wait_until(
            lambda: accepts_connections(self._directory / "etcd.sock"),
            awaited="accept connections",
            within=PATIENCE,
        )

    def with_etcd_stopped(self, work: Callable[[Path], object]) -> None:
        """Do something to the directory of etcd's data, while neither etcd nor, by then, the API server runs."""
        self._etcd.terminate(grace=GRACE)
        work(self._directory / "etcd")
        self._start_etcd()

    def stop(self) -> None:
        """None of them runs. Whatever fails for one, the others are stopped too.

        The API server goes before etcd: without etcd it never finishes its own shutdown.
        """
        with ExitStack() as stack:
            for process in (self._etcd, self.api_server, self._controller_manager):
                stack.callback(process.terminate, grace=GRACE)

    def start_api_server(self) -> None:
        """The stopped API server is ready again on its port; waits while another program holds that."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            self.api_server.start()
            try:
                self._wait_for_api_server()
            except ProcessExitedError:
                if _PORT_TAKEN not in self.api_server.log_since_start() or time.monotonic() > deadline:
                    raise
            else:
                return

    def wait_for_custom_resources(self) -> None:
        """The API server, which is ready before that, lists objects of all CRDs."""
        self.api_server.wait_until(
            self._probe().serves_custom_resources,
            awaited="serve custom resources",
            within=PATIENCE,
        )

    def stop_api_server(self) -> None:
        """The API server has ended, open watches included."""
        self.api_server.terminate(grace=GRACE)

    def change_api_server(self, options: ApiServerOptions) -> None:
        """The API server, which must not run, has these options from its next start on."""
        self._options = options
        self.api_server = self._api_server_process()

    def check(self) -> None:
        """All three run; else ProcessExitedError, which ends with the log of one that doesn't."""
        for process in (self._etcd, self.api_server, self._controller_manager):
            process.check()

    def log_tail(self, name: str, lines: int) -> str:
        """The last lines of one server's log; ControlPlaneError for a name that is none of the three."""
        for process in (self._etcd, self.api_server, self._controller_manager):
            if process.name == name:
                return process.log_tail(lines)
        raise ControlPlaneError(f"no server is called {name!r}")

    def _start_api_server_on_some_port(self) -> None:
        for attempt in range(1, _PORTS_TO_TRY + 1):
            self.api_server.start()
            try:
                self._wait_for_api_server()
            except ProcessExitedError:
                # Between choosing the port and listening on it, another program was faster.
                if _PORT_TAKEN not in self.api_server.log_since_start() or attempt == _PORTS_TO_TRY:
                    raise
                self.port = free_port()
                self.api_server = self._api_server_process()
            else:
                return

    def _wait_for_api_server(self) -> None:
        self.api_server.wait_until(
            lambda: self._answers("/readyz") and self._answers("/api/v1/namespaces/default"),
            awaited="become ready",
            within=PATIENCE,
        )

    def _answers(self, path: str) -> bool:
        return self._probe().succeeds(path)

    def _probe(self) -> ApiProbe:
        return ApiProbe(self._identity, self._options.address, self.port)

    def _api_server_process(self) -> Process:
        program = next_api_server() if self._options.next_version else self._binaries.kube_apiserver
        return self._process(
            "kube-apiserver",
            api_server_command(program, self._directory, self._identity, self.port, self._options),
        )

    def _process(self, name: str, command: list[str | Path]) -> Process:
        return Process(name, command, self._logs / f"{name}.log")
