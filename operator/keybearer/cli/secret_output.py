"""How commands show secrets: values only where they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from keybearer.client import Secret

__all__ = ["HIDDEN", "Personal", "Show", "WithImports", "plain_secret", "secret_type", "value_of"]

HIDDEN = "(hidden)"

Show = Annotated[bool, typer.Option("--show", help="Show the values.")]
Personal = Annotated[
    bool, typer.Option("--personal", help="Your own value, which only you see, on top of the shared one.")
]
WithImports = Annotated[bool, typer.Option("--imports/--no-imports", help="Include what the folder imports.")]


def secret_type(*, personal: bool) -> Literal["shared", "personal"]:
    """Return the wire's word for a shared or personal value."""
    return "personal" if personal else "shared"


def value_of(secret: Secret) -> str:
    """Return the value, or that it is hidden from the user."""
    return HIDDEN if secret.secret_value_hidden else secret.secret_value


def plain_secret(secret: Secret, *, show: bool) -> dict[str, Any]:
    """Return the fields of interface.md section 2.7, the value only where it is to be shown."""
    return {
        "secret_key": secret.secret_key,
        **({"secret_value": secret.secret_value} if show and not secret.secret_value_hidden else {}),
        "secret_comment": secret.secret_comment,
        "secret_path": secret.secret_path,
        "environment": secret.environment,
        "workspace": secret.workspace,
        "version": secret.version,
        "type": secret.type,
        "id": secret.id,
        "created_at": secret.created_at,
        "updated_at": secret.updated_at,
    }
