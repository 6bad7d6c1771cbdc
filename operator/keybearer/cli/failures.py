"""How a command fails: one line on stderr, a next step where there is one, and a fixed exit status.

docs/cli.md lists the statuses. The text of an error of ours is safe to show (its tree says so); that of a
stranger's could quote a value, so that only its place is told.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from keybearer.base.errors import ConfigurationError, KeybearerError

__all__ = ["CommandError", "ExitStatus", "failure_of", "place_of", "told_failures"]


class ExitStatus(IntEnum):
    """What the shell sees."""

    OK = 0
    FAILED = 1
    """Something that none of the others says."""
    USAGE = 2
    """The command line, a setting or a file can't be used."""
    NOT_LOGGED_IN = 3
    DENIED = 4
    NOT_FOUND = 5
    UNAVAILABLE = 6
    """The service, or the API server, can't be reached or fails; the same command may succeed later."""
    REFUSED = 7
    """The service refuses, and will again."""
    NOT_AS_WANTED = 8
    """`--exit-code`: what was looked at isn't as it should be, or something would change."""
    NOT_EXECUTABLE = 126
    """`run`: the program can't be started; as in shells."""
    NO_SUCH_PROGRAM = 127
    """`run`: there is no such program; as in shells."""
    INTERRUPTED = 130
    """Ctrl-C; as in shells."""


class CommandError(KeybearerError):
    """A command can't go on.

    Attributes:
        status: the exit status.
        next_step: what to do about it; may be empty.
    """

    def __init__(self, message: str, status: ExitStatus = ExitStatus.FAILED, next_step: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.next_step = next_step


@contextmanager
def told_failures(command: Callable[[], str]) -> Iterator[None]:
    """End the process as this module says if the block fails; `command` returns the command that ran."""
    try:
        yield
    except (typer.TyperException, typer.Exit, typer.Abort, BrokenPipeError):
        raise  # typer's own ways to end
    except KeybearerError as error:
        failure = error if isinstance(error, CommandError) else failure_of(error)
    except OSError as error:
        where = f"{error.filename}: " if isinstance(error.filename, str) else ""
        failure = CommandError(f"{where}{error.strerror or type(error).__name__}")
    except Exception as error:  # noqa: BLE001 - told without its text, which could quote a value
        failure = CommandError(f"a fault of Keybearer: {place_of(error)}", next_step="Please report it.")
    else:
        return
    # Outside the handlers, so that no traceback takes the original along.
    typer.echo(f"{command()}: {failure}", err=True)
    if failure.next_step:
        typer.echo(f"  {failure.next_step}", err=True)
    raise typer.Exit(failure.status)


def place_of(error: BaseException) -> str:
    """Return kind and place of a stranger's error, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    where = ", ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno}" for frame in frames[-6:])
    return f"{type(error).__name__} at {where}"


def failure_of(error: KeybearerError) -> CommandError:
    """Return an error of ours as a command tells it."""
    if isinstance(error, ConfigurationError):
        return CommandError(str(error), ExitStatus.USAGE)
    from keybearer.client import ClientError

    if isinstance(error, ClientError):
        return _of_client(error)
    from keybearer.kube.errors import KubeError

    if isinstance(error, KubeError):
        return _of_cluster(error)
    return CommandError(str(error))


def _of_client(error: KeybearerError) -> CommandError:
    from keybearer import client

    match error:
        case client.InvalidArgument():
            status, step = ExitStatus.USAGE, ""
        case client.Unauthenticated():
            status, step = ExitStatus.NOT_LOGGED_IN, "Log in again: keybearer login"
        case client.PermissionDenied(error="ForbiddenError"):
            # The service's word for refusals of any kind, such as a slug that is taken.
            status, step = (
                ExitStatus.DENIED,
                "The message says why; only where that is a missing role does another login help.",
            )
        case client.PermissionDenied():
            status, step = (
                ExitStatus.DENIED,
                "Ask an admin of the project for a role, or log in as someone else.",
            )
        case client.NotFound():
            status, step = (
                ExitStatus.NOT_FOUND,
                "Check project and name; of secrets, environment and path too.",
            )
        case client.TransportError() if not error.is_retryable:
            status, step = ExitStatus.UNAVAILABLE, "Check the address, and KEYBEARER_CA_FILE."
        case client.TransportError() | client.ServerFailure() | client.RateLimited():
            status, step = (
                ExitStatus.UNAVAILABLE,
                "Check that the service runs and its address, or try later.",
            )
        case client.AnswerTooLong() | client.ServiceError():
            status, step = ExitStatus.REFUSED, ""
        case client.DecodeError():
            status, step = ExitStatus.REFUSED, "Check the address: what answers is not the secrets service."
        case _:
            status, step = ExitStatus.FAILED, ""
    return CommandError(str(error), status, step)


def _of_cluster(error: KeybearerError) -> CommandError:
    from keybearer.kube import errors

    match error:
        case errors.UnauthorizedError():
            status, step = ExitStatus.NOT_LOGGED_IN, "Check the credentials of the kubeconfig."
        case errors.ForbiddenError():
            status, step = ExitStatus.DENIED, "Ask for the right to get this kind of object in the namespace."
        case errors.NotFoundError():
            status, step = ExitStatus.NOT_FOUND, "Check namespace and name."
        case errors.UnavailableError() | errors.TooManyRequestsError():
            status, step = ExitStatus.UNAVAILABLE, "Check that the cluster runs, and --kubeconfig."
        case _:
            status, step = ExitStatus.FAILED, ""
    return CommandError(str(error), status, step)
