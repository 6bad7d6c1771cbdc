"""Templates of targets, key by key: one that can't be translated is marked, and the others are kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from keybearer.migrate.findings import Notes
from keybearer.migrate.go_template import FieldReader, TemplateError, translate, variables_of

__all__ = ["TODO", "marked", "translated"]

TODO: Final = "TODO_write_this_template_in_Jinja2"
"""A variable that no secret has as its name: while it is in a template, the operator renders and writes nothing."""
_KEY: Final = re.compile(r"[-._a-zA-Z0-9]{1,253}")
"""Of a Secret. A mark under any other would have the whole object refused."""
_ORIGINAL_MAX: Final = 8192
"""Characters of a template that a mark quotes: more than a person translates by reading."""


def translated(
    given: Mapping[str, str], field: str, notes: Notes, read: FieldReader = variables_of
) -> dict[str, str]:
    """Return Jinja2 templates by key; one that has no equal is marked and noted.

    Args:
        given: templates of Go by key.
        field: their field in the manifest.
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
                f"Write this key in Jinja2, in place of the TODO in target.template.data{near}.",
            )
            if _KEY.fullmatch(key):
                found[key] = marked(template)
    return found


def marked(original: str) -> str:
    """Return a template that keeps another one as a comment, and fails to render until somebody has written it anew.

    Args:
        original: a template in another language, or a sentence that says where it is.
    """
    # A comment of Jinja2 ends at the first of these pairs.
    quoted = original[:_ORIGINAL_MAX].replace("#}", "# }").rstrip()
    return f"{{# TODO: write this template in Jinja2. It was:\n{quoted}\n#}}{{{{ {TODO} }}}}"
