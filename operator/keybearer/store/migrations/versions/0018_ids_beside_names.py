"""Names are labels, ids are authority: grants and references keep the ids of what they name."""

from __future__ import annotations

import hashlib
from collections import Counter

import sqlalchemy as sa
from alembic import op

from keybearer.base.logs import get_logger

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0018"
down_revision: str | None = "0015"
branch_labels: str | None = None
depends_on: str | None = None

_log = get_logger(__name__)
_AT_ONCE = 500
_Named = tuple[str, str, str, str]
"""A project's slug, empty for the same project, an environment's slug, and the ids of both."""


def upgrade() -> None:
    """Bind both. Grants that allow something in an environment that is gone are removed."""
    op.add_column("project_grants", sa.Column("environment_id", sa.String(length=36)))
    op.create_index("ix_project_grants_environment_id", "project_grants", ["environment_id"])
    _bind_grants(op.get_bind())
    op.create_table(
        "reference_bindings",
        sa.Column("secret_id", sa.String(length=36), nullable=False),
        sa.Column("project_slug", sa.String(length=36), nullable=False),
        sa.Column("environment", sa.String(length=64), nullable=False),
        sa.Column("project_id", sa.String(length=36)),
        sa.Column("environment_id", sa.String(length=36)),
        sa.Column("is_loose", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["secret_id"], ["secrets.id"], name="fk_reference_bindings_secret_id_secrets", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("secret_id", "project_slug", "environment", name="pk_reference_bindings"),
    )
    op.create_index("ix_reference_bindings_project_id", "reference_bindings", ["project_id"])
    op.create_index(
        "ix_reference_bindings_loose",
        "reference_bindings",
        ["secret_id"],
        sqlite_where=sa.text("is_loose"),
        postgresql_where=sa.text("is_loose"),
    )
    _bind_references(op.get_bind())
    op.create_table(
        "former_project_slugs",
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("slug", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36)),
        sa.Column("given_up_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_former_project_slugs_organization_id_organizations",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "slug", name="pk_former_project_slugs"),
    )


def _bind_references(connection: sa.Connection) -> None:
    """Note the environments that texts name beside their own; texts are sealed, so by the digests of folders."""
    references = sa.table("secret_references", *map(sa.column, ("secret_id", "folder")))
    secrets = sa.table("secrets", *map(sa.column, ("id", "project_id", "folder_id")))
    folders = sa.table("folders", *map(sa.column, ("id", "environment_id", "path")))
    environments = sa.table("environments", *map(sa.column, ("id", "project_id", "slug")))
    projects = sa.table("projects", *map(sa.column, ("id", "organization_id", "slug")))
    bindings = sa.table(
        "reference_bindings",
        *map(sa.column, ("secret_id", "project_slug", "environment", "project_id", "environment_id")),
        sa.column("is_loose", sa.Boolean()),
    )
    # By the organization for names of projects, by the project for its own folders.
    known: dict[tuple[str, str], _Named] = {}
    for path, environment_id, environment, project_id, slug, organization_id in connection.execute(
        sa.select(
            folders.c.path,
            environments.c.id,
            environments.c.slug,
            projects.c.id,
            projects.c.slug,
            projects.c.organization_id,
        )
        .select_from(folders)
        .join(environments, environments.c.id == folders.c.environment_id)
        .join(projects, projects.c.id == environments.c.project_id)
    ):
        for within, named in ((project_id, ""), (organization_id, slug)):
            known[within, _digest(named, environment, path)] = (
                named,
                environment,
                project_id,
                environment_id,
            )
    bound: set[tuple[str, _Named]] = set()
    unbound: dict[str, str] = {}
    anywhere = _digest("", "*", "*")
    for secret_id, folder, home, project_id, organization_id in connection.execute(
        sa.select(
            references.c.secret_id,
            references.c.folder,
            folders.c.environment_id,
            secrets.c.project_id,
            projects.c.organization_id,
        )
        .select_from(references)
        .join(secrets, secrets.c.id == references.c.secret_id)
        .join(folders, folders.c.id == secrets.c.folder_id)
        .join(projects, projects.c.id == secrets.c.project_id)
    ):
        found = known.get((project_id, folder)) or known.get((organization_id, folder))
        if found is None:
            if folder != anywhere:
                unbound[secret_id] = project_id
        elif found[0] or found[3] != home:
            bound.add((secret_id, found))
    rows = [
        {
            "secret_id": secret_id,
            "project_slug": slug,
            "environment": environment,
            "project_id": project_id,
            "environment_id": environment_id,
            "is_loose": False,
        }
        for secret_id, (slug, environment, project_id, environment_id) in sorted(bound)
    ]
    rows += [
        {
            "secret_id": secret_id,
            "project_slug": "*",
            "environment": "*",
            "project_id": None,
            "environment_id": None,
            "is_loose": True,
        }
        for secret_id in sorted(unbound)
    ]
    for start in range(0, len(rows), _AT_ONCE):
        connection.execute(sa.insert(bindings), rows[start : start + _AT_ONCE])
    for project_id, count in sorted(Counter(unbound.values()).items()):
        _log.warning("secrets_name_what_does_not_exist", project_id=project_id, secrets=count)


def _digest(project_slug: str, environment: str, path: str) -> str:
    """Return what the table of references holds for a folder."""
    return hashlib.sha256(f"{project_slug}\0{environment}\0{path}".encode()).hexdigest()[:32]


def _bind_grants(connection: sa.Connection) -> None:
    grants = sa.table(
        "project_grants",
        *map(sa.column, ("id", "project_id", "identity_id", "effect", "environment", "environment_id")),
    )
    environments = sa.table("environments", *map(sa.column, ("id", "project_id", "slug")))
    named = (
        sa.select(environments.c.id)
        .where(environments.c.project_id == grants.c.project_id, environments.c.slug == grants.c.environment)
        .scalar_subquery()
    )
    connection.execute(sa.update(grants).values(environment_id=named))
    # It allows nothing now; kept, it would allow it in the next environment of that slug. A denial stays.
    ended = (
        grants.c.environment_id.is_(None),
        grants.c.environment != "*",
        grants.c.effect == "allow",
    )
    columns = (grants.c.id, grants.c.project_id, grants.c.identity_id, grants.c.environment)
    for grant_id, project_id, identity_id, environment in connection.execute(
        sa.select(*columns).where(*ended).order_by(grants.c.project_id, grants.c.id)
    ):
        _log.warning(
            "grant_of_no_environment_removed",
            grant_id=grant_id,
            project_id=project_id,
            identity_id=identity_id,
            environment=environment,
        )
    connection.execute(sa.delete(grants).where(*ended))


def downgrade() -> None:
    """Drop them."""
    op.drop_table("former_project_slugs")
    op.drop_table("reference_bindings")
    op.drop_index("ix_project_grants_environment_id", "project_grants")
    op.drop_column("project_grants", "environment_id")
