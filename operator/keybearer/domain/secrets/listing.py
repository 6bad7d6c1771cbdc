"""Which secrets a list is made of: the folder's own, and what it imports, as far as they were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject
from keybearer.domain.errors import InvalidError
from keybearer.domain.paths import depth_between
from keybearer.domain.secrets.imported import ImportedBlock, imported_blocks
from keybearer.domain.secrets.questions import ListSecrets
from keybearer.store.records import Secret
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import LIST_DEPTH_MAX

__all__ = ["imported_selected", "listed_secrets", "selected"]


async def listed_secrets(unit: UnitOfWork, access: ProjectAccess, query: ListSecrets) -> list[Secret]:
    """Return the folder's own secrets, of a subtree those in places that the principal may read.

    Raises:
        InvalidError: they are more than is answered at once.
    """
    try:
        secrets = await unit.secrets.listed(
            access.project.id,
            query.at.environment,
            query.at.path,
            recursive=query.recursive,
            with_values=query.view_value,
        )
    except TooLargeError as error:
        remedy = "ask for one folder at a time" if query.recursive else "move some of them to other folders"
        raise InvalidError(
            f"The secrets under '{query.at.path}' hold more than {LISTED_MAX_BYTES >> 20} MiB; "
            f"{remedy}, or read them one by one"
        ) from error
    # Asked of each folder once: many secrets share one.
    places = {(secret.environment, secret.path) for secret in secrets}
    near = [place for place in places if depth_between(query.at.path, place[1]) <= LIST_DEPTH_MAX]
    shown = await access.permissions.places(Action.READ, Subject.SECRETS, near)
    return [secret for secret in secrets if (secret.environment, secret.path) in shown]


async def imported_selected(
    unit: UnitOfWork, access: ProjectAccess, query: ListSecrets, direct: Sequence[Secret]
) -> list[ImportedBlock]:
    """Return what the list shows of other folders, narrowed like its own secrets.

    Raises:
        InvalidError: together with those it is more than is answered at once.
    """
    if not query.include_imports:
        return []
    room = LISTED_MAX_BYTES - sum(len(secret.value or "") for secret in direct)
    blocks = await imported_blocks(
        unit, access, query.at, recursive=query.recursive, with_values=query.view_value, max_bytes=room
    )
    if not query.tag_slugs and not query.metadata:
        return blocks
    # A folder's own secret that is left out of the list still hides what is imported under its key.
    own = {(secret.path, secret.key) for secret in direct}
    return [
        replace(
            imported,
            secrets=tuple(
                secret
                for secret in selected(imported.secrets, query)
                if (imported.importer_path, secret.key) not in own
            ),
        )
        for imported in blocks
    ]


def selected(secrets: Iterable[Secret], query: ListSecrets) -> Iterable[Secret]:
    """Yield those that have one of the tags and all of the metadata that are asked for."""
    if not query.tag_slugs and not query.metadata:
        yield from secrets
        return
    for secret in secrets:
        if query.tag_slugs and not any(tag.slug in query.tag_slugs for tag in secret.tags):
            continue
        pairs = [(item.key, item.value) for item in secret.details.metadata]
        if all(_has(pairs, key, value) for key, value in query.metadata):
            yield secret


def _has(pairs: list[tuple[str, str]], key: str | None, value: str | None) -> bool:
    return any(
        (key is None or key == present_key) and (value is None or value == present_value)
        for present_key, present_value in pairs
    )
