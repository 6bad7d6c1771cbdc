"""The operator's shared identity: who may use it, for which sources. By default nobody, for none."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Self

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from keybearer.base.errors import ConfigurationError
from keybearer.base.folder_paths import lies_within
from keybearer.controllers.sources.query import SourceQuery

__all__ = ["SharedGrant", "SharedGrants", "may_use_shared_identity", "read_grants"]

_Glob = Annotated[str, Field(min_length=1, max_length=253)]


class SharedGrant(BaseModel):
    """Lets some namespaces read some sources through the shared identity; globs are `*` and `?`."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        validate_by_name=True,
    )

    namespaces: Annotated[list[_Glob], Field(max_length=1000)] = Field(default_factory=list)
    namespace_labels: Annotated[dict[str, str], Field(max_length=20)] = Field(default_factory=dict)
    project_id: Annotated[str, Field(max_length=64)] | None = None
    project_slug: Annotated[str, Field(max_length=64)] | None = None
    environment: _Glob
    secret_path: Annotated[str, Field(min_length=1, max_length=2048)] = "/"

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not self.namespaces and not self.namespace_labels:
            msg = "a grant names namespaces, namespaceLabels or both"
            raise ValueError(msg)
        if (self.project_id is None) == (self.project_slug is None):
            msg = "a grant names exactly one of projectId and projectSlug"
            raise ValueError(msg)
        return self

    def covers(self, query: SourceQuery) -> bool:
        """Tell whether the source is one that the grant names: that path, or one below it."""
        project = self.project_slug if query.by_slug else self.project_id
        return (
            project == query.project
            and fnmatchcase(query.environment, self.environment)
            and lies_within(query.path, self.secret_path)
        )

    def admits(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Tell whether the namespace is one that the grant names."""
        if self.namespaces and not any(fnmatchcase(namespace, glob) for glob in self.namespaces):
            return False
        return all(labels.get(name) == value for name, value in self.namespace_labels.items())


SharedGrants = tuple[SharedGrant, ...]
_GRANTS = TypeAdapter(list[SharedGrant])


def read_grants(document: str) -> SharedGrants:
    """Return the grants of a YAML document.

    Raises:
        ConfigurationError: it is no list of grants. What it holds is not shown: it may be a secret that was named
            by mistake.
    """
    try:
        given = yaml.safe_load(document) or []
    except yaml.YAMLError:
        raise ConfigurationError("--shared-grants: the file is no YAML") from None
    try:
        return tuple(_GRANTS.validate_python(given))
    except ValidationError as error:
        where = sorted({".".join(map(str, one["loc"])) for one in error.errors(include_input=False)})
        raise ConfigurationError(
            f"--shared-grants: the file is no list of grants; look at {', '.join(where) or 'its top level'}"
        ) from None


def may_use_shared_identity(
    grants: SharedGrants, namespace: str, labels: Mapping[str, str], query: SourceQuery
) -> bool:
    """Tell whether some grant lets the namespace read the source."""
    return any(grant.admits(namespace, labels) and grant.covers(query) for grant in grants)
