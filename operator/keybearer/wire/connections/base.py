"""What all apps of connections share: what describes an app, and the form of its credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keybearer.wire.strict import StrictModel

__all__ = ["AppModel", "Credentials", "MethodModel", "ShownCredentials"]


class Credentials(StrictModel):
    """Credentials as they are given; fields that are secret are `Confidential`."""


class ShownCredentials(StrictModel):
    """Credentials as they are answered: without what is secret (wire.md section 4.2)."""


@dataclass(frozen=True, slots=True)
class MethodModel:
    """One way to authenticate with an app.

    Attributes:
        given: what is given for it.
        shown: what is answered: the fields of `given` that it has as well.
    """

    given: type[Credentials]
    shown: type[ShownCredentials] = ShownCredentials


@dataclass(frozen=True, slots=True)
class AppModel:
    """An app that connections lead to.

    Attributes:
        name: interface.md's word.
        title: as people write it.
        methods: by their word on the wire.
        is_rotatable: whether its credentials can be made anew by themselves.
    """

    name: str
    title: str
    methods: Mapping[str, MethodModel]
    is_rotatable: bool = False
