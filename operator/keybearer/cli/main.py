"""`keybearer`: commands for people and the two programs of the house.

Each command imports what it runs only when it runs: the operator's process never loads the service's
libraries, nor the other way round, and `--help` answers at once.
"""

from __future__ import annotations

import typer

from keybearer.cli.crds import crds
from keybearer.cli.operator import operator
from keybearer.cli.serve import serve

__all__ = ["app"]

app = typer.Typer(
    name="keybearer",
    help="Brings secrets and certificates into Kubernetes.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,  # locals hold values
    add_completion=False,
)


@app.command()
def version() -> None:
    """Print the version."""
    from keybearer import __version__

    typer.echo(__version__)


app.command()(crds)
app.command()(operator)
app.command()(serve)


@app.callback()
def main() -> None:
    """Brings secrets and certificates into Kubernetes."""
