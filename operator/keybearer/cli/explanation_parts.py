"""What explanations of all kinds share: their form, and how the object stands. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.annotations import asking
from keybearer.controllers.custom_resource import (
    Condition,
    ConditionStatus,
    Diagnosis,
    ResourceModel,
    StatusModel,
    Turn,
    describe_invalid,
)
from keybearer.controllers.remedy import AS_THE_MESSAGE_SAYS, SHARED_REMEDIES, Remedy, diagnosed
from keybearer.controllers.target.status import WorkloadStatus

__all__ = [
    "Explanation",
    "SeenObject",
    "Standing",
    "Story",
    "correct_workloads",
    "explained",
    "missing_workloads",
    "names",
    "restarts_told",
    "several",
]

SpecT = TypeVar("SpecT", bound=ResourceModel)
StatusT = TypeVar("StatusT", bound=StatusModel)

_NAMED = 10
"""Names that a sentence spells out."""
_PLANNED = "Planned"
"""The reason of what is held back as its owner asked by mode: Plan: that is to be looked at, and not wrong."""
_STALE = Diagnosis(
    turn=Turn.USER, step="Wait a moment and explain again; if it stays so, look at the operator's log."
)
_WHOSE_TURN = {
    Turn.USER: "",
    Turn.SERVICE_ADMINISTRATOR: "Ask an administrator of the service: ",
    Turn.CLUSTER_ADMINISTRATOR: "Ask an administrator of the operator: ",
    Turn.NOBODY: "",
}


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
    def is_ready(self) -> bool:
        """Whether Ready is True."""
        return self.ready is not None and self.ready.status is ConditionStatus.TRUE

    @property
    def _is_wrong(self) -> bool:
        ready = self.ready
        return ready is not None and ready.status is not ConditionStatus.TRUE and ready.reason != _PLANNED

    @property
    def is_stale(self) -> bool:
        """Whether the status speaks about an earlier spec."""
        generation = self.metadata.get("generation")
        seen = self.status.observed_generation
        return isinstance(generation, int) and seen is not None and seen < generation

    def stands(self) -> Iterator[str]:
        """Say whether it is ready, since when and why; the message of what is wrong is left to `wrong`."""
        ready = self.ready
        if ready is None:
            return
        word = "Ready" if ready.status is ConditionStatus.TRUE else "Not ready"
        since = f"{word} since {ready.last_transition_time.isoformat()} ({ready.reason})"
        yield f"{since}." if self._is_wrong else f"{since}: {ready.message or 'no message'}"

    def wrong(self) -> Iterator[str]:
        """Say what is wrong with the object as a whole."""
        if "deletionTimestamp" in self.metadata:
            yield "It is being deleted, and waits for its cleaning up."
        ready = self.ready
        if ready is None:
            yield "No operator has looked at it yet."
        elif self.is_stale:
            yield "The operator hasn't seen the last edit of the spec yet; what follows is about the one before."
        if ready is not None and self._is_wrong:
            yield f"{ready.reason}: {ready.message}"

    def next_steps(self) -> Iterator[str]:
        """Say what to do about that, as the operator has diagnosed it."""
        yield from map(_told, self.diagnoses())

    def diagnoses(self) -> Iterator[Diagnosis]:
        """Return what is to be done: as the operator has diagnosed it, or because it can't have done so."""
        ready = self.ready
        if ready is None:
            yield _not_seen(self.namespace)
            return
        if self.is_stale:
            yield _STALE
        if ready.status is not ConditionStatus.TRUE:
            # An operator of a version before diagnoses says it in the message alone.
            yield self.status.diagnosis or Diagnosis(turn=Turn.USER, step=AS_THE_MESSAGE_SAYS.step)

    def told(self, remedy: Remedy) -> str:
        """Return a remedy of a part of the object as a step."""
        spec = mapping_of(self.body.get("spec"))
        return _told(diagnosed(remedy, self.kind, self.namespace, self.name, spec))

    def how_to_ask(self, request: str) -> str:
        """Return the command that asks the operator for something."""
        return asking(request, self.kind, self.namespace, self.name)


def _not_seen(namespace: str) -> Diagnosis:
    step = (
        f"Check that an operator runs and serves namespace {namespace}. Otherwise add the namespace to "
        "operator.namespaces (chart) or --namespace (keybearer operator)."
    )
    return Diagnosis(turn=Turn.USER, step=step, command="keybearer doctor")


def _told(diagnosis: Diagnosis) -> str:
    whose = _WHOSE_TURN[diagnosis.turn]
    command = "" if diagnosis.command is None else f" {diagnosis.command}"
    return f"{whose}{diagnosis.step}{command}"


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
) -> Explanation:
    """Return the explanation of an object; where its spec can't be read, just that.

    Args:
        body: the object as the API server shows it.
        tell: what is told of it once it is read.
        spec: how specs of the kind are read.
        status: how statuses of the kind are read.
    """
    try:
        read = spec.model_validate(body.get("spec") or {})
    except ValidationError as error:
        wrong = [f"The spec can't be read: {describe_invalid(error)}."]
        return Explanation([], [], [], wrong, [SHARED_REMEDIES["SpecInvalid"].step])
    try:
        seen = status.model_validate(body.get("status") or {})
    except ValidationError:
        seen = status()  # written by another version; what it says is left out
    return tell(read, seen).whole()


def names(listed: Iterable[str], most: int = _NAMED) -> str:
    """Return names as a sentence has them: the first ones, and how many more there are."""
    every = list(listed)
    more = len(every) - most
    return ", ".join(every[:most]) + (f" and {more} more" if more > 0 else "")


def several(count: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def restarts_told(workloads: Iterable[WorkloadStatus]) -> Iterator[str]:
    """Say of each workload that exists when it was restarted, and whether it still is to be."""
    for one in workloads:
        if one.missing_since is not None:
            continue
        if one.due_since is not None:
            yield f"{one.kind.value} {one.name} is still to be restarted for a change at {one.due_since.isoformat()}."
        if one.last_restart_time is not None:
            yield f"{one.kind.value} {one.name} was last restarted at {one.last_restart_time.isoformat()}."


def missing_workloads(workloads: Iterable[WorkloadStatus]) -> Iterator[str]:
    """Say which workloads of rolloutRestart don't exist."""
    for one in workloads:
        if one.missing_since is not None:
            yield (
                f"{one.kind.value} {one.name} of rolloutRestart doesn't exist, as seen since "
                f"{one.missing_since.isoformat()}."
            )


def correct_workloads(workloads: Iterable[WorkloadStatus], field: str) -> Iterator[str]:
    """Say what to do about those.

    Args:
        workloads: of the status.
        field: of the spec, which names them.
    """
    for one in workloads:
        if one.missing_since is not None:
            yield f"Correct the name {one.name} in {field}, or create the {one.kind.value}."
