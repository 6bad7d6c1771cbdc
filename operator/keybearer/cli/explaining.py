"""Reads an object of ours and what stands beside it, and lets it be explained; values are let go of at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING

from keybearer.base.json_reading import mapping_of
from keybearer.cli.cluster import missing_object
from keybearer.cli.output import PIPE_WIDTH, OutputFormat, print_json, printable

if TYPE_CHECKING:
    from pydantic import JsonValue

    from keybearer.cli.explanation_parts import Explanation, SeenObject
    from keybearer.kube.gateway import Gateway
    from keybearer.kube.resources import ObjectKey, Resource

__all__ = ["explain_object", "print_explanation"]


async def explain_object(gateway: Gateway, resource: Resource, key: ObjectKey) -> Explanation:
    """Return what the object does, how it stands, what is wrong and what to do.

    Raises:
        CommandError: there is no such object.
        KubeError: the API server refuses or can't be asked.
    """
    body = await gateway.get(resource, key)
    if body is None:
        raise await missing_object(gateway, resource, key)
    if resource.kind == "AppConnection":
        from keybearer.cli.explanation_of_connection import explain_connection, secrets_of_connection

        return explain_connection(body, await _secrets(gateway, key.namespace, secrets_of_connection(body)))
    if resource.kind == "CertificateProfile":
        from keybearer.cli.explanation_of_profile import explain_profile, secrets_of_profile

        return explain_profile(body, await _secrets(gateway, key.namespace, secrets_of_profile(body)))
    return await _explain_sync(gateway, key, body)


async def _explain_sync(gateway: Gateway, key: ObjectKey, body: Mapping[str, JsonValue]) -> Explanation:
    from keybearer.cli.explanation import explain
    from keybearer.kube.resources import CONFIG_MAPS, SECRETS, ObjectKey

    spec = mapping_of(body.get("spec"))
    target = mapping_of(spec.get("target"))
    kind = CONFIG_MAPS if target.get("kind") == "ConfigMap" else SECRETS
    target_key = ObjectKey(key.namespace, str(target.get("name") or key.name))
    seen_target = await _seen(gateway, kind, target_key)
    identity = mapping_of(spec.get("identityRef")).get("name")
    seen_identity = None
    if isinstance(identity, str):
        seen_identity = await _seen(gateway, SECRETS, ObjectKey(key.namespace, identity))
    return explain(body, seen_target, seen_identity)


async def _secrets(gateway: Gateway, namespace: str, names: Iterable[str]) -> dict[str, SeenObject | None]:
    from keybearer.kube.resources import SECRETS, ObjectKey

    return {name: await _seen(gateway, SECRETS, ObjectKey(namespace, name)) for name in names}


async def _seen(gateway: Gateway, resource: Resource, key: ObjectKey) -> SeenObject | None:
    """Return the names of an object's keys; what they hold is let go of here."""
    from keybearer.cli.explanation_parts import SeenObject
    from keybearer.controllers.target.desired import OWNER_LABEL
    from keybearer.kube.errors import ForbiddenError

    try:
        body = await gateway.get(resource, key)
    except ForbiddenError:
        return SeenObject((), is_hidden=True)
    if body is None:
        return None
    labels = mapping_of(mapping_of(body.get("metadata")).get("labels"))
    owner = labels.get(OWNER_LABEL)
    keys = {**mapping_of(body.get("data")), **mapping_of(body.get("binaryData"))}
    return SeenObject(tuple(sorted(keys)), owner if isinstance(owner, str) else None)


def print_explanation(told: Explanation, output: OutputFormat) -> None:
    """Print it: sections for people, JSON for programs."""
    if output is OutputFormat.JSON:
        print_json(asdict(told))
        return
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    sections = (
        ("Reads", "bold", told.reads),
        ("Writes", "bold", told.writes),
        ("Stands", "bold", told.stands),
        ("Wrong", "bold red" if told.wrong else "bold green", told.wrong or ["Nothing."]),
        ("Next", "bold", told.next_steps or ["Nothing to do."]),
    )
    for heading, style, sentences in sections:
        if sentences:
            console.print(Text(heading, style=style))
            for sentence in sentences:
                console.print(Padding(Text(printable(sentence)), (0, 0, 0, 2), expand=False))
