"""Grants for parts of a project, and the audit log: an addition of Keybearer, and the published service's list."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

from keybearer.client.actors import AuditLog, Grant
from keybearer.client.decoding import decode
from keybearer.client.lenient import from_wire
from keybearer.client.messages import Request, Response, fill, instant_text, json_body, query_of
from keybearer.client.operation import Operation, Repeat
from keybearer.wire import grants as wire
from keybearer.wire.grants import GrantAction, GrantEffect, GrantSubject

__all__ = ["CreateGrant", "DeleteGrant", "GetGrant", "ListAuditLogs", "ListGrants", "UpdateGrant"]

_ALL = "/api/v1/projects/{}/grants"
_ONE = f"{_ALL}/{{}}"


@from_wire
@dataclass(frozen=True, slots=True)
class _AuditLogsAnswer:
    """`{auditLogs}`."""

    audit_logs: tuple[AuditLog, ...]


@from_wire
@dataclass(frozen=True, slots=True)
class _GrantAnswer:
    """`{grant}`."""

    grant: Grant


@from_wire
@dataclass(frozen=True, slots=True)
class _GrantsAnswer:
    """`{grants}`."""

    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class ListGrants(Operation[list[Grant]]):
    """List the grants of a project, of one member only if it is named."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str = field(kw_only=True)
    identity_id: str | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ALL, self.project_id), query=query_of({"identityId": self.identity_id}))

    def read(self, response: Response) -> list[Grant]:
        """Return the grants, oldest first."""
        return list(decode(response, _GrantsAnswer).grants)


@dataclass(frozen=True, slots=True, kw_only=True)
class _InProject(Operation[Grant]):
    project_id: str

    def read(self, response: Response) -> Grant:
        """Return the grant."""
        return decode(response, _GrantAnswer).grant


@dataclass(frozen=True, slots=True)
class GetGrant(_InProject):
    """Return a grant by its id; `NotFound` where there is none."""

    repeat: ClassVar[Repeat] = Repeat.FREELY

    grant_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("GET", fill(_ONE, self.project_id, self.grant_id))


@dataclass(frozen=True, slots=True)
class CreateGrant(_InProject):
    """Let a member of a project do something in a part of it, or forbid it, and return the grant.

    Attributes:
        identity_id: of a machine identity or a user who is in the project.
        actions: of `read`, `read-value`, `create`, `edit`, `delete`, `connect`.
        environment: a slug, or `*` for all.
        secret_path: a pattern; `*` is within a name, `**` any depth.
        effect: `allow` or `deny`; a deny wins.
        subjects: what it is about; secrets by default.
    """

    identity_id: str
    actions: tuple[GrantAction, ...] = field(kw_only=True)
    environment: str = field(kw_only=True)
    secret_path: str = field(default="/**", kw_only=True)
    effect: GrantEffect = field(default="allow", kw_only=True)
    subjects: tuple[GrantSubject, ...] = field(default=("secrets",), kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.CreateGrant(
                identity_id=self.identity_id,
                effect=self.effect,
                subjects=list(self.subjects),
                actions=list(self.actions),
                environment=self.environment,
                secret_path=self.secret_path,
            )
        )
        return Request("POST", fill(_ALL, self.project_id), body=body)


@dataclass(frozen=True, slots=True)
class UpdateGrant(_InProject):
    """Change a grant, and return it; what isn't given stays."""

    grant_id: str
    actions: tuple[GrantAction, ...] | None = field(default=None, kw_only=True)
    environment: str | None = field(default=None, kw_only=True)
    secret_path: str | None = field(default=None, kw_only=True)
    effect: GrantEffect | None = field(default=None, kw_only=True)
    subjects: tuple[GrantSubject, ...] | None = field(default=None, kw_only=True)

    def request(self) -> Request:
        """Return what to send."""
        body = json_body(
            lambda: wire.UpdateGrant(
                effect=self.effect,
                subjects=None if self.subjects is None else list(self.subjects),
                actions=None if self.actions is None else list(self.actions),
                environment=self.environment,
                secret_path=self.secret_path,
            )
        )
        return Request("PATCH", fill(_ONE, self.project_id, self.grant_id), body=body)


@dataclass(frozen=True, slots=True)
class DeleteGrant(_InProject):
    """Take a grant away, and return what it was."""

    grant_id: str

    def request(self) -> Request:
        """Return what to send."""
        return Request("DELETE", fill(_ONE, self.project_id, self.grant_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAuditLogs(Operation[list[AuditLog]]):
    """List what was done in the organization, the latest first.

    Attributes:
        project_id: of this project only.
        event_types: of these kinds only, such as `create-secret`.
        actor: the id of who did it.
        start, end: instants with a zone, inclusive.
        limit: 1 to 1000.
    """

    repeat: ClassVar[Repeat] = Repeat.FREELY

    project_id: str | None = None
    event_types: tuple[str, ...] = ()
    actor: str | None = None
    actor_type: Literal["identity", "user", "unknown"] | None = None
    start: datetime | None = None
    end: datetime | None = None
    offset: int = 0
    limit: int = 20

    def request(self) -> Request:
        """Return what to send."""
        query = query_of(
            {
                "projectId": self.project_id,
                "eventType": self.event_types,
                "actor": self.actor,
                "actorType": self.actor_type,
                "startDate": instant_text("start", self.start),
                "endDate": instant_text("end", self.end),
                "offset": self.offset,
                "limit": self.limit,
            }
        )
        return Request("GET", "/api/v1/organization/audit-logs", query=query)

    def read(self, response: Response) -> list[AuditLog]:
        """Return the lines in the service's order."""
        return list(decode(response, _AuditLogsAnswer).audit_logs)
