"""The annotations by which a person asks something of a custom resource, and how messages name them."""

from __future__ import annotations

__all__ = [
    "APPROVE_PLAN",
    "IMPORT",
    "IMPORT_BEHAVIOR",
    "RELEASE_GUARD",
    "REMOVE_FOREIGN",
    "RENEW",
    "REQUEST",
    "REQUESTED_AT",
    "SYNC",
    "asking",
    "how_to_ask",
]

REQUEST = "keybearer.dev/request"
"""What is asked; without it, `sync`."""
REQUESTED_AT = "keybearer.dev/requestedAt"
"""Makes it a request: any text that differs from that of the last one."""
IMPORT_BEHAVIOR = "keybearer.dev/import-behavior"

SYNC, IMPORT, RELEASE_GUARD, APPROVE_PLAN = "sync", "import", "release-guard", "approve-plan"
RENEW, REMOVE_FOREIGN = "renew", "remove-foreign"


def asking(request: str, kind: str, namespace: str, name: str) -> str:
    """Return the command that asks it of an object."""
    return (
        f"kubectl -n {namespace} annotate --overwrite {kind.lower()} {name} "
        f'{REQUEST}={request} {REQUESTED_AT}="$(date +%s)"'
    )


def how_to_ask(request: str) -> str:
    """Return which annotations ask for it, to be put into a message: without the second, nothing is asked."""
    return f"the annotations {REQUEST}: {request} and a fresh {REQUESTED_AT}"
