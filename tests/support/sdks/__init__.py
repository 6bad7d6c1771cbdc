"""The published clients, unmodified, as processes that tests speak to."""
