"""Run by Alembic: migrates on the connection that `keybearer.store.migrate` gives."""

from __future__ import annotations

from alembic import context
from sqlalchemy import Connection

from keybearer.store.tables.schema import schema

__all__: list[str] = []


def _run(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        # Replicas that start together migrate one after the other; released at the end of the transaction.
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7217358041)")
    # SQLite can't alter most of a table in place: batch mode copies it.
    context.configure(
        connection=connection, target_metadata=schema(), render_as_batch=True, transactional_ddl=True
    )
    with context.begin_transaction():
        context.run_migrations()


_run(context.config.attributes["connection"])
