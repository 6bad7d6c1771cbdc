"""Brings service and cluster together for `keybearer init`: looks, shows, asks, applies, waits."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
import yaml

from keybearer.base.clock import SystemClock
from keybearer.base.errors import ConfigurationError
from keybearer.base.json_reading import mapping_of, texts_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.init.answers import Answers, AuthMethod, asked_secret, may_ask
from keybearer.cli.init.cluster_side import (
    ClusterFacts,
    Manifest,
    apply,
    kubernetes_place,
    look_at_cluster,
    manifests,
    try_sync,
    with_path,
)
from keybearer.cli.init.service_side import KubernetesTerms, MadeLogin, ServiceSide
from keybearer.cli.init.troubles import Troubles
from keybearer.cli.init.trying import try_login
from keybearer.cli.installation import policy_of
from keybearer.cli.kubectl.standing import standing_of
from keybearer.cli.kubectl.sync import Request, ask, ends
from keybearer.cli.output import note, print_exactly, printable, require_confirmed
from keybearer.cli.reviewers import HOW_TO_MAKE, warnings_about
from keybearer.controllers.identity import parse_identity_secret
from keybearer.controllers.outcome import StalledError
from keybearer.kube.resources import NAMESPACES, SECRETS

if TYPE_CHECKING:
    from keybearer.cli.connecting import CurrentLogin
    from keybearer.cli.kubectl.cluster import Cluster
    from keybearer.client import Keybearer

__all__ = ["Consent", "Outcome", "set_up"]

_FIRST_SECRET = "store a first secret in the folder, which init asks for next"
_UNKNOWN = "unknown-yet"
"""In place of what the service has not made yet, where only its shape is judged."""


@dataclass(frozen=True, slots=True)
class Consent:
    """What the person allows.

    Attributes:
        dry_run: print the manifests, and change nothing.
        yes: don't ask.
        operator_namespace: where to look for the operator if we may not look everywhere.
        timeout_seconds: how long to wait for the SecretSync.
    """

    dry_run: bool
    yes: bool
    operator_namespace: str
    timeout_seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended.

    Attributes:
        changes: what was made or changed, in words.
        ready: whether the SecretSync is Ready.
        diagnosis: `status.diagnosis` of the SecretSync; empty if it is Ready.
    """

    namespace: str
    name: str
    changes: tuple[str, ...]
    ready: bool
    reason: str
    message: str
    diagnosis: Mapping[str, str]


async def set_up(
    cluster: Cluster, client: Keybearer, login: CurrentLogin, answers: Answers, consent: Consent
) -> Outcome | None:
    """Make what is missing, and return how the SecretSync is then; None for a dry run.

    Args:
        cluster: where the SecretSync will be.
        client: of the service; borrowed.
        login: with which the client was made.
        answers: what is to be set up.
        consent: what the person allows.

    Raises:
        CommandError: something is missing that init can't make, or belongs to others.
        typer.Exit: the person says no.
        ClientError: the service refuses, or can't be asked.
        KubeError: the API server refuses, or can't be asked.
    """
    answers = await with_path(cluster, answers)
    facts, service, extra = await _looked(cluster, client, login, answers, consent)
    asks = service.is_empty and service.first_secret is None and not consent.dry_run and not consent.yes
    replaces = _replaces(service, facts, extra)
    expected = {**dict.fromkeys(_keys_of(answers), ""), **extra} if replaces else None
    planned = tuple(manifests(answers, facts, expected))
    sync = planned[-1]
    sync_changes = () if NAMESPACES in facts.lacks else await try_sync(cluster, sync)
    changes = _changes(service, planned, login, sync_changes)
    foreseen = [
        *changes,
        *([f"in the service at {login.url}: {_FIRST_SECRET}"] if asks and may_ask() else []),
    ]
    for one in facts.notes:
        note(one)
    if consent.dry_run:
        _tell(foreseen)
        print_exactly(_documents(planned))
        return None
    if foreseen:
        _tell(foreseen)
        typer.echo(printable(_documents(planned)), err=True)
        require_confirmed("Make these changes?", yes=consent.yes)
    else:
        note("Everything is set up already.")
    for one in warnings_about(answers.reviewer_token or "", SystemClock().now()):
        note(one)
    if asks:
        service.first_secret = asked_secret()
        changes = _changes(service, planned, login, sync_changes)
    identity_id = await _carry_out(cluster, service, answers, facts, extra if replaces else None)
    if answers.method is AuthMethod.KUBERNETES:
        await try_login(cluster, login, answers, identity_id)
    if service.is_empty and service.first_secret is None:
        note(f"The folder is empty, so there is nothing to write yet. Store a secret: {_storing(answers)}")
    return await _outcome(cluster, sync, changes, consent.timeout_seconds)


async def _looked(
    cluster: Cluster, client: Keybearer, login: CurrentLogin, answers: Answers, consent: Consent
) -> tuple[ClusterFacts, ServiceSide, Mapping[str, str]]:
    """Return both sides before any change, and what the identity Secret must hold besides credentials.

    Raises:
        CommandError: all that keeps the set-up from working.
        ClientError: the service refuses, or can't be asked.
        KubeError: the API server refuses, or can't be asked.
    """
    troubles = Troubles()
    facts = await look_at_cluster(cluster, answers, consent.operator_namespace, troubles)
    terms = None
    if answers.method is AuthMethod.KUBERNETES:
        terms = KubernetesTerms(*kubernetes_place(cluster, facts, answers))
    extra: Mapping[str, str] = {}
    with troubles.collected():
        extra = _extra_keys(facts, answers, login)
        _judge_secret(facts, answers, extra, login.url)
    try:
        service = ServiceSide(client, login, answers, terms, facts.secret)
    except CommandError as error:
        troubles.add(error)
        raise troubles.together() from error
    if service.needs_reviewer and not facts.service_reviews and answers.reviewer_token is None:
        troubles.add(_no_reviewer())
    with troubles.collected():
        _require_own_secret(service, facts, answers, extra)
    troubles.require_none()
    return facts, service, extra


def _replaces(service: ServiceSide, facts: ClusterFacts, extra: Mapping[str, str]) -> bool:
    """Return whether the identity Secret must be written."""
    return not service.login_is_right or any(
        (facts.secret or {}).get(key) != text for key, text in extra.items()
    )


def _require_own_secret(
    service: ServiceSide, facts: ClusterFacts, answers: Answers, extra: Mapping[str, str]
) -> None:
    """Let pass if the identity Secret may be written, or needs not be.

    Raises:
        CommandError: somebody else made it, with other credentials.
    """
    if _replaces(service, facts, extra) and facts.secret is not None and not facts.secret_is_ours:
        raise CommandError(
            f"Secret {answers.namespace}/{answers.identity_secret} exists and holds other credentials than those of "
            f"identity {answers.identity}",
            ExitStatus.REFUSED,
            "Give another name: --identity-secret NAME",
        )


def _storing(answers: Answers) -> str:
    path = "" if answers.path == "/" else f" --path {answers.path}"
    return f"keybearer secrets set NAME --project {answers.project} --env {answers.environment}{path}"


async def _carry_out(
    cluster: Cluster,
    service: ServiceSide,
    answers: Answers,
    facts: ClusterFacts,
    extra: Mapping[str, str] | None,
) -> str:
    """Apply everything in order, and return the id of the identity.

    A client secret that doesn't reach the cluster is revoked.
    """
    before = list(manifests(answers, facts, None))[:-1]
    for one in before:
        await apply(cluster, one)
    made = service.carry_out()
    secret = None if extra is None else {**_kept_login(facts, made), **extra}
    try:
        for one in list(manifests(answers, facts, secret))[len(before) :]:
            await apply(cluster, one)
            if one.resource is SECRETS:
                made = MadeLogin({}, made.identity_id)  # it is in the cluster now
    except BaseException:
        service.take_back(made)
        raise
    return made.identity_id


def _kept_login(facts: ClusterFacts, made: MadeLogin) -> Mapping[str, str]:
    """Return the credentials that the Secret must hold: those just made, else those that it has and are right."""
    return made.data or {key: (facts.secret or {})[key] for key in ("clientId", "clientSecret")}


async def _outcome(
    cluster: Cluster, sync: Manifest, changes: Sequence[str], timeout_seconds: float
) -> Outcome:
    body = await cluster.gateway.get(sync.resource, sync.key)
    if body is None:
        raise CommandError(f"{sync} is gone", ExitStatus.NOT_FOUND)
    standing = standing_of(body)
    if changes or not standing.is_ready:
        asked = await ask(cluster, body, Request.SYNC)
        (standing,) = await ends(cluster, [asked], timeout_seconds)
        body = await cluster.gateway.get(sync.resource, sync.key) or body
    return Outcome(
        namespace=sync.key.namespace,
        name=sync.key.name,
        changes=tuple(changes),
        ready=standing.is_ready,
        reason=standing.reason,
        message=standing.message,
        diagnosis=texts_of(mapping_of(body.get("status")).get("diagnosis")),
    )


def _keys_of(answers: Answers) -> tuple[str, ...]:
    if answers.method is AuthMethod.KUBERNETES:
        return ("identityId", "serviceAccountName", "audience")
    return ("clientId", "clientSecret")


def _extra_keys(facts: ClusterFacts, answers: Answers, login: CurrentLogin) -> dict[str, str]:
    """Return what the identity Secret holds besides credentials: where the service is, and whom to trust there.

    Raises:
        CommandError: the operator may not ask that address.
        ConfigurationError: the CA file can't be read.
    """
    url = facts.operator_url(answers, login.url)
    if url is None:
        return {}
    if login.ca_file is None or url != login.url:
        return {"url": url}
    try:
        return {"url": url, "caBundle": Path(login.ca_file).read_text(encoding="utf-8").strip()}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{login.ca_file}, to be trusted, can't be read") from error


def _judge_secret(facts: ClusterFacts, answers: Answers, extra: Mapping[str, str], login_url: str) -> None:
    """Check, by the operator's own rules, that the operator will accept the identity Secret.

    Raises:
        CommandError: it would refuse the Secret, for example because of an audience of the API server.
        ConfigurationError: the operator can't work with its options.
    """
    policy = policy_of(facts.operator, login_url, extra.get("url", ""))
    trial = {
        **dict.fromkeys(_keys_of(answers), _UNKNOWN),
        **({"audience": answers.audience} if answers.method is AuthMethod.KUBERNETES else {}),
        **extra,
    }
    try:
        parse_identity_secret(
            {key: base64.b64encode(text.encode()).decode() for key, text in trial.items()},
            namespace=answers.namespace,
            name=answers.identity_secret,
            policy=policy,
        )
    except StalledError as error:
        raise CommandError(error.message, ExitStatus.REFUSED) from error


def _changes(
    service: ServiceSide,
    planned: Sequence[Manifest],
    login: CurrentLogin,
    sync_changes: Sequence[str] | None,
) -> list[str]:
    in_service = [f"in the service at {login.url}: {one}" for one in service.changes()]
    in_cluster = [f"in the cluster: apply {one}" for one in planned[:-1]]
    if sync_changes is not None:
        fields = f", which changes {'; '.join(sync_changes)}" if sync_changes else ""
        in_cluster.append(f"in the cluster: apply {planned[-1]}{fields}")
    return [*in_service, *in_cluster]


def _tell(changes: Sequence[str]) -> None:
    note("To do:" if changes else "There is nothing to do.")
    for one in changes:
        note(f"  - {one}")


def _documents(planned: Sequence[Manifest]) -> str:
    """Return the manifests as YAML. A Secret is a comment: a copy without its values must not be applied."""
    return "".join(f"---\n{_document(one)}" for one in planned)


def _document(one: Manifest) -> str:
    if one.resource is not SECRETS:
        return yaml.safe_dump(one.document, sort_keys=False)
    keys = ", ".join(sorted(mapping_of(one.body["data"])))
    return f"# {one} with the keys {keys}: keybearer init makes it, and never shows its values.\n"


def _no_reviewer() -> CommandError:
    return CommandError(
        "--reviewer-token-file is missing: the service must ask the API server whose a token is, and no service in "
        "this cluster may do that as its own ServiceAccount",
        ExitStatus.USAGE,
        "Set embeddedService.tokenReviews.enabled of the chart, or give a reviewer's token. " + HOW_TO_MAKE,
    )
