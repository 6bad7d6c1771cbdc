"""GitLab: CI/CD variables of a project or a group, within one environment scope."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from urllib.parse import quote

from pydantic import JsonValue

from keybearer.destinations.name_rules import NameRules
from keybearer.outbound.apps.gitlab import GitLabApi
from keybearer.outbound.destinations.bounds import Bounds, one_by_one
from keybearer.outbound.destinations.protocol import (
    Change,
    DriverInput,
    Outgoing,
    Present,
    Refused,
    RuleBrokenError,
    Traits,
    Written,
)
from keybearer.outbound.remote import (
    RemoteAnswer,
    RemoteRefusedError,
    RemoteUnavailableError,
    segment,
)
from keybearer.wire.destinations.base import DestinationConfig
from keybearer.wire.destinations.gitlab import GroupConfig, ProjectConfig

__all__ = ["GitLabVariables"]

_PAGE = 100
_PAGES_MAX = 1000
_RULES = NameRules(
    pattern="[A-Za-z0-9_]+", words="letters, digits and underscores", longest=255, value_chars_max=10_000
)
_MASKABLE = re.compile(r"\S{8,}")
"""Of a value whose references aren't expanded, which is how values are written here."""
_FIELDS = ("key", "value", "environment_scope")
"""Fields of a variable that GitLab may complain of; what it says of them may repeat the value."""


class GitLabVariables:
    """The variables of one environment scope; `*` is one of them, the one for all environments."""

    def __init__(self, given: DriverInput) -> None:
        self._config = _variables_config(given.config)
        self._path, self._place = _path_of(self._config)
        self._scope = self._config.target_environment
        self._api = GitLabApi(given.credentials, given.context)
        self._known: set[str] | None = None

    @property
    def traits(self) -> Traits:
        """Values come back unless they are to be hidden."""
        return Traits(has_readable_values=not self._config.should_hide_secrets, rules=_RULES)

    def extras_of(self, outgoing: Outgoing) -> Mapping[str, str]:  # noqa: ARG002 - they are all marked alike
        """Return the marks that variables are to have."""
        return _marks(is_protected=self._config.should_protect_secrets, is_masked=self._is_masked)

    @property
    def _is_masked(self) -> bool:
        return self._config.should_mask_secrets or self._config.should_hide_secrets

    async def read(self, names: Sequence[str]) -> Mapping[str, Present]:  # noqa: ARG002 - all are listed
        """Return the variables of the scope; those of others with the same name are none of ours."""
        found: dict[str, Present] = {}
        bounds = Bounds()
        for page in range(1, _PAGES_MAX + 1):
            answer = await self._api.send("GET", f"{self._path}?per_page={_PAGE}&page={page}")
            if answer.status != 200:
                raise self._api.error_of(answer, f"list the variables of {self._place}", may_quote=True)
            listed = answer.json()
            if not isinstance(listed, list):
                raise RemoteUnavailableError("GitLab lists variables in a form that isn't its own")
            for one in listed:
                name, present = self._present(one)
                bounds.add(name, (present and present.value) or "")
                if present is not None:
                    found[name] = present
            if not _has_next(answer):
                self._known = set(found)
                return found
        raise RemoteUnavailableError(f"GitLab doesn't come to an end of the variables of {self._place}")

    def _present(self, listed: JsonValue) -> tuple[str, Present | None]:
        """Return the key of a variable, and what there is of it; None for one of another environment scope."""
        name = listed.get("key") if isinstance(listed, dict) else None
        if not isinstance(listed, dict) or not isinstance(name, str):
            raise RemoteUnavailableError("GitLab lists a variable without a key")
        if listed.get("environment_scope", "*") != self._scope:
            return name, None
        value = listed.get("value")
        marks = _marks(is_protected=listed.get("protected") is True, is_masked=listed.get("masked") is True)
        return name, Present(value if isinstance(value, str) else None, extras=marks)

    def apply(self, change: Change) -> AsyncIterator[Written | Refused]:
        """Write one by one: there is no other way."""
        return one_by_one(change, self._put, self._delete)

    async def _put(self, outgoing: Outgoing) -> None:
        if self._is_masked and not _MASKABLE.fullmatch(outgoing.value):
            raise RuleBrokenError(
                f"GitLab can't mask the variable '{outgoing.name}': a masked value is one line of 8 characters or "
                "more, without white space; change it, or turn shouldMaskSecrets and shouldHideSecrets off"
            )
        steps = [self._update, self._create]
        if self._known is None:
            # Most likely it is there. Not so for a group: where the filter fits none, GitLab updates a variable of
            # that key in another scope.
            if isinstance(self._config, GroupConfig):
                steps.reverse()
        elif outgoing.name not in self._known:
            steps.reverse()
        # Somebody else may create or delete it meanwhile, so the first step may work in the end.
        for step in (*steps, steps[0]):
            if await step(outgoing):
                return
        raise RemoteUnavailableError(f"the variable '{outgoing.name}' comes and goes at GitLab")

    async def _update(self, outgoing: Outgoing) -> bool:
        """Return whether it was there to be overwritten."""
        body: JsonValue = {"value": outgoing.value, "raw": True, **self._mark_fields()}
        answer = await self._api.send("PUT", self._path_of_one(outgoing.name), body)
        if _has_no_variable(answer):
            return False
        self._judge(answer, outgoing.name)
        return True

    async def _create(self, outgoing: Outgoing) -> bool:
        """Return whether there was none of this name."""
        body: dict[str, JsonValue] = {
            "key": outgoing.name,
            "value": outgoing.value,
            "variable_type": "env_var",
            "environment_scope": self._scope,
            "raw": True,
            **self._mark_fields(),
        }
        if self._config.should_hide_secrets:
            body["masked_and_hidden"] = True  # only a new variable can be hidden
        answer = await self._api.send("POST", self._path, body)
        if _is_taken(answer):
            return False
        self._judge(answer, outgoing.name)
        return True

    def _mark_fields(self) -> dict[str, JsonValue]:
        return {"protected": self._config.should_protect_secrets, "masked": self._is_masked}

    def _judge(self, answer: RemoteAnswer, name: str) -> None:
        if 200 <= answer.status < 300:
            written = answer.json()
            scope = written.get("environment_scope", self._scope) if isinstance(written, dict) else None
            if scope != self._scope:
                raise RemoteRefusedError(
                    f"GitLab wrote the variable '{name}' of {self._place} in another environment scope: it has no "
                    "such scopes for groups, or somebody deleted the variable of this scope meanwhile; look there"
                )
            return
        if answer.status == 400:
            fields = [field for field in _FIELDS if field in _complaints(answer)]
            about = f" for its {' and '.join(fields)}" if fields else ""
            raise RemoteRefusedError(
                f"GitLab refuses the variable '{name}' of {self._place}{about}: keys are letters, digits and "
                "underscores, 255 at most, values have 10,000 characters at most"
            )
        raise self._api.error_of(answer, f"write the variable '{name}' of {self._place}", may_quote=False)

    async def _delete(self, name: str) -> None:
        answer = await self._api.send("DELETE", self._path_of_one(name))
        if not 200 <= answer.status < 300 and not _has_no_variable(answer):
            raise self._api.error_of(answer, f"delete the variable '{name}' of {self._place}", may_quote=True)

    def _path_of_one(self, name: str) -> str:
        scope = quote(self._scope, safe="")
        return f"{self._path}/{segment(name)}?filter%5Benvironment_scope%5D={scope}"


def _variables_config(config: DestinationConfig) -> ProjectConfig | GroupConfig:
    if not isinstance(config, ProjectConfig | GroupConfig):
        raise TypeError(type(config).__name__)
    return config


def _path_of(config: ProjectConfig | GroupConfig) -> tuple[str, str]:
    """Return where the variables are in the API, and what to call the place."""
    if isinstance(config, ProjectConfig):
        return f"/projects/{segment(config.project_id)}/variables", f"the project '{config.project_id}'"
    return f"/groups/{segment(config.group_id)}/variables", f"the group '{config.group_id}'"


def _marks(*, is_protected: bool, is_masked: bool) -> Mapping[str, str]:
    return {"protected": str(is_protected).lower(), "masked": str(is_masked).lower()}


def _has_next(answer: RemoteAnswer) -> bool:
    # The next page is counted, not followed: a link may lead anywhere.
    return bool(answer.headers.get("x-next-page")) or 'rel="next"' in answer.headers.get("link", "")


def _has_no_variable(answer: RemoteAnswer) -> bool:
    """Whether the variable is missing; where project or group are, the message names those."""
    if answer.status != 404:
        return False
    content = answer.json()
    message = content.get("message") if isinstance(content, dict) else None
    return isinstance(message, str) and "Variable" in message


def _is_taken(answer: RemoteAnswer) -> bool:
    if answer.status != 400:
        return False
    said = _complaints(answer).get("key")
    return isinstance(said, list) and any(isinstance(one, str) and "taken" in one for one in said)


def _complaints(answer: RemoteAnswer) -> Mapping[str, JsonValue]:
    content = answer.json()
    message = content.get("message") if isinstance(content, dict) else None
    return message if isinstance(message, dict) else {}
