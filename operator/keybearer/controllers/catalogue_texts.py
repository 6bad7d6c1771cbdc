"""What fields of the custom resources say of destinations and apps: from the catalogue, when a CRD is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pydantic import Field
from pydantic.config import JsonDict

from keybearer.controllers.catalogue import own_catalogue

if TYPE_CHECKING:
    from keybearer.destinations import fields
    from keybearer.destinations.catalogue import Catalogue

__all__ = ["told", "told_apps", "told_configs", "told_credentials", "told_destinations", "told_methods"]

_OPTION = "--destinations-from"


def told(text: Callable[[Catalogue], str], **bounds: Any) -> Any:  # noqa: ANN401 - as pydantic's Field
    """Return a field with these bounds whose description is made when its schema is, and not when it is imported."""

    def describe(schema: JsonDict) -> None:
        schema["description"] = text(own_catalogue())

    return Field(json_schema_extra=describe, **bounds)


def told_destinations(catalogue: Catalogue) -> str:
    """Return what `destination` says."""
    names = ", ".join(sorted(kind.name for kind in catalogue.kinds))
    return f"Another store to which the service pushes the folder: {names}, or one that a package adds ({_OPTION})."


def told_configs(catalogue: Catalogue) -> str:
    """Return what `destinationConfig` says."""
    from keybearer.destinations.fields import config_forms

    def told_of(form: fields.Form) -> str:
        with_ = _listed(form.fields)
        if form.selector is None:
            return with_
        name, word = form.selector
        return f"{name}={word}: {with_}" if with_ else f"{name}={word}"

    return "The place in that store. " + _sentences(
        (kind.name, ", or ".join(told_of(form) for form in config_forms(kind)))
        for kind in sorted(catalogue.kinds, key=lambda one: one.name)
    )


def told_apps(catalogue: Catalogue) -> str:
    """Return what `app` says."""
    names = ", ".join(sorted(app.name for app in catalogue.apps))
    return f"The app: {names}, or one that a package adds ({_OPTION}); it can't be changed later."


def told_methods(catalogue: Catalogue) -> str:
    """Return what `method` says."""
    return "How the service authenticates with the app; it can't be changed later. " + _sentences(
        (app.name, " or ".join(sorted(app.methods)))
        for app in sorted(catalogue.apps, key=lambda one: one.name)
    )


def told_credentials(catalogue: Catalogue) -> str:
    """Return what `credentials` says."""
    from keybearer.destinations.fields import credential_fields

    return "The fields that the app's method asks for, each by its name. " + _sentences(
        (f"{app.name} by {name}", _listed(credential_fields(method)))
        for app in sorted(catalogue.apps, key=lambda one: one.name)
        for name, method in sorted(app.methods.items())
    )


def _sentences(takes: Iterable[tuple[str, str]]) -> str:
    return "; ".join(f"{name}: {what}" for name, what in takes) + "."


def _listed(some: Iterable[fields.Field]) -> str:
    return ", ".join(_named(some))


def _named(some: Iterable[fields.Field]) -> Iterator[str]:
    for field in some:
        yield field.name if field.is_required else f"{field.name} (optional)"
