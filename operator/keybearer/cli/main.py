"""`keybearer`: commands for people and the two programs of the house.

Each command is imported and made only when it is asked for, and imports what it runs only when it runs: the
operator's process never loads the service's libraries, nor the other way round, and `--help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

from keybearer.cli.loading import collector_at_rest

with collector_at_rest():
    import typer
    from typer.core import TyperGroup

    from keybearer.cli.failures import told_failures
    from keybearer.cli.on_demand import CommandPlace, OnDemand, new_app

__all__ = ["app"]

_PLACES: Mapping[str, CommandPlace] = {
    "version": CommandPlace("main", "version"),
    "login": CommandPlace("login", "login"),
    "logout": CommandPlace("login", "logout"),
    "secrets": CommandPlace("secrets", "secrets"),
    "run": CommandPlace("run", "run", interspersed=False),
    "projects": CommandPlace("projects", "projects"),
    "environments": CommandPlace("projects", "environments"),
    "folders": CommandPlace("projects", "folders"),
    "imports": CommandPlace("imports", "imports"),
    "tags": CommandPlace("tags", "tags"),
    "members": CommandPlace("members", "members"),
    "grants": CommandPlace("grants", "grants"),
    "users": CommandPlace("users", "users"),
    "identities": CommandPlace("identities", "identities"),
    "connections": CommandPlace("connections", "connections"),
    "syncs": CommandPlace("syncs", "syncs"),
    "certificates": CommandPlace("certificates", "certificates"),
    "authorities": CommandPlace("authorities", "authorities"),
    "policies": CommandPlace("policies", "policies"),
    "profiles": CommandPlace("profiles", "profiles"),
    "audit": CommandPlace("audit", "audit"),
    "keys": CommandPlace("keys", "keys"),
    "explain": CommandPlace(
        "explain", "explain", "Say why an object is in its state, and what to do.", no_args_is_help=True
    ),
    "migrate": CommandPlace("migrate", "migrate", "Turn manifests of other operators into Keybearer's."),
    "crds": CommandPlace("crds", "crds", "Print the CustomResourceDefinitions as YAML."),
    "await-cleanup": CommandPlace(
        "await_cleanup", "await_cleanup", "Wait until nothing of ours is being deleted."
    ),
    "operator": CommandPlace("operator", "operator", "Run the operator until SIGTERM."),
    "serve": CommandPlace("serve", "serve", "Run the service."),
    "backup": CommandPlace("backup", "backup", "Copy the service's SQLite database."),
    "restore": CommandPlace("backup", "restore", "Put a backup in its place."),
}
"""Every command and group of commands, in the order of the help."""


class _CommandLine(TyperGroup):
    """Makes the command that is asked for and runs it; what ends it is told in one way."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - typer's own signature
        super().__init__(**settings)
        if self.commands:
            raise TypeError(f"{', '.join(self.commands)}: commands are listed in _PLACES")
        self.commands = OnDemand({name: partial(place.made, name) for name, place in _PLACES.items()})

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command that was asked for."""

        def command() -> str:
            return f"{ctx.info_name} {ctx.invoked_subcommand or ''}".rstrip()

        _leave_out_httpx_main()
        with told_failures(command):
            return super().invoke(ctx)


def _leave_out_httpx_main() -> None:
    """Keep httpx from loading a command line of its own, with what that draws: half of the time httpx takes to load.

    It is not for programs that use the library, which does without it where what it draws isn't installed.
    """
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment] # in Python's words: can't be imported


app = new_app("keybearer", purpose="Brings secrets and certificates into Kubernetes.", cls=_CommandLine)


def version() -> None:
    """Print the version."""
    from keybearer import __version__

    typer.echo(__version__)


def _print_version(asked: bool) -> None:
    if asked:
        version()
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version),
    ] = False,
) -> None:
    """Brings secrets and certificates into Kubernetes."""
