"""Which service a command talks to, and as whom: the environment first, else the login that is kept."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict
from urllib.parse import urlsplit

import typer

from keybearer.base.errors import ConfigurationError
from keybearer.base.folder_paths import parent_and_name
from keybearer.base.ids import is_uuid
from keybearer.cli.failures import CommandError, ExitStatus, not_found
from keybearer.cli.loading import collector_at_rest
from keybearer.cli.login_file import read_login
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.proposals import environments_that_begin, projects_that_begin

if TYPE_CHECKING:
    from keybearer.client import Keybearer, SuppliedToken, UniversalAuth

__all__ = [
    "CurrentLogin",
    "EnvironmentName",
    "FolderPath",
    "ProjectName",
    "SecretPlace",
    "address_of",
    "connected",
    "current_login",
    "has_folder",
    "in_folder",
    "in_project",
    "is_id",
    "new_client",
    "project_id_of",
    "require_folder",
]

ProjectName = Annotated[
    str,
    typer.Option(
        "--project",
        "-p",
        envvar="KEYBEARER_PROJECT",
        help="Slug or id of the project.",
        autocompletion=projects_that_begin,
    ),
]
EnvironmentName = Annotated[
    str,
    typer.Option(
        "--env",
        "-e",
        envvar="KEYBEARER_ENVIRONMENT",
        help="Slug of the environment.",
        autocompletion=environments_that_begin,
    ),
]
FolderPath = Annotated[str, typer.Option("--path", envvar="KEYBEARER_PATH", help="The folder.")]

_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")
_TRUE = ("1", "true", "yes")


class CurrentLogin(NamedTuple):
    """Which service commands talk to, as whom, and which certificates they trust there."""

    url: str
    credentials: UniversalAuth | SuppliedToken
    ca_file: str | None
    allow_insecure_http: bool


class SecretPlace(TypedDict):
    """The folder of secrets, as the client's methods have it."""

    project_id: str
    environment: str
    secret_path: str


@contextmanager
def connected(*, patience: timedelta | None = None) -> Iterator[Keybearer]:
    """Yield a client as the environment or the kept login says; closed afterwards.

    Args:
        patience: for each request, which is then tried once; None for the client's own.

    Raises:
        ConfigurationError: a setting can't be used.
        CommandError: nobody is logged in.
    """
    with collector_at_rest():
        url, credentials, ca_file, insecure = current_login()  # imports the client
    with new_client(
        url, credentials, ca_file=ca_file, allow_insecure_http=insecure, patience=patience
    ) as client:
        yield client


@contextmanager
def in_project(project: str) -> Iterator[tuple[Keybearer, str]]:
    """Yield a client as `connected` does, and the id of a project that is named by slug or id."""
    with connected() as client:
        yield client, project_id_of(client, project)


@contextmanager
def in_folder(project: str, environment: str, path: str) -> Iterator[tuple[Keybearer, SecretPlace]]:
    """Yield a client as `connected` does, and a folder of a project that is named by slug or id."""
    with in_project(project) as (client, project_id):
        yield client, SecretPlace(project_id=project_id, environment=environment, secret_path=path)


def new_client(
    url: str,
    credentials: UniversalAuth | SuppliedToken | None,
    *,
    ca_file: str | None,
    allow_insecure_http: bool,
    patience: timedelta | None = None,
) -> Keybearer:
    """Return a client of the service at the address; `patience` as for `connected`.

    Raises:
        ConfigurationError: the address would carry secrets in the clear, or the certificates can't be read.
    """
    from keybearer import __version__
    from keybearer.client import NO_RETRIES, ClientOptions, Keybearer

    address = address_of(url)
    parts = urlsplit(address)
    if parts.scheme == "http" and not _LOOPBACK.fullmatch(parts.hostname or "") and not allow_insecure_http:
        raise ConfigurationError(
            f"{address} is plain http, which everyone on the way can read; use https, or set "
            "KEYBEARER_ALLOW_INSECURE_HTTP=1 (login: --allow-insecure-http)"
        )
    try:
        ca_pem = None if ca_file is None else Path(ca_file).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{ca_file}, to be trusted, can't be read: {error.strerror}") from error
    options = ClientOptions(ca_pem=ca_pem, user_agent=f"keybearer-cli/{__version__}")
    if patience is not None:
        options = replace(options, timeout=patience, retry=NO_RETRIES)
    return Keybearer(address, credentials, options=options)


def address_of(url: str) -> str:
    """Return the address in the one form in which addresses are compared and shown.

    Raises:
        InvalidArgument: it is none, or holds a password, which is not shown.
    """
    from keybearer.client.options import base_url_of

    return base_url_of(url)


def is_id(text: str) -> bool:
    """Return whether a text is an id, so that it need not be looked up as a name."""
    return is_uuid(text)


def project_id_of(client: Keybearer, project: str) -> str:
    """Return the id of a project that is named by slug or id."""
    return project if is_id(project) else client.projects.get_by_slug(project).id


def require_folder(client: Keybearer, place: SecretPlace) -> None:
    """Return if there is such a folder: what an empty folder holds and what a missing one does are listed alike.

    Raises:
        CommandError: there is none.
    """
    environment, path = place["environment"], place["secret_path"]
    if not has_folder(client, place["project_id"], environment, path):
        raise not_found(
            f"there is no folder {path} in environment {environment}",
            f"List what there is: keybearer folders list --path {parent_and_name(path)[0]}",
        )


def has_folder(client: Keybearer, project_id: str, environment: str, path: str) -> bool:
    """Return whether there is such a folder.

    Raises:
        NotFound: there is none above it either.
    """
    parent, name = parent_and_name(path)
    if not name:
        return True
    beside = client.folders.list(project_id=project_id, environment=environment, path=parent)
    return any(folder.name == name for folder in beside)


def current_login() -> CurrentLogin:
    """Return what the environment says, else the login that is kept.

    Raises:
        ConfigurationError: a setting can't be used.
        CommandError: nobody is logged in.
    """
    from keybearer.client import SuppliedToken, UniversalAuth

    env = os.environ
    url, ca_file = env.get("KEYBEARER_URL"), env.get("KEYBEARER_CA_FILE") or None
    insecure = env.get("KEYBEARER_ALLOW_INSECURE_HTTP", "").lower() in _TRUE
    token, client_id = env.get(OwnCredential.TOKEN), env.get("KEYBEARER_CLIENT_ID")
    client_secret = env.get(OwnCredential.CLIENT_SECRET)
    if not token and bool(client_id) != bool(client_secret):
        missing = OwnCredential.CLIENT_SECRET if client_id else "KEYBEARER_CLIENT_ID"
        # Not the login that is kept: whoever set the other one means to be somebody else.
        raise ConfigurationError(f"{missing} is missing beside the other one of the pair")
    if token or (client_id and client_secret):
        if not url:
            raise ConfigurationError("KEYBEARER_URL is needed beside the credentials of the environment")
        if token:
            return CurrentLogin(url, SuppliedToken(token), ca_file, insecure)
        return CurrentLogin(url, UniversalAuth(client_id or "", client_secret or ""), ca_file, insecure)
    login = read_login()
    if login is None:
        raise CommandError(
            "nobody is logged in",
            ExitStatus.NOT_LOGGED_IN,
            "Log in: keybearer login --url URL - or set KEYBEARER_URL and KEYBEARER_TOKEN.",
        )
    if url and (address := address_of(url)) != login.url:
        raise CommandError(
            f"nobody is logged in at {address}, which KEYBEARER_URL names; the login kept is for {login.url}",
            ExitStatus.NOT_LOGGED_IN,
            f"Log in there: keybearer login --url {address}",
        )
    token_of_file = SuppliedToken(login.access_token)
    return CurrentLogin(
        login.url, token_of_file, ca_file or login.ca_file, insecure or login.allow_insecure_http
    )
