"""Where to look for what the service says doesn't exist: the next step after a 404, by the thing that is missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["where_to_look"]

_PROJECTS = "List the projects that you may see: keybearer projects list"
_SECRETS = "Check --project, --env and --path, or list what there is: keybearer secrets list --recursive"
_IDENTITIES = "List the identities: keybearer identities list"
_CERTIFICATES = "List the certificates: keybearer certificates list"
_AUTHORITIES = "List the authorities: keybearer authorities list"
_MEMBERS = "List who is in the project: keybearer members list"
_SYNCS = "List the syncs: keybearer syncs list"
_CONNECTIONS = "List the connections: keybearer connections list"
_UNKNOWN = "Check the name, and that you may see it."

# The order counts: what is more special comes first.
_BY_MESSAGE: Sequence[tuple[str, str]] = (
    (r"Route ", "The service doesn't have this operation. It may be older than: keybearer version"),
    (r"Kubernetes auth method", "Attach it: keybearer identities kubernetes-auth attach IDENTITY --host URL"),
    (r"LDAP auth method", "Attach it: keybearer identities ldap-auth attach IDENTITY"),
    (r"Client secret ", "List them: keybearer identities client-secret list IDENTITY"),
    (r"Secret import ", "List the imports: keybearer imports list"),
    (r".*\bmember\b|Membership ", _MEMBERS),
    (r"Identity |Universal auth ", _IDENTITIES),
    (r"User ", "List the people: keybearer users list"),
    (r"Organization ", "Check the organization, and log in to it: keybearer login --organization-id ID"),
    (r"Environment ", "List the environments: keybearer environments list"),
    (r"Folder |Directory ", "List the folders: keybearer folders list"),
    (r"Tag ", "List the tags: keybearer tags list"),
    (r"Grant ", "List the grants: keybearer grants list"),
    (r".*\bApp ?Connection\b", _CONNECTIONS),
    (r".*\bSecret ?Sync\b", _SYNCS),
    (r"Version ", "List the versions: keybearer secrets history NAME"),
    (r"Secret ", _SECRETS),
    (r"Certificate profile", "List the profiles: keybearer profiles list"),
    (r"Certificate policy", "List the policies: keybearer policies list"),
    (r"Certificate authority|CA ", _AUTHORITIES),
    (r"Certificate request|.*\b[Aa]pproval", "List the requests: keybearer certificates search"),
    (r"Certificate", _CERTIFICATES),
    (r"Project |Workspace ", _PROJECTS),
)
"""Beginnings of the service's messages, which name what is missing."""

_BY_ROUTE: Sequence[tuple[str, str]] = (
    (r"/api/v\d/secret-syncs\b", _SYNCS),
    (r"/api/v\d/secrets?\b", _SECRETS),
    (r"/api/v\d/app-connections\b", _CONNECTIONS),
    (r"/api/v\d/(auth/[a-z-]+/)?identities\b", _IDENTITIES),
    (r"/api/v\d/.*\bmemberships\b", _MEMBERS),
    (r"/api/v\d/cert-manager/ca\b", _AUTHORITIES),
    (r"/api/v\d/cert-manager\b", _CERTIFICATES),
    (r"/api/v\d/(projects|workspace)\b", _PROJECTS),
)
"""Routes, for a service whose message doesn't say what is missing."""


def where_to_look(message: str, asked: str) -> str:
    """Return the next step after a 404.

    Args:
        message: of the service.
        asked: method and path of the request.
    """
    path = asked.partition(" ")[2]
    for rules, text in ((_BY_MESSAGE, message), (_BY_ROUTE, path)):
        for pattern, step in rules:
            if re.match(pattern, text):
                return step
    return _UNKNOWN
