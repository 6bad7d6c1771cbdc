"""The tables of apps and destinations, for docs/destinations.md: from the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from keybearer.destinations.catalogue import CATALOGUE
from keybearer.destinations.fields import Field, Form, config_forms, credential_fields
from tools.reference.markdown import code, table

__all__ = ["apps_table", "destinations_table", "places_table"]

_WORDS_SHOWN = 4


def apps_table() -> str:
    """Return the apps with what their methods ask for."""
    rows: list[tuple[str, str, str]] = []
    for app in sorted(CATALOGUE.apps, key=lambda one: one.name):
        for number, (name, method) in enumerate(sorted(app.methods.items())):
            rows.append(
                (code(app.name) if number == 0 else "", code(name), _listed(credential_fields(method)))
            )
    return table(("app", "method", "fields (*secret*)"), rows)


def destinations_table() -> str:
    """Return the destinations that syncs can be made to."""
    rows = [
        (
            code(kind.name),
            code(kind.connection),
            "; ".join(_told(form) for form in config_forms(kind)),
            "yes" if kind.can_import else "no",
        )
        for kind in sorted(CATALOGUE.kinds, key=lambda one: one.name)
    ]
    return table(("`destination`", "app", "`destinationConfig`", "import"), rows)


def places_table() -> str:
    """Return how places of destinations are named, for limits of connections."""
    rows = [
        (code(kind.name), code(kind.places.form), "yes" if kind.places.knows_case else "no")
        for kind in sorted(CATALOGUE.kinds, key=lambda one: one.name)
        if kind.places is not None
    ]
    return table(("`destination`", "place", "case matters"), rows)


def _told(form: Form) -> str:
    if form.selector is None:
        return _listed(form.fields)
    selected = code(": ".join(form.selector))
    return f"{selected} with {_listed(form.fields)}" if form.fields else selected


def _listed(fields: Iterable[Field]) -> str:
    return ", ".join(_named(fields))


def _named(fields: Iterable[Field]) -> Iterator[str]:
    for field in fields:
        name = f"*{code(field.name)}*" if field.is_secret else code(field.name)
        notes = [] if field.is_required else ["optional"]
        if 0 < len(field.words) <= _WORDS_SHOWN:
            notes.append(" or ".join(field.words))
        yield f"{name} ({'; '.join(notes)})" if notes else name
