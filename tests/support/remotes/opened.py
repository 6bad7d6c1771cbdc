"""Opens a destination as the sync engine does, in few words."""

from __future__ import annotations

from collections.abc import Mapping

from keybearer.destinations.app import App
from keybearer.destinations.engine.opening import Opening, open_destination
from keybearer.destinations.form import DestinationKind
from keybearer.destinations.protocol import Destination
from keybearer.destinations.session import AppContext, Session
from keybearer.wire.credentials import Credentials
from keybearer.wire.destination_forms import DestinationConfig
from keybearer.wire.key_schema import KeyNaming

__all__ = ["check", "exchange", "opened", "renew", "retire"]


def opened(
    kind: DestinationKind,
    config: Mapping[str, object] | DestinationConfig,
    credentials: Credentials,
    context: AppContext,
    *,
    naming: KeyNaming | None = None,
    **options: object,
) -> Destination:
    """Return a destination for one run.

    Args:
        kind: of the catalogue.
        config: `destinationConfig`, as on the wire or validated.
        credentials: of the connection.
        context: a way out.
        naming: how keys become names; as they are by default.
        options: `syncOptions` beside `initialSyncBehavior`, by their names on the wire.
    """
    given = Opening(
        config if isinstance(config, DestinationConfig) else kind.config.validate_python(config),
        kind.options.model_validate({"initialSyncBehavior": "overwrite-destination", **options}),
        naming or KeyNaming("", ""),
        credentials,
        context,
    )
    return open_destination(kind, given)


async def check(kind: DestinationKind | App, credentials: Credentials, context: AppContext) -> None:
    """Have an app, or that of a kind, judge the credentials.

    Raises:
        RemoteError: it doesn't take them.
    """
    app = kind if isinstance(kind, App) else kind.app
    await app.check(Session(app, credentials, context))


async def exchange(app: App, given: Credentials, context: AppContext) -> Credentials:
    """Return what the app keeps of what a person gave.

    Raises:
        RemoteError: it keeps nothing of it.
    """
    assert app.exchange is not None
    return await app.exchange(Session(app, given, context))


async def renew(app: App, credentials: Credentials, context: AppContext) -> Credentials:
    """Return new credentials that the app made.

    Raises:
        RemoteError: it made none.
    """
    assert app.rotation is not None
    return await app.rotation.renew(Session(app, credentials, context))


async def retire(app: App, old: Credentials, new: Credentials, context: AppContext) -> None:
    """Make old credentials of the app worthless.

    Raises:
        RemoteError: they still are worth something.
    """
    assert app.rotation is not None
    await app.rotation.retire(Session(app, new, context), old)
