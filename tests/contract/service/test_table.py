"""What holds for each route of the table (`keybearer.interface.table`), asked of the service itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from keybearer.interface import environments, grants, imports, tags
from keybearer.interface.route import Route, path_fields
from keybearer.interface.shapes import strict, wire_names
from keybearer.interface.table import TABLE
from support.rows import each_row
from support.service_fixtures import Client, Project, Service

_SERIAL = itertools.count()
AUDIT = "/api/v1/organization/audit-logs"


@dataclass
class House:
    """A project, and what requests of it name."""

    admin: Client
    project: Project
    identity_id: str

    def fresh(self) -> str:
        return f"n{next(_SERIAL)}"

    def tag(self) -> dict[str, str]:
        path = tags.CREATE.canonical.format(project_id=self.project.id)
        tag: dict[str, str] = self.admin.json("POST", path, json={"slug": self.fresh()})["tag"]
        return tag

    @property
    def folder(self) -> dict[str, str]:
        return {"project_id": self.project.id, "environment": "dev"}

    def imported(self) -> dict[str, str]:
        """Return what names an import of a new folder."""
        source = {"environment": "prod", "path": f"/{self.fresh()}"}
        body = {"projectId": self.project.id, "environment": "dev", "import": source}
        made: dict[str, str] = self.admin.json("POST", imports.CREATE.canonical, json=body)["secretImport"]
        return {**self.folder, "import_id": made["id"]}

    def grant(self) -> dict[str, str]:
        """Return what names a grant of the identity."""
        path = grants.CREATE.canonical.format(project_id=self.project.id)
        body = {"identityId": self.identity_id, "actions": ["read"], "environment": "dev"}
        return {"grant_id": self.admin.json("POST", path, json=body)["grant"]["id"]}

    def lines(self) -> int:
        params = {"projectId": self.project.id, "limit": "1000"}
        return len(self.admin.json("GET", AUDIT, params=params)["auditLogs"])

    def environment(self) -> dict[str, str]:
        path = environments.CREATE.canonical.format(project_id=self.project.id)
        body = {"slug": self.fresh(), "name": "N"}
        environment: dict[str, str] = self.admin.json("POST", path, json=body)["environment"]
        return environment


EXAMPLES: dict[str, Callable[[House], dict[str, Any]]] = {
    "CreateEnvironment": lambda house: {"slug": house.fresh(), "name": "N"},
    "GetEnvironmentAnywhere": lambda house: {"environment_id": house.environment()["id"]},
    "GetEnvironmentBySlug": lambda house: {"slug": house.environment()["slug"]},
    "GetEnvironment": lambda house: {"environment_id": house.environment()["id"]},
    "UpdateEnvironment": lambda house: {"environment_id": house.environment()["id"], "name": "M"},
    "DeleteEnvironment": lambda house: {"environment_id": house.environment()["id"]},
    "CreateGrant": lambda house: {
        "identity_id": house.identity_id,
        "actions": ["read"],
        "environment": "dev",
    },
    "ListGrants": lambda house: {"identity_id": house.identity_id},
    "GetGrant": lambda house: house.grant(),
    "UpdateGrant": lambda house: {**house.grant(), "actions": ["edit"], "environment": "*"},
    "DeleteGrant": lambda house: house.grant(),
    "ListImports": lambda house: house.folder,
    "CreateImport": lambda house: {
        **house.folder,
        "import": {"environment": "prod", "path": f"/{house.fresh()}"},
    },
    "GetImport": lambda house: {"import_id": house.imported()["import_id"]},
    "UpdateImport": lambda house: {**house.imported(), "import": {"position": 1}},
    "DeleteImport": lambda house: house.imported(),
    "CreateTag": lambda house: {"slug": house.fresh(), "color": "#f00"},
    "ListTags": lambda _: {},
    "GetTag": lambda house: {"tag_id": house.tag()["id"]},
    "GetTagBySlug": lambda house: {"slug": house.tag()["slug"]},
    "UpdateTag": lambda house: {"tag_id": house.tag()["id"], "name": "New"},
    "DeleteTag": lambda house: {"tag_id": house.tag()["id"]},
}
"""Of each command, fields or parts that make a good request; a project in the path is given."""


@each_row("route", TABLE, ids=lambda route: route.name)
def test_each_path_answers_its_shape_and_each_change_leaves_one_line(
    route: Route[..., Any, Any], service: Service, admin: Client, project: Project
) -> None:
    member = service.create_identity(roles={project.id: "viewer"})
    house = House(admin, project, member.identity_id)
    names = wire_names(route.command)
    for path in route.served():
        given = EXAMPLES[route.name](house)
        named = {"project_id": project.id, **given}
        rest = {names.get(name, name): one for name, one in given.items() if name not in path_fields(route)}
        options: dict[str, Any] = {"params" if route.method == "GET" else "json": rest or None}
        before = house.lines()
        answer = admin.json(route.method, path.path.format_map(named), **options)
        read = strict(path.answer).model_validate(answer)
        assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == answer
        assert house.lines() - before == (route.method != "GET"), path.path
