"""`keybearer init`: its options, questions and answers."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.init.answers import Answers, AuthMethod, FirstSecret, complete_answers, may_ask
from keybearer.cli.kubectl.cluster import Cluster, Context, Kubeconfig, Place, run
from keybearer.cli.output import Output, OutputFormat, Yes, note, print_json

if TYPE_CHECKING:
    from keybearer.cli.init.setup import Outcome

__all__ = ["init"]

_SECRET = "keybearer-identity"
_AUDIENCE = "keybearer"


def init(
    project: Annotated[
        str | None,
        typer.Option("--project", "-p", envvar="KEYBEARER_PROJECT", help="Slug of the project."),
    ] = None,
    environment: Annotated[
        str | None,
        typer.Option("--env", "-e", envvar="KEYBEARER_ENVIRONMENT", help="Slug of the environment."),
    ] = None,
    path: Annotated[
        str | None,
        typer.Option(
            envvar="KEYBEARER_PATH",
            help="The folder. Default: the one that the SecretSync reads already, or /.",
        ),
    ] = None,
    namespace: Annotated[
        str | None, typer.Option("--namespace", "-n", help="Where the Secret is wanted.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="Name of the SecretSync and of the Secret that it writes. Default: the project's slug."
        ),
    ] = None,
    auth: Annotated[
        AuthMethod | None,
        typer.Option(
            help="How the operator logs in: client-secret keeps a client secret in the namespace, kubernetes uses "
            "tokens of a ServiceAccount, so no secret is stored. Default: client-secret."
        ),
    ] = None,
    identity: Annotated[
        str | None,
        typer.Option(help="Name of the machine identity in the service. Default: keybearer-NAMESPACE."),
    ] = None,
    identity_secret: Annotated[
        str, typer.Option(help="Name of the Secret with the credentials of the identity.")
    ] = _SECRET,
    service_account: Annotated[
        str, typer.Option(help="The ServiceAccount that logs in (Kubernetes auth).")
    ] = _SECRET,
    audience: Annotated[
        str, typer.Option(help="The audience of its tokens, on both sides (Kubernetes auth).")
    ] = _AUDIENCE,
    kubernetes_host: Annotated[
        str | None,
        typer.Option(
            help="Address of the API server for the service (Kubernetes auth). Default: that of the kubeconfig, or "
            "https://kubernetes.default.svc for a service of the chart that reviews tokens itself."
        ),
    ] = None,
    kubernetes_ca_file: Annotated[
        Path | None,
        typer.Option(
            help="PEM certificates that the service trusts there. Default: those of the kubeconfig.",
            dir_okay=False,
        ),
    ] = None,
    reviewer_token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token with which the service reviews tokens; - is standard input. Needed unless the "
            "chart has embeddedService.tokenReviews.",
            allow_dash=True,
        ),
    ] = None,
    first_secret: Annotated[
        str | None,
        typer.Option(
            help="A secret to store if the folder doesn't have it: NAME=FILE; - as FILE is standard input. At a "
            "terminal, init asks for one if the folder is empty.",
            metavar="NAME=FILE",
        ),
    ] = None,
    operator_url: Annotated[
        str | None,
        typer.Option(help="Address of the service for the operator, if it isn't the operator's default."),
    ] = None,
    operator_namespace: Annotated[
        str, typer.Option(help="The operator's namespace; needed if you may not list all Deployments.")
    ] = "keybearer",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the manifests, and change nothing.")
    ] = False,
    yes: Yes = False,
    timeout: Annotated[
        float, typer.Option(help="Seconds to wait until the SecretSync is Ready.", min=1, max=3600)
    ] = 120,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Set up the first Secret: from a project of the service into a namespace.

    Makes what is missing: project, environment, folder, a machine identity with the role viewer, its login, the
    identity Secret and a SecretSync. Asks for what you don't give. Shows all changes before it makes them, and waits
    until the SecretSync is Ready. Run again, it changes only what isn't right.

    Uses your login (keybearer login) and your kubeconfig. Shows no value of a Secret. Ends with status 0 if the
    SecretSync is Ready, and 1 if it isn't, together with the next step.
    """
    from keybearer.cli.private_input import read_text

    _log_in()
    given = complete_answers(
        {"--project": project, "--env": environment, "--namespace": namespace},
        {
            "--project": "Project (slug)",
            "--env": "Environment (such as dev)",
            "--namespace": "Namespace of the cluster",
        },
    )
    where = given["--namespace"]
    answers = Answers(
        project=given["--project"],
        environment=given["--env"],
        path="" if path is None else "/" + path.strip("/"),
        namespace=where,
        name=name or given["--project"],
        identity=identity or f"keybearer-{where}",
        identity_secret=identity_secret,
        method=auth or _asked_method(),
        audience=audience,
        service_account=service_account,
        kubernetes_host=kubernetes_host,
        kubernetes_ca=None if kubernetes_ca_file is None else read_text(kubernetes_ca_file),
        reviewer_token=None if reviewer_token_file is None else read_text(reviewer_token_file).strip(),
        operator_url=operator_url,
        first_secret=None if first_secret is None else _first_secret(first_secret),
    )
    _require_valid(answers)
    outcome = _run(Place(kubeconfig, context, where), answers, dry_run, yes, operator_namespace, timeout)
    if outcome is not None:
        _print(outcome, output)


def _require_valid(answers: Answers) -> None:
    from keybearer.cli.init.troubles import Troubles, invalid_options

    troubles = Troubles()
    for one in invalid_options(answers):
        troubles.add(one)
    troubles.require_none()


def _first_secret(given: str) -> FirstSecret:
    from keybearer.cli.private_input import read_text

    name, _, file = given.partition("=")
    if not (name and file):
        raise CommandError(
            "--first-secret must be NAME=FILE, so that no value is in an argument", ExitStatus.USAGE
        )
    return FirstSecret(name, read_text(Path(file)).rstrip("\r\n"))


def _run(
    place: Place, answers: Answers, dry_run: bool, yes: bool, operator_namespace: str, timeout: float
) -> Outcome | None:
    from keybearer.cli.connecting import connected, current_login
    from keybearer.cli.interruptible import ended_by_signals

    async def work(cluster: Cluster) -> Outcome | None:
        from keybearer.cli.init.setup import Consent, set_up

        consent = Consent(dry_run, yes, operator_namespace, timeout)
        with connected() as client:
            return await set_up(cluster, client, current_login(), answers, consent)

    # A client secret that is not in the cluster yet is revoked whatever ends the command.
    with ended_by_signals():
        return run(place, work)


def _log_in() -> None:
    """Use the login that is kept; without one, log in at the terminal.

    Raises:
        CommandError: nobody is logged in, and there is no terminal.
        ClientError: the service refuses, or can't be asked.
    """
    from keybearer.cli.connecting import current_login
    from keybearer.cli.login import login

    try:
        current_login()
    except CommandError as error:
        if error.status is not ExitStatus.NOT_LOGGED_IN or not may_ask():
            raise
    else:
        return
    url = str(typer.prompt("Address of the service", err=True))
    who = str(typer.prompt("Email, or client id of a machine identity", err=True))
    login(url=url, client_id=None if "@" in who else who, email=who if "@" in who else None)


def _asked_method() -> AuthMethod:
    if not may_ask():
        return AuthMethod.CLIENT_SECRET
    note(
        "How does the operator log in? client-secret works everywhere. kubernetes stores no secret, but needs rights."
    )
    chosen = str(typer.prompt("client-secret or kubernetes", default=str(AuthMethod.CLIENT_SECRET), err=True))
    if chosen not in set(AuthMethod):
        raise CommandError(f"{chosen!r} is neither client-secret nor kubernetes", ExitStatus.USAGE)
    return AuthMethod(chosen)


def _print(outcome: Outcome, output: OutputFormat) -> None:
    where = f"{outcome.namespace}/{outcome.name}"
    if output is OutputFormat.JSON:
        print_json(asdict(outcome))
        if not outcome.ready:
            raise typer.Exit(ExitStatus.FAILED)
        return
    if not outcome.ready:
        step = " ".join(outcome.diagnosis.get(part, "") for part in ("step", "command")).strip()
        raise CommandError(
            f"SecretSync {where} isn't Ready: {outcome.reason}: {outcome.message}",
            ExitStatus.FAILED,
            step or f"See: keybearer explain secretsync {where}",
        )
    note(f"SecretSync {where} is Ready: {outcome.message}")
    note(f"Look at the Secret: kubectl -n {outcome.namespace} describe secret {outcome.name}")
