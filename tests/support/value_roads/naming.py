"""Roads by names and rights: what a walker renames, makes anew or gives itself, and then reads."""

from __future__ import annotations

from itertools import product

from support.value_roads.principals import PLACES, PROD, TEAM
from support.value_roads.world import OWN, Traveller

__all__ = ["environments", "folders", "new_projects", "own_rights", "rights_of_others"]

_ENVIRONMENTS = ("/api/v1/projects/{0}/environments", "/api/v1/workspace/{0}/environments")


def _read_all(traveller: Traveller, *, environment: str | None = None, path: str | None = None) -> None:
    for place in PLACES:
        folder = traveller.world.at(place)
        changed = {
            **folder,
            "environment": environment or place.environment,
            "secretPath": path or place.path,
        }
        traveller.ask("GET", "/api/v4/secrets", params=changed)


def environments(traveller: Traveller) -> None:
    """Environments that get another slug, change places, or are made under a slug that texts name."""
    world, shop = traveller.world, traveller.world.projects["shop"]
    for route in _ENVIRONMENTS:
        base = route.format(shop)
        for slug in ("prod", "dev"):
            one = f"{base}/{world.environments[slug]}"
            if traveller.ask("PATCH", one, json={"slug": f"{slug}-renamed"}) is not None:
                _read_all(traveller, environment=f"{slug}-renamed")
                world.admin.json("PATCH", one, json={"slug": slug})
        # A text names what does not exist yet; then something gets the name.
        text = f"${{later.{PROD.path[1:]}.VALUE}}"
        traveller.ask("POST", "/api/v4/secrets/LATER", json={**traveller.at(), "secretValue": text})
        prod = f"{base}/{world.environments['prod']}"
        for client in (traveller.client, world.admin):
            client.patch(prod, json={"slug": "later"})
            traveller.look()
        made = traveller.ask("POST", base, json={"name": "Prod", "slug": "prod"})
        _read_all(traveller)
        if made is not None:
            one = f"{base}/{made['environment']['id']}"
            if traveller.ask("DELETE", one) is None:
                world.admin.json("DELETE", one)
        world.admin.json("PATCH", prod, json={"slug": "prod"})
        traveller.ask("DELETE", "/api/v4/secrets/LATER", json=traveller.at())


def folders(traveller: Traveller) -> None:
    """Folders that are renamed out of a denied path, alone or with what is above them, one by one and in batches."""
    world, shop = traveller.world, traveller.world.projects["shop"]
    for version, (place, depth) in product(("v2", "v1"), ((TEAM, 1), (TEAM, 2), (PROD, 1))):
        parts = place.path[1:].split("/")[:depth]
        above, renamed = "/" + "/".join(parts[:-1]), f"elsewhere-{depth}"
        there = place.path.replace(f"/{parts[-1]}", f"/{renamed}", 1)
        admin = world.admin.json(
            "GET",
            "/api/v2/folders",
            params={"projectId": shop, "environment": place.environment, "path": above},
        )
        (folder,) = [one["id"] for one in admin["folders"] if one["name"] == parts[-1]]
        where = {"environment": place.environment, "path": above}
        batch = {"projectId": shop, "projectSlug": world.slugs["shop"]}
        for method, path, body in (
            ("PATCH", f"/api/{version}/folders/{folder}", {"projectId": shop, **where, "name": renamed}),
            (
                "PATCH",
                f"/api/{version}/folders/batch",
                {**batch, "folders": [{"id": folder, **where, "name": renamed}]},
            ),
        ):
            if traveller.ask(method, path, json=body) is None:
                continue
            traveller.look(there, place.environment)
            traveller.look("/", place.environment)
            back = {"projectId": shop, **where, "name": parts[-1]}
            world.admin.json("PATCH", f"/api/v2/folders/{folder}", json=back)


def own_rights(traveller: Traveller) -> None:
    """Grants and memberships of its own that a walker makes, widens or takes away."""
    world = traveller.world
    other = world.service.create_identity(roles={world.projects["shop"]: "no-access"})
    base = f"/api/v1/projects/{world.projects['shop']}/grants"
    given = {"identityId": other.identity_id, "actions": ["read"], "environment": "dev"}
    world.admin.json("POST", base, json=given)
    traveller.ask("POST", base, json={**given, "environment": "prod"})
    for name, project in world.projects.items():
        base = f"/api/v1/projects/{project}"
        everything = {
            "identityId": traveller.identity_id,
            "actions": ["read", "read-value"],
            "environment": "*",
        }
        traveller.ask("POST", f"{base}/grants", json=everything)
        if name == "shop":
            known = world.admin.json("GET", f"{base}/grants")["grants"]
            for grant in known:
                traveller.ask("PATCH", f"{base}/grants/{grant['id']}", json={"environment": "staging"})
                traveller.ask("DELETE", f"{base}/grants/{grant['id']}")
        for member in (
            f"{base}/memberships/identities/{traveller.identity_id}",
            f"{base.replace('v1/projects', 'v2/workspace')}/identity-memberships/{traveller.identity_id}",
        ):
            for method in ("PATCH", "POST"):
                traveller.ask(method, member, json={"roles": [{"role": "admin"}]})
        if traveller.walker.is_user:
            for one in (traveller.ask("GET", f"{base}/memberships") or {}).get("memberships", ()):
                for path in (base, base.replace("projects", "workspace")):
                    roles = {"roles": [{"role": "admin"}]}
                    traveller.ask("PATCH", f"{path}/memberships/{one['id']}", json=roles)
    traveller.ask("PATCH", f"/api/v1/identities/{traveller.identity_id}", json={"role": "admin"})
    traveller.ask("PATCH", f"/api/v1/users/{traveller.identity_id}", json={"role": "admin"})
    _read_all(traveller)


def rights_of_others(traveller: Traveller) -> None:
    """Logins of others that a walker gives itself: of an admin, and of an identity that it makes."""
    victim = traveller.world.service.create_identity(organization_role="admin")
    body = {"name": "mine", "organizationId": traveller.world.service.organization_id, "role": "admin"}
    made = traveller.ask("POST", "/api/v1/identities", json=body)
    ids = [victim.identity_id, *([] if made is None else [str(made["identity"]["id"])])]
    for identity_id in ids:
        base = f"/api/v1/auth/universal-auth/identities/{identity_id}"
        auth = traveller.ask("GET", base) or traveller.ask("POST", base, json={})
        secret = traveller.ask("POST", f"{base}/client-secrets", json={})
        if auth is None or secret is None:
            continue
        login = {
            "clientId": auth["identityUniversalAuth"]["clientId"],
            "clientSecret": secret["clientSecret"],
        }
        token = traveller.ask("POST", "/api/v1/auth/universal-auth/login", json=login)
        assert token is not None
        headers = {"authorization": f"Bearer {token['accessToken']}"}
        for place in PLACES:
            traveller.ask("GET", "/api/v4/secrets", params=traveller.world.at(place), headers=headers)


def new_projects(traveller: Traveller) -> None:
    """Projects that a walker makes: their texts lead to others, and they take slugs that others gave up."""
    world = traveller.world
    for number, (make, change) in enumerate(
        (("/api/v1/projects", "/api/v1/projects/{0}"), ("/api/v2/workspace", "/api/v1/workspace/{0}"))
    ):
        made = traveller.ask(
            "POST", make, json={"projectName": "mine", "slug": f"mine-{number}-{world.mark}"}
        )
        if made is not None:
            own = str(made["project"]["id"])
            folder = {"projectId": own, "environment": "dev", "secretPath": "/"}
            for place in PLACES:
                text = f"${{@{world.slugs[place.project]}.{place.reference}}}"
                traveller.ask(
                    "POST", f"/api/v4/secrets/TO_{place.name}", json={**folder, "secretValue": text}
                )
            traveller.ask("GET", "/api/v4/secrets", params=folder)
            for place in PLACES:
                traveller.ask("DELETE", f"/api/v4/secrets/TO_{place.name}", json=folder)
        # The office gives its slug up; references to it stay.
        for client in (traveller.client, world.admin):
            client.patch(
                change.format(world.projects["office"]), json={"slug": f"given-up-{number}-{world.mark}"}
            )
        taken = traveller.ask("POST", make, json={"projectName": "taken", "slug": world.slugs["office"]})
        traveller.look("/pub/refs-office")
        traveller.look(OWN)
        if taken is not None:
            traveller.ask("DELETE", change.format(taken["project"]["id"]))
        world.admin.json(
            "PATCH", change.format(world.projects["office"]), json={"slug": world.slugs["office"]}
        )
