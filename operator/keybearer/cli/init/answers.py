"""What `keybearer init` must know: taken from its options, or asked for at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import typer

from keybearer.cli.failures import CommandError, ExitStatus

__all__ = ["Answers", "AuthMethod", "FirstSecret", "asked_secret", "complete_answers", "may_ask"]


class AuthMethod(StrEnum):
    """How the operator logs in as the identity."""

    CLIENT_SECRET = "client-secret"
    KUBERNETES = "kubernetes"


@dataclass(frozen=True, slots=True)
class FirstSecret:
    """A secret for a folder that is empty: a SecretSync of an empty folder writes nothing."""

    name: str
    value: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answers:
    """What is to be set up.

    Attributes:
        project: slug.
        path: the folder, such as `/`; empty as long as nobody said.
        name: of the SecretSync, and so of the Secret that it writes.
        identity: name of the machine identity in the service.
        identity_secret: name of the Secret with its credentials.
        audience, service_account: of the token that the operator logs in with (Kubernetes auth).
        kubernetes_host: where the service reaches the API server; None to find out.
        kubernetes_ca: PEM certificates that the service trusts there; None to find out.
        reviewer_token: with which the service asks the API server; None for the service's own ServiceAccount.
        operator_url: the address of the service for the operator; None for the operator's default.
        first_secret: to be stored if the folder has no secret of that name; None to store none.
    """

    project: str
    environment: str
    path: str
    namespace: str
    name: str
    identity: str
    identity_secret: str
    method: AuthMethod
    audience: str
    service_account: str
    kubernetes_host: str | None = None
    kubernetes_ca: str | None = None
    reviewer_token: str | None = field(default=None, repr=False)
    operator_url: str | None = None
    first_secret: FirstSecret | None = None


def complete_answers(given: Mapping[str, str | None], questions: Mapping[str, str]) -> dict[str, str]:
    """Return an answer to each question.

    Args:
        given: by option; None if the option wasn't given.
        questions: by option, in the order in which they are asked.

    Raises:
        CommandError: options are missing, and there is no terminal to ask at.
    """
    missing = [option for option in questions if not given.get(option)]
    if missing and not may_ask():
        raise CommandError(
            f"there is no terminal to ask at, and these options are missing: {', '.join(missing)}",
            ExitStatus.USAGE,
            f"Give {' and '.join(missing)}, or run keybearer init in a terminal.",
        )
    return {
        option: given.get(option) or str(typer.prompt(question, err=True))
        for option, question in questions.items()
    }


def may_ask() -> bool:
    """Return whether there is a terminal to ask at."""
    return sys.stdin.isatty()


def asked_secret() -> FirstSecret | None:
    """Ask for a first secret at a terminal, its value without echo; None if there is none, or no terminal."""
    if not may_ask():
        return None
    name = str(
        typer.prompt("The folder is empty. Name of a first secret (nothing for none)", default="", err=True)
    )
    if not name:
        return None
    return FirstSecret(name, str(typer.prompt(f"Value of {name}", hide_input=True, err=True)))
