"""The destination `external-infisical`: one folder of a project at another server of this API."""

from __future__ import annotations

from typing import Annotated

from pydantic import StringConstraints, TypeAdapter

from keybearer.wire.destinations.base import DestinationConfig, DestinationModel
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX

__all__ = ["EXTERNAL_INFISICAL", "ExternalInfisicalConfig"]

_PROJECT_ID_MAX = 64


class ExternalInfisicalConfig(DestinationConfig):
    """Words of the other server: whether they name something there shows when secrets are carried."""

    project_id: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_PROJECT_ID_MAX, pattern=r"\S")
    ]
    environment: Annotated[
        str,
        StringConstraints(
            strip_whitespace=True, min_length=1, max_length=ENVIRONMENT_SLUG_MAX, pattern=r"\S"
        ),
    ]
    secret_path: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=FOLDER_PATH_MAX, pattern=r"\S")
    ]


EXTERNAL_INFISICAL = DestinationModel(
    "external-infisical", "external-infisical", TypeAdapter(ExternalInfisicalConfig)
)
