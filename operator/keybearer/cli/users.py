"""`keybearer users`: people. Passwords come from files, the environment or hidden prompts, never from arguments."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import connected
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import (
    Output,
    OutputFormat,
    Yes,
    print_done,
    print_found,
    require_confirmed,
)
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text
from keybearer.cli.sync_owners import Heir, announce_syncs, hand_over, syncs_of
from keybearer.wire.roles import OrganizationRoleSlug

if TYPE_CHECKING:
    from keybearer.client import Keybearer, User

__all__ = ["users"]

users = typer.Typer(
    help="List, create, change and delete people.", no_args_is_help=True, rich_markup_mode=None
)

Who = Annotated[str, typer.Argument(help="Email or id.")]
FirstName = Annotated[str | None, typer.Option(help="Given name.")]
LastName = Annotated[str | None, typer.Option(help="Family name.")]


@users.command("list")
def list_users(output: Output = OutputFormat.TABLE) -> None:
    """List the people of the organization."""
    with connected() as client:
        found = client.users.list()
    print_found(
        output,
        found,
        ("EMAIL", "NAME", "ROLE", "CREATED", "ID"),
        [(user.email, _name(user), user.role, user.created_at, user.id) for user in found],
    )


@users.command("create")
def create_user(
    email: Annotated[str, typer.Argument(help="What the person logs in with.")],
    role: Annotated[OrganizationRoleSlug, typer.Option(help="In the organization.")] = "member",
    first_name: FirstName = None,
    last_name: LastName = None,
    password_file: Annotated[
        Path | None,
        typer.Option(help="File with the first password; - reads it from standard input.", allow_dash=True),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Create a person, with a first password.

    The password comes from a file, KEYBEARER_NEW_PASSWORD or a prompt without echo. Tell the person to change it:
    keybearer users change-password. Put the person into a project with keybearer members set.
    """
    password = private_text(
        f"password of {email}", variable=OwnCredential.NEW_PASSWORD, file=password_file, twice=True
    )
    with connected() as client:
        user = client.users.create(email, password, role=role, first_name=first_name, last_name=last_name)
    print_done(output, asdict(user), f"{user.email} may log in; the id is {user.id}.")


@users.command("update")
def update_user(
    who: Who,
    role: Annotated[OrganizationRoleSlug | None, typer.Option(help="In the organization.")] = None,
    first_name: FirstName = None,
    last_name: LastName = None,
    password_file: Annotated[
        Path | None,
        typer.Option(
            help="File with another password; - reads it from standard input. Ends the person's sessions.",
            allow_dash=True,
        ),
    ] = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Change a person.

    Or give another password, where the old one is lost.
    """
    if role is None and first_name is None and last_name is None and password_file is None:
        raise CommandError(
            "nothing to change was given",
            ExitStatus.USAGE,
            "Say --role, --first-name, --last-name or --password-file.",
        )
    password = None
    if password_file is not None:
        password = private_text(f"password of {who}", variable=OwnCredential.NEW_PASSWORD, file=password_file)
    with connected() as client:
        user = client.users.update(
            _user_of(client, who).id,
            role=role,
            first_name=first_name,
            last_name=last_name,
            password=password,
        )
    print_done(output, asdict(user), f"{user.email} is changed.")


@users.command("delete")
def delete_user(
    who: Who,
    transfer_syncs_to: Heir = None,
    yes: Yes = False,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Delete a person, with the personal secrets.

    Sessions end at once. The person's syncs stop, unless --transfer-syncs-to.
    """
    with connected() as client:
        user = _user_of(client, who)
        owned = syncs_of(client, user.id)
        announce_syncs(owned, who, transfer_syncs_to)
        require_confirmed(f"Delete {who} with all personal secrets?", yes=yes)
        hand_over(client, owned, user.id, transfer_syncs_to)
        deleted = client.users.delete(user.id)
    print_done(output, asdict(deleted), f"{deleted.email} is deleted.")


@users.command("change-password")
def change_password(
    password_file: Annotated[
        Path | None,
        typer.Option(help="File with the password of today; - is standard input.", allow_dash=True),
    ] = None,
    new_password_file: Annotated[
        Path | None, typer.Option(help="File with the new password; - is standard input.", allow_dash=True)
    ] = None,
) -> None:
    """Give yourself another password.

    All your sessions end.

    Passwords come from files, the environment (KEYBEARER_PASSWORD, KEYBEARER_NEW_PASSWORD) or prompts without
    echo.
    """
    if password_file is not None and password_file == new_password_file:
        raise CommandError("both passwords can't come from one place", ExitStatus.USAGE)
    with connected() as client:
        current = private_text("password of today", variable=OwnCredential.PASSWORD, file=password_file)
        new = private_text(
            "new password", variable=OwnCredential.NEW_PASSWORD, file=new_password_file, twice=True
        )
        client.users.change_password(current, new)
    print_done(
        OutputFormat.TABLE, None, "The password is changed. Log in again: keybearer login --email EMAIL"
    )


def _user_of(client: Keybearer, who: str) -> User:
    if "@" not in who:
        return client.users.get(who)
    for user in client.users.list():
        if user.email == who.strip().lower():
            return user
    raise CommandError(
        f"nobody has the email {who!r}", ExitStatus.NOT_FOUND, "List people: keybearer users list"
    )


def _name(user: User) -> str:
    return f"{user.first_name} {user.last_name}".strip()
