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

__all__ = [
    "CommandError",
    "ExitStatus",
    "failure_of",
    "misused",
    "not_found",
    "nothing_to_change",
    "place_of",
    "told_failures",
]

_ATTACHED = "Failed to add Kubernetes Auth to already configured identity"
_REVIEWER_AGAIN = "Give tokenReviewerJwt again"
_NO_CERTIFICATE_PROJECT = "This organization has no Certificate Manager project"
"""How the published service and ours begin to say so."""


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
    """Something isn't as it should be, or would change; some commands end so with `--exit-code` only."""
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


def misused(message: str, next_step: str = "") -> CommandError:
    """Return the error that the command line, a setting or a file can't be used."""
    return CommandError(message, ExitStatus.USAGE, next_step)


def nothing_to_change(next_step: str) -> CommandError:
    """Return the error of a command that was told to change something, and not what."""
    return misused("nothing to change was given", next_step)


def not_found(message: str, next_step: str) -> CommandError:
    """Return the error that what was named isn't there."""
    return CommandError(message, ExitStatus.NOT_FOUND, next_step)


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
        return CommandError(str(error), *_advice_of_client(error))
    from keybearer.kube.errors import KubeError

    if isinstance(error, KubeError):
        return CommandError(str(error), *_advice_of_cluster(error))
    return CommandError(str(error))


def _advice_of_client(error: KeybearerError) -> tuple[ExitStatus, str]:
    from keybearer import client

    match error:
        case client.InvalidArgument():
            told = ExitStatus.USAGE, ""
        case client.Unauthenticated():
            told = ExitStatus.NOT_LOGGED_IN, "Log in again: keybearer login"
        case client.PermissionDenied(error="ForbiddenError"):
            # The service's word for refusals of any kind, such as a slug that is taken.
            why = "The message says why; only where that is a missing role does another login help."
            told = ExitStatus.DENIED, why
        case client.PermissionDenied():
            told = ExitStatus.DENIED, "Ask an admin of the project for a role, or log in as someone else."
        case client.NotFound():
            from keybearer.cli.missing import where_to_look

            told = ExitStatus.NOT_FOUND, where_to_look(error.message, error.asked)
        case client.TransportError() if not error.is_retryable:
            told = ExitStatus.UNAVAILABLE, "Check the address, and KEYBEARER_CA_FILE."
        case client.TransportError() | client.ServerFailure() | client.RateLimited():
            told = ExitStatus.UNAVAILABLE, "Check that the service runs and its address, or try later."
        case client.AnswerTooLong() | client.ServiceError():
            told = ExitStatus.REFUSED, _how_to_make_it(str(error))
        case client.DecodeError():
            told = ExitStatus.REFUSED, "Check the address: what answers is not the secrets service."
        case _:
            told = ExitStatus.FAILED, ""
    return told


def _how_to_make_it(message: str) -> str:
    if _ATTACHED in message:
        return "Change it instead: keybearer identities kubernetes-auth update IDENTITY"
    if _REVIEWER_AGAIN in message:
        return "Give --reviewer-token-file FILE as well, or --no-reviewer-token."
    if message.startswith(_NO_CERTIFICATE_PROJECT):
        return "Name another project by --project, or make one: keybearer projects create NAME --for-certificates"
    return ""


def _advice_of_cluster(error: KeybearerError) -> tuple[ExitStatus, str]:
    from keybearer.kube import errors

    match error:
        case errors.UnauthorizedError():
            told = ExitStatus.NOT_LOGGED_IN, "Check the credentials of the kubeconfig."
        case errors.ForbiddenError():
            told = ExitStatus.DENIED, "Ask for the right to get this kind of object in the namespace."
        case errors.NotFoundError():
            told = ExitStatus.NOT_FOUND, "Check namespace and name."
        case errors.UnavailableError() | errors.TooManyRequestsError():
            told = ExitStatus.UNAVAILABLE, "Check that the cluster runs, and --kubeconfig."
        case _:
            told = ExitStatus.FAILED, ""
    return told
