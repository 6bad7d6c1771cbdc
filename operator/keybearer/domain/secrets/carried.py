"""What a text, an import or a move makes others carry on: judged for whoever puts it there.

A sync carries what its folder comes to with the rights of its owner, and lists show it with those of who reads. So
who may write in a folder must not lead from there to what their own reading is refused, by whatever steps: a text
that names another one leads to all that this one names, and an import to all that its folder leads to.

Nothing is expanded here, so no text grows, and a user's own values hide nothing: each secret is looked at once, as it
is shared. Names lead where they lead when a sync carries them (`domain.secrets.bindings`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from keybearer.domain.access import ProjectAccess
from keybearer.domain.authorization import Action, Subject, Where
from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.bindings import redirects_of
from keybearer.domain.secrets.expansion import open_named_projects, referring_text, target_of
from keybearer.domain.secrets.imported import folders_led_to
from keybearer.domain.secrets.naming import Naming, names_of
from keybearer.domain.secrets.references import Named, led_to, named_by
from keybearer.store.records import Folder, Secret
from keybearer.store.reference_bindings import NamedEnvironment
from keybearer.store.secret_places import Location, ReferenceTarget
from keybearer.store.secrets import LISTED_MAX_BYTES, TooLargeError
from keybearer.store.unit import UnitOfWork

__all__ = [
    "require_readable_folders",
    "require_readable_stored",
    "require_readable_targets",
]

_MAX_FOLLOWED = 50_000
_TOO_MUCH = "What is written leads to too many secrets; refer to fewer, or import less"


async def require_readable_targets(unit: UnitOfWork, access: ProjectAccess, names: Iterable[Naming]) -> None:
    """Let pass texts that lead only to what their writer may read.

    Args:
        unit: of the change, before it is stored.
        access: of the writer, to the project of the secrets.
        names: secrets as they will be stored, with what they name.

    Raises:
        ForbiddenError: one leads to a secret whose value the writer may not read, or is put together from others, so
            that it could name any.
        InvalidError: they lead to too many secrets.
    """
    written = [(secret, named) for secret, named in names if named.targets or named.builds]
    if written:
        await _Walk(unit, access).require(written, are_stored=False)


async def require_readable_stored(unit: UnitOfWork, access: ProjectAccess, secrets: Sequence[Secret]) -> None:
    """Let pass texts, as they are stored, that lead only to what the principal may read: by what their names mean.

    Raises:
        ForbiddenError: one leads to a secret whose value the principal may not read.
        InvalidError: they lead to too many secrets.
    """
    stored = [(secret, named) for secret, named in await names_of(secrets) if named.targets or named.builds]
    if stored:
        await _Walk(unit, access).require(stored, are_stored=True)


async def require_readable_folders(
    unit: UnitOfWork, access: ProjectAccess, folders: Collection[Folder]
) -> None:
    """Let pass folders of the project whose shared secrets and imports lead only to what the principal may read.

    Raises:
        ForbiddenError: they lead to values that the principal may not read.
        InvalidError: they lead to too many secrets or folders.
    """
    own = [folder.id for folder in folders]
    imported = await folders_led_to(unit, access, own)
    referring = await unit.references.referring_in([*own, *imported])
    if len(referring) > _MAX_FOLLOWED:
        raise InvalidError(_TOO_MUCH)
    try:
        stored = await unit.secrets.by_ids(referring, max_bytes=LISTED_MAX_BYTES)
    except TooLargeError as error:
        raise InvalidError(_TOO_MUCH) from error
    await require_readable_stored(unit, access, stored)


class _Walk:
    """From text to text, each once."""

    def __init__(self, unit: UnitOfWork, access: ProjectAccess) -> None:
        self._unit = unit
        self._home = access
        self._projects: dict[str, ProjectAccess | None] = {"": access}
        self._redirects: dict[ReferenceTarget, Mapping[NamedEnvironment, NamedEnvironment | None]] = {}
        self._seen: set[ReferenceTarget] = set()

    async def require(self, names: Iterable[Naming], *, are_stored: bool) -> None:
        """Let pass the secrets of the home project; names in texts that are only written now mean what has them."""
        await self._follow_ids(self._home, "")
        ahead: set[ReferenceTarget] = set()
        for secret, named in names:
            ahead |= self._led_to(named, target_of(secret), are_stored=are_stored)
        while ahead := ahead - self._seen:
            self._seen |= ahead
            if len(self._seen) > _MAX_FOLLOWED:
                raise InvalidError(_TOO_MUCH)
            slugs = {target.project_slug for target in ahead}
            opened = await open_named_projects(self._unit, self._home, self._projects, slugs)
            for slug, access in opened.items():
                await self._follow_ids(access, slug)
            ahead = await self._followed(ahead)

    async def _followed(self, targets: Iterable[ReferenceTarget]) -> set[ReferenceTarget]:
        """Return what the texts at these places name, after checking that they may be read."""
        of_project: dict[str, list[Location]] = {}
        for slug, place in targets:
            of_project.setdefault(slug, []).append(place)
        opened = [
            (slug, access, places)
            for slug, places in sorted(of_project.items())
            if (access := self._projects[slug]) is not None
        ]
        for _, access, places in opened:
            await _require_readable(access, {(place.environment, place.path) for place in places})
        further: set[ReferenceTarget] = set()
        for slug, access, places in opened:
            for secret in await self._referring(access, places):
                at = ReferenceTarget(slug, target_of(secret).location)
                further |= self._led_to(named_by(referring_text(secret), at), at, are_stored=True)
        return further

    async def _referring(self, access: ProjectAccess, places: Sequence[Location]) -> list[Secret]:
        """Return those of the secrets at these places that lead on; what others hold doesn't matter here."""
        try:
            return await self._unit.secrets.referring_at(
                access.project.id, places, max_bytes=LISTED_MAX_BYTES
            )
        except TooLargeError as error:
            raise InvalidError(_TOO_MUCH) from error

    def _led_to(self, named: Named, at: ReferenceTarget, *, are_stored: bool) -> AbstractSet[ReferenceTarget]:
        """Return where the names of the text stored at `at` lead."""
        access = self._projects[at.project_slug]
        if access is not None and named.builds:
            access.require(Action.READ_VALUE, Subject.SECRETS)
        if not are_stored or at not in self._redirects:
            return named.targets
        led = {led_to(target, at, self._redirects) for target in named.targets}
        return {target for target in led if target is not None}

    async def _follow_ids(self, access: ProjectAccess, slug: str) -> None:
        loose = await self._unit.bindings.loose(access.project.id)
        self._redirects.update(redirects_of(loose, slug, only_bound=True))


async def _require_readable(access: ProjectAccess, folders: AbstractSet[tuple[str, str]]) -> None:
    """Let pass folders, by environment and path, whose values may be read: each is asked of once."""
    readable = await access.permissions.places(Action.READ_VALUE, Subject.SECRETS, folders)
    for place in sorted(folders - readable):
        access.require(Action.READ_VALUE, Subject.SECRETS, Where(*place))
