"""What has to be done about the sync to a destination: from what is there and what is wanted. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING

import orjson
from pydantic import JsonValue, ValidationError

from keybearer.base.nearest import did_you_mean
from keybearer.controllers.catalogue import CatalogueOf
from keybearer.controllers.custom_resource import describe_invalid
from keybearer.controllers.fingerprint import Fingerprinter
from keybearer.controllers.mode import Mode
from keybearer.controllers.objects import ObservedObject
from keybearer.controllers.outcome import StalledError
from keybearer.controllers.ownership import is_own, marked
from keybearer.controllers.secretsync.reasons import Reason
from keybearer.controllers.secretsync.resource import SecretSyncSpec
from keybearer.controllers.secretsync.spec import KeySelection, Source
from keybearer.controllers.secretsync.status import PushStatus
from keybearer.controllers.work import WorkKey
from keybearer.wire.vocabulary import Vocabulary, canonical_destination

if TYPE_CHECKING:
    from keybearer.destinations.catalogue import Catalogue

__all__ = [
    "DefinitionAction",
    "Definitions",
    "DesiredSync",
    "PresentSync",
    "build_definition",
    "definition_action",
    "require_whole_folder",
    "sync_name",
]

_NAME_MAX = 256
_MARK_IN_NAME = 8
_NO_WORD = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class DesiredSync:
    """A sync as its manifest describes it; `fingerprint` is keyed, of the definition."""

    name: str
    destination: str
    project_id: str
    connection_id: str
    environment: str
    path: str
    description: str
    mark: str
    is_automatic: bool
    options: Mapping[str, JsonValue] = field(repr=False)
    config: Mapping[str, JsonValue] = field(repr=False)
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class PresentSync:
    """What of a sync in the service the plan looks at."""

    id: str
    name: str
    destination: str
    project_id: str
    description: str | None
    version: int


class DefinitionAction(Enum):
    """What is done about the definition."""

    NONE = "none"
    CREATE = "create"
    UPDATE = "update"


def require_whole_folder(source: Source) -> None:
    """Let pass a source that the service can push: one folder as it is.

    Raises:
        StalledError: it selects, renames or gathers; the message names what.
    """
    given = {
        "recursive": source.recursive,
        "includeImports: false": not source.include_imports,
        "expandSecretReferences: false": not source.expand_secret_references,
        "tagSlugs": bool(source.tag_slugs),
        "keys": source.keys != KeySelection(),
    }
    named = [name for name, is_given in given.items() if is_given]
    if named:
        raise StalledError(
            Reason.SOURCE_NOT_PUSHABLE,
            f"source has {', '.join(named)}, but a destination gets one folder as it is, pushed by the service; "
            "leave them out, or use syncOptions.keySchema for other names",
        )


def sync_name(seen: ObservedObject, spec: SecretSyncSpec, mark: str) -> str:
    """Return the name of the sync in the service.

    Where none is given, a part of the object's mark is in it: names are the whole project's, and neither an object of
    another namespace or cluster has the same one, nor can anybody take it before the object is there.
    """
    if spec.sync_name is not None:
        return spec.sync_name
    readable = _NO_WORD.sub("-", f"{seen.key.namespace}-{seen.key.name}")
    return f"{readable[: _NAME_MAX - _MARK_IN_NAME - 1].rstrip('-')}-{mark[:_MARK_IN_NAME]}"


def build_definition(
    seen: ObservedObject,
    spec: SecretSyncSpec,
    source: Source,
    *,
    project_id: str,
    connection_id: str,
    mark: str,
    catalogue: Catalogue,
    fingerprinter: Fingerprinter,
) -> DesiredSync:
    """Return the sync that a manifest describes.

    Raises:
        StalledError: the destination is unknown, or its configuration or options are not what it takes.
    """
    destination, _ = canonical_destination(spec.destination or "")
    model = catalogue.kind(destination)
    if model is None:
        names = sorted(Vocabulary.PUBLISHED.destination(one.name) for one in catalogue.kinds)
        raise StalledError(
            Reason.UNKNOWN_DESTINATION,
            f"spec.destination {spec.destination} is none of {', '.join(names)}; if a package ships it, start the "
            "operator with --destinations-from and the name of that package"
            f"{did_you_mean(spec.destination or '', names)}",
        )
    config = dict(spec.destination_config or {})
    options = dict(spec.sync_options or {"initialSyncBehavior": "overwrite-destination"})
    root = "spec.destinationConfig"
    try:
        read_config = model.config.validate_python(config)
        root = "spec.syncOptions"
        model.agree(read_config, model.options.model_validate(options))
    except ValidationError as error:
        raise StalledError(Reason.INVALID_DESTINATION_CONFIG, describe_invalid(error, root=root)) from None
    except ValueError as error:
        raise StalledError(Reason.INVALID_DESTINATION_CONFIG, f"{root}: {error}") from None
    desired = DesiredSync(
        name=sync_name(seen, spec, mark),
        destination=destination,
        project_id=project_id,
        connection_id=connection_id,
        environment=source.environment,
        path=source.secret_path,
        description=marked(f"SecretSync {seen.key.namespace}/{seen.key.name}"[:200], mark),
        mark=mark,
        # While the guard watches, or a mode asks for less than every change, the operator looks first and then has
        # the service push: by itself the service would push what nobody approved.
        is_automatic=(
            spec.is_auto_sync_enabled and not spec.guard.watches_destination and spec.mode is Mode.APPLY
        ),
        options=options,
        config=config,
    )
    return _fingerprinted(desired, fingerprinter)


def definition_action(
    desired: DesiredSync, present: PresentSync | None, known_id: str | None, push: PushStatus
) -> DefinitionAction:
    """Return what has to be done about the definition.

    Args:
        desired: what the manifest describes.
        present: the sync of the id in the status, else the one of the name; None where there is neither.
        known_id: that id.
        push: what was given last.

    Raises:
        StalledError: it belongs to another object, or can't be changed.
    """
    if present is None:
        return DefinitionAction.CREATE
    if not is_own(present.description, desired.mark, takes_unmarked=present.id == known_id):
        raise StalledError(
            Reason.SYNC_CONFLICT,
            f"the service has a sync {present.name} in this project that this object didn't make; set syncName to "
            "another name, or delete that sync",
        )
    if (present.destination, present.project_id) != (desired.destination, desired.project_id):
        raise StalledError(
            Reason.IMMUTABLE_DESTINATION,
            f"sync {present.name} pushes project {present.project_id} to {present.destination}; destination and "
            "project can't be changed: delete this object and create another one",
        )
    is_as_given = push.definition == desired.fingerprint and push.version == present.version
    return DefinitionAction.NONE if is_as_given else DefinitionAction.UPDATE


def _fingerprinted(desired: DesiredSync, fingerprinter: Fingerprinter) -> DesiredSync:
    parts = (
        desired.name,
        desired.connection_id,
        desired.environment,
        desired.path,
        desired.description,
        str(desired.is_automatic),
        orjson.dumps(dict(desired.options), option=orjson.OPT_SORT_KEYS).decode(),
        orjson.dumps(dict(desired.config), option=orjson.OPT_SORT_KEYS).decode(),
    )
    return replace(desired, fingerprint=fingerprinter.of_parts("sync definition", parts))


@dataclass(frozen=True, slots=True)
class _Ground:
    """All that a definition depends on, besides the object's name."""

    spec_json: bytes
    project_id: str
    connection_id: str
    mark: str


class Definitions:
    """One for each object."""

    def __init__(self, catalogue: CatalogueOf, fingerprinter: Fingerprinter) -> None:
        self._catalogue = catalogue
        self._fingerprinter = fingerprinter
        self._kept: dict[WorkKey, tuple[_Ground, DesiredSync]] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(
        self,
        seen: ObservedObject,
        spec: SecretSyncSpec,
        source: Source,
        *,
        project_id: str,
        connection_id: str,
        mark: str,
    ) -> DesiredSync:
        """Return the sync that a manifest describes.

        Raises:
            StalledError: as `build_definition` says.
        """
        ground = _Ground(seen.spec_json, project_id, connection_id, mark)
        kept = self._kept.get(seen.key)
        if kept is not None and kept[0] == ground:
            return kept[1]
        desired = build_definition(
            seen,
            spec,
            source,
            project_id=project_id,
            connection_id=connection_id,
            mark=mark,
            catalogue=self._catalogue(),
            fingerprinter=self._fingerprinter,
        )
        self._kept[seen.key] = ground, desired
        return desired

    def forget(self, key: WorkKey) -> None:
        """Drop what is kept for an object that is gone."""
        self._kept.pop(key, None)
