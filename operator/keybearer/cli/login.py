"""`keybearer login` and `keybearer logout`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from keybearer.cli.connecting import address_of, new_client
from keybearer.cli.failures import misused
from keybearer.cli.login_file import Login, forget_login, login_path, read_login, write_login
from keybearer.cli.output import note
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.private_input import private_text

__all__ = ["login", "logout"]


def login(
    url: Annotated[
        str | None,
        typer.Option(envvar="KEYBEARER_URL", help="Address of the service. Without it, login asks."),
    ] = None,
    client_id: Annotated[
        str | None,
        typer.Option(help="Log in as a machine identity (Universal Auth). Default: $KEYBEARER_CLIENT_ID."),
    ] = None,
    client_secret_file: Annotated[
        Path | None,
        typer.Option(help="File with its client secret; - reads it from standard input.", allow_dash=True),
    ] = None,
    email: Annotated[str | None, typer.Option(help="Log in as a person. Default: $KEYBEARER_EMAIL.")] = None,
    password_file: Annotated[
        Path | None,
        typer.Option(help="File with the password; - reads it from standard input.", allow_dash=True),
    ] = None,
    organization_id: Annotated[
        str | None, typer.Option(help="The person's organization, if there are several.")
    ] = None,
    ca_file: Annotated[
        Path | None,
        typer.Option(envvar="KEYBEARER_CA_FILE", help="PEM certificates to trust for the address."),
    ] = None,
    allow_insecure_http: Annotated[
        bool,
        typer.Option(
            "--allow-insecure-http",
            envvar="KEYBEARER_ALLOW_INSECURE_HTTP",
            help="Allow plain http to other machines.",
        ),
    ] = False,
) -> None:
    """Log in, for the commands that follow.

    The token is kept in a file that only you can read, under $XDG_CONFIG_HOME or ~/.config.

    Client secret and password come from a file, the environment (KEYBEARER_CLIENT_SECRET, KEYBEARER_PASSWORD)
    or a prompt without echo; never from an argument, which others could see.
    """
    if client_id is None and email is None:
        client_id, email = os.environ.get("KEYBEARER_CLIENT_ID"), os.environ.get("KEYBEARER_EMAIL")
    if (client_id is None) == (email is None):
        raise misused("give --client-id for a machine identity, or --email for a person")
    if url is None and not sys.stdin.isatty():
        raise misused("no address was given", "Say --url, or set KEYBEARER_URL.")
    address = address_of(url or str(typer.prompt("Address of the service", err=True)))
    ca = None if ca_file is None else str(ca_file.absolute())
    with new_client(address, None, ca_file=ca, allow_insecure_http=allow_insecure_http) as client:
        if client_id is not None:
            method, name = "universal-auth", client_id
            secret = private_text(
                "client secret", variable=OwnCredential.CLIENT_SECRET, file=client_secret_file
            )
            answer = client.auth.universal_auth.login(client_id, secret)
        else:
            method, name = "user", email or ""
            password = private_text("password", variable=OwnCredential.PASSWORD, file=password_file)
            answer = client.auth.user.login(name, password, organization_id=organization_id)
        expires_at = ""
        if answer.expires_in > 0:
            until = datetime.now(UTC) + timedelta(seconds=answer.expires_in)
            expires_at = until.isoformat(timespec="seconds")
        path = write_login(
            Login(address, method, name, answer.access_token, ca, allow_insecure_http, expires_at)
        )
        client.auth.keep_access_token()
    until_text = f" until {expires_at}" if expires_at else ""
    note(f"Logged in at {address} as {name}{until_text}; the token is in {path}.")


def logout() -> None:
    """End the login, and revoke its token."""
    kept = read_login()
    if kept is None:
        note(f"Nobody was logged in: there is no {login_path()}.")
        return
    # First here, so that it is gone whatever the service says.
    forget_login()
    from keybearer.client import SuppliedToken, Unauthenticated

    with new_client(
        kept.url,
        SuppliedToken(kept.access_token),
        ca_file=kept.ca_file,
        allow_insecure_http=kept.allow_insecure_http,
    ) as client:
        try:
            client.auth.revoke()
        except Unauthenticated:
            note(f"The token had run out already; it is removed from {login_path()}.")
            return
    note(f"Logged out at {kept.url}; the token is revoked and removed.")
