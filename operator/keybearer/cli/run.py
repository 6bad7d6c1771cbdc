"""`keybearer run`: a program with secrets in its environment."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Annotated, NoReturn

import typer

from keybearer.cli.connecting import EnvironmentName, FolderPath, ProjectName, in_folder
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.output import note
from keybearer.cli.own_credentials import OwnCredential
from keybearer.cli.secret_output import WithImports
from keybearer.cli.transfer import Recursive, readable_values

__all__ = ["run"]

_OWN_CREDENTIALS = frozenset(OwnCredential)


def run(
    command: Annotated[list[str], typer.Argument(help="The program and its arguments, after --.")],
    project: ProjectName,
    environment: EnvironmentName,
    path: FolderPath = "/",
    recursive: Recursive = False,
    imports: WithImports = True,
    override: Annotated[
        bool, typer.Option("--override", help="Also replace variables that are set already.")
    ] = False,
) -> None:
    """Run a program with secrets in its environment.

    The program replaces this process: signals reach it, and its exit status is the command's. Variables that are set
    and not empty keep their values, unless --override. The program doesn't get Keybearer's own credentials.
    """
    with in_folder(project, environment, path) as (client, place):
        found = client.secrets.list(**place, recursive=recursive, include_imports=imports, unique_keys=True)
    if not found:
        note(f"There are no secrets in {environment}:{path}.")
    child_env = environment_of_child(os.environ, readable_values(found), override=override)
    _become(command, child_env)


def environment_of_child(
    own: Mapping[str, str], values: Mapping[str, str], *, override: bool
) -> dict[str, str]:
    """Return the variables of the program: ours but for credentials, and the secrets.

    Raises:
        CommandError: no environment can hold one of the names or values.
    """
    child = {name: value for name, value in own.items() if name not in _OWN_CREDENTIALS}
    for name, value in values.items():
        if not name or "=" in name or "\0" in name + value:
            raise CommandError(
                f"no environment can hold the secret {name!r}: its name has a =, or it holds a NUL",
                ExitStatus.REFUSED,
                "Rename it, or keep it in another folder.",
            )
        if override or not child.get(name):
            child[name] = value
    return child


def _become(command: list[str], child_env: dict[str, str]) -> NoReturn:
    # Python ignores these two; a program that is started so would inherit that, and miss a closed pipe.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, child_env)  # noqa: S606 - what was asked for, and no shell wanted
    except FileNotFoundError as error:
        raise CommandError(f"there is no program {command[0]!r}", ExitStatus.NO_SUCH_PROGRAM) from error
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "its name or an argument holds a NUL"
        raise CommandError(f"{command[0]!r} can't be run: {why}", ExitStatus.NOT_EXECUTABLE) from error
