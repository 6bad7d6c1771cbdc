"""The question whether a user may use a profile, as the API server's authorizers take it. Pure."""

from __future__ import annotations

from keybearer.controllers.signers.asked import Requester
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = ["build_review"]


def build_review(requester: Requester, profile: ObjectKey) -> JsonObject:
    """Return the spec of a SubjectAccessReview for the verb `sign` on the profile."""
    return {
        "user": requester.username,
        "uid": requester.uid,
        "groups": list(requester.groups),
        "extra": {name: list(values) for name, values in requester.extra.items()},
        "resourceAttributes": {
            "verb": "sign",
            "group": "keybearer.dev",
            "resource": "certificateprofiles",
            "namespace": profile.namespace,
            "name": profile.name,
        },
    }
