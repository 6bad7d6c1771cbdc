"""`client.audit_logs`."""

from __future__ import annotations

from keybearer.client.operations import audit_logs
from keybearer.client.resources import Resource, Shell, call

__all__ = ["AuditLogsApi"]


class AuditLogsApi(Resource[Shell]):
    """`client.audit_logs`."""

    list = call(audit_logs.ListAuditLogs)
