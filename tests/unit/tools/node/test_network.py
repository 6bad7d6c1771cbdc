"""Which network a cluster's nodes get."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.controlplane.errors import ControlPlaneError
from tools.node.network import Addresses, free_number


def test_a_network_is_free_that_no_route_and_no_other_cluster_has(tmp_path: Path) -> None:
    ip = _ip(tmp_path, "default via 192.0.2.1 dev eth0", "10.100.0.0/24 dev vpn", "local 10.101.7.8 dev lo")
    assert free_number(ip, {102, 104}) == 103


def test_a_route_to_all_of_10_takes_no_network_but_its_own(tmp_path: Path) -> None:
    assert free_number(_ip(tmp_path, "10.0.0.0/8 dev vpn"), set()) == 100


def test_a_machine_without_a_free_network_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match=r"no network 10\.N\.0\.0/16 is free"):
        free_number(_ip(tmp_path), set(range(256)))


def test_addresses_of_a_cluster_are_of_its_network() -> None:
    addresses = Addresses(117)
    assert addresses.machine == "10.117.0.1"
    assert [addresses.node(index) for index in (1, 2)] == ["10.117.0.11", "10.117.0.12"]
    assert [addresses.pods(index) for index in (1, 2)] == ["10.117.1.0/24", "10.117.2.0/24"]


def _ip(directory: Path, *routes: str) -> Path:
    program = directory / "ip"
    program.write_text("\n".join(["#!/bin/sh", *(f"echo '{route}'" for route in routes)]))
    program.chmod(0o755)
    return program
