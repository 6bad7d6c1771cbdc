"""Fetches what a folder imports: level by level which folders, then the secrets of all of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from keybearer.base.steps import unhurried
from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject, Where
from keybearer.domain.errors import InvalidError
from keybearer.domain.paths import depth_between
from keybearer.domain.secrets.imports import (
    Block,
    ImportLimitError,
    ImportSteps,
    block_of,
    shown_folders,
    without_shadowed,
)
from keybearer.domain.secrets.questions import SecretsAt
from keybearer.store.imports import ImportedPlace
from keybearer.store.records import Secret
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork
from keybearer.wire.limits import IMPORT_DEPTH_MAX, IMPORT_STEPS_MAX, LIST_DEPTH_MAX

__all__ = ["ImportedBlock", "folders_led_to", "imported_blocks", "imported_secret"]

_MAX_FOLDERS = 10_000
_TOO_MANY_FOLDERS = "The imports lead to too many folders; import fewer, or read with includeImports=false"
_TOO_MANY = (
    f"There are too many imports: at most {IMPORT_STEPS_MAX} are followed for one request, each as often as "
    "it is met; import fewer, or read with includeImports=false"
)


@dataclass(frozen=True, slots=True)
class ImportedBlock:
    """One import with the secrets it shows, sorted by key."""

    importer_path: str
    block: Block
    secrets: tuple[Secret, ...] = field(repr=False)


async def imported_blocks(
    unit: UnitOfWork,
    access: ProjectAccess,
    at: SecretsAt,
    *,
    recursive: bool,
    with_values: bool,
    max_bytes: int = LISTED_MAX_BYTES,
    strict: bool = False,
) -> list[ImportedBlock]:
    """Return what the folder imports, or all folders under it to the depth of lists, in their order.

    What the principal may not read is left out, or refused where `strict`; what a later block provides is left out.

    Raises:
        ForbiddenError: `strict`, and the principal may not read the values of a folder that is imported.
        InvalidError: it is more than is answered at once.
    """
    steps = ImportSteps()
    places = await _direct(unit, access, at, steps, recursive=recursive)
    if not places:
        return []  # as of most folders
    near = [place for place in places if depth_between(at.path, place.importer_path) <= LIST_DEPTH_MAX]
    importers = await access.permissions.places(
        Action.READ, Subject.SECRETS, [(at.environment, place.importer_path) for place in near]
    )
    places = [place for place in near if (at.environment, place.importer_path) in importers]
    blocks, readable = await _followed(unit, access, places, steps, strict=strict)
    secrets_of = await _secrets_of(unit, readable, with_values=with_values, max_bytes=max_bytes)
    shown = without_shadowed(
        [
            [secret for folder in folders for secret in secrets_of.get(folder, ())]
            for folders in shown_folders(blocks)
        ],
        lambda secret: secret.key,
    )
    return [
        ImportedBlock(place.importer_path, block, tuple(sorted(secrets, key=lambda secret: secret.key)))
        for place, block, secrets in zip(places, blocks, shown, strict=True)
    ]


async def imported_secret(unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, key: str) -> Secret | None:
    """Return what the folder imports under the key, from the last import that provides it, or None.

    Raises:
        InvalidError: the imports lead to too many folders.
    """
    steps = ImportSteps()
    places = await _direct(unit, access, at, steps, recursive=False)
    blocks, readable = await _followed(unit, access, places, steps)
    secrets_of = await _secrets_of(unit, readable, with_values=True, max_bytes=LISTED_MAX_BYTES, key=key)
    for block in reversed(blocks):
        for folder in block.folder_ids:
            for secret in secrets_of.get(folder, ()):
                return secret
    return None


async def folders_led_to(unit: UnitOfWork, access: ProjectAccess, folder_ids: Iterable[str]) -> list[str]:
    """Return all folders that these ones import, one through the other, whatever is shown of them.

    Raises:
        ForbiddenError: the principal may not read the values of one of them.
        InvalidError: there are too many.
    """
    steps = ImportSteps()
    places = await unit.imports.leading_from_folders(folder_ids, limit=steps.left + 1)
    with _bounded():
        steps.take(len(places))
    _, readable = await _followed(unit, access, places, steps, strict=True)
    return readable


async def _direct(
    unit: UnitOfWork, access: ProjectAccess, at: SecretsAt, steps: ImportSteps, *, recursive: bool
) -> list[ImportedPlace]:
    """Return where the folder's own imports lead, and those of all under it if asked."""
    places = await unit.imports.leading_from(
        access.project.id, at.environment, at.path, recursive=recursive, limit=steps.left + 1
    )
    with _bounded():
        steps.take(len(places))
    return places


async def _followed(
    unit: UnitOfWork,
    access: ProjectAccess,
    places: Sequence[ImportedPlace],
    steps: ImportSteps,
    *,
    strict: bool = False,
) -> tuple[list[Block], list[str]]:
    """Return the blocks of these imports, and the folders of all of them that the principal may read."""
    imports_of: dict[str, list[ImportedPlace]] = {}
    place_of: dict[str, ImportedPlace] = {}
    level = list(places)
    for _ in range(IMPORT_DEPTH_MAX):
        fresh = {place.folder_id: place for place in level if place.folder_id is not None}
        fresh = {folder: place for folder, place in fresh.items() if folder not in place_of}
        if not fresh:
            break
        place_of.update(fresh)
        if len(place_of) > _MAX_FOLDERS:
            raise InvalidError(_TOO_MANY_FOLDERS)
        leading = [folder for folder, place in fresh.items() if place.leads_on]
        level = await unit.imports.leading_from_folders(leading, limit=steps.left + 1)
        with _bounded():
            steps.take(len(level))
        for place in level:
            imports_of.setdefault(place.importer_id, []).append(place)
    with _bounded():
        blocks = [await unhurried(block_of(place, imports_of, steps)) for place in places]
    entered = {
        folder: (place_of[folder].environment, place_of[folder].path)
        for block in blocks
        for folder in block.folder_ids
    }
    action = Action.READ_VALUE if strict else Action.READ
    readable = await access.permissions.places(action, Subject.SECRETS, entered.values())
    if strict and (refused := set(entered.values()) - readable):
        environment, path = min(refused)
        message = (
            f"You do not have permission to read secrets in environment '{environment}' at path '{path}', which an "
            "import leads to"
        )
        raise access.refusal(message, action, Subject.SECRETS, Where(environment, path))
    return blocks, [folder for folder, place in entered.items() if place in readable]


@contextmanager
def _bounded() -> Iterator[None]:
    try:
        yield
    except ImportLimitError as error:
        raise InvalidError(_TOO_MANY) from error


async def _secrets_of(
    unit: UnitOfWork,
    folder_ids: Sequence[str],
    *,
    with_values: bool,
    max_bytes: int,
    key: str | None = None,
) -> Mapping[str, list[Secret]]:
    """Return the secrets of these folders, or those under the one key, by folder."""
    try:
        found = await unit.secrets.of_folders(
            folder_ids, key=key, with_values=with_values, max_bytes=max_bytes
        )
    except TooLargeError as error:
        raise InvalidError(
            f"The secrets with what the folder imports hold more than {LISTED_MAX_BYTES >> 20} MiB; "
            "import less, or read with includeImports=false"
        ) from error
    by_folder: dict[str, list[Secret]] = {}
    for secret in found:
        by_folder.setdefault(secret.folder_id, []).append(secret)
    return by_folder
