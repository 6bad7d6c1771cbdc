"""Secrets as environment variables (interface.md section 4.8)."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping

from keybearer.client.auth import perform
from keybearer.client.models import Secret
from keybearer.client.operations.secret_reads import ListSecrets
from keybearer.client.session import Session
from keybearer.client.steps import Steps

__all__ = ["attach", "list_and_attach"]


def attach(secrets: Iterable[Secret], process_env: MutableMapping[str, str]) -> None:
    """Set the variables that are unset or empty; the last of equal keys wins.

    A hidden value is left out, for its mask is no value; so is what no environment can hold: a name that is
    empty or has `=`, and NUL.
    """
    for key, value in {secret.secret_key: secret.secret_value for secret in secrets if _fits(secret)}.items():
        if not process_env.get(key):
            process_env[key] = value


def list_and_attach(session: Session, operation: ListSecrets) -> Steps[list[Secret]]:
    """List secrets, and attach them to the session's environment where the caller asked for it."""
    secrets = yield from perform(session, operation)
    if operation.attach_to_process_env or operation.set_secrets_as_environment_variables:
        attach(secrets, session.process_env)
    return secrets


def _fits(secret: Secret) -> bool:
    key, value = secret.secret_key, secret.secret_value
    return bool(key) and "=" not in key and "\0" not in key + value and not secret.secret_value_hidden
