"""`--destinations-from`, of both programs: packages whose destinations they know as well."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

__all__ = ["DestinationsFrom"]

DestinationsFrom: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PACKAGE",
        envvar="KEYBEARER_DESTINATIONS_FROM",
        help="A Python package, installed here, that ships destinations; its code sees what this process sees. "
        "Repeatable; several in the variable have spaces between them. None is loaded without.",
    ),
]
