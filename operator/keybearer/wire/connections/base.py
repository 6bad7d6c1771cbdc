"""What all apps of connections share: what describes an app, and the form of its credentials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from keybearer.wire.credentials import Credentials, ShownCredentials

__all__ = ["AppModel", "Credentials", "MethodModel", "ShownCredentials"]


@dataclass(frozen=True, slots=True)
class MethodModel:
    """One way to authenticate with an app.

    Attributes:
        given: what is given for it.
        shown: what is answered: the fields of the kept credentials that it has as well.
        kept: what is stored where that isn't what is given: a code is good for one exchange. The app is then
            `Exchanging`.
        is_rotatable: whether its credentials can be made anew by themselves. The app is then `Rotatable`.
    """

    given: type[Credentials]
    shown: type[ShownCredentials] = ShownCredentials
    kept: type[Credentials] | None = None
    is_rotatable: bool = False

    @property
    def stored(self) -> type[Credentials]:
        """What is stored."""
        return self.kept or self.given


@dataclass(frozen=True, slots=True)
class AppModel:
    """An app that connections lead to.

    Attributes:
        name: interface.md's word.
        title: as people write it.
        methods: by their word on the wire.
        own: what the service itself may be given for the remote, `--app-credentials`; None where nothing is of use.
    """

    name: str
    title: str
    methods: Mapping[str, MethodModel]
    own: type[Credentials] | None = None

    @property
    def is_rotatable(self) -> bool:
        """Whether credentials of any method can be made anew by themselves."""
        return any(method.is_rotatable for method in self.methods.values())
