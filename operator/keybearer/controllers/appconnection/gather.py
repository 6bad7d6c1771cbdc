"""Collects what an AppConnection is made of: the session, the project, and the fields of its credentials."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from keybearer.controllers.access import ServiceAccess
from keybearer.controllers.appconnection.reasons import Reason
from keybearer.controllers.appconnection.resource import AppConnectionSpec
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.references import References
from keybearer.controllers.secret_key_ref import SecretKeyRef, remedy_of_absent
from keybearer.controllers.service_session import ServiceSession
from keybearer.controllers.work import WorkKey

__all__ = ["ConnectionGatherer"]

_VALUE_MAX = 64 * 1024
"""Bytes of one field: the largest are keys of service accounts, of some KiB."""


class ConnectionGatherer:
    """Gathers for one AppConnection after the other; holds no state of its own."""

    def __init__(self, access: ServiceAccess, references: References) -> None:
        self._access = access
        self._references = references

    def follow(self, follower: WorkKey, spec: AppConnectionSpec) -> None:
        """Have the AppConnection reconciled when a Secret that it names changes."""
        named = frozenset(ref.name for ref in _references_of(spec).values())
        self._references.follow(follower, secrets=named | {spec.identity_ref.name}, config_maps=frozenset())

    def forget(self, follower: WorkKey) -> None:
        """End all that the AppConnection follows."""
        self._references.forget(follower)

    async def session(
        self, follower: WorkKey, spec: AppConnectionSpec, *, cleans_up: bool = False
    ) -> ServiceSession:
        """Return the session of its identity; `cleans_up` as with `ServiceAccess.named_session`.

        Raises:
            StalledError: the identity Secret is missing, or can't be used.
            KubeError: the API server can't be asked.
        """
        return await self._access.named_session(follower, spec.identity_ref.name, cleans_up=cleans_up)

    async def project_id(self, session: ServiceSession, spec: AppConnectionSpec) -> str | None:
        """Return the id of the project that the spec names; None where it names none.

        Raises:
            StalledError: there is none of that slug.
            WaitingError: the service can't be asked.
        """
        return await session.named_project(
            spec.project_id, spec.project_slug, missing=Reason.PROJECT_NOT_FOUND
        )

    async def credentials(self, follower: WorkKey, spec: AppConnectionSpec) -> Mapping[str, str]:
        """Return the fields of the credentials, those of Secrets as well.

        Raises:
            StalledError: a Secret or a key of it is missing, or holds what is no text.
            KubeError: the API server can't be asked.
        """
        fields = {name: source.value for name, source in spec.credentials.items() if source.value is not None}
        references = _references_of(spec)
        wanted: dict[str, frozenset[str]] = {}
        for ref in references.values():
            wanted[ref.name] = wanted.get(ref.name, frozenset()) | {ref.key}
        secrets = {name: await self._references.secret(follower, name, keys) for name, keys in wanted.items()}
        for name, ref in references.items():
            where = f"Secret {follower.namespace}/{ref.name}"
            data = secrets[ref.name]
            if data is None:
                raise StalledError(
                    Reason.CREDENTIALS_NOT_FOUND,
                    f"{where} doesn't exist; create it, or correct spec.credentials.{name}",
                    remedy=remedy_of_absent(ref, f"spec.credentials.{name}", has_secret=False),
                )
            if ref.key not in data:
                raise StalledError(
                    Reason.CREDENTIALS_NOT_FOUND,
                    f"{where} has no key {ref.key}; add it, or correct spec.credentials.{name}",
                    remedy=remedy_of_absent(ref, f"spec.credentials.{name}", has_secret=True),
                )
            fields[name] = _text(f"key {ref.key} of {where}", data[ref.key])
        return fields


def _references_of(spec: AppConnectionSpec) -> Mapping[str, SecretKeyRef]:
    return {
        name: source.value_from.secret_key_ref
        for name, source in spec.credentials.items()
        if source.value_from is not None
    }


def _text(where: str, encoded: object) -> str:
    try:
        text = base64.b64decode(encoded if isinstance(encoded, str) else "", validate=True).decode()
    except ValueError:
        # The cause is cut: its text could show bytes of the value.
        raise StalledError(Reason.CREDENTIALS_INVALID, f"{where} is no UTF-8 text") from None
    if isinstance(encoded, int) or len(text) > _VALUE_MAX:
        raise StalledError(Reason.CREDENTIALS_INVALID, f"{where} is longer than {_VALUE_MAX} characters")
    # Files end with a line break, and no credential does.
    return text.removesuffix("\n").removesuffix("\r")
