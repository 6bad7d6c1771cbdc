"""Certificates: authorities, policies, profiles, applications, requests, approval, subscribers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None

_WHOLE_PROFILE, _ONE_APPLICATION = sa.text("application_id IS NULL"), sa.text("application_id IS NOT NULL")


def upgrade() -> None:
    """Create the tables."""
    _create_authorities()
    _create_profiles()
    _create_certificates()
    _create_approvals()


def _create_authorities() -> None:
    op.create_table(
        "certificate_authorities",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("enable_direct_issuance", sa.Boolean(), nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("certificate_id", sa.String(length=36)),
        sa.Column("private_key", sa.LargeBinary()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_certificate_authorities_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_certificate_authorities"),
        sa.UniqueConstraint("project_id", "name", name="uq_certificate_authorities_project_id_name"),
    )
    op.create_table(
        "authority_certificates",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("authority_id", sa.String(length=36), nullable=False),
        sa.Column("parent_id", sa.String(length=36)),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("certificate", sa.Text(), nullable=False),
        sa.Column("chain", sa.Text(), nullable=False),
        sa.Column("serial_number", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("max_path_length", sa.Integer()),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_authority_certificates_authority_id_certificate_authorities",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["certificate_authorities.id"],
            name="fk_authority_certificates_parent_id_certificate_authorities",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_authority_certificates"),
        sa.UniqueConstraint("authority_id", "version", name="uq_authority_certificates_authority_id_version"),
    )
    op.create_index("ix_authority_certificates_parent_id", "authority_certificates", ["parent_id"])
    op.create_table(
        "revocation_lists",
        sa.Column("authority_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("this_update", sa.BigInteger(), nullable=False),
        sa.Column("next_update", sa.BigInteger(), nullable=False),
        sa.Column("is_stale", sa.Boolean(), nullable=False),
        sa.Column("der", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_revocation_lists_authority_id_certificate_authorities",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("authority_id", name="pk_revocation_lists"),
    )
    op.create_table(
        "acme_accounts",
        sa.Column("authority_id", sa.String(length=36), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("url", sa.Text()),
        sa.Column("eab_key_id", sa.Text()),
        sa.Column("eab_secret", sa.LargeBinary()),
        sa.Column("private_key", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_acme_accounts_authority_id_certificate_authorities",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_acme_accounts_project_id_projects", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("authority_id", name="pk_acme_accounts"),
    )
    op.create_index("ix_acme_accounts_project_id", "acme_accounts", ["project_id"])


def _create_profiles() -> None:
    op.create_table(
        "certificate_policies",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("rules", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_certificate_policies_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_certificate_policies"),
        sa.UniqueConstraint("project_id", "name", name="uq_certificate_policies_project_id_name"),
    )
    op.create_table(
        "certificate_profiles",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("policy_id", sa.String(length=36), nullable=False),
        sa.Column("authority_id", sa.String(length=36)),
        sa.Column("slug", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("issuer_type", sa.String(length=16), nullable=False),
        sa.Column("enrollment_type", sa.String(length=16), nullable=False),
        sa.Column("external_configs", sa.JSON()),
        sa.Column("defaults", sa.JSON()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_certificate_profiles_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["policy_id"],
            ["certificate_policies.id"],
            name="fk_certificate_profiles_policy_id_certificate_policies",
        ),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_certificate_profiles_authority_id_certificate_authorities",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_certificate_profiles"),
        sa.UniqueConstraint("project_id", "slug", name="uq_certificate_profiles_project_id_slug"),
    )
    op.create_index("ix_certificate_profiles_authority_id", "certificate_profiles", ["authority_id"])
    op.create_index("ix_certificate_profiles_policy_id", "certificate_profiles", ["policy_id"])
    op.create_table(
        "certificate_applications",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("description", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_certificate_applications_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_certificate_applications"),
        sa.UniqueConstraint("project_id", "name", name="uq_certificate_applications_project_id_name"),
    )
    op.create_table(
        "application_profiles",
        sa.Column("application_id", sa.String(length=36), nullable=False),
        sa.Column("profile_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["certificate_applications.id"],
            name="fk_application_profiles_application_id_certificate_applications",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["certificate_profiles.id"],
            name="fk_application_profiles_profile_id_certificate_profiles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("application_id", "profile_id", name="pk_application_profiles"),
    )
    op.create_index("ix_application_profiles_profile_id", "application_profiles", ["profile_id"])
    op.create_table(
        "enrollments",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("profile_id", sa.String(length=36), nullable=False),
        sa.Column("application_id", sa.String(length=36)),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("secret", sa.LargeBinary()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_enrollments_project_id_projects", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["certificate_profiles.id"],
            name="fk_enrollments_profile_id_certificate_profiles",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["certificate_applications.id"],
            name="fk_enrollments_application_id_certificate_applications",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_enrollments"),
    )
    op.create_index("ix_enrollments_profile_id", "enrollments", ["profile_id"])
    op.create_index("ix_enrollments_project_id", "enrollments", ["project_id"])
    op.create_index(
        "uq_enrollments_of_application",
        "enrollments",
        ["application_id", "profile_id", "kind"],
        unique=True,
        sqlite_where=_ONE_APPLICATION,
        postgresql_where=_ONE_APPLICATION,
    )
    op.create_index(
        "uq_enrollments_of_profile",
        "enrollments",
        ["profile_id", "kind"],
        unique=True,
        sqlite_where=_WHOLE_PROFILE,
        postgresql_where=_WHOLE_PROFILE,
    )


def _create_certificates() -> None:
    op.create_table(
        "pki_subscribers",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("authority_id", sa.String(length=36)),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("common_name", sa.Text(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("ttl", sa.String(length=32), nullable=False),
        sa.Column("subject_alternative_names", sa.JSON(), nullable=False),
        sa.Column("key_usages", sa.JSON(), nullable=False),
        sa.Column("extended_key_usages", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_pki_subscribers_project_id_projects", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_pki_subscribers_authority_id_certificate_authorities",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_pki_subscribers"),
        sa.UniqueConstraint("project_id", "name", name="uq_pki_subscribers_project_id_name"),
    )
    op.create_index("ix_pki_subscribers_authority_id", "pki_subscribers", ["authority_id"])
    op.create_table(
        "certificates",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("profile_id", sa.String(length=36)),
        sa.Column("application_id", sa.String(length=36)),
        sa.Column("subscriber_id", sa.String(length=36)),
        sa.Column("authority_id", sa.String(length=36)),
        sa.Column("authority_certificate_id", sa.String(length=36)),
        sa.Column("serial_number", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("public_key_fingerprint", sa.String(length=64), nullable=False),
        sa.Column("common_name", sa.Text(), nullable=False),
        sa.Column("alt_names", sa.Text(), nullable=False),
        sa.Column("friendly_name", sa.Text(), nullable=False),
        sa.Column("subject", sa.JSON(), nullable=False),
        sa.Column("key_usages", sa.JSON(), nullable=False),
        sa.Column("extended_key_usages", sa.JSON(), nullable=False),
        sa.Column("key_algorithm", sa.String(length=32), nullable=False),
        sa.Column("signature_algorithm", sa.String(length=32), nullable=False),
        sa.Column("is_ca", sa.Boolean(), nullable=False),
        sa.Column("path_length", sa.Integer()),
        sa.Column("not_before", sa.BigInteger(), nullable=False),
        sa.Column("not_after", sa.BigInteger(), nullable=False),
        sa.Column("certificate", sa.Text(), nullable=False),
        sa.Column("chain", sa.Text(), nullable=False),
        sa.Column("is_revoked", sa.Boolean(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger()),
        sa.Column("revocation_reason", sa.String(length=32)),
        sa.Column("renew_before_days", sa.Integer()),
        sa.Column("renew_at", sa.BigInteger()),
        sa.Column("renewed_from_id", sa.String(length=36)),
        sa.Column("renewed_by_id", sa.String(length=36)),
        sa.Column("private_key", sa.LargeBinary()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_certificates_project_id_projects", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["certificate_profiles.id"],
            name="fk_certificates_profile_id_certificate_profiles",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["certificate_applications.id"],
            name="fk_certificates_application_id_certificate_applications",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["subscriber_id"],
            ["pki_subscribers.id"],
            name="fk_certificates_subscriber_id_pki_subscribers",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_certificates_authority_id_certificate_authorities",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["authority_certificate_id"],
            ["authority_certificates.id"],
            name="fk_certificates_authority_certificate_id_authority_certificates",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_certificates"),
    )
    op.create_index("ix_certificates_application_id", "certificates", ["application_id"])
    op.create_index("ix_certificates_authority_certificate_id", "certificates", ["authority_certificate_id"])
    op.create_index("ix_certificates_authority_id_is_revoked", "certificates", ["authority_id", "is_revoked"])
    op.create_index("ix_certificates_fingerprint", "certificates", ["fingerprint"])
    op.create_index("ix_certificates_not_after", "certificates", ["not_after"])
    op.create_index("ix_certificates_profile_id_created_at", "certificates", ["profile_id", "created_at"])
    op.create_index("ix_certificates_project_id_created_at", "certificates", ["project_id", "created_at"])
    op.create_index("ix_certificates_public_key_fingerprint", "certificates", ["public_key_fingerprint"])
    op.create_index("ix_certificates_renew_at", "certificates", ["renew_at"])
    op.create_index("ix_certificates_serial_number", "certificates", ["serial_number"])
    op.create_index(
        "ix_certificates_subscriber_id_created_at", "certificates", ["subscriber_id", "created_at"]
    )
    op.create_table(
        "certificate_requests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("profile_id", sa.String(length=36)),
        sa.Column("application_id", sa.String(length=36)),
        sa.Column("authority_id", sa.String(length=36)),
        sa.Column("certificate_id", sa.String(length=36)),
        sa.Column("renews_id", sa.String(length=36)),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("common_name", sa.Text()),
        sa.Column("alt_names", sa.Text()),
        sa.Column("asked", sa.JSON(), nullable=False),
        sa.Column("csr", sa.Text()),
        sa.Column("remove_roots_from_chain", sa.Boolean(), nullable=False),
        sa.Column("requested_by", sa.String(length=36)),
        sa.Column("requester_name", sa.Text(), nullable=False),
        sa.Column("error_message", sa.Text()),
        sa.Column("pending_message", sa.Text()),
        sa.Column("private_key", sa.LargeBinary()),
        sa.Column("order_state", sa.JSON()),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("claimed_by", sa.String(length=36)),
        sa.Column("lease_ends_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_certificate_requests_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["certificate_profiles.id"],
            name="fk_certificate_requests_profile_id_certificate_profiles",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["application_id"],
            ["certificate_applications.id"],
            name="fk_certificate_requests_application_id_certificate_applications",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["authority_id"],
            ["certificate_authorities.id"],
            name="fk_certificate_requests_authority_id_certificate_authorities",
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["certificate_id"],
            ["certificates.id"],
            name="fk_certificate_requests_certificate_id_certificates",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_certificate_requests"),
    )
    op.create_index("ix_certificate_requests_application_id", "certificate_requests", ["application_id"])
    op.create_index("ix_certificate_requests_authority_id", "certificate_requests", ["authority_id"])
    op.create_index("ix_certificate_requests_certificate_id", "certificate_requests", ["certificate_id"])
    op.create_index("ix_certificate_requests_due_at", "certificate_requests", ["due_at"])
    op.create_index(
        "ix_certificate_requests_profile_id_created_at", "certificate_requests", ["profile_id", "created_at"]
    )
    op.create_index(
        "ix_certificate_requests_project_id_created_at", "certificate_requests", ["project_id", "created_at"]
    )
    op.create_index(
        "ix_certificate_requests_project_id_status", "certificate_requests", ["project_id", "status"]
    )
    op.create_table(
        "certificate_request_metadata",
        sa.Column("request_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["certificate_requests.id"],
            name="fk_certificate_request_metadata_request_id_certificate_requests",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("request_id", "position", name="pk_certificate_request_metadata"),
    )
    op.create_index(
        "ix_certificate_request_metadata_digest_request_id",
        "certificate_request_metadata",
        ["digest", "request_id"],
    )


def _create_approvals() -> None:
    op.create_table(
        "approval_policies",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("profile_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("required_approvals", sa.Integer(), nullable=False),
        sa.Column("approver_ids", sa.JSON(), nullable=False),
        sa.Column("bypass_identity_ids", sa.JSON(), nullable=False),
        sa.Column("allow_self_approval", sa.Boolean(), nullable=False),
        sa.Column("request_ttl", sa.Integer()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_approval_policies_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["profile_id"],
            ["certificate_profiles.id"],
            name="fk_approval_policies_profile_id_certificate_profiles",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_approval_policies"),
        sa.UniqueConstraint("profile_id", name="uq_approval_policies_profile_id"),
    )
    op.create_index("ix_approval_policies_project_id", "approval_policies", ["project_id"])
    op.create_table(
        "approval_requests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("project_id", sa.String(length=36), nullable=False),
        sa.Column("request_id", sa.String(length=36), nullable=False),
        sa.Column("policy_id", sa.String(length=36)),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("required_approvals", sa.Integer(), nullable=False),
        sa.Column("approver_ids", sa.JSON(), nullable=False),
        sa.Column("allow_self_approval", sa.Boolean(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("closed_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"],
            ["projects.id"],
            name="fk_approval_requests_project_id_projects",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["request_id"],
            ["certificate_requests.id"],
            name="fk_approval_requests_request_id_certificate_requests",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["policy_id"],
            ["approval_policies.id"],
            name="fk_approval_requests_policy_id_approval_policies",
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_approval_requests"),
        sa.UniqueConstraint("request_id", name="uq_approval_requests_request_id"),
    )
    op.create_index("ix_approval_requests_policy_id", "approval_requests", ["policy_id"])
    op.create_index(
        "ix_approval_requests_project_id_status", "approval_requests", ["project_id", "status", "created_at"]
    )
    op.create_index("ix_approval_requests_status_expires_at", "approval_requests", ["status", "expires_at"])
    op.create_table(
        "approval_votes",
        sa.Column("approval_request_id", sa.String(length=36), nullable=False),
        sa.Column("voter_id", sa.String(length=36), nullable=False),
        sa.Column("voter_name", sa.Text(), nullable=False),
        sa.Column("verdict", sa.String(length=16), nullable=False),
        sa.Column("comment", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["approval_request_id"],
            ["approval_requests.id"],
            name="fk_approval_votes_approval_request_id_approval_requests",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("approval_request_id", "voter_id", name="pk_approval_votes"),
    )


def downgrade() -> None:
    """Drop the tables."""
    for table in (
        "approval_votes",
        "approval_requests",
        "approval_policies",
        "certificate_request_metadata",
        "certificate_requests",
        "certificates",
        "pki_subscribers",
        "enrollments",
        "application_profiles",
        "certificate_applications",
        "certificate_profiles",
        "certificate_policies",
        "acme_accounts",
        "revocation_lists",
        "authority_certificates",
        "certificate_authorities",
    ):
        op.drop_table(table)
