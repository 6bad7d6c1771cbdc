"""The first tables: identities, projects, keys and secrets."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

_ORDERED = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TABLES = (
    "secret_versions",
    "secret_tags",
    "secret_references",
    "secrets",
    "folders",
    "access_tokens",
    "universal_auths",
    "tags",
    "project_memberships",
    "environments",
    "data_keys",
    "client_secrets",
    "projects",
    "identities",
    "server_keys",
    "organizations",
)


def upgrade() -> None:
    """Create the tables."""
    _identities()
    _projects()
    _keys()
    _secrets()


def downgrade() -> None:
    """Drop the tables, those that others refer to last."""
    for table in (
        "secret_versions",
        "secret_tags",
        "secret_references",
        "secrets",
        "folders",
        "access_tokens",
        "universal_auths",
        "tags",
        "project_memberships",
        "environments",
        "data_keys",
        "client_secrets",
        "projects",
        "identities",
        "server_keys",
        "organizations",
    ):
        op.drop_table(table)


def _owned_by(table: str, column: str, owner: str) -> sa.ForeignKeyConstraint:
    """Return the constraint of a row that goes with its owner."""
    name = f"fk_{table}_{column}_{owner}"
    return sa.ForeignKeyConstraint([column], [f"{owner}.id"], name=name, ondelete="CASCADE")


def _identities() -> None:
    op.create_table(
        "organizations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("names_revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_organizations"),
        sa.UniqueConstraint("slug", name="uq_organizations_slug"),
    )
    op.create_table(
        "identities",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("role", sa.String(length=64), nullable=False),
        sa.Column("permission_revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("identities", "organization_id", "organizations"),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
    )
    op.create_index("ix_identities_organization_id", "identities", ["organization_id"])
    op.create_table(
        "client_secrets",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("identity_id", sa.String(length=36), nullable=False),
        sa.Column("description", sa.String(length=1024), nullable=False),
        sa.Column("prefix", sa.String(length=4), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("num_uses", sa.Integer(), nullable=False),
        sa.Column("num_uses_limit", sa.Integer(), nullable=False),
        sa.Column("ttl", sa.Integer(), nullable=False),
        sa.Column("revoked", sa.Boolean(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("client_secrets", "identity_id", "identities"),
        sa.PrimaryKeyConstraint("id", name="pk_client_secrets"),
    )
    op.create_index("ix_client_secrets_identity_id", "client_secrets", ["identity_id"])
    op.create_table(
        "universal_auths",
        sa.Column("identity_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("client_id", sa.String(length=36), nullable=False),
        sa.Column("access_token_ttl", sa.Integer(), nullable=False),
        sa.Column("access_token_max_ttl", sa.Integer(), nullable=False),
        sa.Column("access_token_num_uses_limit", sa.Integer(), nullable=False),
        sa.Column("access_token_period", sa.Integer(), nullable=False),
        sa.Column("access_token_trusted_ips", sa.JSON(), nullable=False),
        sa.Column("client_secret_trusted_ips", sa.JSON(), nullable=False),
        sa.Column("lockout_enabled", sa.Boolean(), nullable=False),
        sa.Column("lockout_threshold", sa.Integer(), nullable=False),
        sa.Column("lockout_duration_seconds", sa.Integer(), nullable=False),
        sa.Column("lockout_counter_reset_seconds", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failure_at", sa.BigInteger(), nullable=True),
        sa.Column("locked_until", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("universal_auths", "identity_id", "identities"),
        sa.PrimaryKeyConstraint("identity_id", name="pk_universal_auths"),
        sa.UniqueConstraint("client_id", name="uq_universal_auths_client_id"),
    )
    op.create_table(
        "access_tokens",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("identity_id", sa.String(length=36), nullable=False),
        sa.Column("auth_method", sa.String(length=32), nullable=False),
        sa.Column("client_secret_id", sa.String(length=36), nullable=True),
        sa.Column("ttl", sa.Integer(), nullable=False),
        sa.Column("max_ttl", sa.Integer(), nullable=False),
        sa.Column("period", sa.Integer(), nullable=False),
        sa.Column("num_uses", sa.Integer(), nullable=False),
        sa.Column("num_uses_limit", sa.Integer(), nullable=False),
        sa.Column("trusted_ips", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("renewed_at", sa.BigInteger(), nullable=True),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        _owned_by("access_tokens", "client_secret_id", "client_secrets"),
        _owned_by("access_tokens", "identity_id", "identities"),
        sa.PrimaryKeyConstraint("id", name="pk_access_tokens"),
    )
    op.create_index("ix_access_tokens_client_secret_id", "access_tokens", ["client_secret_id"])
    op.create_index("ix_access_tokens_expires_at", "access_tokens", ["expires_at"])
    op.create_index("ix_access_tokens_identity_id", "access_tokens", ["identity_id"])


def _projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("organization_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("slug", sa.String(length=36), nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("type", sa.String(length=32), nullable=False),
        sa.Column("auto_capitalization", sa.Boolean(), nullable=False),
        sa.Column("has_delete_protection", sa.Boolean(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("projects", "organization_id", "organizations"),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("organization_id", "slug", name="uq_projects_organization_id_slug"),
    )
    op.create_table(
        "environments",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("environments", "project_id", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_environments"),
        sa.UniqueConstraint("project_id", "slug", name="uq_environments_project_id_slug"),
    )
    op.create_table(
        "project_memberships",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("identity_id", sa.String(length=36), nullable=False),
        sa.Column("roles", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("project_memberships", "identity_id", "identities"),
        _owned_by("project_memberships", "project_id", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_project_memberships"),
        sa.UniqueConstraint(
            "project_id", "identity_id", name="uq_project_memberships_project_id_identity_id"
        ),
    )
    op.create_index("ix_project_memberships_identity_id", "project_memberships", ["identity_id"])
    op.create_table(
        "tags",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("slug", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("color", sa.String(length=32), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("tags", "project_id", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_tags"),
        sa.UniqueConstraint("project_id", "slug", name="uq_tags_project_id_slug"),
    )
    op.create_table(
        "folders",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("environment_id", sa.String(length=36), nullable=False),
        sa.Column("parent_id", sa.String(length=36), nullable=True),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("path", _ORDERED, nullable=False),
        sa.Column("description", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("is_reserved", sa.Boolean(), nullable=False),
        sa.Column("last_secret_modified", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("folders", "environment_id", "environments"),
        _owned_by("folders", "parent_id", "folders"),
        sa.PrimaryKeyConstraint("id", name="pk_folders"),
        sa.UniqueConstraint("environment_id", "path", name="uq_folders_environment_id_path"),
    )
    op.create_index("ix_folders_parent_id", "folders", ["parent_id"])


def _keys() -> None:
    op.create_table(
        "server_keys",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_server_keys"),
    )
    op.create_table(
        "data_keys",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        _owned_by("data_keys", "project_id", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_data_keys"),
        sa.UniqueConstraint("project_id", "version", name="uq_data_keys_project_id_version"),
    )


def _secrets() -> None:
    op.create_table(
        "secrets",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("folder_id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("owner", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.Column("details", sa.LargeBinary(), nullable=True),
        sa.Column("skip_multiline_encoding", sa.Boolean(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("secrets", "folder_id", "folders"),
        _owned_by("secrets", "project_id", "projects"),
        sa.PrimaryKeyConstraint("id", name="pk_secrets"),
        sa.UniqueConstraint("folder_id", "key", "owner", name="uq_secrets_folder_id_key_owner"),
    )
    op.create_index("ix_secrets_project_id", "secrets", ["project_id"])
    op.create_table(
        "secret_references",
        sa.Column("secret_id", sa.String(length=36), nullable=False),
        sa.Column("folder", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        _owned_by("secret_references", "secret_id", "secrets"),
        sa.PrimaryKeyConstraint("secret_id", "folder", "key", name="pk_secret_references"),
    )
    op.create_index("ix_secret_references_folder_key", "secret_references", ["folder", "key"])
    op.create_table(
        "secret_tags",
        sa.Column("secret_id", sa.String(length=36), nullable=False),
        sa.Column("tag_id", sa.String(length=36), nullable=False),
        _owned_by("secret_tags", "secret_id", "secrets"),
        _owned_by("secret_tags", "tag_id", "tags"),
        sa.PrimaryKeyConstraint("secret_id", "tag_id", name="pk_secret_tags"),
    )
    op.create_index("ix_secret_tags_tag_id", "secret_tags", ["tag_id"])
    op.create_table(
        "secret_versions",
        sa.Column("secret_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=512), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.Column("details", sa.LargeBinary(), nullable=True),
        sa.Column("skip_multiline_encoding", sa.Boolean(), nullable=True),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        _owned_by("secret_versions", "secret_id", "secrets"),
        sa.PrimaryKeyConstraint("secret_id", "version", name="pk_secret_versions"),
    )
