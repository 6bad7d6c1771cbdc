"""Kubernetes and LDAP auth of identities."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Make the two tables."""
    op.create_table(
        "kubernetes_auths",
        *_identity("kubernetes_auths"),
        sa.Column("host", sa.String(length=2048), nullable=False),
        sa.Column("ca_pem", sa.Text(), nullable=False),
        sa.Column("reviewer_token", sa.LargeBinary(), nullable=True),
        sa.Column("allowed_namespaces", sa.Text(), nullable=False),
        sa.Column("allowed_names", sa.Text(), nullable=False),
        sa.Column("allowed_audience", sa.String(length=512), nullable=False),
        *_terms(),
    )
    op.create_table(
        "ldap_auths",
        *_identity("ldap_auths"),
        sa.Column("url", sa.String(length=2048), nullable=False),
        sa.Column("bind_dn", sa.String(length=1024), nullable=False),
        sa.Column("bind_password", sa.LargeBinary(), nullable=False),
        sa.Column("search_base", sa.String(length=1024), nullable=False),
        sa.Column("search_filter", sa.Text(), nullable=False),
        sa.Column("ca_pem", sa.Text(), nullable=False),
        sa.Column("allowed_fields", sa.JSON(), nullable=False),
        sa.Column("lockout_enabled", sa.Boolean(), nullable=False),
        sa.Column("lockout_threshold", sa.Integer(), nullable=False),
        sa.Column("lockout_duration_seconds", sa.Integer(), nullable=False),
        sa.Column("lockout_counter_reset_seconds", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failure_at", sa.BigInteger(), nullable=True),
        sa.Column("locked_until", sa.BigInteger(), nullable=True),
        *_terms(),
    )


def downgrade() -> None:
    """Drop the tables, and the tokens that logins by these ways gave."""
    op.execute("DELETE FROM access_tokens WHERE auth_method IN ('kubernetes-auth', 'ldap-auth')")
    op.drop_table("ldap_auths")
    op.drop_table("kubernetes_auths")


def _identity(table: str) -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("identity_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["identity_id"], ["identities.id"], name=f"fk_{table}_identity_id_identities", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("identity_id", name=f"pk_{table}"),
    )


def _terms() -> tuple[sa.schema.SchemaItem, ...]:
    return (
        sa.Column("access_token_ttl", sa.Integer(), nullable=False),
        sa.Column("access_token_max_ttl", sa.Integer(), nullable=False),
        sa.Column("access_token_num_uses_limit", sa.Integer(), nullable=False),
        sa.Column("access_token_period", sa.Integer(), nullable=False),
        sa.Column("access_token_trusted_ips", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
    )
