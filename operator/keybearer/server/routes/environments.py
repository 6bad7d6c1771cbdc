"""Environments of a project, under both names of the project (wire.md section 2.10)."""

from __future__ import annotations

from operator import attrgetter

from keybearer.interface import environments
from keybearer.server.table_routes import served
from keybearer.server.writing import View
from keybearer.store.records import Environment

__all__ = ["ROUTES"]

_ENVIRONMENT = View(environments.EnvironmentDetails, Environment)
_OF_PROJECT = {name: attrgetter("project_id") for name in ("project_id", "workspace")}

ROUTES = (
    *served(
        environments.CREATE,
        _ENVIRONMENT,
        lambda context: context.environments.create,
        message="Successfully created new environment",
        **_OF_PROJECT,
    ),
    *served(environments.GET_ANYWHERE, _ENVIRONMENT, lambda context: context.environments.get_anywhere),
    *served(environments.GET_BY_SLUG, _ENVIRONMENT, lambda context: context.environments.get),
    *served(environments.GET, _ENVIRONMENT, lambda context: context.environments.get),
    *served(
        environments.UPDATE,
        _ENVIRONMENT,
        lambda context: context.environments.update,
        message="Successfully updated environment",
        **_OF_PROJECT,
    ),
    *served(
        environments.DELETE,
        _ENVIRONMENT,
        lambda context: context.environments.delete,
        message="Successfully deleted environment",
        **_OF_PROJECT,
    ),
)
