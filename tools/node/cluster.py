"""A whole cluster on this machine: a control plane, nodes that run pods, and DNS."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from tools.controlplane.commands import ApiServerOptions
from tools.controlplane.controlplane import ControlPlane
from tools.controlplane.errors import ControlPlaneError
from tools.controlplane.process import Process
from tools.local.kube_api import Body, KubeApi
from tools.local.waiting import GRACE, eventually
from tools.node.archives import HandMadeImage, write_archive
from tools.node.cgroups import make_cgroup
from tools.node.dns import DNS_NAMESPACE, DNS_WORKLOAD, dns_manifests
from tools.node.machine import MachinePrograms, machine_programs, snapshotter
from tools.node.namespaces import Namespaces, run_command
from tools.node.network import Addresses, Network
from tools.node.node import Node
from tools.node.programs import NodePrograms, node_programs
from tools.node.records import Claim
from tools.node.settings import NodeFiles, node_name, write_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import TracebackType

__all__ = ["BUSYBOX_IMAGE", "NodeCluster"]

BUSYBOX_IMAGE = "keybearer.invalid/busybox:of-this-machine"
"""What pods may use without pulling it: the machine's busybox, under the names of all its programs."""
_SANDBOX_IMAGE = "keybearer.invalid/sandbox:of-this-machine"
_DNS_IMAGE = "keybearer.invalid/coredns:built"


class NodeCluster:
    """A Kubernetes cluster with nodes from `start()` to `stop()`.

    Pods reach this machine at `address`, each other, Services, and names of the cluster; nothing beyond. Every method
    blocks. If this process is killed, all that runs ends with it, and the next cluster clears what is left.

    Args:
        nodes: How many.
        options: What to change about the API server.
        log_directory: Receives the logs, which stay; None: `stop()` removes them.
    """

    def __init__(
        self, nodes: int = 1, options: ApiServerOptions | None = None, *, log_directory: Path | None = None
    ) -> None:
        self._count = nodes
        self._options = options or ApiServerOptions()
        self._log_directory = log_directory
        self._stack: ExitStack | None = None
        self._made: _Made | None = None

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
        """All nodes are ready, and names are resolved; programs that are missing were built first.

        Raises:
            UnfitMachineError: This machine can't have nodes.
            BuildError: A program is missing and can't be built.
            ProcessExitedError: A program ended early; the message ends with its log.
            DeadlineExceededError: A program did not become ready.
            NotInTimeError: A node, or DNS, did not.
            ControlPlaneError: It already runs, or something else failed.
        """
        if self._stack is not None:
            raise ControlPlaneError("this cluster is already started")
        machine, programs = machine_programs(), node_programs()
        with ExitStack() as stack:
            self._made = self._make(stack, machine, programs)
            self._stack = stack.pop_all()

    def stop(self) -> None:
        """No process, namespace, mount, interface, cgroup or file of it is left. May be called twice."""
        if self._stack is not None:
            stack, self._stack, self._made = self._stack, None, None
            stack.close()

    @property
    def plane(self) -> ControlPlane:
        """The control plane, which listens at `address`."""
        return self._present.plane

    @property
    def address(self) -> str:
        """Where pods reach this machine."""
        return self._present.addresses.machine

    @property
    def nodes(self) -> tuple[Node, ...]:
        """All of them; the first is `node-1`."""
        return self._present.nodes

    @property
    def directory(self) -> Path:
        """Of this cluster, mode 0700; goes with it. Pods may have parts of it as volumes of kind hostPath."""
        return self._present.claim.directory

    def check(self) -> None:
        """All programs run; else ProcessExitedError, which ends with the log of one that doesn't."""
        self.plane.check()
        self._present.scheduler.check()
        for node in self.nodes:
            node.check()

    def load(self, archive: Path, *, names: Sequence[str] = ()) -> None:
        """Pods may use the images of an archive on every node, without pulling them; see `Node.load`."""
        for node in self.nodes:
            node.load(archive, names=names)

    @property
    def _present(self) -> _Made:
        if self._made is None:
            raise ControlPlaneError("this cluster is not started")
        return self._made

    def _make(self, stack: ExitStack, machine: MachinePrograms, programs: NodePrograms) -> _Made:
        claim = stack.enter_context(Claim(machine.ip, self._count))
        addresses = Addresses(claim.record.number)
        logs = self._log_directory or claim.directory
        logs.mkdir(parents=True, exist_ok=True)
        bridge = _namespaces(stack, claim.directory / "bridge", machine)
        network = Network(machine.ip, machine.nsenter, claim.record.interface, addresses, bridge)
        network.start()
        options = dataclasses.replace(
            self._options, nodes_at=addresses.machine, controllers=(*self._options.controllers, "*")
        )
        plane = stack.enter_context(ControlPlane(options, log_directory=logs / "control-plane"))
        scheduler = _start_scheduler(stack, plane, programs, logs)
        context = _Context(claim, addresses, machine, programs, network, plane, logs)
        archives = _archives(claim.directory, machine, programs)
        nodes = tuple(_start_node(stack, context, index, archives) for index in range(1, self._count + 1))
        made = _Made(claim, addresses, plane, scheduler, nodes)
        made.wait()
        return made


@dataclasses.dataclass(frozen=True, slots=True)
class _Context:
    """What nodes are made with."""

    claim: Claim
    addresses: Addresses
    machine: MachinePrograms
    programs: NodePrograms
    network: Network
    plane: ControlPlane
    logs: Path


@dataclasses.dataclass(frozen=True, slots=True)
class _Made:
    """What exists between start and stop."""

    claim: Claim
    addresses: Addresses
    plane: ControlPlane
    scheduler: Process
    nodes: tuple[Node, ...]

    def wait(self) -> None:
        """All nodes are ready, and so is DNS, which is made here."""
        self.plane.kubectl("apply", "--filename=-", input=dns_manifests(_DNS_IMAGE))
        workload = f"/apis/apps/v1/namespaces/{DNS_NAMESPACE}/deployments/{DNS_WORKLOAD}"
        with KubeApi(self.plane.admin_kubeconfig) as api:

            def ready() -> bool:
                for node in self.nodes:
                    node.check()
                names = {one["metadata"]["name"] for one in _ready(api)}
                return names >= {node.name for node in self.nodes}

            eventually(ready, awaited="a readiness of all nodes", told=self._told)
            eventually(
                lambda: api.send("GET", workload).get("status", {}).get("availableReplicas") == 1,
                awaited="a pod of CoreDNS that is ready",
                told=self._told,
            )

    def _told(self) -> str:
        tails = (node.kubelet.log_tail(20) for node in self.nodes)
        pods = self.plane.kubectl("get", "pods", "--all-namespaces", "--output=wide")
        events = self.plane.kubectl("get", "events", "--all-namespaces")
        return "\n".join([*tails, pods, events])


def _ready(api: KubeApi) -> Iterator[Body]:
    for node in api.send("GET", "/api/v1/nodes")["items"]:
        conditions = node["status"].get("conditions", ())
        if any((one["type"], one["status"]) == ("Ready", "True") for one in conditions):
            yield node


def _namespaces(
    stack: ExitStack, directory: Path, machine: MachinePrograms, places: Path | None = None
) -> Namespaces:
    directory.mkdir()
    if places is not None:
        places.mkdir()
    made = Namespaces(directory.name, directory, machine.unshare, places=places)
    stack.callback(made.stop)
    made.start()
    return made


def _start_scheduler(stack: ExitStack, plane: ControlPlane, programs: NodePrograms, logs: Path) -> Process:
    kubeconfig = plane.client_kubeconfig("scheduler", "system:kube-scheduler")
    process = Process(
        "kube-scheduler",
        # No port to race for: its health shows in what it does.
        [programs.kube_scheduler, f"--kubeconfig={kubeconfig}", "--leader-elect=false", "--secure-port=0"],
        logs / "kube-scheduler.log",
    )
    stack.callback(process.terminate, grace=GRACE)
    process.start()
    return process


def _start_node(stack: ExitStack, context: _Context, index: int, archives: Sequence[Path]) -> Node:
    """Its programs have begun; it may not be ready."""
    name = node_name(index)
    directory = context.claim.directory / name
    files = NodeFiles(
        directory,
        directory / "ca.crt",
        context.plane.client_kubeconfig(name, f"system:node:{name}", "system:nodes"),
        context.plane.client_kubeconfig(f"{name}-proxy", "system:kube-proxy"),
    )
    namespaces = _namespaces(stack, directory, context.machine, files.places)
    context.network.add(index, namespaces)
    files.client_ca.write_bytes(context.plane.ca_pem)
    cgroup = context.claim.record.cgroup(index)
    make_cgroup(cgroup)
    layers = snapshotter(directory)
    write_settings(
        files,
        index,
        context.addresses,
        context.machine,
        cgroup=cgroup,
        snapshotter=layers,
        sandbox_image=_SANDBOX_IMAGE,
    )
    node = Node(
        index, context.addresses.node(index), context.programs, namespaces, files, layers, context.logs
    )
    stack.callback(node.stop)
    node.start_runtime()
    for archive in archives:
        node.load(archive)
    node.start()
    return node


def _archives(directory: Path, machine: MachinePrograms, programs: NodePrograms) -> list[Path]:
    busybox = {"bin/busybox": machine.busybox}
    names = set(run_command([machine.busybox, "--list"]).split()) - {"busybox"}
    images = (
        # Its only task is to be there until it is killed.
        HandMadeImage(_SANDBOX_IMAGE, busybox, ["/bin/busybox", "sleep", "infinity"]),
        HandMadeImage(
            BUSYBOX_IMAGE, busybox, ["/bin/sh"], links={f"bin/{name}": "busybox" for name in names}
        ),
        HandMadeImage(_DNS_IMAGE, {"coredns": programs.coredns}, ["/coredns"]),
    )
    archives = []
    for number, image in enumerate(images):
        archive = directory / f"image-{number}.tar"
        write_archive(image, archive)
        archives.append(archive)
    return archives
