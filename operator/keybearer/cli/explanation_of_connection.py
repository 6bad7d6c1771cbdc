"""What an AppConnection does and how it stands, in words. Pure: from what the API server shows; no credentials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue, ValidationError

from keybearer.cli.explanation_parts import Explanation, SeenObject, Standing, Story, explained, names
from keybearer.controllers.appconnection.resource import AppConnectionSpec, RemoteDeletionPolicy
from keybearer.controllers.appconnection.status import AppConnectionStatus

__all__ = ["explain_connection", "secrets_of_connection"]


def explain_connection(
    body: Mapping[str, JsonValue], secrets: Mapping[str, SeenObject | None]
) -> Explanation:
    """Return what the AppConnection reads and makes, how it stands, what is wrong and what to do next.

    Args:
        body: the AppConnection as the API server shows it.
        secrets: the Secrets that `secrets_of_connection` names; None for one that doesn't exist.
    """

    def tell(spec: AppConnectionSpec, status: AppConnectionStatus) -> Story:
        standing = Standing("appconnection", body, status.conditions, status)
        return _Story(standing, spec, status, secrets)

    return explained(body, tell, spec=AppConnectionSpec, status=AppConnectionStatus)


def secrets_of_connection(body: Mapping[str, JsonValue]) -> tuple[str, ...]:
    """Return the names of the Secrets that the AppConnection reads; none where its spec can't be read."""
    try:
        spec = AppConnectionSpec.model_validate(body.get("spec") or {})
    except ValidationError:
        return ()
    kept = {one.value_from.secret_key_ref.name for one in spec.credentials.values() if one.value_from}
    return tuple(sorted({spec.identity_ref.name, *kept}))


@dataclass(frozen=True, slots=True)
class _Story(Story):
    spec: AppConnectionSpec
    status: AppConnectionStatus
    secrets: Mapping[str, SeenObject | None]

    def reads(self) -> Iterator[str]:
        for field, source in sorted(self.spec.credentials.items()):
            if source.value_from is not None:
                ref = source.value_from.secret_key_ref
                yield f"Credential {field} comes from key {ref.key} of Secret {ref.name}."
        plain = sorted(field for field, source in self.spec.credentials.items() if source.value is not None)
        if plain:
            yield f"Written in the spec: {names(plain)}."
        yield f"It asks the service as the machine identity in Secret {self.spec.identity_ref.name}."

    def writes(self) -> Iterator[str]:
        project = self.spec.project_slug or self.spec.project_id
        owner = "the organization" if project is None else f"project {project}"
        name = self.spec.remote_name(self.standing.name)
        yield f"Connection {name} of {owner} in the service leads to {self.spec.app} by {self.spec.method}."
        rotation = self.spec.rotation
        if rotation is not None:
            yield f"The service makes the credentials anew every {rotation.rotation_interval} days."
        if self.spec.on_delete is RemoteDeletionPolicy.RETAIN:
            yield "The connection stays in the service when the AppConnection is deleted."

    def stands(self) -> Iterator[str]:
        yield from self.standing.stands()
        if self.status.id is not None:
            yield f"In the service it is {self.status.id}."
        rotation = self.status.rotation
        if rotation is not None:
            due = rotation.next_rotation_at
            then = "" if due is None else f"; the next one is due {due.isoformat()}"
            yield f"The last rotation: {rotation.status or 'none yet'}{then}."

    def _missing(self) -> Iterator[tuple[str, str]]:
        """Yield what is missing, and what to do about it."""
        identity = self.spec.identity_ref.name
        for name, seen in self.secrets.items():
            if seen is None:
                missing = f"There is no Secret {name} in namespace {self.standing.namespace}."
                step = "keybearer identities create makes a machine identity" if name == identity else ""
                yield missing, f"Create the Secret {name}{f': {step}' if step else ''}."
        for field, source in sorted(self.spec.credentials.items()):
            ref = None if source.value_from is None else source.value_from.secret_key_ref
            seen = None if ref is None else self.secrets.get(ref.name)
            if ref is not None and seen is not None and not seen.is_hidden and ref.key not in seen.keys:
                yield (
                    f"Secret {ref.name} has no key {ref.key}, which credential {field} comes from.",
                    f"Put the key {ref.key} into Secret {ref.name}, or correct spec.credentials.{field}.",
                )

    def wrong(self) -> Iterator[str]:
        yield from self.standing.wrong()
        rotation = self.status.rotation
        if rotation is not None and rotation.status == "failed":
            yield f"The last rotation failed: {rotation.message or 'the service says no more'}"
        yield from (missing for missing, _ in self._missing())

    def next_steps(self) -> Iterator[str]:
        yield from self.standing.next_steps()
        yield from (step for _, step in self._missing())
