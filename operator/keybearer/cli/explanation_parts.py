"""What explanations of all kinds share: their form, how the object stands, and steps with names filled in. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from keybearer.controllers.custom_resource import (
    Condition,
    ConditionStatus,
    ResourceModel,
    StatusModel,
    describe_invalid,
)
from keybearer.controllers.json_reading import mapping_of, text_of
from keybearer.controllers.secretsync.reasons import REMEDIES as SHARED_REMEDIES

__all__ = ["Explanation", "SeenObject", "Standing", "Story", "explained", "names", "remedy_of", "several"]

SpecT = TypeVar("SpecT", bound=ResourceModel)
StatusT = TypeVar("StatusT", bound=StatusModel)

_NAMED = 10
"""Names that a sentence spells out."""
_PLANNED = "Planned"
"""The reason of what is held back as its owner asked by mode: Plan: that is to be looked at, and not wrong."""
_REQUESTS = ("approve-plan", "release-guard", "remove-foreign", "sync")


@dataclass(frozen=True, slots=True)
class SeenObject:
    """An object beside the one that is explained: the names of its keys, never what they hold.

    Attributes:
        is_hidden: whether there is one isn't known, for the user may not look.
    """

    keys: tuple[str, ...]
    owner_uid: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Explanation:
    """Sentences by subject; `wrong` is empty where all is well."""

    reads: list[str]
    writes: list[str]
    stands: list[str]
    wrong: list[str]
    next_steps: list[str]


def remedy_of(own: Mapping[str, str], reason: str) -> str:
    """Return what a person does about a reason; empty where nothing is to be done.

    Args:
        own: what the kind says of its reasons; those of identities and of the service are the same for all kinds.
        reason: of a condition, or of a part of the object.
    """
    shared: Mapping[str, str] = {str(known): step for known, step in SHARED_REMEDIES.items()}
    unknown = f"This version doesn't know the reason {reason}: use the keybearer of the operator's version."
    return own.get(reason, shared.get(reason, unknown))


@dataclass(frozen=True, slots=True)
class Standing:
    """An object of ours as the API server shows it, and how its conditions say that it stands.

    Attributes:
        kind: as kubectl takes it, such as `secretsync`.
        body: the whole object.
        conditions: of its status.
        status: as it could be read; nothing in it where another version wrote it.
    """

    kind: str
    body: Mapping[str, JsonValue]
    conditions: tuple[Condition, ...]
    status: StatusModel

    @property
    def metadata(self) -> Mapping[str, JsonValue]:
        """Who it is."""
        return mapping_of(self.body.get("metadata"))

    @property
    def name(self) -> str:
        """Its name."""
        return text_of(self.metadata.get("name"))

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return text_of(self.metadata.get("namespace"))

    @property
    def ready(self) -> Condition | None:
        """The condition Ready; None before the operator has looked."""
        return next((one for one in self.conditions if one.type == "Ready"), None)

    @property
    def is_stale(self) -> bool:
        """Whether the status speaks about an earlier spec."""
        generation = self.metadata.get("generation")
        seen = self.status.observed_generation
        return isinstance(generation, int) and seen is not None and seen < generation

    def stands(self) -> Iterator[str]:
        """Say whether it is ready, since when and why."""
        ready = self.ready
        if ready is not None:
            word = "Ready" if ready.status is ConditionStatus.TRUE else "Not ready"
            since = ready.last_transition_time.isoformat()
            yield f"{word} since {since} ({ready.reason}): {ready.message or 'no message'}"

    def wrong(self) -> Iterator[str]:
        """Say what is wrong with the object as a whole."""
        if "deletionTimestamp" in self.metadata:
            yield "It is being deleted, and waits for its cleaning up."
        ready = self.ready
        if ready is None:
            yield "No operator has looked at it yet."
        elif self.is_stale:
            yield "The operator hasn't seen the last edit of the spec yet; what follows is about the one before."
        if ready is not None and ready.status is not ConditionStatus.TRUE and ready.reason != _PLANNED:
            yield f"{ready.reason}: {ready.message}"

    def next_steps(self, remedies: Mapping[str, str]) -> Iterator[str]:
        """Say what to do about that; braces are for `filled`.

        Args:
            remedies: what the kind says of its reasons.
        """
        ready = self.ready
        if ready is None:
            yield (
                "Check that the operator runs and serves this namespace: "
                "kubectl get pods -A -l app.kubernetes.io/name=keybearer"
            )
        elif self.is_stale:
            yield "Wait a moment and explain again; if it stays so, look at the operator's log."
        if ready is not None and ready.status is not ConditionStatus.TRUE:
            step = remedy_of(remedies, ready.reason)
            if step:
                yield step

    def filled(self, step: str, *, identity: str | None, connection: str | None = None) -> str:
        """Return a step with names where its braces are."""
        filled = step.replace("{identity}", identity or "(none is named)")
        filled = filled.replace("{namespace}", self.namespace)
        filled = filled.replace("{connection}", connection or "(none is named)")
        for request in _REQUESTS:
            filled = filled.replace(f"{{{request}}}", self._annotate(request))
        return filled

    def _annotate(self, request: str) -> str:
        return (
            f"kubectl -n {self.namespace} annotate --overwrite {self.kind} {self.name} "
            f'keybearer.dev/request={request} keybearer.dev/requestedAt="$(date +%s)"'
        )


@dataclass(frozen=True, slots=True)
class Story(ABC):
    """What is told of an object; each kind has its own sentences."""

    standing: Standing

    @abstractmethod
    def reads(self) -> Iterator[str]:
        """Say where from it has what it writes."""

    @abstractmethod
    def writes(self) -> Iterator[str]:
        """Say what it makes."""

    @abstractmethod
    def stands(self) -> Iterator[str]:
        """Say how far it has come."""

    @abstractmethod
    def wrong(self) -> Iterator[str]:
        """Say what is wrong with it, and with what it needs."""

    @abstractmethod
    def next_steps(self) -> Iterator[str]:
        """Say what to do about that; the same step may come twice."""

    def whole(self) -> Explanation:
        """Return all of it."""
        return Explanation(
            reads=list(self.reads()),
            writes=list(self.writes()),
            stands=list(self.stands()),
            wrong=list(self.wrong()),
            next_steps=list(dict.fromkeys(self.next_steps())),
        )


def explained(
    body: Mapping[str, JsonValue],
    tell: Callable[[SpecT, StatusT], Story],
    *,
    spec: type[SpecT],
    status: type[StatusT],
    remedy: str,
) -> Explanation:
    """Return the explanation of an object; where its spec can't be read, just that.

    Args:
        body: the object as the API server shows it.
        tell: what is told of it once it is read.
        spec: how specs of the kind are read.
        status: how statuses of the kind are read.
        remedy: what to do about a spec that can't be read.
    """
    try:
        read = spec.model_validate(body.get("spec") or {})
    except ValidationError as error:
        wrong = [f"The spec can't be read: {describe_invalid(error)}."]
        return Explanation([], [], [], wrong, [remedy])
    try:
        seen = status.model_validate(body.get("status") or {})
    except ValidationError:
        seen = status()  # written by another version; what it says is left out
    return tell(read, seen).whole()


def names(listed: Iterable[str]) -> str:
    """Return names as a sentence has them: the first ones, and how many more there are."""
    every = list(listed)
    more = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def several(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
