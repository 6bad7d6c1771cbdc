"""`keybearer secrets history` and `rollback`: the versions of a secret, and the way back to one of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, in_folder
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import Output, OutputFormat, Yes, print_done, print_found, require_confirmed
from keybearer.cli.secret_output import Personal, Show, plain_secret, secret_type, value_of

if TYPE_CHECKING:
    from keybearer.client import Keybearer, Secret

__all__ = ["history", "rollback"]

_PAGE = 50
"""The service gives no more versions at once."""

Name = Annotated[str, typer.Argument(help="Name of the secret.")]


def history(
    name: Name,
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    personal: Personal = False,
    limit: Annotated[int, typer.Option(help="How many versions at most.", min=1)] = 20,
    show: Show = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """List the versions of a secret, the newest first.

    Values are shown only with --show. CHANGED says how each differs from the version before it.
    """
    with in_folder(project, environment, path) as (client, place):
        secret = client.secrets.get(
            name,
            **place,
            type=secret_type(personal=personal),
            include_imports=False,
            view_secret_value=False,
        )
        found = _versions(client, secret.id, limit + 1)
    shown, value = found[:limit], ("VALUE",) if show else ()
    rows = [
        (
            str(one.version),
            *((value_of(one),) if show else ()),
            ", ".join(changes(one, former)),
            one.updated_at,
        )
        for one, former in zip_longest(shown, found[1 : limit + 1])
    ]
    content = [plain_secret(one, show=show) for one in shown]
    print_found(output, content, ("VERSION", *value, "CHANGED", "MADE"), rows)


def rollback(
    name: Name,
    project: ProjectName,
    environment: EnvironmentName,
    to: Annotated[int, typer.Option(help="The version whose value is restored.", min=1)],
    path: FolderPath = "/",
    personal: Personal = False,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Restore the value of an older version of a secret.

    That makes a new version. The value isn't shown. Name, comment and tags stay as they are now.
    """
    require_confirmed(f"Give {name} in {environment}:{path} the value of version {to} again?", yes=yes)
    with in_folder(project, environment, path) as (client, place):
        kind = secret_type(personal=personal)
        read = partial(client.secrets.get, name, **place, type=kind, version=to, include_imports=False)
        old = read(expand_secret_references=False)
        if old.secret_value_hidden:
            raise CommandError(
                f"the value of version {to} of {name!r} is hidden from you",
                ExitStatus.DENIED,
                "Ask an admin of the project for the right read-value.",
            )
        if "${" in old.secret_value and _is_text(old, read):
            raise CommandError(
                f"version {to} of {name!r} holds ${{...}} as text or names a secret that doesn't exist; "
                "a new version would hold a reference",
                ExitStatus.REFUSED,
                f"If it is to hold a reference, write the value: keybearer secrets set {shlex.quote(name)}",
            )
        made = client.secrets.update(name, **place, type=kind, secret_value=old.secret_value)
    done = f"{name} has the value of version {to} again, in {environment}:{path}, version {made.version}."
    print_done(output, plain_secret(made, show=False), done)


def _is_text(old: Secret, expanded: Callable[[], Secret]) -> bool:
    """Return whether nothing in a value is replaced when it is read, whatever it looks like.

    So it is with what a sync imported. Whoever writes at its destination must not get to read here by a reference.
    """
    from keybearer.client import PermissionDenied

    try:
        return expanded().secret_value == old.secret_value
    except PermissionDenied:  # of what the value refers to
        return False


def changes(version: Secret, former: Secret | None) -> Iterator[str]:
    """Yield what changed since the version before: nothing for the first version, and no hidden value."""
    if former is None:
        return
    if version.secret_key != former.secret_key:
        yield "name"
    is_hidden = version.secret_value_hidden or former.secret_value_hidden
    if not is_hidden and version.secret_value != former.secret_value:
        yield "value"
    if version.secret_comment != former.secret_comment:
        yield "comment"


def _versions(client: Keybearer, secret_id: str, most: int) -> Sequence[Secret]:
    found: list[Secret] = []
    while len(found) < most:
        wanted = min(_PAGE, most - len(found))
        page = client.secrets.versions(secret_id, offset=len(found), limit=wanted)
        found += page
        if len(page) < wanted:
            break
    return found
