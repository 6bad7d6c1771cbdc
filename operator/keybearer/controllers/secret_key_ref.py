"""How a spec names a key of a Secret in its own namespace."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keybearer.controllers.custom_resource import ResourceModel
from keybearer.controllers.remedy import Remedy
from keybearer.controllers.resource_fields import DATA_KEY_PATTERN, ObjectName

__all__ = ["SecretKeyRef", "remedy_of_absent"]


class SecretKeyRef(ResourceModel):
    """A key of a Secret in the same namespace."""

    name: Annotated[ObjectName, Field(description="The name of the Secret.")]
    key: Annotated[
        str,
        Field(min_length=1, max_length=253, pattern=DATA_KEY_PATTERN, description="A key of its data."),
    ]


def remedy_of_absent(ref: SecretKeyRef, field: str, *, has_secret: bool) -> Remedy:
    """Return what is to be done where a Secret, or a key of it, doesn't exist.

    Args:
        ref: the key.
        field: of the spec that names it.
        has_secret: the Secret is there, and lacks the key.
    """
    if has_secret:
        return Remedy(
            f"Add the key {ref.key} to Secret {ref.name}, or correct {field}.",
            f"kubectl -n {{namespace}} describe secret {ref.name}",
            about=field,
        )
    return Remedy(
        f"Create Secret {ref.name} with the key {ref.key}, or correct {field}.",
        f"kubectl -n {{namespace}} create secret generic {ref.name} --from-file={ref.key}=FILE",
        about=field,
    )
