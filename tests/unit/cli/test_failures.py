"""Each kind of failure has its exit status, one line, and a next step."""

from __future__ import annotations

import errno

import pytest
import typer

from keybearer import client
from keybearer.base.errors import ConfigurationError, KeybearerError
from keybearer.cli.failures import CommandError, ExitStatus, told_failures
from keybearer.cli.missing import where_to_look
from keybearer.kube import errors as kube


def service_error(kind: type[client.ServiceError], status: int) -> client.ServiceError:
    return kind("no", status=status, request_id="req-1")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigurationError("no such file"), ExitStatus.USAGE),
        (client.InvalidArgument("no name"), ExitStatus.USAGE),
        (service_error(client.Unauthenticated, 401), ExitStatus.NOT_LOGGED_IN),
        (service_error(client.PermissionDenied, 403), ExitStatus.DENIED),
        (service_error(client.NotFound, 404), ExitStatus.NOT_FOUND),
        (service_error(client.BadRequest, 400), ExitStatus.REFUSED),
        (service_error(client.ValidationFailed, 422), ExitStatus.REFUSED),
        (service_error(client.RateLimited, 429), ExitStatus.UNAVAILABLE),
        (service_error(client.ServerFailure, 500), ExitStatus.UNAVAILABLE),
        (client.TransportError("gone", sent=False), ExitStatus.UNAVAILABLE),
        (client.TransportError("not trusted", sent=False, is_retryable=False), ExitStatus.UNAVAILABLE),
        (client.DecodeError("a page"), ExitStatus.REFUSED),
        (client.AnswerTooLong("long"), ExitStatus.REFUSED),
        (kube.UnauthorizedError("no"), ExitStatus.NOT_LOGGED_IN),
        (kube.ForbiddenError("no"), ExitStatus.DENIED),
        (kube.NotFoundError("no"), ExitStatus.NOT_FOUND),
        (kube.UnavailableError("no"), ExitStatus.UNAVAILABLE),
        (kube.InvalidError("no"), ExitStatus.FAILED),
        (KeybearerError("odd"), ExitStatus.FAILED),
        (CommandError("no", ExitStatus.NO_SUCH_PROGRAM), ExitStatus.NO_SUCH_PROGRAM),
    ],
    ids=lambda given: type(given).__name__ if isinstance(given, Exception) else None,
)
def test_a_failure_has_its_status_and_one_line(
    error: KeybearerError, status: ExitStatus, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, told_failures(lambda: "keybearer secrets"):
        raise error
    assert ended.value.exit_code == status
    first, *more = capsys.readouterr().err.splitlines()
    assert first == f"keybearer secrets: {error}"
    assert len(more) <= 1
    assert all(line.startswith("  ") for line in more)


def test_a_fault_of_ours_is_told_by_its_place_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended, told_failures(lambda: "keybearer"):
        raise KeyError("cnry-value")
    told = capsys.readouterr().err
    assert ended.value.exit_code == ExitStatus.FAILED
    assert "KeyError at " in told
    assert "test_failures.py:" in told
    assert "cnry-" not in told


@pytest.mark.parametrize(
    ("message", "asked", "step"),
    [
        ("Identity with ID 'x' not found", "GET /api/v1/identities/x", "keybearer identities list"),
        ("Identity with ID 'x' is not a member of the project", "", "keybearer members list"),
        ("Not Found", "GET /api/v4/secrets/A", "keybearer secrets list --recursive"),
        ("Not Found", "GET /api/v1/secret-syncs", "keybearer syncs list"),
        ("Not Found", "GET /api/v1/odd", "Check the name"),
    ],
)
def test_what_is_missing_decides_where_to_look(message: str, asked: str, step: str) -> None:
    assert step in where_to_look(message, asked)


@pytest.mark.parametrize(
    ("word", "step"),
    [("PermissionDenied", "Ask an admin of the project"), ("ForbiddenError", "The message says why")],
)
def test_of_refusals_with_403_only_that_of_a_right_sends_people_for_a_role(
    capsys: pytest.CaptureFixture[str], word: str, step: str
) -> None:
    with pytest.raises(typer.Exit) as ended, told_failures(lambda: "keybearer"):
        raise client.PermissionDenied("no", status=403, error=word)
    assert ended.value.exit_code == ExitStatus.DENIED
    assert f"\n  {step}" in capsys.readouterr().err


def test_a_full_disk_is_told_in_the_systems_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit), told_failures(lambda: "keybearer"):
        raise OSError(errno.ENOSPC, "No space left on device", "/file")
    assert capsys.readouterr().err == "keybearer: /file: No space left on device\n"


@pytest.mark.parametrize("error", [typer.Abort(), typer.Exit(3), typer.BadParameter("no"), BrokenPipeError()])
def test_typers_own_ways_to_end_stay_its_own(error: Exception) -> None:
    with pytest.raises(type(error)) as ended, told_failures(lambda: "keybearer"):
        raise error
    assert ended.value is error


def test_what_goes_well_ends_nothing() -> None:
    with told_failures(lambda: "keybearer"):
        pass


def test_statuses_stay_as_they_are_documented() -> None:
    assert {status.name: status.value for status in ExitStatus} == {
        "OK": 0,
        "FAILED": 1,
        "USAGE": 2,
        "NOT_LOGGED_IN": 3,
        "DENIED": 4,
        "NOT_FOUND": 5,
        "UNAVAILABLE": 6,
        "REFUSED": 7,
        "NOT_AS_WANTED": 8,
        "NOT_EXECUTABLE": 126,
        "NO_SUCH_PROGRAM": 127,
        "INTERRUPTED": 130,
    }
