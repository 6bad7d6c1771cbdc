"""Pure X.509: no network, no files, no clock of its own."""
