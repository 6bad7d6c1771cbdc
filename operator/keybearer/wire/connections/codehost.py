"""Credentials for the code host: a token, an installation of an app, or a login (wire.md section 4.2)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from keybearer.wire.connections.base import AppModel, Credentials, MethodModel, ShownCredentials
from keybearer.wire.strict import EmptyIsAbsent

__all__ = [
    "CODEHOST",
    "CodehostCredentials",
    "GitHubAppCredentials",
    "InstallationCredentials",
    "InstanceType",
    "LoginCredentials",
    "OAuthCredentials",
    "OwnCredentials",
    "PatCredentials",
]

_HOST_MAX = 300
_TOKEN_MAX = 1024
_ID_MAX = 64
_KEY_MAX = 16_384


class InstanceType(StrEnum):
    """Whether the host's API has a name of its own, or a path on the host's."""

    CLOUD = "cloud"
    SERVER = "server"


Host = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True,
        max_length=_HOST_MAX,
        pattern=r"^(https?://)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/?$",
    ),
    AfterValidator(lambda text: text.rstrip("/")),
]
"""A host, perhaps with a port and the scheme before it: people copy it from their browser."""

Token = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=_TOKEN_MAX, pattern="^[!-~]+$"),
]
"""Without white space around it: it travels in a header."""

PrivateKey = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_KEY_MAX, pattern=r"\S")
]
"""An RSA key in PEM, as the host hands it out."""

Id = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_ID_MAX, pattern=r"\S")]


class CodehostCredentials(Credentials):
    """What every method takes: where the host is, `github.com` by itself."""

    instance_type: InstanceType | None = None
    host: Annotated[Host | None, EmptyIsAbsent] = None

    @model_validator(mode="after")
    def _names_its_server(self) -> Self:
        if self.instance_type is InstanceType.SERVER and self.host is None:
            raise ValueError("host is required for the instanceType server")
        return self


class PatCredentials(CodehostCredentials):
    """A personal access token, classic or fine-grained."""

    personal_access_token: Token = Field(repr=False)


class GitHubAppCredentials(CodehostCredentials):
    """An installation of an app.

    Either of an app of the caller's own: `git_hub_app_id` and `private_key` prove it, and a code says nothing more.
    Or of the service's app, where it has one: then the code proves that the caller may use this installation.
    """

    installation_id: Id
    code: Token | None = Field(default=None, repr=False)
    git_hub_app_id: Id | None = None
    private_key: PrivateKey | None = Field(default=None, repr=False)

    @model_validator(mode="after")
    def _names_the_app_of_its_key(self) -> Self:
        if self.private_key is not None and self.git_hub_app_id is None:
            raise ValueError("gitHubAppId is required with a privateKey")
        return self


class InstallationCredentials(CodehostCredentials):
    """What is kept of an installation; without a key it is one of the service's app."""

    installation_id: Id
    git_hub_app_id: Id | None = None
    private_key: PrivateKey | None = Field(default=None, repr=False)


class OAuthCredentials(CodehostCredentials):
    """The code that the host gave a person's browser; good once, for who asked for it."""

    code: Token = Field(repr=False)


class LoginCredentials(CodehostCredentials):
    """What is kept of a login: the token that the code was exchanged for."""

    access_token: Token = Field(repr=False)


class OwnCredentials(CodehostCredentials):
    """What the service itself has at one host: the client that codes are made for, and the app of the same name."""

    client_id: Id
    client_secret: Token = Field(repr=False)
    git_hub_app_id: Id | None = None
    private_key: PrivateKey | None = Field(default=None, repr=False)


class _Shown(ShownCredentials):
    """What was said about where the host is."""

    instance_type: InstanceType | None = None
    host: str | None = None


CODEHOST = AppModel(
    name="codehost",
    title="GitHub",
    methods={
        "github-app": MethodModel(GitHubAppCredentials, _Shown, kept=InstallationCredentials),
        "oauth": MethodModel(OAuthCredentials, _Shown, kept=LoginCredentials),
        "pat": MethodModel(PatCredentials, _Shown),
    },
    own=OwnCredentials,
)
