from __future__ import annotations

from pathlib import Path

import pytest

from tools.bench.errors import BenchError
from tools.bench.machine import describe_machine, held_directory


def test_a_directory_is_held_by_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        held_directory(tmp_path / "new"),
        pytest.raises(BenchError, match="another run"),
        held_directory(tmp_path / "new"),
    ):
        pytest.fail("two runs hold it")


def test_a_directory_is_free_again_after_a_run(tmp_path: Path) -> None:
    for _ in range(2):
        with held_directory(tmp_path):
            assert tmp_path.is_dir()


def test_the_machine_is_described_in_words() -> None:
    machine = describe_machine()

    assert all(machine.values())
    assert {"processors", "memory", "system", "Python", "Keybearer"} <= machine.keys()
