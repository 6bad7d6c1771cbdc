"""One node: containerd, kubelet and kube-proxy in namespaces of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.controlplane.probe import accepts_connections
from tools.controlplane.process import Process
from tools.local.waiting import PATIENCE
from tools.node.namespaces import Namespaces, run_command
from tools.node.settings import node_name

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tools.node.programs import NodePrograms
    from tools.node.settings import NodeFiles

__all__ = ["Node"]

_PASSING = "keybearer.invalid/imported:now"
"""How an image is called that gets other names."""
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Node:
    """A node from `start_runtime()` to `stop()`.

    Args:
        index: Its number, counted from 1.
        address: Where the API server reaches it.
        programs: That it runs.
        namespaces: They run already.
        files: Whose settings are written.
        layers: What containerd keeps file systems with, as its settings say.
        logs: The directory of its logs.
    """

    def __init__(
        self,
        index: int,
        address: str,
        programs: NodePrograms,
        namespaces: Namespaces,
        files: NodeFiles,
        layers: str,
        logs: Path,
    ) -> None:
        self.name = node_name(index)
        self.address = address
        self.namespaces = namespaces
        self.pod_logs = files.pod_logs
        self._ctr: list[str | Path] = [
            programs.ctr,
            f"--address={files.runtime_socket}",
            "--namespace=k8s.io",
        ]
        self._layers = layers
        self._socket = files.runtime_socket
        self._environment = {
            # containerd looks there for its shim.
            "PATH": f"{programs.containerd.parent}:{_PATH}",
            "HOME": str(files.directory),
        }
        self.containerd = self._process(
            "containerd", [programs.containerd, f"--config={files.containerd}"], logs
        )
        self.kubelet = self._process(
            "kubelet",
            [
                programs.kubelet,
                f"--config={files.kubelet}",
                f"--kubeconfig={files.kubelet_kubeconfig}",
                f"--hostname-override={self.name}",
                f"--node-ip={address}",
                f"--root-dir={files.directory / 'kubelet'}",
                f"--cert-dir={files.directory / 'kubelet-pki'}",
            ],
            logs,
        )
        self.proxy = self._process("kube-proxy", [programs.kube_proxy, f"--config={files.proxy}"], logs)

    def start_runtime(self) -> None:
        """Containerd takes images and pods; raises as the start of a process."""
        self.containerd.start()
        self.containerd.wait_until(
            lambda: accepts_connections(self._socket), awaited="accept connections", within=PATIENCE
        )

    def load(self, archive: Path, *, names: Sequence[str] = ()) -> None:
        """Pods may use the images of an archive, as docker or OCI writes it, without pulling them.

        Args:
            archive: A file.
            names: What to call the one image in it, tags included; none: as the archive says.

        Raises:
            ControlPlaneError: containerd doesn't take it.
        """
        passing = [f"--index-name={_PASSING}"] if names else []
        run_command(
            [*self._ctr, "images", "import", "--local", f"--snapshotter={self._layers}", *passing, archive]
        )
        for name in names:
            run_command([*self._ctr, "images", "tag", "--force", _PASSING, name])

    def images(self) -> set[str]:
        """The names of all that pods may use."""
        return set(run_command([*self._ctr, "images", "list", "--quiet"]).split())

    def start(self) -> None:
        """The kubelet and kube-proxy have begun; the node may not be ready."""
        self.kubelet.start()
        self.proxy.start()

    def check(self) -> None:
        """All three run; else ProcessExitedError, which ends with the log of one that doesn't."""
        for process in (self.containerd, self.kubelet, self.proxy):
            process.check()

    def stop(self) -> None:
        """Nothing of it runs, pods included. They are not asked to end first."""
        self.namespaces.stop()
        for process in (self.proxy, self.kubelet, self.containerd):
            process.kill()

    def _process(self, program: str, command: list[str | Path], logs: Path) -> Process:
        return Process(
            f"{program} of {self.name}",
            command,
            logs / f"{self.name}-{program}.log",
            environment=self._environment,
            launch=self.namespaces.launch,
        )
