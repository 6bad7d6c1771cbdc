"""The chain of the audit log: what is written beside its lines, so that who edits the database is found out."""
