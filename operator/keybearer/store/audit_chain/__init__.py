"""The chains of the audit log: MACs over its lines, which show whether somebody edited the log in the database."""
