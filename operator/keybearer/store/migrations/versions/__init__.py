"""Migrations, oldest first by their number."""
