"""Roads of reading: each route that shows values, asked for each place and each folder that leads to one."""

from __future__ import annotations

from itertools import product

from support.value_roads.principals import PLACES, Place
from support.value_roads.world import BRIDGES, Traveller
from tools.local.plain_http import plain_client
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["by_id", "by_name", "event_streams", "lists", "reference_trees", "versions"]

_FLAGS = ("true", "false")
_LISTS = ("/api/v4/secrets", "/api/v3/secrets/raw")


def _folders(traveller: Traveller) -> list[tuple[str, dict[str, str]]]:
    """Return the key that each place and bridge has, and how the folder is named."""
    places = [("VALUE", traveller.world.at(place)) for place in PLACES]
    keys = {path: "VALUE" if "imports" in path or "chained" in path else "LEADS" for path in BRIDGES}
    return [*places, *((key, traveller.at(path)) for path, key in keys.items())]


def lists(traveller: Traveller) -> None:
    """Lists of both versions, with and without imports and references, of folders and of whole environments."""
    for route, (_, folder) in product(_LISTS, _folders(traveller)):
        traveller.ask("GET", route, params=folder)
        traveller.ask("GET", route, params={**folder, "expandSecretReferences": "false"})
        traveller.ask("GET", route, params={**folder, "includeImports": "true", "viewSecretValue": "true"})
    roots = {(place.project, place.environment) for place in PLACES}
    for route, (project, environment) in product(_LISTS, sorted(roots)):
        root = traveller.world.at(Place("", project, environment, "/"))
        for imports in _FLAGS:
            traveller.ask("GET", route, params={**root, "recursive": "true", "includeImports": imports})
    # What an admin's list is answered with has a tag that gives others nothing.
    for route, place in product(_LISTS, PLACES):
        admin = traveller.world.client_of(place.project)
        tag = admin.get(route, params=traveller.world.at(place)).headers["etag"]
        traveller.ask("GET", route, params=traveller.world.at(place), headers={"if-none-match": tag})


def by_name(traveller: Traveller) -> None:
    """Single secrets of both versions: as they are, expanded, through imports, and as they were."""
    for route, (key, folder) in product(_LISTS, _folders(traveller)):
        for more in ({}, {"expandSecretReferences": "false"}, {"version": "1"}, {"includeImports": "true"}):
            traveller.ask("GET", f"{route}/{key}", params={**folder, **more})


def by_id(traveller: Traveller) -> None:
    """Secrets by their ids, which a walker may have kept from better days."""
    for route, place in product(_LISTS, PLACES):
        traveller.ask("GET", f"{route}/id/{traveller.world.ids[place.name]}")


def versions(traveller: Traveller) -> None:
    """Former and present values by the id."""
    for place in PLACES:
        traveller.ask("GET", f"/api/v1/secret/{traveller.world.ids[place.name]}/secret-versions")


def reference_trees(traveller: Traveller) -> None:
    """What a value is made of."""
    for key, folder in _folders(traveller):
        traveller.ask("GET", f"/api/v4/secrets/{key}/secret-reference-tree", params=folder)


def event_streams(traveller: Traveller) -> None:
    """Events of places, and of folders that lead there, while values change; they tell of places alone."""
    world = traveller.world
    for place in PLACES:
        bridges = [path for path, leads_to in BRIDGES.items() if leads_to is place]
        folders = [(place.environment, place.path), *(("dev", path) for path in bridges)]
        for environment, path in folders:
            body: dict[str, object] = {
                "projectId": world.projects[place.project if (environment, path) == folders[0] else "shop"],
                "register": [
                    {"event": event, "conditions": {"environmentSlug": environment, "secretPath": path}}
                    for event in ("secret:update", "secret:import-mutation")
                ],
            }
            _listen(traveller, place, body)


def _listen(traveller: Traveller, place: Place, body: dict[str, object]) -> None:
    """Note the frames of a stream up to the one that tells of a change, if the walker may listen at all."""
    headers = {"authorization": f"Bearer {traveller.token}", "accept": "text/event-stream"}
    route = "/api/v1/events/subscribe/project-events"
    with (
        plain_client(traveller.world.service.url, headers, PATIENCE_SECONDS) as client,
        client.stream("POST", route, json=body) as answer,
    ):
        if answer.status_code != 200:
            answer.read()
            traveller.saw(f"POST {route}", answer.text, answer.status_code)
            return
        lines: list[str] = []
        for line in answer.iter_lines():
            lines.append(line)
            if line == "event: ping":
                traveller.world.change(
                    place, "VALUE", traveller.world.value_of(place, f"streamed{len(lines)}")
                )
            if line.startswith("data: ") and "secretPath" in line:
                break
        traveller.saw(f"POST {route}", "\n".join(lines))
