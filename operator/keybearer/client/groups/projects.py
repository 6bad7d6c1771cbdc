"""`client.projects`."""

from __future__ import annotations

from keybearer.client.operations import projects
from keybearer.client.resources import Resource, Shell, call

__all__ = ["ProjectsApi"]


class ProjectsApi(Resource[Shell]):
    """`client.projects`."""

    list = call(projects.ListProjects)
    get = call(projects.GetProject)
    get_by_slug = call(projects.GetProjectBySlug)
    create = call(projects.CreateProject)
    update = call(projects.UpdateProject)
    delete = call(projects.DeleteProject)
