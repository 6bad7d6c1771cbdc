"""Runs the dashboard until a signal, and opens a browser."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
import webbrowser
from collections.abc import Sequence
from html import escape
from pathlib import Path

import typer

from keybearer.cli.dashboard.board import Board
from keybearer.cli.dashboard.server import serve
from keybearer.cli.kubectl.cluster import Cluster
from keybearer.cli.output import note

__all__ = ["serve_until_signal"]


async def serve_until_signal(
    cluster: Cluster, namespaces: Sequence[str], port: int, *, opens_browser: bool
) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP.

    Args:
        cluster: borrowed.
        namespaces: to look in; none of them means all.
        port: to listen on; 0 for one that is free.
        opens_browser: open the page in a browser of this machine.

    Raises:
        ConfigurationError: the port is taken.
    """
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    board = Board(cluster, namespaces)
    with tempfile.TemporaryDirectory(prefix="keybearer-") as directory:
        async with serve(board, port) as address, asyncio.TaskGroup() as group:
            typer.echo(address)
            sys.stdout.flush()
            note("Open this address in a browser of this machine. Ctrl-C ends the dashboard.")
            if opens_browser:
                await asyncio.to_thread(_open, address, Path(directory))
            following = group.create_task(board.follow(), name="follow the cluster")
            await ended.wait()
            following.cancel()


def _open(address: str, directory: Path) -> None:
    """Open the page by a file that only this user can read: other users see the arguments of a browser."""
    if sys.platform == "linux" and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        note("There is no desktop to open a browser on.")
        return
    page = directory / "dashboard.html"
    # The directory has mode 0700.
    page.write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={escape(address)}">',
        encoding="utf-8",
    )
    if not webbrowser.open(page.as_uri()):
        note("No browser could be opened.")
