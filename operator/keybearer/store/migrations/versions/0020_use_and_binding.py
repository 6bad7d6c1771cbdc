"""Who may use app connections, and who may bind profiles to certificate policies."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from uuid import uuid4

import sqlalchemy as sa
from alembic import op

from keybearer.base.logs import get_logger

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0020"
down_revision: str | None = "0018"
branch_labels: str | None = None
depends_on: str | None = None

_log = get_logger(__name__)
_CONNECTING = frozenset({"admin", "member"})
"""Roles in a project that may use connections."""


def upgrade() -> None:
    """Keep connections for the projects that use them now, and policies for the profiles that have them."""
    for column in ("allowed_project_ids", "allowed_places"):
        op.add_column("app_connections", sa.Column(column, sa.JSON()))
    op.add_column(
        "certificate_policies",
        sa.Column("profiles_bound_by", sa.String(length=16), nullable=False, server_default="admins"),
    )
    op.add_column("certificate_authorities", sa.Column("policy_id", sa.String(length=36)))
    op.create_index("ix_certificate_authorities_policy_id", "certificate_authorities", ["policy_id"])
    connection = op.get_bind()
    _limit_connections(connection)
    _let_owners_connect(connection)
    _tell_of_policies(connection)


def _limit_connections(connection: sa.Connection) -> None:
    """Let connections of organizations be used where they are used now; those of projects stay as they are."""
    connections = sa.table(
        "app_connections",
        *map(sa.column, ("id", "name", "organization_id", "project_id")),
        sa.column("allowed_project_ids", sa.JSON()),
    )
    syncs = sa.table("secret_syncs", *map(sa.column, ("id", "project_id", "connection_id")))
    places = sa.table("sync_former_places", *map(sa.column, ("sync_id", "connection_id")))
    users: dict[str, set[str]] = defaultdict(set)
    now = sa.select(syncs.c.connection_id, syncs.c.project_id)
    before = sa.select(places.c.connection_id, syncs.c.project_id).join(syncs, syncs.c.id == places.c.sync_id)
    for statement in (now, before):
        for connection_id, project_id in connection.execute(statement):
            users[connection_id].add(project_id)
    shared = sa.select(connections.c.id, connections.c.name).where(connections.c.project_id.is_(None))
    for connection_id, name in connection.execute(shared.order_by(connections.c.name)).all():
        project_ids = sorted(users[connection_id])
        if not project_ids:
            # It says nothing yet: only admins of the organization use it.
            _log.warning("app_connection_is_for_admins_now", connection_id=connection_id, name=name)
            continue
        connection.execute(
            sa.update(connections)
            .where(connections.c.id == connection_id)
            .values(allowed_project_ids=project_ids)
        )
        _log.warning(
            "app_connection_is_for_its_projects_now",
            connection_id=connection_id,
            name=name,
            project_ids=project_ids,
        )


def _let_owners_connect(connection: sa.Connection) -> None:
    """Grant the right to who owns syncs and has it by no role, so that these go on."""
    grants = sa.table(
        "project_grants",
        *map(sa.column, ("id", "project_id", "identity_id", "effect", "environment", "secret_path")),
        sa.column("subjects", sa.JSON()),
        sa.column("actions", sa.JSON()),
        *map(sa.column, ("created_at", "updated_at")),
    )
    now = int(datetime.now(UTC).timestamp() * 1000)
    for project_id, identity_id in _owners_without_the_right(connection):
        connection.execute(
            sa.insert(grants).values(
                id=str(uuid4()),
                project_id=project_id,
                identity_id=identity_id,
                effect="allow",
                subjects=["app-connections"],
                actions=["connect"],
                environment="*",
                secret_path="/**",
                created_at=now,
                updated_at=now,
            )
        )
        _log.warning("owner_of_syncs_may_connect_by_a_grant", project_id=project_id, identity_id=identity_id)
    denials = sa.select(grants.c.project_id, grants.c.identity_id, grants.c.subjects, grants.c.actions)
    denied = {
        (project_id, identity_id)
        for project_id, identity_id, subjects, actions in connection.execute(
            denials.where(grants.c.effect == "deny")
        )
        if "app-connections" in subjects and "read" in actions
    }
    for project_id, identity_id, role, _ in _owners(connection):
        if role != "admin" and (project_id, identity_id) in denied:
            # Who may not read a connection does not use it any more, either.
            _log.warning("syncs_of_owner_stop", project_id=project_id, identity_id=identity_id)


def _owners_without_the_right(connection: sa.Connection) -> list[tuple[str, str]]:
    return [
        (project_id, identity_id)
        for project_id, identity_id, role, roles in _owners(connection)
        if role != "admin" and roles is not None and _CONNECTING.isdisjoint(roles)
    ]


def _owners(connection: sa.Connection) -> Iterator[tuple[str, str, str, list[str] | None]]:
    """Yield owners of syncs by project, with their role in the organization and those in the project."""
    syncs = sa.table("secret_syncs", *map(sa.column, ("project_id", "owner_id")))
    identities = sa.table("identities", *map(sa.column, ("id", "role")))
    members = sa.table(
        "project_memberships", *map(sa.column, ("project_id", "identity_id")), sa.column("roles", sa.JSON())
    )
    roles: Mapping[tuple[str, str], list[str]] = {
        (project_id, identity_id): given if isinstance(given, list) else json.loads(given)
        for project_id, identity_id, given in connection.execute(
            sa.select(members.c.project_id, members.c.identity_id, members.c.roles)
        )
    }
    owners = (
        sa.select(syncs.c.project_id, syncs.c.owner_id, identities.c.role)
        .join(identities, identities.c.id == syncs.c.owner_id)
        .distinct()
        .order_by(syncs.c.project_id, syncs.c.owner_id)
    )
    for project_id, identity_id, role in connection.execute(owners).all():
        yield project_id, identity_id, role, roles.get((project_id, identity_id))


def _tell_of_policies(connection: sa.Connection) -> None:
    """Say once per project that its members make no more profiles of the policies that are there."""
    policies = sa.table("certificate_policies", *map(sa.column, ("id", "project_id")))
    counted = (
        sa.select(policies.c.project_id, sa.func.count())
        .group_by(policies.c.project_id)
        .order_by(policies.c.project_id)
    )
    for project_id, count in connection.execute(counted):
        _log.warning("certificate_policies_are_for_admins_now", project_id=project_id, policies=count)


def downgrade() -> None:
    """Drop it; the grants of the new action, which earlier versions don't know, go as well."""
    op.drop_index("ix_certificate_authorities_policy_id", "certificate_authorities")
    op.drop_column("certificate_authorities", "policy_id")
    op.drop_column("certificate_policies", "profiles_bound_by")
    for column in ("allowed_project_ids", "allowed_places"):
        op.drop_column("app_connections", column)
    grants = sa.table("project_grants", sa.column("id"), sa.column("actions", sa.JSON()))
    connection = op.get_bind()
    for grant_id, actions in connection.execute(sa.select(grants.c.id, grants.c.actions)).all():
        known = [one for one in actions if one != "connect"]
        if len(known) == len(actions):
            continue
        one = grants.c.id == grant_id
        connection.execute(
            sa.update(grants).where(one).values(actions=known) if known else sa.delete(grants).where(one)
        )
