"""App connections on the wire (interface.md sections 2.3, 4.3 and 4.4; wire.md section 4).

What a connection is made and changed with differs by app and method: those models are built from the registry.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    JsonValue,
    ValidationError,
    WrapValidator,
    create_model,
)

from keybearer.wire.base import WHOLE, Flag, WireInstant, WireModel
from keybearer.wire.bodies import BodyModel, Zero
from keybearer.wire.credentials import Credentials, DescribedApp, Method
from keybearer.wire.limits import (
    APP_CONNECTION_DESCRIPTION_MAX,
    APP_CONNECTION_NAME_MAX,
    CONNECTION_PLACE_MAX,
    CONNECTION_PLACES_MAX,
    CONNECTION_PROJECTS_MAX,
    ROTATION_INTERVAL_MAX_DAYS,
)
from keybearer.wire.slugs import slug_rule, slug_schema
from keybearer.wire.strict import NonEmpty

__all__ = [
    "AllowedUse",
    "AllowedUseAnswer",
    "AppConnection",
    "AppConnectionAnswer",
    "AppConnectionList",
    "AppConnectionOption",
    "AppConnectionOptionList",
    "AppConnectionOptionsQuery",
    "AppConnectionQuery",
    "AppConnectionUsage",
    "AvailableAppConnection",
    "AvailableAppConnectionList",
    "ChangeAllowedUse",
    "ChangedAllowedUseAnswer",
    "CreateAppConnection",
    "RotateAtUtc",
    "RotationTerms",
    "UpdateAppConnection",
    "create_body",
    "update_body",
]

_Name = Annotated[str, slug_rule("name", APP_CONNECTION_NAME_MAX), slug_schema(APP_CONNECTION_NAME_MAX)]
_PlacePattern = Annotated[str, Field(min_length=1, max_length=CONNECTION_PLACE_MAX)]
_Description = Annotated[str, Field(max_length=APP_CONNECTION_DESCRIPTION_MAX)]


class RotateAtUtc(WireModel):
    """A time of the day in UTC."""

    hours: Annotated[int, Field(ge=0, le=23), WHOLE]
    minutes: Annotated[int, Field(ge=0, le=59), WHOLE]


class RotationTerms(BodyModel):
    """When credentials are made anew: every so many days, at that time."""

    rotation_interval: Annotated[int, Field(ge=1, le=ROTATION_INTERVAL_MAX_DAYS), WHOLE]
    rotate_at_utc: RotateAtUtc


class CreateAppConnection(BodyModel):
    """POST /api/v1/app-connections/{app}: what all apps share; `create_body` gives the rest its form."""

    name: _Name
    description: Annotated[_Description, Zero.COUNTS] | None = None
    project_id: NonEmpty | None = None
    method: str
    credentials: Annotated[Credentials, Field(repr=False)]
    is_auto_rotation_enabled: bool = False
    rotation: RotationTerms | None = None


class UpdateAppConnection(BodyModel):
    """PATCH /api/v1/app-connections/{app}/{connectionId}: what is absent stays; a description may be null.

    Attributes:
        credentials: as read for each method of the app that they fit; which one it must be, the connection says.
    """

    name: _Name | None = None
    description: Annotated[_Description, Zero.COUNTS] | None = None
    credentials: Annotated[Mapping[str, Credentials] | None, Field(repr=False)] = None
    is_auto_rotation_enabled: bool | None = None
    rotation: RotationTerms | None = None


def create_body(app: DescribedApp) -> Any:  # noqa: ANN401 - a type that is made while it runs
    """Return what a connection to the app is made with: a model for each method, chosen by `method`."""
    variants = {word: _create_variant(app, word, method) for word, method in app.methods.items()}
    if len(variants) == 1:
        return next(iter(variants.values()))

    method_in = _method_reader(app)

    def choose(given: object, _: object) -> CreateAppConnection:
        # By hand, so that an issue's path holds fields alone: the parser's own choice would put the method into it.
        return variants[method_in(given)].model_validate(given)

    return Annotated[_union(variants.values()), WrapValidator(choose)]


def update_body(app: DescribedApp) -> type[UpdateAppConnection]:
    """Return what a connection to the app is changed with."""
    given: Any = _union(method.given for method in app.methods.values())
    fitting: Any = Annotated[given, WrapValidator(_fitting(app.methods))]
    fields: dict[str, Any] = {
        "credentials": (Annotated[fitting | None, Field(repr=False)], None),
        **_refused(app.title),
        **({"is_auto_rotation_enabled": (Flag | None, None)} if app.is_rotatable else _unrotated(app.title)),
    }
    return create_model(
        f"Update{_pascal(app.name)}Connection",
        __base__=UpdateAppConnection,
        __doc__=f"A change of a connection to {app.title}: what is absent stays.",
        **fields,
    )


def _create_variant(app: DescribedApp, word: str, method: Method) -> type[CreateAppConnection]:
    fields: dict[str, Any] = {
        "method": (Literal[word], ...),
        "credentials": (Annotated[method.given, Field(repr=False)], ...),
        **_refused(app.title),
        **({"is_auto_rotation_enabled": (Flag, False)} if method.is_rotatable else _unrotated(app.title)),
    }
    return create_model(
        f"Create{_pascal(app.name)}{_pascal(word)}Connection",
        __base__=CreateAppConnection,
        __doc__=f"A connection to {app.title} by {word}.",
        **fields,
    )


def _method_reader(app: DescribedApp) -> Callable[[object], str]:
    fields: dict[str, Any] = {"method": (Literal[tuple(app.methods)], ...)}
    of_method = create_model(f"_MethodOf{_pascal(app.name)}", __base__=WireModel, **fields)

    def read(given: object) -> str:
        method: str = of_method.model_validate(given).model_dump()["method"]
        return method

    return read


def _fitting(methods: Mapping[str, Method]) -> Callable[[object, object], dict[str, Credentials]]:
    def fit(given: object, _: object) -> dict[str, Credentials]:
        fits: dict[str, Credentials] = {}
        failures: list[ValidationError] = []
        for word, method in methods.items():
            try:
                fits[word] = method.given.model_validate(given)
            except ValidationError as error:
                failures.append(error)
        if not fits:
            raise min(failures, key=ValidationError.error_count)
        return fits

    return fit


def _refused(title: str) -> dict[str, Any]:
    """Return fields of the interface that no app supports: they may be there without saying anything."""
    return {
        "is_platform_managed_credentials": (Annotated[Literal[False], _never(title, but=False)], False),
        "gateway_id": (Annotated[None, _never(title, but=None)], None),
        "gateway_pool_id": (Annotated[None, _never(title, but=None)], None),
    }


def _unrotated(title: str) -> dict[str, Any]:
    return {
        "is_auto_rotation_enabled": (Annotated[Literal[False], _never(title, but=False)], False),
        "rotation": (Annotated[None, _never(title, but=None)], None),
    }


def _never(title: str, *, but: object) -> BeforeValidator:
    def refuse(given: object) -> object:
        if given is not but:
            msg = f"Not supported for {title} Connections"
            raise ValueError(msg)
        return given

    return BeforeValidator(refuse)


def _union(kinds: Iterable[type[BaseModel]]) -> Any:  # noqa: ANN401 - a type that is made while it runs
    return functools.reduce(operator.or_, kinds)


def _pascal(word: str) -> str:
    return "".join(part.capitalize() for part in word.split("-"))


class _Rotation(WireModel):
    rotation_interval: int | None = None
    rotate_at_utc: RotateAtUtc | None = None
    rotation_status: Literal["success", "failed"] | None = None
    last_rotation_message: str | None = None
    next_rotation_at: WireInstant | None = None


class _Project(WireModel):
    id: str
    name: str
    type: str
    slug: str


class AppConnection(WireModel):
    """A connection; of its credentials only what is no secret. What it doesn't have is left out."""

    id: str
    name: str
    description: str | None = None
    org_id: str
    project_id: str | None = None
    project: _Project | None = None
    app: str
    method: str
    credentials: dict[str, JsonValue]
    credentials_hash: str
    version: int
    is_platform_managed_credentials: bool = False
    is_auto_rotation_enabled: bool
    rotation: _Rotation | None = None
    created_at: WireInstant
    updated_at: WireInstant


class AppConnectionAnswer(WireModel):
    """`{appConnection}`."""

    app_connection: AppConnection


class AppConnectionList(WireModel):
    """`{appConnections}`."""

    app_connections: list[AppConnection]


class AvailableAppConnection(WireModel):
    """A connection that may be used, by name alone."""

    app: str
    name: str
    id: str


class AvailableAppConnectionList(WireModel):
    """`{appConnections}` of GET .../available."""

    app_connections: list[AvailableAppConnection]


class AppConnectionOption(WireModel):
    """An app that connections can be made to."""

    name: str
    app: str
    methods: list[str]
    supports_platform_management: bool = False


class AppConnectionOptionList(WireModel):
    """`{appConnectionOptions}`."""

    app_connection_options: list[AppConnectionOption]


class _UsingSync(WireModel):
    id: str
    name: str


class _Resources(WireModel):
    secret_syncs: list[_UsingSync]


class _UsingProject(_Project):
    resources: _Resources


class AppConnectionUsage(WireModel):
    """`{projects}`: where a connection is used, and by what."""

    projects: list[_UsingProject]


class ChangeAllowedUse(WireModel):
    """PATCH /api/v1/app-connections/{app}/{connectionId}/allowed-use: what is absent stays.

    Attributes:
        project_ids: that may use a connection of the organization. Null: each, by admins of the organization.
        places: patterns of places that syncs may write to; `*` is within a name, `**` any depth. Null: each.
    """

    project_ids: Annotated[list[UUID], Field(max_length=CONNECTION_PROJECTS_MAX)] | None = None
    places: Annotated[list[_PlacePattern], Field(max_length=CONNECTION_PLACES_MAX)] | None = None


class AllowedUse(WireModel):
    """Which projects may use a connection, and for which places; an addition to interface.md."""

    project_ids: list[UUID] | None
    places: list[str] | None


class AllowedUseAnswer(WireModel):
    """`{allowedUse}`."""

    allowed_use: AllowedUse


class StoppingSync(WireModel):
    """A sync that its connection no longer lets run."""

    id: str
    name: str
    project_id: str


class ChangedAllowedUseAnswer(WireModel):
    """`{allowedUse, stoppingSyncs}`: the present use, and which syncs the change stops."""

    allowed_use: AllowedUse
    stopping_syncs: list[StoppingSync]


class AppConnectionQuery(WireModel):
    """Query of lists and of a name: of that project, or without one of the organization."""

    project_id: str | None = None


class AppConnectionOptionsQuery(WireModel):
    """Query of GET .../options; every type of project may connect to every app."""

    project_type: str | None = None
