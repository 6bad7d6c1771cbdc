"""What the admin reads of routes that give no values, as far as a world has something to ask them for."""

from __future__ import annotations

from string import Formatter

from support.value_roads.principals import PROD
from support.value_roads.routes import TABLE, WALKED
from support.value_roads.world import World

__all__ = ["readable"]


def readable(world: World) -> list[tuple[str, dict[str, str]]]:
    """Return path and query of each GET that gives no values, where all parts of its path are known."""
    shop, prod = world.projects["shop"], world.environments["prod"]
    query = {
        **dict.fromkeys(("projectId", "workspaceId"), shop),
        "environment": PROD.environment,
        "path": PROD.path,
        "secretPath": PROD.path,
        "ownerId": world.service.admin.identity_id,
    }
    known = {
        "project_id": shop,
        "environment": PROD.environment,
        "path": PROD.path[1:],
        "environment_id": prod,
        "folder_id": world.ids["/pub/own"],
        "import_id": world.ids["import /pub/imports-team"],
        "identity_id": world.service.admin.identity_id,
        "organization_id": world.service.organization_id,
    }
    found = []
    for route, placing in TABLE.items():
        method, path = route.replace(":path", "").split()
        if method != "GET" or placing in WALKED or path.startswith("/api/docs"):
            continue
        slug = PROD.environment if "/environments/slug/" in path else world.slugs["shop"]
        given = {**known, "slug": slug}
        if {name for _, name, _, _ in Formatter().parse(path) if name} <= given.keys():
            found.append((path.format(**given), query))
    return found
