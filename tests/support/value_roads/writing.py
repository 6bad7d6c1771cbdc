"""Roads of writing: what a walker writes, imports, moves, renames or deletes so that a value is shown to it."""

from __future__ import annotations

from itertools import product

from support.pki_house import PKI, Pki
from support.value_roads.principals import PLACES, PROD, TEAM
from support.value_roads.world import BRIDGES, OWN, Traveller

__all__ = [
    "batches",
    "deletions",
    "imports",
    "moves",
    "other_texts",
    "own_references",
    "renamed_secrets",
    "texts",
]

_SINGLE = ("/api/v4/secrets", "/api/v3/secrets/raw")
_BATCH = ("/api/v4/secrets/batch", "/api/v3/secrets/batch/raw")
_IMPORTS = ("/api/v2/secret-imports", "/api/v1/secret-imports")


def texts(traveller: Traveller) -> dict[str, str]:
    """Return texts that lead to places if somebody follows them: plain, from other projects, built, half begun."""
    slugs = traveller.world.slugs
    found = {
        f"TO_{place.name.upper()}": f"${{@{slugs[place.project]}.{place.reference}}}" for place in PLACES
    }
    for place in (TEAM, PROD):
        name = place.name.upper()
        found[f"WITHIN_{name}"] = f"<${{{place.reference}}}>"
        found[f"BUILT_{name}"] = f"${{{place.environment}.${{PART}}{place.path.replace('/', '.')}.VALUE}}"
        found[f"HALF_{name}"] = f"${{DOLLAR}}{{{place.reference}}}"
        found[f"BEGUN_{name}"] = f"${{BEGIN}}{place.reference}}}"
        found[f"WHOLE_{name}"] = f"${{{place.environment}${{DOT}}{place.reference.partition('.')[2]}}}"
    found |= {
        f"BY_BRIDGE_{number}": f"${{dev.{path[1:].replace('/', '.')}.LEADS}}"
        for number, path in enumerate(BRIDGES)
    }
    return {**found, "PART": "", "DOLLAR": "ends with $", "BEGIN": "${", "DOT": "."}


def own_references(traveller: Traveller) -> None:
    """Texts with references, written one by one, new or in place of another, and read where they are."""
    for route, is_change in zip(_SINGLE, (True, False), strict=True):
        for key, text in texts(traveller).items():
            body = traveller.at()
            if is_change:
                traveller.ask("POST", f"{route}/{key}", json={**body, "secretValue": "plain"})
            method = "PATCH" if is_change else "POST"
            traveller.ask(method, f"{route}/{key}", json={**body, "secretValue": text})
            traveller.ask("GET", f"{route}/{key}", params=body)
        traveller.look()
        for key in texts(traveller):
            traveller.ask("DELETE", f"{route}/{key}", json=traveller.at())


def batches(traveller: Traveller) -> None:
    """The same by batches, one text each: one that is refused keeps no other from being tried."""
    for route in _BATCH:
        written: list[dict[str, str]] = []
        for key, text in texts(traveller).items():
            one = {"secretKey": key, "secretValue": text}
            method, mode = ("PATCH", {"mode": "upsert"}) if len(written) % 2 else ("POST", {})
            if traveller.ask(method, route, json={**traveller.at(), **mode, "secrets": [one]}) is not None:
                written.append({"secretKey": key})
        traveller.look()
        traveller.ask("DELETE", route, json={**traveller.at(), "secrets": written or [{"secretKey": "NONE"}]})
    for route, place in product(_BATCH, PLACES):
        # What is changed of these is not their value, which the answer has.
        key, _ = traveller.world.spare(place)
        changed = [{"secretKey": key, "secretComment": "seen"}]
        traveller.ask("PATCH", route, json={**traveller.world.at(place), "secrets": changed})
        traveller.ask("DELETE", route, json={**traveller.world.at(place), "secrets": [{"secretKey": key}]})


def imports(traveller: Traveller) -> None:
    """Imports that a walker makes or redirects, of places and of folders that lead there."""
    sources = [(TEAM.environment, TEAM.path), (PROD.environment, PROD.path), ("prod", "/"), ("dev", "/team")]
    sources += [("dev", path) for path in BRIDGES]
    for route, (environment, path) in product(_IMPORTS, sources):
        folder = {"projectId": traveller.world.projects["shop"], "environment": "dev", "path": OWN}
        source = {"environment": environment, "path": path}
        made = traveller.ask("POST", route, json={**folder, "import": source})
        harmless = {"environment": "dev", "path": "/pub/parts"}
        redirected = traveller.ask("POST", route, json={**folder, "import": harmless})
        for one, redirection in ((made, None), (redirected, source)):
            if one is None:
                continue
            by_id = f"{route}/{one['secretImport']['id']}"
            if redirection is not None:
                traveller.ask("PATCH", by_id, json={**folder, "import": redirection})
            traveller.look()
            traveller.ask("GET", "/api/v4/secrets/VALUE", params={**traveller.at(), "includeImports": "true"})
            traveller.ask("DELETE", by_id, json=folder)
    # An import that is there may be led elsewhere.
    folder = {
        "projectId": traveller.world.projects["shop"],
        "environment": "dev",
        "path": "/pub/imports-team",
    }
    redirection = {"environment": PROD.environment, "path": PROD.path}
    path = f"{_IMPORTS[0]}/{traveller.world.ids['import /pub/imports-team']}"
    if traveller.ask("PATCH", path, json={**folder, "import": redirection}) is not None:
        traveller.look("/pub/imports-team")
        back = {"environment": TEAM.environment, "path": TEAM.path}
        traveller.world.admin.json("PATCH", path, json={**folder, "import": back})


def renamed_secrets(traveller: Traveller) -> None:
    """Changes of a secret that leave its value: the answer has it."""
    for route, place in product(_SINGLE, PLACES):
        key, _ = traveller.world.spare(place)
        folder = traveller.world.at(place)
        traveller.ask("PATCH", f"{route}/{key}", json={**folder, "secretComment": "seen"})
        traveller.ask("PATCH", f"{route}/{key}", json={**folder, "newSecretName": f"{key}_TOO"})


def deletions(traveller: Traveller) -> None:
    """Deletions: the answer has the value that is gone."""
    for route, place in product(_SINGLE, PLACES):
        key, _ = traveller.world.spare(place)
        traveller.ask("DELETE", f"{route}/{key}", json=traveller.world.at(place))


def moves(traveller: Traveller) -> None:
    """Secrets moved or copied to where a walker reads."""
    routes = ("/api/v4/secrets/move", "/api/v3/secrets/move", "/api/v4/secrets/duplicate")
    for route, place in product(routes, PLACES):
        _, secret_id = traveller.world.spare(place)
        body = {
            "projectId": traveller.world.projects[place.project],
            "sourceEnvironment": place.environment,
            "sourceSecretPath": place.path,
            "destinationEnvironment": "dev",
            "destinationSecretPath": OWN if place.project == "shop" else "/",
            "secretIds": [secret_id],
        }
        traveller.ask("POST", route, json=body)
        # Also as if it were of the folder that the walker may read.
        traveller.ask(
            "POST",
            route,
            json={
                **body,
                "projectId": traveller.world.projects["shop"],
                "sourceEnvironment": "dev",
                "sourceSecretPath": "/pub",
            },
        )
        traveller.look()


def other_texts(traveller: Traveller) -> None:
    """References in texts that are no values: comments, descriptions, profiles and requests of certificates."""
    world, shop = traveller.world, traveller.world.projects["shop"]
    text = f"${{{TEAM.reference}}} ${{{PROD.reference}}}"
    pair = [{"key": "seen", "value": text}]
    noted = {**traveller.at(), "secretValue": "plain", "secretComment": text, "secretMetadata": pair}
    traveller.ask("POST", "/api/v4/secrets/NOTED", json=noted)
    traveller.look()
    folder = {"projectId": shop, "environment": "dev", "path": OWN}
    traveller.ask("POST", "/api/v2/folders", json={**folder, "name": "noted", "description": text})
    traveller.ask("GET", "/api/v2/folders", params=folder)
    traveller.ask("PATCH", f"/api/v1/projects/{shop}", json={"description": text})
    traveller.ask("GET", f"/api/v1/projects/{shop}")
    policy = Pki(world.admin, shop).policy()["id"]
    binding = f"{PKI}/certificate-policies/{policy}/binding"
    world.admin.json("PATCH", binding, json={"profilesBoundBy": "members"})
    profile = {"projectId": shop, "slug": f"noted-{world.mark}", "certificatePolicyId": policy}
    made = traveller.ask(
        "POST",
        f"{PKI}/certificate-profiles",
        json={**profile, "issuerType": "self-signed", "description": text},
    )
    if made is not None:
        attributes = {"commonName": "www.example.com", "ttl": "1h", "keyAlgorithm": "EC_prime256v1"}
        profile_id = made["certificateProfile"]["id"]
        asked = {"profileId": profile_id, "attributes": attributes, "metadata": pair}
        assert traveller.ask("POST", f"{PKI}/certificates", json=asked) is not None
        traveller.ask("GET", f"{PKI}/certificate-profiles/{profile_id}")
        search = {"profileIds": [profile_id]}
        traveller.ask("POST", f"{PKI}/certificates/certificate-requests/search", json=search)
