"""How a spec names a key of a Secret in its own namespace."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.resource_fields import DATA_KEY_PATTERN, ObjectName

__all__ = ["SecretKeyRef"]


class SecretKeyRef(ResourceModel):
    """A key of a Secret in the same namespace."""

    name: Annotated[ObjectName, Field(description="The name of the Secret.")]
    key: Annotated[
        str,
        Field(min_length=1, max_length=253, pattern=DATA_KEY_PATTERN, description="A key of its data."),
    ]
