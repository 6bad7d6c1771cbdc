"""`keybearer`: commands for people and the two programs of the house.

Each command imports what it runs only when it runs: the operator's process never loads the service's
libraries, nor the other way round, and `--help` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

from keybearer.cli.collector import collector_at_rest

with collector_at_rest():
    import typer
    from typer.core import TyperGroup

    from keybearer.cli.audit import audit
    from keybearer.cli.connections import connections
    from keybearer.cli.crds import crds
    from keybearer.cli.explain import explain
    from keybearer.cli.failures import told_failures
    from keybearer.cli.grants import grants
    from keybearer.cli.identities import identities
    from keybearer.cli.imports import imports
    from keybearer.cli.keys import keys
    from keybearer.cli.login import login, logout
    from keybearer.cli.members import members
    from keybearer.cli.operator import operator
    from keybearer.cli.projects import environments, folders, projects
    from keybearer.cli.run import run
    from keybearer.cli.secrets import secrets
    from keybearer.cli.serve import serve
    from keybearer.cli.syncs import syncs
    from keybearer.cli.tags import tags
    from keybearer.cli.users import users

__all__ = ["app"]


class _CommandLine(TyperGroup):
    """Runs the commands; what ends them is told in one way."""

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


app = typer.Typer(
    name="keybearer",
    cls=_CommandLine,
    help="Brings secrets and certificates into Kubernetes.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals hold values
    add_completion=False,
    rich_markup_mode=None,  # plain help cuts no option names on narrow terminals
)


@app.command()
def version() -> None:
    """Print the version."""
    from keybearer import __version__

    typer.echo(__version__)


app.command()(login)
app.command()(logout)
app.add_typer(secrets, name="secrets")
app.command(context_settings={"allow_interspersed_args": False})(run)
app.add_typer(projects, name="projects")
app.add_typer(environments, name="environments")
app.add_typer(folders, name="folders")
app.add_typer(imports, name="imports")
app.add_typer(tags, name="tags")
app.add_typer(members, name="members")
app.add_typer(grants, name="grants")
app.add_typer(users, name="users")
app.add_typer(identities, name="identities")
app.add_typer(connections, name="connections")
app.add_typer(syncs, name="syncs")
app.command()(audit)
app.add_typer(keys, name="keys")
app.add_typer(explain, name="explain")
app.command(short_help="Print the CustomResourceDefinitions as YAML.")(crds)
app.command(short_help="Run the operator until SIGTERM.")(operator)
app.command(short_help="Run the service.")(serve)


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
