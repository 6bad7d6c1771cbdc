"""The part of a spec that says who asks the service."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.resource_fields import ObjectName

__all__ = ["IdentityRef"]


class IdentityRef(ResourceModel):
    """The Secret, in the same namespace, that says who reads."""

    name: Annotated[ObjectName, Field(description="The name of the Secret.")]
