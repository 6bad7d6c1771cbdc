"""What connections and destinations ask for beyond what the CRDs can say: held against the service's own forms."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

from keybearer.controllers.custom_resource import describe_invalid
from keybearer.destinations.catalogue import CATALOGUE
from keybearer.migrate.findings import NotCarriedError

__all__ = ["require_whole_connection", "require_whole_destination"]


def require_whole_connection(spec: Mapping[str, JsonValue]) -> None:
    """Let pass an AppConnection that has the credentials that its method asks for, and no others.

    Raises:
        NotCarriedError: one is missing, or there is no such app or method.
    """
    app = CATALOGUE.app(str(spec.get("app")))
    method = app.methods.get(str(spec.get("method"))) if app is not None else None
    if method is None:
        raise NotCarriedError("", "is of an app or a method that Keybearer doesn't have")
    given = spec.get("credentials")
    names = set(given) if isinstance(given, dict) else set()
    fields = {field.alias or name: field for name, field in method.given.model_fields.items()}
    missing = sorted({name for name, field in fields.items() if field.is_required()} - names)
    if missing:
        raise NotCarriedError(
            "",
            f"has no {', '.join(missing)} for the connection",
            "Complete the manifest, or write an AppConnection.",
        )


def require_whole_destination(spec: Mapping[str, JsonValue]) -> None:
    """Let pass a SecretSync without destination, or with one whose configuration the service would take.

    Raises:
        NotCarriedError: it would not; the text says which field and why.
    """
    destination = spec.get("destination")
    if destination is None:
        return
    model = CATALOGUE.kind(str(destination))
    if model is None:
        raise NotCarriedError("", "goes to a destination that Keybearer can't push to")
    root = "destinationConfig"
    try:
        config = model.config.validate_python(spec.get("destinationConfig"))
        root = "syncOptions"
        model.agree(config, model.options.model_validate(spec.get("syncOptions")))
    except ValidationError as error:
        raise NotCarriedError(
            "", describe_invalid(error, root=root), "Correct what the field comes from."
        ) from None
    except ValueError as error:
        raise NotCarriedError("", f"{root}: {error}", "Correct what the field comes from.") from None
