"""What is said of a machine that can't have nodes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tools.node import machine
from tools.node.machine import UnfitMachineError, machine_programs, shortcomings

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing else is looked at")


def test_every_program_that_is_missing_is_named_with_its_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(machine, "_search_path", lambda: str(tmp_path))
    found = shortcomings()
    for program, package in {"nft": "nftables", "runc": "runc", "busybox": "busybox-static"}.items():
        assert f"{program} is not installed (package {package})" in found
    with pytest.raises(UnfitMachineError, match="runc is not installed"):
        machine_programs()


def test_a_user_who_is_not_root_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "nodes need root" in shortcomings()


def test_elsewhere_than_on_linux_nothing_else_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert shortcomings() == ["nodes need Linux"]
