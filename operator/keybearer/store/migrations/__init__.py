"""Alembic's scripts: `versions` holds one module for each step."""
