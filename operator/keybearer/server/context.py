"""What routes work with: built once at start, never changed."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import Request

from keybearer.base.clock import Clock
from keybearer.domain.authentication import Authentication
from keybearer.domain.environments import Environments
from keybearer.domain.folders import Folders
from keybearer.domain.identities import Identities
from keybearer.domain.projects import Projects
from keybearer.domain.secrets.entity_tags import EntityTags
from keybearer.domain.secrets.folder_imports import FolderImports
from keybearer.domain.secrets.reading import SecretReading
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.domain.server_keys import ServerKeys
from keybearer.domain.tags import Tags
from keybearer.server.list_cache import ListCache
from keybearer.store.database import Database

__all__ = ["ServiceContext", "build_context", "context_of"]


@dataclass(frozen=True, slots=True)
class ServiceContext:
    """The domain, wired."""

    authentication: Authentication
    identities: Identities
    projects: Projects
    environments: Environments
    folders: Folders
    tags: Tags
    imports: FolderImports
    reading: SecretReading
    writing: SecretWriting
    lists: ListCache


def build_context(database: Database, keys: ServerKeys, clock: Clock) -> ServiceContext:
    """Return the domain on this database."""
    return ServiceContext(
        authentication=Authentication(database, keys, clock),
        identities=Identities(database, keys, clock),
        projects=Projects(database, clock),
        environments=Environments(database, clock),
        folders=Folders(database, clock),
        tags=Tags(database, clock),
        imports=FolderImports(database, clock),
        reading=SecretReading(database, EntityTags(keys.entity_tags)),
        writing=SecretWriting(database, clock),
        lists=ListCache(database),
    )


def context_of(request: Request) -> ServiceContext:
    """Return the context of the application that serves this request."""
    context: ServiceContext = request.app.state.context
    return context
