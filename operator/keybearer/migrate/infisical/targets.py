"""What both kinds of the Infisical operator that write Secrets have alike."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from keybearer.migrate.fields import Part
from keybearer.migrate.findings import Notes
from keybearer.migrate.foreign import ForeignObject
from keybearer.migrate.go_functions import Expression
from keybearer.migrate.go_template import TemplateError, secret
from keybearer.migrate.settings import slug_of
from keybearer.migrate.surroundings import Surroundings, note_type
from keybearer.migrate.switching import INFISICAL, keep_for_return, note_switch
from keybearer.migrate.target_metadata import put_metadata
from keybearer.migrate.templates import translated

__all__ = ["name_of_sync", "read_secret_fields", "start_target"]


def read_secret_fields(names: Sequence[str]) -> Expression:
    """Read fields as the Infisical operator has them: `.KEY.Value` is the value of KEY."""
    match names:
        case [name, "Value"]:
            return secret(name)
        case [_, "SecretPath"]:
            raise TemplateError("SecretPath, the folder of a secret,")
        case _:
            raise TemplateError("a field other than .KEY.Value")


def start_target(
    part: Part,
    one: ForeignObject,
    around: Surroundings,
    notes: Notes,
    *,
    name: str | None,
    namespace: str,
    kind: str,
) -> dict[str, JsonValue]:
    """Return a target with name, policies and type.

    Args:
        part: how the Secret or ConfigMap is described.
        one: the object.
        around: everything that was read.
        notes: of the object.
        name: of the Secret or ConfigMap.
        namespace: of it.
        kind: Secret or ConfigMap.
    """
    target: dict[str, JsonValue] = {}
    if name is not None:
        target["name"] = name
    policy = part.text("creationPolicy") or "Orphan"
    if policy == "Orphan":
        target["onDelete"] = "Retain"
    elif policy != "Owner":
        notes.left_out(part.where("creationPolicy"), "is no policy that is known; Owner is taken")
    if around.settings.adopt and policy == "Owner":
        note_switch(one, INFISICAL, (kind, name or one.name), notes, namespace=namespace)
        keep_for_return(target, notes)
    if around.settings.adopt:
        target["adopt"] = True
    secret_type = part.text("secretType")
    if secret_type:
        note_type(secret_type, part.where("secretType"), notes)
        target["type"] = secret_type
    template = part.part("template")
    metadata = part.part("metadata") or (template.part("metadata") if template is not None else None)
    if metadata is not None:
        put_metadata(
            target, metadata.mapping("labels"), metadata.mapping("annotations"), metadata.path, notes
        )
    elif one.kind == "InfisicalSecret":
        put_metadata(target, one.labels, one.annotations, "metadata", notes)
    if template is not None:
        _put_template(template, target, notes)
    return target


def _put_template(template: Part, target: dict[str, JsonValue], notes: Notes) -> None:
    template.skip("engineVersion")
    includes = template.flag("includeAllSecrets") or False
    data = translated(template.mapping("data"), template.where("data"), notes, read_secret_fields)
    if data:
        built: dict[str, JsonValue] = {"data": dict(data)}
        if includes:
            built["includeKeys"] = True
        target["template"] = built


def name_of_sync(one: ForeignObject, target: str | None, count: int) -> str:
    """Return the name of a SecretSync: the object's own, unless it writes several targets."""
    return one.name if count == 1 else f"{one.name}-{slug_of(target or '')}"
