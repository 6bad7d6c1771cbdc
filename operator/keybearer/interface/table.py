"""All routes that the interface's modules say; the others are still those of `keybearer.server.routes` alone."""

from __future__ import annotations

from typing import Any

from keybearer.interface import environments, grants, imports, tags
from keybearer.interface.route import Route

__all__ = ["TABLE"]

TABLE: tuple[Route[..., Any, Any], ...] = (
    *environments.ROUTES,
    *grants.ROUTES,
    *imports.ROUTES,
    *tags.ROUTES,
)
