"""Credentials for GitLab: an access token (the published service's words)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from keybearer.wire.base import Confidential
from keybearer.wire.connections.base import AppModel, Credentials, MethodModel, ShownCredentials
from keybearer.wire.instance_url import InstanceUrl
from keybearer.wire.strict import EmptyIsAbsent

__all__ = ["GITLAB", "AccessTokenCredentials", "AccessTokenType"]

_TOKEN_MAX = 1024


class AccessTokenType(StrEnum):
    """Whose token it is; both travel the same way."""

    PERSONAL = "personal"
    PROJECT = "project"


class AccessTokenCredentials(Credentials):
    """A token of a person, project or group with the scope `api`."""

    access_token: Annotated[
        Confidential,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=_TOKEN_MAX, pattern="^[!-~]+$"),
    ]
    access_token_type: AccessTokenType
    instance_url: Annotated[InstanceUrl | None, EmptyIsAbsent] = None


class _Shown(ShownCredentials):
    """All but the token."""

    access_token_type: AccessTokenType
    instance_url: str | None = None


GITLAB = AppModel(
    name="gitlab",
    title="GitLab",
    methods={"access-token": MethodModel(AccessTokenCredentials, _Shown)},
)
