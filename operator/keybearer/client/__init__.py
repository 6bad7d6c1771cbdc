"""Typed client of the service interface, async and sync."""
