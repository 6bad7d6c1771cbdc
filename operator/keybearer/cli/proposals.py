"""What a shell offers at Tab for the value of an option: the names of projects and environments that the service has.

Nothing is offered, and nothing is said, if nobody is logged in or the service doesn't answer at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from keybearer.client import Keybearer

__all__ = ["environments_that_begin", "projects_that_begin"]

_PATIENCE = timedelta(seconds=3)
"""A shell that waits longer feels broken."""


def projects_that_begin(incomplete: str) -> list[str]:
    """Return the slugs of the projects that begin with a text."""
    return _offered(lambda client: (one.slug for one in client.projects.list()), incomplete)


def environments_that_begin(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the slugs of the environments that begin with a text, of the project that the command names."""
    from keybearer.cli.connecting import project_id_of

    project = ctx.params.get("project")
    if not isinstance(project, str) or not project:
        return []
    return _offered(
        lambda client: (
            one.slug for one in client.environments.list(project_id=project_id_of(client, project))
        ),
        incomplete,
    )


def _offered(ask: Callable[[Keybearer], Iterable[str]], incomplete: str) -> list[str]:
    from keybearer.base.errors import KeybearerError
    from keybearer.cli.connecting import connected

    try:
        with connected(patience=_PATIENCE) as client:
            return sorted(one for one in ask(client) if one.startswith(incomplete))
    except KeybearerError:
        return []  # nobody reads what a completion says
