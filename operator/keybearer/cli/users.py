"""`keybearer users`: people. Passwords come from files, the environment or hidden prompts, never from arguments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.connecting import connected
from keybearer.cli.failures import misused, nothing_to_change
from keybearer.cli.identity_finding import user_of
from keybearer.cli.nouns import Noun
from keybearer.cli.on_demand import new_group
from keybearer.cli.output import Output, OutputFormat, Yes, note, print_done
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text
from keybearer.cli.sync_owners import Heir, part_from_syncs
from keybearer.wire.roles import OrganizationRoleSlug

if TYPE_CHECKING:
    from keybearer.client import Keybearer, User

__all__ = ["users"]

users = new_group("List, create, change and delete people.")
USER: Noun[User] = Noun(
    "user",
    ("EMAIL", "NAME", "ROLE", "CREATED", "ID"),
    lambda one: (one.email, f"{one.first_name} {one.last_name}".strip(), one.role, one.created_at, one.id),
)

Who = Annotated[str, typer.Argument(help="Email or id.")]
FirstName = Annotated[str | None, typer.Option(help="Given name.")]
LastName = Annotated[str | None, typer.Option(help="Family name.")]


@users.command("list")
def list_users(output: Output = OutputFormat.TABLE) -> None:
    """List the people of the organization."""
    with connected() as client:
        USER.print_list(output, client.users.list())


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

    The password comes from a file, KEYBEARER_NEW_PASSWORD or a prompt without echo. The person can change it:
    keybearer users change-password. Put the person into a project with keybearer members set.
    """
    password = private_text(
        f"password of {email}", variable=OwnCredential.NEW_PASSWORD, file=password_file, twice=True
    )
    with connected() as client:
        user = client.users.create(email, password, role=role, first_name=first_name, last_name=last_name)
    print_done(output, user, f"{user.email} may log in; the id is {user.id}.")


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

    Or set a new password if the old one is lost.
    """
    if role is None and first_name is None and last_name is None and password_file is None:
        raise nothing_to_change("Say --role, --first-name, --last-name or --password-file.")
    password = None
    if password_file is not None:
        password = private_text(f"password of {who}", variable=OwnCredential.NEW_PASSWORD, file=password_file)
    with connected() as client:
        user = client.users.update(
            _user_of(client, who).id, role=role, first_name=first_name, last_name=last_name, password=password
        )
    print_done(output, user, f"{user.email} is changed.")


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
        user, question = _user_of(client, who), f"Delete {who} with all personal secrets?"
        part_from_syncs(client, user.id, who, transfer_syncs_to, question, yes=yes)
        deleted = client.users.delete(user.id)
    print_done(output, deleted, f"{deleted.email} is deleted.")


@users.command("change-password")
def change_password(
    password_file: Annotated[
        Path | None,
        typer.Option(help="File with the present password; - is standard input.", allow_dash=True),
    ] = None,
    new_password_file: Annotated[
        Path | None, typer.Option(help="File with the new password; - is standard input.", allow_dash=True)
    ] = None,
) -> None:
    """Change your password.

    All your sessions end.

    Passwords come from files, the environment (KEYBEARER_PASSWORD, KEYBEARER_NEW_PASSWORD) or prompts without
    echo.
    """
    if password_file is not None and password_file == new_password_file:
        raise misused("both passwords can't come from one place")
    with connected() as client:
        current = private_text("password of today", variable=OwnCredential.PASSWORD, file=password_file)
        new = private_text(
            "new password", variable=OwnCredential.NEW_PASSWORD, file=new_password_file, twice=True
        )
        client.users.change_password(current, new)
    note("The password is changed. Log in again: keybearer login --email EMAIL")


def _user_of(client: Keybearer, who: str) -> User:
    return user_of(client, who) if "@" in who else client.users.get(who)
