"""PKI subscribers: a name with all that its certificates hold (interface.md section 4.10, wire.md section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keybearer.base.certificate_terms import ExtendedKeyUsage, KeyUsage
from keybearer.base.clock import Clock
from keybearer.base.ids import ProjectId, new_uuid
from keybearer.domain.access import ProjectAccess, ProjectRef, open_project
from keybearer.domain.audit import EventType, audited
from keybearer.domain.authorization import Action, Principal, Subject
from keybearer.domain.certificates.lookup import in_project
from keybearer.domain.errors import InvalidError, NotFoundError
from keybearer.pki.errors import PkiError
from keybearer.pki.names import AlternativeName, alternative_name
from keybearer.store.audit import AuditEvent
from keybearer.store.database import Database
from keybearer.store.pki_subscribers import PkiSubscriber
from keybearer.store.unit import UnitOfWork
from keybearer.wire.certificates.names import guessed_name_type
from keybearer.wire.certificates.subscribers import SubscriberStatus
from keybearer.wire.limits import CERTIFICATE_OBJECTS_MAX

__all__ = [
    "NewSubscriber",
    "PkiSubscribers",
    "SubscriberChange",
    "names_of_subscriber",
    "open_subscriber",
    "subscriber_event",
]


@dataclass(frozen=True, slots=True)
class NewSubscriber:
    """A subscriber to be made; `ttl` as `parse_ttl` reads it."""

    authority_id: str
    name: str
    common_name: str
    status: SubscriberStatus
    ttl: str
    names: tuple[str, ...]
    key_usages: tuple[KeyUsage, ...]
    extended_key_usages: tuple[ExtendedKeyUsage, ...]


@dataclass(frozen=True, slots=True)
class SubscriberChange:
    """What is to be different; None stays."""

    authority_id: str | None = None
    name: str | None = None
    common_name: str | None = None
    status: SubscriberStatus | None = None
    ttl: str | None = None
    subject_alternative_names: tuple[str, ...] | None = None
    key_usages: tuple[str, ...] | None = None
    extended_key_usages: tuple[str, ...] | None = None


class PkiSubscribers:
    """Decides about subscribers.

    Every method raises NotFoundError for a subscriber, authority or project that isn't there, and ForbiddenError
    where the principal may not.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def create(self, principal: Principal, project_id: str, new: NewSubscriber) -> PkiSubscriber:
        """Make a subscriber.

        Raises:
            InvalidError: the name is taken, an alternative name is none, or there are too many.
        """
        async with self._database.writing() as unit:
            access = await _open(unit, principal, project_id, Action.CREATE)
            project = access.project.id
            await _require_authority(unit, project, new.authority_id)
            await _require_free(unit, project, new.name)
            if await unit.pki_subscribers.count_of(project) >= CERTIFICATE_OBJECTS_MAX:
                raise InvalidError(f"A project has at most {CERTIFICATE_OBJECTS_MAX} PKI subscribers")
            now = self._clock.now()
            subscriber = PkiSubscriber(
                id=new_uuid(),
                project_id=project,
                authority_id=new.authority_id,
                name=new.name,
                common_name=new.common_name,
                status=new.status.value,
                ttl=new.ttl,
                subject_alternative_names=new.names,
                key_usages=tuple(usage.value for usage in new.key_usages),
                extended_key_usages=tuple(usage.value for usage in new.extended_key_usages),
                created_at=now,
                updated_at=now,
            )
            names_of_subscriber(subscriber)
            await unit.pki_subscribers.add(subscriber)
            await unit.audit(subscriber_event(principal, EventType.CREATE_PKI_SUBSCRIBER, subscriber))
            return subscriber

    async def get(self, principal: Principal, project_id: str, name: str) -> PkiSubscriber:
        """Return a subscriber."""
        async with self._database.reading() as unit:
            return (await open_subscriber(unit, principal, project_id, name, Action.READ))[0]

    async def list(self, principal: Principal, project_id: str) -> Sequence[PkiSubscriber]:
        """Return the project's subscribers by name."""
        async with self._database.reading() as unit:
            access = await _open(unit, principal, project_id, Action.READ)
            return await unit.pki_subscribers.of_project(access.project.id)

    async def update(
        self, principal: Principal, project_id: str, name: str, change: SubscriberChange
    ) -> PkiSubscriber:
        """Change a subscriber; certificates that it has stay as they are.

        Raises:
            InvalidError: the new name is taken, or an alternative name is none.
        """
        async with self._database.writing() as unit:
            former, access = await open_subscriber(
                unit, principal, project_id, name, Action.EDIT, for_change=True
            )
            if change.authority_id is not None:
                await _require_authority(unit, access.project.id, change.authority_id)
            if change.name is not None and change.name != former.name:
                await _require_free(unit, access.project.id, change.name)
            given = {
                field: value
                for field in SubscriberChange.__dataclass_fields__
                if (value := getattr(change, field)) is not None
            }
            changed = replace(former, **given, updated_at=self._clock.now())
            names_of_subscriber(changed)
            await unit.pki_subscribers.update(changed)
            await unit.audit(subscriber_event(principal, EventType.UPDATE_PKI_SUBSCRIBER, changed))
            return changed

    async def delete(self, principal: Principal, project_id: str, name: str) -> PkiSubscriber:
        """Remove a subscriber and return what it was; its certificates live on."""
        async with self._database.writing() as unit:
            subscriber, _ = await open_subscriber(
                unit, principal, project_id, name, Action.DELETE, for_change=True
            )
            await unit.pki_subscribers.delete(subscriber.id)
            await unit.audit(subscriber_event(principal, EventType.DELETE_PKI_SUBSCRIBER, subscriber))
            return subscriber


async def open_subscriber(
    unit: UnitOfWork,
    principal: Principal,
    project_id: str,
    name: str,
    action: Action,
    *,
    for_change: bool = False,
) -> tuple[PkiSubscriber, ProjectAccess]:
    """Return a subscriber to which the principal may do that.

    Raises:
        NotFoundError: there is no such project, or no such subscriber in it.
        ForbiddenError: the principal may not.
    """
    access = await _open(unit, principal, project_id, action)
    found = await unit.pki_subscribers.named(access.project.id, name, for_change=for_change)
    if found is None:
        raise NotFoundError(f"PKI subscriber named {name} not found")
    return found, access


def names_of_subscriber(subscriber: PkiSubscriber) -> tuple[AlternativeName, ...]:
    """Return the alternative names of a subscriber's certificates, each of the kind it looks like.

    Raises:
        InvalidError: one of them is no such name.
    """
    try:
        return tuple(
            dict.fromkeys(
                alternative_name(guessed_name_type(value), value)
                for value in subscriber.subject_alternative_names
            )
        )
    except PkiError as error:
        raise InvalidError(f"Subject alternative names: {error}") from error


def subscriber_event(
    principal: Principal, kind: EventType, subscriber: PkiSubscriber, **details: str | None
) -> AuditEvent:
    """Return what the audit log says of something done to a subscriber."""
    return audited(
        principal, kind, subscriber.project_id, subscriberId=subscriber.id, name=subscriber.name, **details
    )


async def _open(unit: UnitOfWork, principal: Principal, project_id: str, action: Action) -> ProjectAccess:
    access = await open_project(unit, principal, ProjectRef(project_id))
    access.require(action, Subject.PKI_SUBSCRIBERS)
    return access


async def _require_authority(unit: UnitOfWork, project_id: ProjectId, authority_id: str) -> None:
    in_project(await unit.certificate_authorities.get(authority_id), project_id, "Certificate authority")


async def _require_free(unit: UnitOfWork, project_id: ProjectId, name: str) -> None:
    if await unit.pki_subscribers.named(project_id, name) is not None:
        raise InvalidError(f"A PKI subscriber named {name} already exists in the project")
