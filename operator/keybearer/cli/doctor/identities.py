"""Checks of the identity Secrets that objects name: there, whole, and accepted by the service."""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING

from keybearer.base.errors import ConfigurationError
from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.doctor.findings import OPTIONS_SHOWN, Finding, View, fine, not_checked, trouble
from keybearer.cli.doctor.logins import REFUSED, Logins, operator_of, renewal_of
from keybearer.cli.installation import policy_of
from keybearer.cli.kubectl.standing import standing_of
from keybearer.controllers.identity import (
    ServiceIdentity,
    parse_identity_secret,
)
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS, SHARED_REMEDIES, diagnosed
from keybearer.kube.errors import ForbiddenError
from keybearer.kube.resources import SECRETS, JsonObject, ObjectKey

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.cli.installation import Operator

__all__ = ["check_identities"]


async def check_identities(view: View) -> AsyncIterator[Finding]:
    """Yield whether each identity Secret is there and whole, and whether the service accepts it."""
    named = view.identity_users()
    if not named:
        yield fine("identities", "no visible object names an identity Secret")
    logins = Logins(view)
    for key, users in named.items():
        try:
            body = await view.cluster.gateway.get(SECRETS, key)
        except ForbiddenError:
            yield not_checked(
                "identities",
                f"you may not read Secret {key}",
                f"kubectl auth can-i get secrets -n {key.namespace}",
            )
            continue
        operator, unknown = await operator_of(view, key)
        try:
            identity = _identity_of(view, operator, key, body)
        except ConfigurationError as error:
            yield trouble("identities", f"the operator can't work with its options: {error}", OPTIONS_SHOWN)
            continue
        except StalledError as error:
            remedy = error.remedy or SHARED_REMEDIES.get(error.reason, AS_THE_MESSAGE_SAYS)
            kind, name = text_of(users[0].get("kind")), _name(users[0])
            next_step = diagnosed(remedy, kind, key.namespace, name, mapping_of(users[0].get("spec")))
            yield trouble("identities", error.message, next_step.command or next_step.step)
            continue
        standings = [standing_of(one) for one in users]
        refused = next((at for at, one in enumerate(standings) if one.reason == REFUSED), None)
        if refused is not None:
            # Not tried again: three failures within half a minute lock the identity out.
            wrong_id = logins.client_id_for_id(key, identity)
            if wrong_id is not None:
                yield wrong_id
                continue
            told = f"Secret {key}: the operator reports: {standings[refused].message}"
            yield trouble("identities", told, _diagnosed_step(users[refused]) or renewal_of(key, identity))
            continue
        all_ready = all(one.is_ready for one in standings)
        yield await logins.judge(key, identity, operator, unknown, all_ready=all_ready)


def _diagnosed_step(body: JsonObject) -> str:
    """Return the next step that the operator wrote into the status; empty if it wrote none."""
    diagnosis = mapping_of(mapping_of(body.get("status")).get("diagnosis"))
    return text_of(diagnosis.get("command")) or text_of(diagnosis.get("step"))


def _name(body: JsonObject) -> str:
    return text_of(mapping_of(body.get("metadata")).get("name"))


def _identity_of(
    view: View, operator: Operator | None, key: ObjectKey, body: Mapping[str, JsonValue] | None
) -> ServiceIdentity:
    """Return the identity as the operator of the namespace reads it.

    Raises:
        StalledError: there is no such Secret, or the operator refuses it.
    """
    if body is None:
        raise StalledError("IdentityNotFound", f"identity Secret {key} doesn't exist")
    data = mapping_of(body.get("data"))
    default = "https://service.invalid" if view.login is None else view.login.url
    policy = policy_of(operator, default, _text(data.get("url")))
    return parse_identity_secret(data, namespace=key.namespace, name=key.name, policy=policy)


def _text(value: JsonValue) -> str:
    try:
        return base64.b64decode(text_of(value), validate=True).decode().strip()
    except (binascii.Error, UnicodeDecodeError):
        return ""
