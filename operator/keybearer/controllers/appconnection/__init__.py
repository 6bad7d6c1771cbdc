"""The kind AppConnection: how the secrets service proves itself to another store."""
