"""Templates of targets: each key by itself, so that one that has no equal doesn't take the others along."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.migrate.findings import Notes
from keybearer.migrate.go_template import FieldReader, TemplateError, translate, variables_of

__all__ = ["translated"]


def translated(
    given: Mapping[str, str], field: str, notes: Notes, read: FieldReader = variables_of
) -> dict[str, str]:
    """Return Jinja2 templates by key; what has no equal is noted.

    Args:
        given: templates of Go by key.
        field: where they stand.
        notes: of the object.
        read: what fields of the root are.
    """
    found: dict[str, str] = {}
    for key, template in given.items():
        try:
            found[key] = translate(template, read)
        except TemplateError as error:
            near = f"; {error.nearest} comes nearest" if error.nearest else ""
            notes.left_out(
                f"{field}.{key[:80]}",
                f"{error} has no equal in Keybearer's templates",
                f"Write this key in Jinja2: target.template.data{near}.",
            )
    return found
