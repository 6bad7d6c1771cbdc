"""Names are labels, ids are authority: grants keep the id of the environment that they name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from keybearer.base.logs import get_logger

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0018"
down_revision: str | None = "0015"
branch_labels: str | None = None
depends_on: str | None = None

_log = get_logger(__name__)


def upgrade() -> None:
    """Bind the grants; those that allow something in an environment that is gone are removed."""
    op.add_column("project_grants", sa.Column("environment_id", sa.String(length=36)))
    op.create_index("ix_project_grants_environment_id", "project_grants", ["environment_id"])
    _bind_grants(op.get_bind())
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
    op.drop_index("ix_project_grants_environment_id", "project_grants")
    op.drop_column("project_grants", "environment_id")
