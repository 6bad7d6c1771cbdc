"""Tries the login by Kubernetes auth that `keybearer init` set up, as the operator will when it needs a new token."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from keybearer.cli.connecting import address_of
from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.init.answers import Answers
from keybearer.cli.output import note
from keybearer.cli.reviewers import HOW_TO_MAKE
from keybearer.cli.trial_logins import log_in, service_account_token
from keybearer.client import ServerFailure, ServiceError
from keybearer.controllers.identity import ServiceIdentity
from keybearer.kube.errors import ForbiddenError
from keybearer.wire.token_reviews import UNBOUND_REVIEWER, binding_of_reviewer

if TYPE_CHECKING:
    from keybearer.cli.connecting import CurrentLogin
    from keybearer.cli.kubectl.cluster import Cluster

__all__ = ["try_login"]

_TIMEOUT = timedelta(seconds=35)
"""Longer than the service waits for an API server, so that its answer says what failed."""


def _trusted(login: CurrentLogin) -> bytes | None:
    return None if login.ca_file is None else Path(login.ca_file).read_bytes()


async def try_login(cluster: Cluster, login: CurrentLogin, answers: Answers, identity_id: str) -> None:
    """Let pass if the service accepts a token of the ServiceAccount, or nobody can say.

    The operator may still hold an access token from before, and be Ready with a reviewer's token that doesn't work.

    Raises:
        CommandError: the service refuses it.
        ClientError: the service can't be asked.
        KubeError: the API server refuses, or can't be asked.
    """
    identity = ServiceIdentity(
        url=address_of(login.url),
        method="Kubernetes",
        credentials={
            "identityId": identity_id,
            "serviceAccountName": answers.service_account,
            "audience": answers.audience,
        },
        ca_pem=_trusted(login),
        namespace=answers.namespace,
    )
    account = f"ServiceAccount {answers.namespace}/{answers.service_account}"
    try:
        jwt = await service_account_token(cluster.gateway, identity)
    except ForbiddenError:
        note(f"Not checked: whether the service accepts tokens of {account}. You may not create one.")
        return
    try:
        log_in(identity.url, identity.ca_pem, identity, jwt, program="init", timeout=_TIMEOUT)
    except ServerFailure:
        raise
    except ServiceError as error:
        update = (
            f"keybearer identities kubernetes-auth update {identity_id} --reviewer-token-file reviewer-token"
        )
        if UNBOUND_REVIEWER in error.message:
            next_step = f"Bind it: {binding_of_reviewer(error.message)}"
        elif "reviewer" in error.message:
            next_step = f"{HOW_TO_MAKE}\nThen give it to the service:\n  {update}"
        else:
            next_step = f"See: keybearer identities kubernetes-auth show {identity_id}"
        raise CommandError(
            f"the service refuses the login of {account}: {error}", ExitStatus.FAILED, next_step
        ) from error
