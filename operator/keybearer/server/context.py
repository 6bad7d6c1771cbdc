"""What routes work with: built once at start, never changed."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from keybearer.base.clock import Clock
from keybearer.domain.admin import InstanceSetup, SetupDoor
from keybearer.domain.authentication import Authentication
from keybearer.domain.environments import Environments
from keybearer.domain.events import Events
from keybearer.domain.folders import Folders
from keybearer.domain.identities import Identities
from keybearer.domain.memberships import UserMemberships
from keybearer.domain.passwords import Passwords
from keybearer.domain.projects import Projects
from keybearer.domain.secrets.entity_tags import EntityTags
from keybearer.domain.secrets.folder_imports import FolderImports
from keybearer.domain.secrets.reading import SecretReading
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.tags import Tags
from keybearer.domain.user_login import PasswordGate, UserLogins
from keybearer.domain.users import Users
from keybearer.server.list_cache import ListCache
from keybearer.store.database import Database

__all__ = ["ServiceContext", "build_context", "context_of"]

_CLOSED = SetupDoor()


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The domain, wired."""

    authentication: Authentication
    setup: InstanceSetup
    user_logins: UserLogins
    users: Users
    memberships: UserMemberships
    identities: Identities
    projects: Projects
    environments: Environments
    folders: Folders
    tags: Tags
    imports: FolderImports
    reading: SecretReading
    writing: SecretWriting
    lists: ListCache
    events: Events


def build_context(
    database: Database, keys: ServerKeys, clock: Clock, door: SetupDoor = _CLOSED
) -> ServiceContext:
    """Return the domain on this database; `door` says who may set it up over the API while it is empty."""
    passwords = Passwords()
    gate = PasswordGate(database, keys, passwords, clock)
    authentication = Authentication(database, keys, clock)
    return ServiceContext(
        authentication=authentication,
        setup=InstanceSetup(database, keys, passwords, clock, door),
        user_logins=UserLogins(database, keys, gate, clock),
        users=Users(database, passwords, gate, clock),
        memberships=UserMemberships(database, clock),
        identities=Identities(database, keys, clock),
        projects=Projects(database, clock),
        environments=Environments(database, clock),
        folders=Folders(database, clock),
        tags=Tags(database, clock),
        imports=FolderImports(database, clock),
        reading=SecretReading(database, EntityTags(keys.entity_tags)),
        writing=SecretWriting(database, clock),
        lists=ListCache(database),
        events=Events(database, authentication, clock),
    )


def context_of(request: Request) -> ServiceContext:
    """Return the context of the application that serves this request."""
    context: ServiceContext = request.app.state.context
    return context
