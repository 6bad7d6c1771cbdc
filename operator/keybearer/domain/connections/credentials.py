"""Credentials of a connection between the forms they have: given, kept, shown. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import orjson
from pydantic import JsonValue, ValidationError

from keybearer.destinations.app import App
from keybearer.destinations.catalogue import Catalogue
from keybearer.domain.errors import InvalidError
from keybearer.store.app_connections import AppConnection, OpenedConnection
from keybearer.wire.credentials import Credentials, Method

__all__ = ["credentials_of", "kept_form", "method_of", "model_of", "retiring_of", "shown_form"]

_KEPT_MAX_BYTES = 64 * 1024


def model_of(catalogue: Catalogue, connection: AppConnection) -> App:
    """Return the app of a connection.

    Raises:
        InvalidError: the service knows none of that name; another version stored it, or one with a package of others.
    """
    app = catalogue.app(connection.app)
    if app is None:
        raise InvalidError(
            f'The service knows no App "{connection.app}"; if a package ships it, start the service with '
            "--destinations-from and the name of that package"
        )
    return app


def method_of(app: App, connection: AppConnection) -> Method:
    """Return how a connection to the app authenticates.

    Raises:
        InvalidError: this version doesn't know it.
    """
    method = app.methods.get(connection.method)
    if method is None:
        raise InvalidError(
            f"This version of the service knows no {app.title} Connections with method {connection.method}"
        )
    return method


def credentials_of(app: App, opened: OpenedConnection) -> Credentials:
    """Return what a connection to the app authenticates with.

    Raises:
        InvalidError: another version stored them in a form that this one can't use.
    """
    return _read(app, opened.connection, opened.credentials)


def retiring_of(app: App, opened: OpenedConnection) -> Credentials | None:
    """Return credentials that have still to be made worthless; None where there are none.

    Raises:
        InvalidError: another version stored them in a form that this one can't use.
    """
    return None if opened.retiring is None else _read(app, opened.connection, opened.retiring)


def kept_form(credentials: Credentials) -> dict[str, JsonValue]:
    """Return credentials as they are sealed.

    Raises:
        InvalidError: they are too large.
    """
    kept: dict[str, JsonValue] = credentials.model_dump(mode="json", by_alias=True, exclude_none=True)
    if len(orjson.dumps(kept)) > _KEPT_MAX_BYTES:
        raise InvalidError(f"The credentials have more than {_KEPT_MAX_BYTES >> 10} KiB")
    return kept


def shown_form(method: Method, kept: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what of kept credentials is no secret."""
    return {name: value for name, value in kept.items() if name in method.shown}


def _read(app: App, connection: AppConnection, kept: Mapping[str, JsonValue]) -> Credentials:
    method = method_of(app, connection)
    try:
        return method.stored.model_validate(kept)
    except ValidationError:
        # Its text would hold what was stored.
        raise InvalidError(
            f"The credentials of App Connection {connection.name} have a form that this version can't use; "
            "give them again"
        ) from None
