"""What is known of an object before its manifest is applied: itself, and what is beside it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.cli.kubectl.steps import Action, Step
from keybearer.controllers.mode import Mode

__all__ = ["Around", "Foresight"]


@dataclass(frozen=True, slots=True)
class Around:
    """What is in the namespace beside the object.

    Attributes:
        owners: by kind and name of what the manifest would write, whose it is: the UID of its owner, empty where it
            belongs to nobody of us. What doesn't exist is missing.
        controllers: of those, kind and name of an owner that is none of our custom resources.
        unknown: of those, which could not be looked at.
        missing: names of Secrets that the manifest needs and that don't exist.
    """

    owners: Mapping[tuple[str, str], str] = field(default_factory=dict)
    unknown: frozenset[tuple[str, str]] = frozenset()
    missing: frozenset[str] = frozenset()
    controllers: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Foresight:
    """An object that a manifest would make or change.

    Attributes:
        before: the object as it is; None where it doesn't exist.
        after: as the API server would store it.
        around: what is beside it.
    """

    before: Mapping[str, JsonValue] | None
    after: Mapping[str, JsonValue]
    around: Around

    @property
    def kind(self) -> str:
        """Of which kind it is."""
        return text_of(self.after.get("kind"))

    @property
    def meta(self) -> Mapping[str, JsonValue]:
        """Who it is."""
        return mapping_of(self.after.get("metadata"))

    @property
    def name(self) -> str:
        """Its name."""
        return text_of(self.meta.get("name"))

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return text_of(self.meta.get("namespace"))

    @property
    def subject(self) -> str:
        """What steps call it."""
        return f"{self.kind} {self.namespace}/{self.name}"

    @property
    def uid(self) -> str | None:
        """What tells it from others of its name; None where it doesn't exist."""
        return None if self.before is None else text_of(mapping_of(self.before.get("metadata")).get("uid"))

    @property
    def spec_before(self) -> Mapping[str, JsonValue]:
        """Its spec as it is; empty where it doesn't exist."""
        return {} if self.before is None else mapping_of(self.before.get("spec"))

    @property
    def spec_after(self) -> Mapping[str, JsonValue]:
        """Its spec as it would be."""
        return mapping_of(self.after.get("spec"))

    def held_back(self, mode: Mode, shown: str) -> Step | None:
        """Return the one step of a mode in which the operator carries nothing out; None in the others.

        Args:
            mode: that of the spec.
            shown: what a plan shows of this kind.
        """
        if mode is Mode.SUSPENDED:
            return Step(self.subject, Action.KEEP, "mode is Suspended: the operator does nothing")
        if mode is Mode.PLAN:
            where = f"{self.kind.lower()}/{self.name}"
            told = f"kubectl keybearer plan {where} shows {shown}, once the operator has looked"
            return Step(self.subject, Action.PLAN, told)
        return None
