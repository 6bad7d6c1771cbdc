"""The network of a cluster's nodes: a bridge that connects them and this machine, and addresses for pods.

All of it is `10.N.0.0/16`, where N is free on this machine: `10.N.0.1` is this machine, `10.N.0.10` and on are the
nodes, `10.N.1.0/24` and on the pods of each. Each end of a veth pair goes with the namespace of the other one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tools.controlplane.errors import ControlPlaneError
from tools.node.namespaces import run_command

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from tools.node.namespaces import Namespaces

__all__ = ["Addresses", "Network", "free_number"]

_NUMBERS = range(100, 250)
_MOST_NODES = 9


@dataclass(frozen=True, slots=True)
class Addresses:
    """Of one cluster.

    Attributes:
        number: The N.
    """

    number: int

    @property
    def machine(self) -> str:
        """Where nodes and pods reach this machine."""
        return f"10.{self.number}.0.1"

    def node(self, index: int) -> str:
        """Of a node, counted from 1."""
        return f"10.{self.number}.0.{10 + index}"

    def pods(self, index: int) -> str:
        """Of the pods of a node."""
        return f"10.{self.number}.{index}.0/24"


def free_number(ip: Path, taken: Collection[int]) -> int:
    """An N that nobody uses: neither other clusters (`taken`) nor a route of this machine."""
    routes = run_command([ip, "-4", "route", "show", "table", "all"])
    used = {int(second) for second in re.findall(r"\b10\.(\d+)\.\d+\.\d+", routes)}
    for number in _NUMBERS:
        if number not in used and number not in taken:
            return number
    raise ControlPlaneError("no network 10.N.0.0/16 is free on this machine")


class Network:
    """Connects this machine and nodes.

    Args:
        ip: The program.
        nsenter: Likewise.
        interface: How this machine's end is called; nobody else's.
        addresses: Of the cluster.
        bridge: Namespaces for the bridge, which run.
    """

    def __init__(
        self, ip: Path, nsenter: Path, interface: str, addresses: Addresses, bridge: Namespaces
    ) -> None:
        self._ip = ip
        self._nsenter = nsenter
        self._interface = interface
        self._addresses = addresses
        self._bridge = bridge
        self._nodes: dict[int, Namespaces] = {}

    def start(self) -> None:
        """The bridge is there, and this machine has its address."""
        here = self._addresses.machine
        self._inside(self._bridge, "link add name br0 type bridge")
        self._inside(self._bridge, "link set br0 up")
        self._here(f"link add {self._interface} type veth peer name machine netns {self._bridge.pid}")
        self._here(f"address add {here}/24 dev {self._interface}")
        self._here(f"link set {self._interface} up")
        self._inside(self._bridge, "link set machine master br0 up")

    def add(self, index: int, node: Namespaces) -> None:
        """The node is connected, and all reach each other's pods."""
        if index > _MOST_NODES:
            raise ControlPlaneError(f"a cluster has {_MOST_NODES} nodes at most")
        own = self._addresses.node(index)
        self._inside(node, "link set lo up")
        self._inside(node, f"link add eth0 type veth peer name node-{index} netns {self._bridge.pid}")
        self._inside(self._bridge, f"link set node-{index} master br0 up")
        self._inside(node, f"address add {own}/24 dev eth0")
        self._inside(node, "link set eth0 up")
        # What is nobody's goes to this machine, which forwards nothing.
        self._inside(node, f"route add default via {self._addresses.machine}")
        self._here(f"route add {self._addresses.pods(index)} via {own}")
        for other, namespaces in self._nodes.items():
            self._inside(node, f"route add {self._addresses.pods(other)} via {self._addresses.node(other)}")
            self._inside(namespaces, f"route add {self._addresses.pods(index)} via {own}")
        self._nodes[index] = node

    def _here(self, arguments: str) -> None:
        run_command([self._ip, *arguments.split()])

    def _inside(self, namespaces: Namespaces, arguments: str) -> None:
        run_command([self._nsenter, f"--net={namespaces.network}", self._ip, *arguments.split()])
