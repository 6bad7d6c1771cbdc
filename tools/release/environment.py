"""The variables that the programs of a release get: the only place of this package that reads the environment.

What a user has set for git, pip, tar, buildah or the language of messages could change the bytes that they write, so
each program gets what is listed here and no more.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings", "build_environment", "git_environment", "read_settings", "user_environment"]

# What leads to packages and registries: past a proxy, an authority of the house or a login. It is in no byte.
_TO_THE_NETWORK = frozenset(
    {
        *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"),
        *("http_proxy", "https_proxy", "no_proxy", "all_proxy"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REGISTRY_AUTH_FILE", "DOCKER_CONFIG"),
    }
)


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be chosen for a release.

    Attributes:
        base: what the image is built on: `debian`, or a reference of an image. None where nobody said.
        mirror: of Debian, from which the base is made. None for the one that apt uses.
    """

    base: str | None = None
    mirror: str | None = None


def read_settings() -> Settings:
    """Those of `RELEASE_BASE` and `RELEASE_DEBIAN_MIRROR`; an empty one counts as none."""
    variables = _variables()
    return Settings(variables.get("RELEASE_BASE") or None, variables.get("RELEASE_DEBIAN_MIRROR") or None)


def user_environment() -> dict[str, str]:
    """For what says how this machine reaches the network."""
    return _variables()


def git_environment() -> dict[str, str]:
    """For git: the user's settings, which say whom to trust, but no variable that leads to another repository."""
    return {name: value for name, value in _variables().items() if not name.startswith("GIT_")} | {
        "LC_ALL": "C"
    }


def build_environment(
    home: Path, seconds: int | None, extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """For everything that writes bytes of a release.

    Args:
        home: a directory of this build, in which nobody has settings.
        seconds: what is written is dated so; None for a program that is told by its arguments.
        extra: for one program.
    """
    variables = _variables()
    return {
        **{name: variables[name] for name in sorted(_TO_THE_NETWORK & variables.keys())},
        "HOME": str(home),
        "LC_ALL": "C.UTF-8",
        "PATH": variables.get("PATH", os.defpath),
        "PYTHONHASHSEED": "0",
        **({} if seconds is None else {"SOURCE_DATE_EPOCH": str(seconds)}),
        "TZ": "UTC",
        **(extra or {}),
    }


def _variables() -> dict[str, str]:
    return dict(os.environ)  # noqa: TID251 - this program has no settings object that reads it
