"""Certificates are held to more by their policies: what present ones show that a policy relied on stays allowed."""

from __future__ import annotations

import time
from collections import defaultdict
from datetime import timedelta

import sqlalchemy as sa
from alembic import op

from keybearer.base.certificate_terms import NameType
from keybearer.base.logs import get_logger
from keybearer.store.migrations.bounds_of_policies import Seen, bounded

__all__ = ["branch_labels", "depends_on", "down_revision", "downgrade", "revision", "upgrade"]

revision = "0021"
down_revision: str | None = "0020"
branch_labels: str | None = None
depends_on: str | None = None

_log = get_logger(__name__)
_POLICIES = sa.table(
    "certificate_policies", *map(sa.column, ("id", "project_id", "name")), sa.column("rules", sa.JSON())
)


def upgrade() -> None:
    """Write what policies rely on into their rules, and log what of them is closed."""
    connection = op.get_bind()
    seen = _seen(connection)
    for policy_id, project_id, name, rules in connection.execute(
        sa.select(_POLICIES.c.id, _POLICIES.c.project_id, _POLICIES.c.name, _POLICIES.c.rules).order_by(
            _POLICIES.c.project_id, _POLICIES.c.name
        )
    ).all():
        result = bounded(rules, seen[policy_id])
        if result.keeps:
            connection.execute(
                sa.update(_POLICIES).where(_POLICIES.c.id == policy_id).values(rules=result.rules)
            )
            _log.warning(
                "certificate_policy_keeps",
                policy_id=policy_id,
                project_id=project_id,
                name=name,
                keeps=result.keeps,
            )
        if result.closes:
            _log.warning(
                "certificate_policy_closes",
                policy_id=policy_id,
                project_id=project_id,
                name=name,
                closes=result.closes,
            )


def _seen(connection: sa.Connection) -> defaultdict[str, Seen]:
    """Return what present certificates, and defaults of profiles, hold by the policy of their profile."""
    found: defaultdict[str, Seen] = defaultdict(Seen)
    profiles = sa.table(
        "certificate_profiles",
        *map(sa.column, ("id", "policy_id", "authority_id")),
        sa.column("defaults", sa.JSON()),
    )
    for policy_id, defaults in connection.execute(sa.select(profiles.c.policy_id, profiles.c.defaults)):
        _note_defaults(found[policy_id], defaults or {})
    certificates = sa.table(
        "certificates",
        *map(
            sa.column,
            ("profile_id", "common_name", "alt_names", "not_before", "not_after", "created_at"),
        ),
        sa.column("extended_key_usages", sa.JSON()),
        sa.column("is_revoked", sa.Boolean()),
    )
    authorities = sa.table("certificate_authorities", *map(sa.column, ("id", "kind")))
    now = int(time.time() * 1000)
    for policy_id, kind, common_name, alt_names, usages, begins, created in connection.execute(
        sa.select(
            profiles.c.policy_id,
            authorities.c.kind,
            certificates.c.common_name,
            certificates.c.alt_names,
            certificates.c.extended_key_usages,
            certificates.c.not_before,
            certificates.c.created_at,
        )
        .select_from(certificates)
        .join(profiles, profiles.c.id == certificates.c.profile_id)
        .outerjoin(authorities, authorities.c.id == profiles.c.authority_id)
        .where(sa.not_(certificates.c.is_revoked), certificates.c.not_after > now)
    ):
        one = found[policy_id]
        if common_name:
            one.common_names.add(common_name)
        one.note_names(name for name in alt_names.split(",") if name)
        one.note_usages(usages)
        if kind in (None, "internal"):  # when others begin, authorities elsewhere decide
            ahead = timedelta(milliseconds=begins - created)
            one.ahead, one.back = max(one.ahead, ahead), max(one.back, -ahead)
    return found


def _note_defaults(seen: Seen, defaults: dict[str, object]) -> None:
    common_name, names = defaults.get("commonName"), defaults.get("subjectAltNames")
    usages = defaults.get("extendedKeyUsages")
    if isinstance(common_name, str):
        seen.common_names.add(common_name)
    for name in names if isinstance(names, list) else ():
        kind = NameType(name.get("type") or NameType.DNS_NAME)
        seen.names.setdefault(kind, set()).add(name["value"])
    seen.note_usages(usages if isinstance(usages, list) else ())


def downgrade() -> None:
    """Take away what earlier versions can't read; patterns mean there what they meant."""
    connection = op.get_bind()
    for policy_id, rules in connection.execute(sa.select(_POLICIES.c.id, _POLICIES.c.rules)).all():
        validity = {
            name: value
            for name, value in (rules.get("validity") or {}).items()
            if name not in ("maxBackdate", "maxPostdate")
        }
        left = {name: rule for name, rule in rules.items() if name != "wildcards"}
        if "validity" in left:
            left["validity"] = validity
        if left != rules:
            connection.execute(sa.update(_POLICIES).where(_POLICIES.c.id == policy_id).values(rules=left))
