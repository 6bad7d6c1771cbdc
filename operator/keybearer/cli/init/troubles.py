"""All that keeps `keybearer init` from working, found before it changes anything and told at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.init.answers import Answers, AuthMethod
from keybearer.controllers.resource_fields import DNS_SUBDOMAIN_PATTERN
from keybearer.interface.environments import CreateEnvironment
from keybearer.interface.shapes import model_of
from keybearer.wire.base import WireModel, length_told
from keybearer.wire.identities import CreateIdentity
from keybearer.wire.projects import CreateFolder, CreateProject
from keybearer.wire.secret_names import NEW_NAME_PATTERN

__all__ = ["Troubles", "invalid_options"]

_SUBDOMAIN_MAX = 253
_LABEL_MAX = 63


class Troubles:
    """What was found so far."""

    def __init__(self) -> None:
        self._found: list[CommandError] = []

    def add(self, error: CommandError) -> None:
        """Keep what was found."""
        self._found.append(error)

    @contextmanager
    def collected(self) -> Iterator[None]:
        """Keep a CommandError of the block, and go on."""
        try:
            yield
        except CommandError as error:
            self.add(error)

    def require_none(self) -> None:
        """Let pass if nothing was found.

        Raises:
            CommandError: all that was found.
        """
        if self._found:
            raise self.together()

    def together(self) -> CommandError:
        """Return all that was found as one error, with the exit status of the first."""
        if len(self._found) == 1:
            return self._found[0]
        told = [f"  - {one}" + (f"\n    {one.next_step}" if one.next_step else "") for one in self._found]
        return CommandError("\n".join(["nothing was changed, because:", *told]), self._found[0].status)


def invalid_options(answers: Answers) -> Iterator[CommandError]:
    """Yield what is wrong with the answers themselves, each with its option. No value that may be secret is told."""
    for option, problem in _problems(answers):
        yield CommandError(f"{option}: {problem}", ExitStatus.USAGE)


def _problems(answers: Answers) -> Iterator[tuple[str, str]]:
    project = {"projectName": answers.project, "slug": answers.project}
    yield from _judged("--project", CreateProject, project, "slug", answers.project)
    environment = {"name": answers.environment, "slug": answers.environment}
    yield from _judged(
        "--env", model_of(CreateEnvironment, ("name", "slug")), environment, "slug", answers.environment
    )
    for folder in answers.path.strip("/").split("/") if answers.path.strip("/") else ():
        yield from _judged("--path", CreateFolder, {"name": folder, "environment": "dev"}, "name", folder)
    identity = {"name": answers.identity, "organizationId": "any"}
    yield from _judged("--identity", CreateIdentity, identity, "name", answers.identity)
    yield from _named("--namespace", answers.namespace, _LABEL_MAX)
    yield from _named("--name", answers.name, _SUBDOMAIN_MAX)
    yield from _named("--identity-secret", answers.identity_secret, _SUBDOMAIN_MAX)
    if answers.identity_secret == answers.name:
        yield (
            "--identity-secret",
            f"must differ from --name, which names the Secret to be made: {answers.name}",
        )
    if answers.first_secret is not None and not re.search(NEW_NAME_PATTERN, answers.first_secret.name):
        yield "--first-secret", "the name must have no colon, slash, equals sign or control character"
    if answers.method is AuthMethod.KUBERNETES:
        yield from _of_kubernetes(answers)


def _of_kubernetes(answers: Answers) -> Iterator[tuple[str, str]]:
    yield from _named("--service-account", answers.service_account, _SUBDOMAIN_MAX)
    if not answers.audience.strip():
        yield "--audience", "must not be empty"
    host = answers.kubernetes_host
    if host is not None and not re.fullmatch(r"https?://[^\s/]+(/\S*)?", host):
        yield "--kubernetes-host", "must be an address such as https://10.0.0.1:6443"
    if answers.kubernetes_ca is not None and "-----BEGIN CERTIFICATE-----" not in answers.kubernetes_ca:
        yield "--kubernetes-ca-file", "must hold certificates in PEM"
    if answers.reviewer_token is not None and not re.fullmatch(r"[!-~]+", answers.reviewer_token):
        yield "--reviewer-token-file", "must hold a single token, and nothing else"


def _judged(
    option: str, model: type[WireModel], body: dict[str, str], field: str, text: str
) -> Iterator[tuple[str, str]]:
    """Judge a text by the service's own rules."""
    try:
        read = model.model_validate(body)
    except ValidationError as error:
        for issue in error.errors(include_url=False, include_input=False):
            if issue["loc"] and issue["loc"][-1] == field:
                yield option, length_told(issue) or _sentence(issue["msg"])
        return
    stored = getattr(read, field)
    if stored != text:
        yield option, f"must be written as the service stores it: {stored}"


def _sentence(message: str) -> str:
    """Return pydantic's message as one of ours."""
    return message.removeprefix("Value error, ").replace("String should have", "must have")


def _named(option: str, name: str, longest: int) -> Iterator[tuple[str, str]]:
    if len(name) > longest:
        yield option, f"must have at most {longest} characters"
    elif not re.fullmatch(DNS_SUBDOMAIN_PATTERN, name) or (longest == _LABEL_MAX and "." in name):
        dots = "" if longest == _LABEL_MAX else ", dots"
        yield (
            option,
            f"must have only lower-case letters, digits{dots} and hyphens, with a letter or digit at both ends",
        )
