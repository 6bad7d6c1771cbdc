"""`keybearer`: commands for people, the operator and the service.

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

    from keybearer.cli.completion import prepare_completion
    from keybearer.cli.failures import told_failures
    from keybearer.cli.on_demand import CommandPlace, OnDemand, command_path, new_app

__all__ = ["app"]

_SECTIONS: Mapping[str, Mapping[str, CommandPlace]] = {
    "Use secrets and certificates": {
        "login": CommandPlace("login"),
        "logout": CommandPlace("login", "logout"),
        "whoami": CommandPlace("whoami", "whoami", "Show who you are at the service."),
        "secrets": CommandPlace("secrets"),
        "run": CommandPlace("run", interspersed=False),
        "certificates": CommandPlace("certificates"),
        "completion": CommandPlace("completion", "completion", "Print a script of completion for a shell."),
        "version": CommandPlace("main", "version"),
    },
    "Operate in a cluster": {
        "init": CommandPlace("init.command", "init", "Set up a first Secret in a namespace."),
        "doctor": CommandPlace("doctor.command", "doctor", "Check operator, service and identities."),
        "explain": CommandPlace(
            "explain", "explain", "Say why an object is in its state, and what to do.", no_args_is_help=True
        ),
        "dashboard": CommandPlace(
            "dashboard.command", "dashboard", "Serve a page that shows how all objects are."
        ),
        "migrate": CommandPlace("migrate", "migrate", "Turn manifests of other operators into Keybearer's."),
        "operator": CommandPlace("operator", "operator", "Run the operator until SIGTERM."),
        "serve": CommandPlace("serve", "serve", "Run the service."),
        "crds": CommandPlace("crds", "crds", "Print the CustomResourceDefinitions as YAML."),
        "await-cleanup": CommandPlace(
            "await_cleanup", "await_cleanup", "Wait until nothing of ours is being deleted."
        ),
        "backup": CommandPlace("backup", "backup", "Copy the service's SQLite database."),
        "restore": CommandPlace("backup", "restore", "Put a backup in its place."),
    },
    "Administer a service": {
        "projects": CommandPlace("projects"),
        "environments": CommandPlace("projects", "environments"),
        "folders": CommandPlace("projects", "folders"),
        "imports": CommandPlace("imports"),
        "tags": CommandPlace("tags"),
        "members": CommandPlace("members"),
        "grants": CommandPlace("grants"),
        "users": CommandPlace("users"),
        "identities": CommandPlace("identities"),
        "connections": CommandPlace("connections"),
        "syncs": CommandPlace("syncs"),
        "authorities": CommandPlace("authorities"),
        "policies": CommandPlace("policies"),
        "profiles": CommandPlace("profiles"),
        "audit": CommandPlace("audit"),
        "keys": CommandPlace("keys"),
    },
}
"""Every command and group of commands, as the help groups and orders them."""


class _CommandLine(TyperGroup):
    """Makes the command that is asked for and runs it; what ends it is told in one way."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - typer's own signature
        super().__init__(**settings)
        if self.commands:
            raise TypeError(f"{', '.join(self.commands)}: commands are listed in _SECTIONS")
        places = {name: place for group in _SECTIONS.values() for name, place in group.items()}
        self.commands = OnDemand({name: partial(place.made, name) for name, place in places.items()})

    def format_commands(self, _ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - click's own signature
        """Write what the commands do, in groups."""
        limit = formatter.width - 6 - max(map(len, self.commands))
        for heading, names in _SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit)) for name in names])

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command line, or answer a shell that asks for completion."""
        prepare_completion()
        return super().main(*args, **extra)

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command that was asked for."""
        given = list(ctx.args)

        def command() -> str:
            return " ".join((ctx.info_name, *command_path(self, ctx.invoked_subcommand, given)))

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
