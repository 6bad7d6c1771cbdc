"""What one principal may do in one project: the rules of its roles, and its grants for parts of the project.

A deny wins over everything. What no role and no grant allows is not allowed. Whoever may not read may not read
values or use connections either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

from keybearer.base.ids import ProjectId
from keybearer.domain.authorization import (
    NEEDS_READ,
    ONLY_SUBJECT,
    Action,
    Subject,
    Where,
    allows,
    denied,
)
from keybearer.domain.errors import Denial, ForbiddenError
from keybearer.domain.path_patterns import PathPattern, parse_pattern
from keybearer.store.tables.grants import Grant

__all__ = ["ANY_ENVIRONMENT", "Effect", "Permissions", "Rule", "require_may_give", "rule_of", "rules_of_role"]

ANY_ENVIRONMENT = "*"
_PLACES_AT_ONCE = 50
"""Places that are weighed between two turns of others: a member may have a hundred grants."""


class Effect(StrEnum):
    """What a grant does."""

    ALLOW = "allow"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """A grant, ready to be asked."""

    effect: Effect
    subjects: frozenset[Subject]
    actions: frozenset[Action]
    environment: str
    path: PathPattern

    @property
    def is_everywhere(self) -> bool:
        """Whether it holds in the whole project."""
        return self.environment == ANY_ENVIRONMENT and self.path.is_everything

    def speaks_of(self, action: Action, subject: Subject) -> bool:
        """Return whether it decides about this at any place."""
        return action in self.actions and subject in self.subjects

    def holds_in(self, environment: str) -> bool:
        """Return whether it decides about places of the environment."""
        return self.environment in (ANY_ENVIRONMENT, environment)

    def covers(self, where: Where | None) -> bool:
        """Return whether it decides about the place; None asks for the whole project."""
        if where is None:
            return self.is_everywhere
        return self.holds_in(where.environment) and self.path.matches(where.path)

    def may_overlap(self, other: Rule) -> bool:
        """Return False only where no question can concern both."""
        return (
            not self.actions.isdisjoint(other.actions)
            and not self.subjects.isdisjoint(other.subjects)
            and (self.environment == ANY_ENVIRONMENT or other.holds_in(self.environment))
            and self.path.may_overlap(other.path)
        )


def rule_of(grant: Grant) -> Rule:
    """Return the rule that a stored grant stands for."""
    return Rule(
        Effect(grant.effect),
        frozenset(Subject(subject) for subject in grant.subjects),
        frozenset(Action(action) for action in grant.actions),
        grant.environment,
        parse_pattern(grant.secret_path),
    )


@dataclass(frozen=True, slots=True)
class Permissions:
    """Roles and rules together, in the project that refusals name to the audit log."""

    roles: tuple[str, ...]
    rules: tuple[Rule, ...] = ()
    project_id: ProjectId | None = None

    def allows(self, action: Action, subject: Subject, where: Where | None = None) -> bool:
        """Return whether it is allowed at the place; without one, in the whole project."""
        if action in NEEDS_READ and not self.allows(Action.READ, subject, where):
            return False
        if self._denied(action, subject, where):
            return False
        return allows(self.roles, action, subject) or any(
            rule.covers(where) for rule in self._saying(Effect.ALLOW, action, subject)
        )

    def require(self, action: Action, subject: Subject, where: Where | None = None) -> None:
        """Let pass what is allowed at the place; without one, in the whole project.

        Raises:
            ForbiddenError: it is not allowed there, or denied.
        """
        if not self.allows(action, subject, where):
            raise self._refusal(action, subject, where, inverted=self._denied(action, subject, where))

    def at(self, action: Action, subject: Subject) -> Callable[[str, str], bool]:
        """Return a question about many places, by environment and path, each decided once."""
        if not self.rules:
            everywhere = self.allows(action, subject)
            return lambda _environment, _path: everywhere
        return cache(lambda environment, path: self.allows(action, subject, Where(environment, path)))

    async def places(
        self, action: Action, subject: Subject, places: Iterable[tuple[str, str]]
    ) -> set[tuple[str, str]]:
        """Return those of many places, by environment and path, at which it is allowed; others go on meanwhile."""
        allowed = self.at(action, subject)
        found: set[tuple[str, str]] = set()
        for number, place in enumerate(dict.fromkeys(places), start=1):
            if allowed(*place):
                found.add(place)
            if self.rules and number % _PLACES_AT_ONCE == 0:
                await asyncio.sleep(0)
        return found

    def shows_project(self) -> bool:
        """Return whether the project itself may be seen: read as such, or looked up for the part that is granted."""
        return self.allows(Action.READ, Subject.PROJECT) or (
            not self._denied(Action.READ, Subject.PROJECT, None) and bool(self._allowing())
        )

    def shows_environment(self, environment: str) -> bool:
        """Return whether a project that is shown is shown with this environment."""
        return self.allows(Action.READ, Subject.PROJECT) or any(
            rule.holds_in(environment) for rule in self._allowing()
        )

    def require_shown(self) -> None:
        """Let pass who may see the project itself.

        Raises:
            ForbiddenError: neither a role nor a grant speaks for it, or a grant denies it.
        """
        if not self.shows_project():
            inverted = self._denied(Action.READ, Subject.PROJECT, None)
            raise self._refusal(Action.READ, Subject.PROJECT, None, inverted=inverted)

    def allows_beneath(self, action: Action, subject: Subject, where: Where) -> bool:
        """Return whether it may be allowed at the place or somewhere under it."""
        for rule in self._saying(Effect.DENY, action, subject):
            if rule.holds_in(where.environment) and rule.path.covers_beneath(where.path):
                return False
        return allows(self.roles, action, subject) or any(
            rule.holds_in(where.environment) and rule.path.meets_beneath(where.path)
            for rule in self._saying(Effect.ALLOW, action, subject)
        )

    def require_all_beneath(
        self, actions: Iterable[Action], subjects: Iterable[Subject], where: Where
    ) -> None:
        """Let pass what is allowed at the place and at all that could lie under it.

        For changes that carry a whole subtree along: its folders must not lead into, or out of, a part that
        the principal may not touch.

        Raises:
            ForbiddenError: something of it is not allowed somewhere there.
        """
        if not self.rules:
            return
        wanted = [(action, subject) for subject in subjects for action in actions]
        for action, subject in wanted:
            inverted = any(
                rule.holds_in(where.environment) and rule.path.meets_beneath(where.path)
                for rule in self._saying(Effect.DENY, action, subject)
            )
            allowed = allows(self.roles, action, subject) or any(
                rule.holds_in(where.environment) and rule.path.covers_beneath(where.path)
                for rule in self._saying(Effect.ALLOW, action, subject)
            )
            if inverted or not allowed:
                raise self._refusal(action, subject, where, inverted=inverted)

    def may_give(self, rule: Rule) -> bool:
        """Return whether all that the rule speaks of is allowed to this principal, wherever it holds."""
        if not NEEDS_READ.isdisjoint(rule.actions):
            # What the giver may not even see is not the giver's to give.
            rule = replace(rule, actions=rule.actions | {Action.READ})
        if not all(
            allows(self.roles, action, subject)
            for subject in rule.subjects
            for action in rule.actions
            if ONLY_SUBJECT.get(action, subject) is subject
        ):
            return False
        return not any(mine.effect is Effect.DENY and mine.may_overlap(rule) for mine in self.rules)

    def _refusal(
        self, action: Action, subject: Subject, where: Where | None, *, inverted: bool
    ) -> ForbiddenError:
        return denied(action, subject, where, inverted=inverted, project_id=self.project_id)

    def _denied(self, action: Action, subject: Subject, where: Where | None) -> bool:
        # A question about the whole project is denied by a deny of any part of it.
        return any(where is None or rule.covers(where) for rule in self._saying(Effect.DENY, action, subject))

    def _allowing(self) -> list[Rule]:
        return [rule for rule in self.rules if rule.effect is Effect.ALLOW]

    def _saying(self, effect: Effect, action: Action, subject: Subject) -> Iterable[Rule]:
        return (rule for rule in self.rules if rule.effect is effect and rule.speaks_of(action, subject))


def rules_of_role(role: str) -> list[Rule]:
    """Return what a role gives, as rules for the whole project."""
    everything = parse_pattern("/**")
    return [
        Rule(Effect.ALLOW, frozenset({subject}), actions, ANY_ENVIRONMENT, everything)
        for subject in Subject
        if (actions := frozenset(action for action in Action if allows([role], action, subject)))
    ]


def require_may_give(permissions: Permissions, rules: Iterable[Rule]) -> None:
    """Let pass who may do all that these rules speak of.

    Raises:
        ForbiddenError: the principal would give more than it has (`PermissionBoundaryError`).
    """
    for rule in rules:
        if not permissions.may_give(rule):
            raise ForbiddenError(
                "You can't grant more than you may do yourself, nor lift a denial that binds you",
                name="PermissionBoundaryError",
                denial=Denial(
                    ", ".join(sorted(rule.actions)),
                    ", ".join(sorted(rule.subjects)),
                    rule.environment,
                    str(rule.path),
                    project_id=permissions.project_id,
                ),
            )
