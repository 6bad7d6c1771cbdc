"""Tries the credentials of identity Secrets at the service to which the operator takes them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from keybearer.cli.connecting import connected, is_id
from keybearer.cli.doctor.findings import Finding, View, fine, not_checked, trouble
from keybearer.cli.doctor.rights import CREATE_TOKENS
from keybearer.cli.failures import CommandError
from keybearer.cli.identity_finding import identity_id_of, patch_of_identity_id
from keybearer.cli.installation import operator_may, reading_operator
from keybearer.cli.trial_logins import log_in, service_account_token
from keybearer.client import ClientError, NotFound, TransportError
from keybearer.controllers.identity import ServiceIdentity, is_loopback, normalized_url
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS, Remedy, diagnosed
from keybearer.controllers.service_failures import knows_identity
from keybearer.controllers.sessions import refusal_of_login, remedy_of_rejection
from keybearer.kube.errors import ForbiddenError, NotFoundError
from keybearer.kube.resources import JsonObject, ObjectKey

if TYPE_CHECKING:
    from keybearer.cli.installation import Operator

__all__ = ["REFUSED", "Logins", "operator_of", "renewal_of"]

REFUSED = "CredentialsRejected"
"""The reason of an object whose credentials the service refuses."""

_TRIED_MAX = 100
"""Logins of one run: each takes up to five seconds."""
_LOOKED_UP_MAX = 10
"""Ids of one run that are compared with the client ids of all identities: one request for each identity."""
_TIMEOUT = timedelta(seconds=5)


class Logins:
    """The logins of one run: few enough, and none that could lock an identity out.

    Args:
        view: says whether logins are tried at all, and where besides the operator's address.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._tried = 0
        self._refused: set[str] = set()
        self._ids: dict[str, str | None] = {}

    async def judge(
        self,
        key: ObjectKey,
        identity: ServiceIdentity,
        operator: Operator | None,
        unknown: str,
        *,
        all_ready: bool,
    ) -> Finding:
        """Return whether the service accepts the credentials of a Secret, or why they were not tried.

        Args:
            key: of the Secret.
            identity: what the Secret holds.
            operator: that reads it; None if none is visible.
            unknown: why none is visible.
            all_ready: whether every object that uses the Secret is Ready.
        """
        why = self._why_not(identity, operator, unknown)
        if why:
            return not_checked(
                "identities", f"Secret {key} is whole ({identity.method}); its login wasn't tried{why}"
            )
        self._tried += 1
        refusal = partial(self._refusal, key, identity, operator, all_ready)
        return await _tried(self._view, operator, key, identity, refusal)

    def _refusal(
        self,
        key: ObjectKey,
        identity: ServiceIdentity,
        operator: Operator | None,
        all_ready: bool,
        url: str,
        error: ClientError,
    ) -> Finding:
        """Return what it means that the service at this address refuses the credentials of a Secret."""
        failure = refusal_of_login(replace(identity, url=url), error)
        if failure.passing:
            # The operator would try again; this command doesn't.
            said = failure.message.rpartition("; ")[0] or failure.message
            return not_checked("identities", f"Secret {key} ({identity.method}): {said}", "keybearer doctor")
        self._refused.add(_name_of(identity))
        told = f"Secret {key} ({identity.method}): the service at {url} refuses it: {error}"
        is_its_service = knows_identity(error) or (operator is not None and url == identity.url)
        if all_ready and not is_its_service:
            return not_checked(
                "identities",
                f"{told}; but every object that uses it is Ready, so perhaps the operator uses a service at another "
                "address",
                "keybearer whoami",
            )
        wrong_id = self.client_id_for_id(key, identity) if isinstance(error, NotFound) else None
        if wrong_id is not None:
            return wrong_id
        if all_ready and identity.method != "AccessToken":
            told += "; objects that use it stay Ready only until the operator's access token ends"
        return trouble("identities", told, _step(failure.remedy or AS_THE_MESSAGE_SAYS, key))

    def client_id_for_id(self, key: ObjectKey, identity: ServiceIdentity) -> Finding | None:
        """Return that a Secret has a client id as identityId, if the person's service knows it; None otherwise."""
        given = identity.credentials.get("identityId", "")
        if given not in self._ids and len(self._ids) < _LOOKED_UP_MAX:
            self._ids[given] = self._id_of(given)
        identity_id = self._ids.get(given)
        if identity_id is None or identity_id == given:
            return None
        return trouble(
            "identities",
            f"Secret {key} ({identity.method}): identityId is {given}, the client id of an identity whose id is "
            f"{identity_id}",
            patch_of_identity_id(identity_id, namespace=key.namespace, secret=key.name),
        )

    def _id_of(self, given: str) -> str | None:
        if self._view.login is None or not is_id(given):
            return None
        try:
            with connected(patience=_TIMEOUT) as client:
                return identity_id_of(client, given)
        except (ClientError, CommandError):
            return None

    def _why_not(self, identity: ServiceIdentity, operator: Operator | None, unknown: str) -> str:
        if not self._view.tries_logins:
            return " (--no-logins)"
        if self._tried >= _TRIED_MAX:
            return f": {_TRIED_MAX} others were"
        if operator is None and not self._view.same_service:
            return f": {unknown}"
        if _name_of(identity) in self._refused:
            # Three failures within half a minute lock the identity out.
            return ": the service just refused its identity with the credentials of another Secret"
        return ""


def _name_of(identity: ServiceIdentity) -> str:
    """Return what names an identity at the service; of a token, the token."""
    held = identity.credentials
    return held.get("clientId") or held.get("identityId") or held["accessToken"]


async def operator_of(view: View, key: ObjectKey) -> tuple[Operator | None, str]:
    """Return the operator that reads a Secret; None if none is visible, and why."""
    serving = [one for one in view.operators if one.serves(key.namespace)]
    try:
        found = await reading_operator(view.cluster.gateway, serving, key.namespace)
    except ForbiddenError:
        return None, "you may not ask whether an operator may read it"
    if found is not None:
        return found, ""
    return None, "no visible operator may read it" if serving else "no operator of its namespace is visible"


async def _tried(
    view: View,
    operator: Operator | None,
    key: ObjectKey,
    identity: ServiceIdentity,
    refusal: Callable[[str, ClientError], Finding],
) -> Finding:
    what = f"Secret {key} ({identity.method})"
    jwt = ""
    if identity.method == "Kubernetes":
        account = identity.credentials["serviceAccountName"]
        try:
            jwt = await service_account_token(view.cluster.gateway, identity)
        except NotFoundError:
            return trouble(
                "identities",
                f"{what}: ServiceAccount {account} doesn't exist",
                f"kubectl -n {key.namespace} create serviceaccount {shlex.quote(account)}",
            )
        except ForbiddenError:
            return not_checked(
                "identities",
                f"{what}: you may not create a token of ServiceAccount {account}, so the login wasn't tried",
                f"kubectl auth can-i create serviceaccounts/token -n {key.namespace}",
            )
        if operator is not None and not await operator_may(
            view.cluster.gateway, operator, CREATE_TOKENS.asked("create", key.namespace)
        ):
            return not_checked(
                "identities",
                f"{what}: the operator may not create a token of ServiceAccount {account}, so the login wasn't tried",
                "keybearer doctor",
            )
    unreachable = ""
    for url, ca_pem in _addresses(view, operator, identity):
        try:
            log_in(url, ca_pem, identity, jwt, program="doctor", timeout=_TIMEOUT)
        except TransportError as error:
            unreachable = unreachable or str(error)
        except ClientError as error:
            return refusal(url, error)
        else:
            return fine("identities", f"{what}: the service at {url} accepts it")
    return not_checked(
        "identities",
        f"{what} is whole, but its service can't be reached from this machine: "
        f"{unreachable or 'no operator says where it is'}",
        "keybearer doctor --same-service",
    )


def _addresses(
    view: View, operator: Operator | None, identity: ServiceIdentity
) -> list[tuple[str, bytes | None]]:
    """Return where the login is tried: where the operator goes, then, if the person says so, where the person is.

    Another service must not see the credentials, so that nothing is guessed about who answers at an address.
    """
    found = [] if operator is None else [(identity.url, identity.ca_pem)]
    if view.same_service and view.login is not None:
        default = view.login.url if operator is None else operator.service_url
        if default is not None and identity.url == normalized_url(default):
            if view.login.url.startswith("http://") and not (
                is_loopback(view.login.url) or view.login.allow_insecure_http
            ):
                return found
            ca_file = view.login.ca_file
            found.append((view.login.url, None if ca_file is None else Path(ca_file).read_bytes()))
    return found


def renewal_of(key: ObjectKey, identity: ServiceIdentity) -> str:
    """Return the command that shows how the identity logs in, or how to give it other credentials."""
    return _step(remedy_of_rejection(identity), key)


def _step(remedy: Remedy, key: ObjectKey) -> str:
    spec: JsonObject = {"identityRef": {"name": key.name}}
    told = diagnosed(remedy, "secretsync", key.namespace, "", spec)
    return told.command or told.step
