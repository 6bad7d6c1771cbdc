"""The domain of the service on a database of its own, without HTTP: for tests that ask it thousands of times."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from sqlalchemy import URL

from keybearer.base.clock import SystemClock
from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId
from keybearer.domain.access import ProjectRef
from keybearer.domain.audit_trail import AuditTrail
from keybearer.domain.authorization import OrganizationRole, Principal
from keybearer.domain.folders import Folders, FoldersAt
from keybearer.domain.paths import folder_name_of, parent_of
from keybearer.domain.projects import NewProject, Projects
from keybearer.domain.secrets.entity_tags import EntityTags
from keybearer.domain.secrets.folder_imports import FolderImports
from keybearer.domain.secrets.questions import ListSecrets, NotModified, SecretListing, SecretsAt
from keybearer.domain.secrets.reading import SecretReading
from keybearer.domain.secrets.writing import SecretWriting
from keybearer.interface.imports import CreateImport
from keybearer.store.database import Database
from keybearer.store.records import Identity, Organization, Project
from support.databases import sqlite_with_tables
from support.unlocking import unlock_with

__all__ = ["ServiceDomain", "at", "service_domain"]

_KEY = b"0" * 32


@dataclass(frozen=True)
class ServiceDomain:
    """What routes would ask, for the admin of an organization."""

    database: Database
    admin: Principal
    projects: Projects
    folders: Folders
    imports: FolderImports
    reading: SecretReading
    writing: SecretWriting

    async def project(self, slug: str) -> Project:
        """Make a project with the environments dev, staging and prod."""
        new = NewProject(
            slug, slug, None, "secret-manager", default_environments=True, delete_protection=False
        )
        return (await self.projects.create(self.admin, new)).project

    async def folder(self, project: Project, path: str, environment: str = "dev") -> str:
        """Make a folder, and return its id."""
        place = FolderPath(path)
        at = FoldersAt(ProjectRef(id=project.id), EnvironmentSlug(environment), parent_of(place))
        view = await self.folders.create(self.admin, at, folder_name_of(place), None)
        return view.folder.id

    async def add_import(self, project: Project, into: str, source: str, environment: str = "dev") -> str:
        """Have a folder of dev import another one, and return the import's id."""
        new = CreateImport(environment, source, project_id=project.id, environment="dev", path=into)
        view = await self.imports.create(self.admin, new)
        return view.item.id

    async def listed(
        self, project: Project, path: str, environment: str = "dev", tag: str | None = None
    ) -> SecretListing | NotModified:
        """Return the list of a folder as clients ask for it."""
        query = ListSecrets(
            at(project, path, environment),
            recursive=False,
            expand=True,
            view_value=True,
            include_imports=True,
        )
        return await self.reading.list(self.admin, query, tag)


def at(project: Project, path: str = "/", environment: str = "dev") -> SecretsAt:
    """Return a folder as the domain names it."""
    return SecretsAt(ProjectRef(id=project.id), EnvironmentSlug(environment), FolderPath(path))


@asynccontextmanager
async def service_domain(directory: Path, url: URL | None = None) -> AsyncIterator[ServiceDomain]:
    """Yield the domain on a fresh database in the directory, or on the one of the URL."""
    clock = SystemClock()
    database = Database(url or sqlite_with_tables(directory), clock)
    await database.prepare()
    await unlock_with(database)
    organization = Organization(OrganizationId(str(uuid4())), "Home", "home", 1, clock.now())
    identity = Identity(
        IdentityId(str(uuid4())),
        organization.id,
        "admin",
        OrganizationRole.ADMIN,
        1,
        clock.now(),
        clock.now(),
    )
    async with database.writing() as unit:
        await unit.identities.add_organization(organization)
        await unit.identities.add(identity)
    admin = Principal(identity.id, organization.id, OrganizationRole.ADMIN, 1, "token")
    try:
        yield ServiceDomain(
            database,
            admin,
            Projects(database, clock),
            Folders(database, clock),
            FolderImports(database, clock),
            SecretReading(database, EntityTags(_KEY), AuditTrail(database, clock)),
            SecretWriting(database, clock),
        )
    finally:
        await database.close()
