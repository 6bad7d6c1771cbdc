"""What the models of all kinds share: how they read, how they refuse, and what the API server is told.

A rule that a schema can't say stands in one place, as a method marked by `rule`: its CEL goes into the CRD,
the method is its mirror for the operator, and a corpus of manifests holds the two against each other
(`tests/corpus`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import FunctionType
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    ValidationInfo,
    model_validator,
)
from pydantic.alias_generators import to_camel

from keybearer.controllers.resource_fields import Duration, Instant, clip

__all__ = [
    "AGE_COLUMN",
    "MESSAGE_MAX",
    "NEVER_OBSERVED",
    "REASON_COLUMN",
    "STEP_MAX",
    "STORED",
    "Condition",
    "ConditionStatus",
    "CustomResource",
    "Diagnosis",
    "PrinterColumn",
    "ResourceModel",
    "Rule",
    "RuledModel",
    "SpecModel",
    "StatusModel",
    "Turn",
    "describe_invalid",
    "ready_column",
    "rule",
]

NEVER_OBSERVED = -1
"""`observedGeneration` of an object that no operator has looked at: without it, kstatus takes such a one for done."""
MESSAGE_MAX = 4096
"""Longest message of a condition that we write into a status."""
STEP_MAX = 1024
"""Longest text of a diagnosis."""

_READY_PATH = '.status.conditions[?(@.type=="Ready")].{}'
_MARK = "cel_rule"
_NAMED_IN_DESCRIPTION = 12  # problems that one description spells out; the rest is counted


class ResourceModel(BaseModel):
    """A part of a custom resource: camelCase outside, unknown keys ignored, null as good as absent.

    Types are strict, as the API server's are: the text `"5"` is no integer.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        extra="ignore",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
    )

    @model_validator(mode="before")
    @classmethod
    def _drop_nulls(cls, given: object) -> object:
        # The API server prunes a null before it sets defaults; manifests read offline still have theirs.
        if isinstance(given, dict) and None in given.values():
            return {name: value for name, value in given.items() if value is not None}
        return given


@dataclass(frozen=True, slots=True)
class Rule:
    """A demand across fields, as the API server is told it.

    Attributes:
        cel: expression over `self`, judged after defaults were set.
        message: what a user reads when it doesn't hold; says what to write.
        when_stored: it also holds of what the API server has: False for a rule that came after such objects, which
            are to be served all the same.
    """

    cel: str
    message: str
    when_stored: bool = True


_Ruled = TypeVar("_Ruled", bound="RuledModel")


STORED: Mapping[str, object] = {"stored": True}
"""The context in which a model reads what the API server has taken, perhaps for an older version."""


def rule(
    cel: str, message: str, *, when_stored: bool = True
) -> Callable[[Callable[[_Ruled], bool]], Callable[[_Ruled], bool]]:
    """Mark a method of a `RuledModel` as the mirror of a CEL rule: it returns whether the rule holds."""

    def mark(method: Callable[[_Ruled], bool]) -> Callable[[_Ruled], bool]:
        vars(method)[_MARK] = Rule(cel, message, when_stored)
        return method

    return mark


class RuledModel(ResourceModel):
    """A part with rules across its fields; the first that doesn't hold is the error."""

    rules: ClassVar[tuple[tuple[Rule, Callable[[Self], bool]], ...]] = ()

    @classmethod
    def __pydantic_init_subclass__(cls, **_: object) -> None:
        """Collect the methods that `rule` marked, in the order they stand."""
        found = [(vars(method)[_MARK], method) for method in vars(cls).values() if _is_marked(method)]
        cls.rules = (*cls.rules, *found)

    @model_validator(mode="after")
    def _obey(self, info: ValidationInfo) -> Self:
        for demand, holds in self.rules:
            is_asked = demand.when_stored or info.context != STORED
            if is_asked and not holds(self):
                raise ValueError(demand.message)
        return self


def _is_marked(member: object) -> bool:
    return isinstance(member, FunctionType) and _MARK in vars(member)


class ConditionStatus(StrEnum):
    """metav1.ConditionStatus."""

    TRUE = "True"
    FALSE = "False"
    UNKNOWN = "Unknown"


class Condition(ResourceModel):
    """One aspect of the state of the object (`metav1.Condition`)."""

    type: Annotated[
        str,
        Field(
            max_length=316, pattern=r"^[A-Za-z]([A-Za-z0-9./-]*[A-Za-z0-9])?$", description="Which aspect."
        ),
    ]
    status: Annotated[ConditionStatus, Field(strict=False, description="True, False or Unknown.")]
    observed_generation: Annotated[
        int | None, Field(ge=0, description="The metadata.generation that this condition speaks about.")
    ] = None
    last_transition_time: Annotated[Instant, Field(description="When the status last changed.")]
    reason: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1024,
            pattern=r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
            description="Why, as one word for programs.",
        ),
    ]
    message: Annotated[
        str,
        BeforeValidator(clip(MESSAGE_MAX)),
        Field(
            max_length=MESSAGE_MAX, description="The cause and the remedy, for people. Never holds a value."
        ),
    ] = ""


class Turn(StrEnum):
    """Whose turn it is."""

    USER = "User"
    """Whoever applies the object, or the Secrets beside it."""
    SERVICE_ADMINISTRATOR = "ServiceAdministrator"
    """Whoever gives rights in the service, or runs it."""
    CLUSTER_ADMINISTRATOR = "ClusterAdministrator"
    """Whoever configures the operator."""
    NOBODY = "Nobody"
    """The operator tries again."""


class Diagnosis(ResourceModel):
    """What is to be done about an object that is not Ready; the message of Ready says what is wrong."""

    turn: Annotated[Turn, Field(strict=False, description="Whose turn it is.")]
    step: Annotated[
        str,
        BeforeValidator(clip(STEP_MAX)),
        Field(max_length=STEP_MAX, description="The next step."),
    ]
    command: Annotated[
        str | None,
        BeforeValidator(clip(STEP_MAX)),
        Field(max_length=STEP_MAX, description="The command for it; fill in the words in capitals."),
    ] = None
    about: Annotated[
        str | None,
        BeforeValidator(clip(STEP_MAX)),
        Field(max_length=STEP_MAX, description="The field, or the object and its key, that must be changed."),
    ] = None


class StatusModel(ResourceModel):
    """The status of a kind, as a whole."""

    observed_generation: Annotated[
        int | None,
        Field(
            ge=NEVER_OBSERVED,
            description="The metadata.generation that this status speaks about; -1 until the operator has looked.",
        ),
    ] = None
    conditions: tuple[Condition, ...] = ()
    diagnosis: Annotated[
        Diagnosis | None,
        Field(description="The next step while Ready is not True: who must act, and the command."),
    ] = None
    last_handled_requested_at: Annotated[
        str | None,
        Field(max_length=256, description="The annotation keybearer.dev/requestedAt that was answered last."),
    ] = None

    def to_wire(self) -> dict[str, JsonValue]:
        """Return the status as the API server takes it: camelCase, and nothing where there is nothing.

        Absent fields are left out, never null, as server-side apply wants it.
        """
        wire = self.model_dump(mode="json", by_alias=True, exclude_none=True)
        return {name: part for name, part in wire.items() if part not in ([], {})}


class SpecModel(RuledModel):
    """The spec of a kind, as a whole."""

    deletion_deadline: Annotated[
        Duration,
        Field(
            description=(
                "How long the deletion of this object waits for the clean-up. After that the "
                "object is deleted, and an Event names everything that was left."
            )
        ),
    ] = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class PrinterColumn:
    """A column of `kubectl get`; priority 1 shows only with `-o wide`."""

    name: str
    json_path: str
    type: Literal["string", "date", "integer"] = "string"
    description: str = ""
    priority: int = 0


def ready_column(description: str) -> PrinterColumn:
    """Return the column that shows whether the object is ready; `description` says what that means."""
    return PrinterColumn("Ready", _READY_PATH.format("status"), description=description)


REASON_COLUMN = PrinterColumn("Reason", _READY_PATH.format("reason"), description="Why, in a word.")
AGE_COLUMN = PrinterColumn("Age", ".metadata.creationTimestamp", type="date")


@dataclass(frozen=True, slots=True)
class CustomResource:
    """Everything the CRD of a kind says beyond the schemas of its two halves."""

    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...]
    description: str
    spec: type[BaseModel]
    status: type[BaseModel]
    columns: tuple[PrinterColumn, ...]
    group: str = "keybearer.dev"
    version: str = "v1alpha1"
    scope: Literal["Namespaced", "Cluster"] = "Namespaced"
    categories: tuple[str, ...] = ("keybearer",)

    @property
    def name(self) -> str:
        """The name of the CRD object: plural and group."""
        return f"{self.plural}.{self.group}"


def describe_invalid(error: ValidationError, *, root: str = "spec") -> str:
    """Return what is wrong, field by field, in one sentence per problem; never what was given.

    Args:
        error: of a model of a custom resource.
        root: the field that the model was read from.
    """
    problems = error.errors(include_url=False, include_context=False, include_input=False)
    # Pydantic counts a list whose items failed as empty.
    inside = {problem["loc"][:depth] for problem in problems for depth in range(len(problem["loc"]))}
    problems = [one for one in problems if one["type"] != "too_short" or one["loc"] not in inside]
    sentences = [
        f"{_path(root, problem['loc'])} {_sentence(problem['type'], problem['msg'])}"
        for problem in problems[:_NAMED_IN_DESCRIPTION]
    ]
    if len(problems) > _NAMED_IN_DESCRIPTION:
        sentences.append(f"and {len(problems) - _NAMED_IN_DESCRIPTION} more problems")
    return "; ".join(sentences)


def _path(root: str, location: tuple[int | str, ...]) -> str:
    path = root
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", step):
            path += f".{step}"
        elif step != "[key]":
            path += f"[{step[:64]!r}]"
    return path


def _sentence(kind: str, message: str) -> str:
    if kind == "missing":
        return "is required"
    if kind == "extra_forbidden":
        return "is not a field that exists"
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    for given, ours in (
        ("Input should be ", "must be "),
        ("String should ", "must "),
        ("Input should ", "must "),
    ):
        if message.startswith(given):
            return ours + message.removeprefix(given)
    return message[:1].lower() + message[1:]
