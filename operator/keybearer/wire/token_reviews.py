"""What the service says about a token review that failed, so that programs can say what to do."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["UNBOUND_REVIEWER", "UNREACHABLE_API", "UNTRUSTED_API", "binding_of_reviewer", "told_unbound"]

UNTRUSTED_API: Final = "give the certificate of its authority: --ca-file of kubernetes-auth update"
"""End of the message where the certificate of the API server isn't trusted."""
UNREACHABLE_API: Final = "correct --host of kubernetes-auth update, or let the service reach it"
"""End of the message where there is no connection to the API server."""
UNBOUND_REVIEWER: Final = "bind it to the ClusterRole system:auth-delegator"
"""End of the message where the reviewer lacks the right to create TokenReviews."""

_LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_ACCOUNT = f"({_LABEL})[:/]({_LABEL}(?:[.]{_LABEL})*)"
_USERNAME = re.compile(f"system:serviceaccount:{_ACCOUNT}")
_LACKS = "may not create tokenreviews"
_TOLD = re.compile(f"ServiceAccount {_ACCOUNT} {_LACKS}")


def told_unbound(username: str) -> str:
    """Return that a reviewer lacks the right, by the name that the API server knows it under, if that is known."""
    account = _USERNAME.fullmatch(username)
    who = "the reviewer" if account is None else f"the reviewer ServiceAccount {account[1]}/{account[2]}"
    return f"{who} {_LACKS}"


def binding_of_reviewer(message: str) -> str:
    """Return the command that gives the reviewer the right; of the message, only names of Kubernetes get into it."""
    told = _TOLD.search(message)
    namespace, name = ("NAMESPACE", "SERVICE_ACCOUNT") if told is None else (told[1], told[2])
    return (
        f"kubectl create clusterrolebinding keybearer-reviewer-{namespace}-{name} "
        f"--clusterrole=system:auth-delegator --serviceaccount={namespace}:{name}"
    )
