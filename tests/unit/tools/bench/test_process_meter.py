from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import psutil
import pytest

from tools.bench.process_meter import ProcessMeter, Ticks, parse_stat_ticks, parse_status_kib
from tools.local.waiting import eventually

_STAT = "4711 (a (strange) name) S 1 4711 4711 0 -1 4194560 100 200 0 0 {} 20 0 3 0 100 0 0"
_MEBIBYTES = 40
# Starts a child that holds memory, ends it at the first line of input, and itself at the second.
_FAMILY = f"""
import subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-c", "held = b'x' * {_MEBIBYTES << 20}; print('held', flush=True); input()"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print("started", flush=True)
sys.stdin.readline()
child.communicate()
print("alone", flush=True)
sys.stdin.readline()
"""
_BUSY = "import time; end = time.process_time() + 0.2\nwhile time.process_time() < end: pass"


def test_processor_time_is_read_behind_a_name_with_blanks_and_parentheses() -> None:
    assert parse_stat_ticks(_STAT.format("11 5 7 3")) == Ticks(own=16, reaped=10)


def test_a_field_of_the_status_is_read_in_kibibytes() -> None:
    assert parse_status_kib("Name:\tx\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n", "VmHWM") == 2048


def test_an_absent_field_of_the_status_is_zero() -> None:
    assert parse_status_kib("Name:\tx\n", "VmHWM") == 0


@dataclass
class _Family:
    parent: subprocess.Popen[str]

    def end_the_child(self) -> None:
        assert self.parent.stdin is not None
        assert self.parent.stdout is not None
        self.parent.stdin.write("\n")
        self.parent.stdin.flush()
        assert self.parent.stdout.readline() == "alone\n"


@pytest.fixture
def family() -> Iterator[_Family]:
    with subprocess.Popen(
        [sys.executable, "-c", _FAMILY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "started\n"
        yield _Family(parent)
        parent.communicate("\n\n")


def test_the_memory_of_a_child_counts_as_the_process_own(family: _Family) -> None:
    memory = ProcessMeter(family.parent.pid).memory()

    assert memory.descendants > _MEBIBYTES
    assert memory.resident > memory.descendants
    assert memory.peak >= memory.resident


async def test_sampling_remembers_the_peak_with_a_child_that_is_gone(family: _Family) -> None:
    meter = ProcessMeter(family.parent.pid)
    async with meter.sampled():
        await asyncio.sleep(0)  # the first sample is taken as soon as the task runs

    family.end_the_child()
    memory = meter.memory()

    assert memory.descendants == 0
    assert memory.peak > memory.resident + _MEBIBYTES


async def test_a_forgotten_peak_is_of_what_came_since(family: _Family) -> None:
    meter = ProcessMeter(family.parent.pid)
    async with meter.sampled():
        await asyncio.sleep(0)
    family.end_the_child()

    meter.forget_peak()
    memory = meter.memory()

    assert memory.peak < memory.resident + _MEBIBYTES / 2


def test_the_processor_time_of_a_finished_child_counts() -> None:
    meter = ProcessMeter(os.getpid())
    before = meter.cpu_seconds()

    subprocess.run([sys.executable, "-c", _BUSY], check=True)

    assert meter.cpu_seconds() - before > 0.15  # it used 0.2 s; ticks of 10 ms are cut off


def test_processor_time_does_not_grow_while_nothing_is_done() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"]
    ) as idle:
        eventually(
            lambda: psutil.Process(idle.pid).status() == psutil.STATUS_STOPPED, awaited="a child at rest"
        )
        meter = ProcessMeter(idle.pid)
        before = meter.cpu_seconds()
        sum(range(3_000_000))  # ours, not the child's

        assert meter.cpu_seconds() == before
        idle.kill()


def test_an_opened_file_is_counted(tmp_path_factory: pytest.TempPathFactory) -> None:
    meter = ProcessMeter(os.getpid())
    before = meter.open_files()

    with (tmp_path_factory.mktemp("files") / "one").open("w"):
        assert meter.open_files() == before + 1
