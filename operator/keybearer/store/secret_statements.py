"""Statements on secrets: which ones, what of them, and how much that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    delete,
    exists,
    func,
    null,
    or_,
    select,
    update,
)
from sqlalchemy.orm import aliased

from keybearer.base.ids import EnvironmentSlug, FolderPath, ProjectId
from keybearer.base.runs import in_chunks, in_runs
from keybearer.store.folders import WITHIN_SUBTREE
from keybearer.store.place_marks import PLACED, folders_where
from keybearer.store.secret_marks import HEADS, LISTED_COLUMNS
from keybearer.store.secret_places import Location
from keybearer.store.tables.projects import EnvironmentRow, FolderRow, ProjectRow
from keybearer.store.tables.secrets import SecretReferenceRow, SecretRow, SecretTagRow, SecretVersionRow
from keybearer.store.tags import TAGS

__all__ = [
    "CHUNK",
    "FOLDERS_HOLDING",
    "FOLDERS_LISTED",
    "FOLDERS_NAMED",
    "HAS_PERSONAL",
    "LISTED",
    "LISTS",
    "NAMED",
    "NAMES_MAX",
    "OF_FOLDERS",
    "OF_IDS",
    "OF_PLACE",
    "OVERRIDES",
    "PERSONAL",
    "PLACES",
    "PLACE_FIELDS",
    "REFERRING_NAMED",
    "ROWS_NAMED",
    "SIZES",
    "UNTAG",
    "UPDATE",
    "UPDATED",
    "VERSIONS",
    "Finding",
    "at_locations",
    "finding",
    "folders_at",
    "on_top_of",
    "referring",
    "tags_of",
]

CHUNK = 200
"""Names in one statement that is built for them; SQLite and PostgreSQL both take over 30,000 parameters."""
NAMES_MAX = 2_000
"""Keys or ids in one statement, however many places they are in."""

_COLUMNS = (
    *LISTED_COLUMNS,
    # Most projects have no tags, and then nobody looks for those of each secret.
    exists(select(TAGS.c.id).where(TAGS.c.project_id == SecretRow.project_id)).label("has_tags"),
)

# In the order of the fields of ListChange, after its kind.
_PLACE = (SecretRow.project_id, EnvironmentRow.slug, FolderRow.path, SecretRow.key, SecretRow.owner)
PLACE_FIELDS = len(_PLACE)

_HIDDEN = tuple(null().label("value") if column is SecretRow.value else column for column in _COLUMNS)

VERSIONS: Select[*tuple[Any, ...]] = select(
    SecretVersionRow.version,
    SecretVersionRow.folder_id,
    SecretVersionRow.key,
    SecretVersionRow.value,
    SecretVersionRow.details,
    SecretVersionRow.skip_multiline_encoding,
    SecretVersionRow.updated_at,
)

# Both databases tell the length of a blob without reading it.
_DETAILS_BYTES = func.coalesce(func.sum(func.coalesce(func.length(SecretRow.details), 0)), 0)
_SEALED_BYTES = func.coalesce(func.sum(func.length(SecretRow.value)), 0) + _DETAILS_BYTES
_OWN_BYTES = func.length(SecretRow.value) + func.coalesce(func.length(SecretRow.details), 0)
# By whether values are read.
_HELD_BYTES = {
    with_values: select(size)
    .where(SecretRow.folder_id == FolderRow.id, SecretRow.owner == "")
    .correlate(FolderRow)
    .scalar_subquery()
    .label("size")
    for with_values, size in ((False, _DETAILS_BYTES), (True, _SEALED_BYTES))
}
# The same of one secret, or null if the folder doesn't hold it.
_NAMED_BYTES = {
    with_values: select(size)
    .where(
        SecretRow.folder_id == FolderRow.id,
        SecretRow.owner == "",
        SecretRow.key == bindparam("key"),
    )
    .correlate(FolderRow)
    .scalar_subquery()
    .label("size")
    for with_values, size in (
        (False, func.coalesce(func.length(SecretRow.details), 0)),
        (True, _OWN_BYTES),
    )
}

# Lists, and secrets by their names, are asked for all the time: their statements are built once.
_ENVIRONMENT = and_(
    EnvironmentRow.project_id == bindparam("project"), EnvironmentRow.slug == bindparam("environment")
)
_IN_ENVIRONMENT = and_(_ENVIRONMENT, SecretRow.owner == "")
_AT_PATH = and_(_ENVIRONMENT, FolderRow.path == bindparam("path"))
_BELOW = and_(_ENVIRONMENT, WITHIN_SUBTREE, FolderRow.is_reserved.is_(False))
_DIRECTLY = and_(_IN_ENVIRONMENT, FolderRow.path == bindparam("path"))
_BENEATH = and_(_IN_ENVIRONMENT, WITHIN_SUBTREE, FolderRow.is_reserved.is_(False))
PERSONAL = and_(SecretRow.owner == bindparam("owner"), SecretRow.owner != "")  # as the index has it
HAS_PERSONAL = select(SecretRow.id).where(PERSONAL).limit(1)
_OWNERS = and_(_ENVIRONMENT, PERSONAL)
NAMED = and_(
    _ENVIRONMENT,
    SecretRow.owner == bindparam("owner"),
    FolderRow.path == bindparam("path"),
    SecretRow.key.in_(bindparam("keys", expanding=True)),
)
"""Finds the secrets of one folder by their keys; `project`, `environment`, `path`, `owner` and `keys` are bound."""
_OVERRIDE = aliased(SecretRow)
_NAMES_OTHERS = exists(
    select(SecretReferenceRow.secret_id).where(SecretReferenceRow.secret_id == SecretRow.id)
)


def _rows_of(condition: ColumnElement[bool], *, with_values: bool) -> Select[*tuple[Any, ...]]:
    """Select the secrets that the condition finds; values that stay hidden are not even read."""
    return _joined(select(*(_COLUMNS if with_values else _HIDDEN))).where(condition)


def _size_of(condition: ColumnElement[bool], *, with_values: bool) -> Select[*tuple[Any, ...]]:
    """Select how many sealed bytes are opened for what `_rows_of` selects."""
    return _joined(select(_SEALED_BYTES if with_values else _DETAILS_BYTES)).where(condition)


class Finding(NamedTuple):
    """A condition with statements on the secrets that it finds, by whether values are read.

    `rows` select the secrets, and `sizes` how many sealed bytes are opened for them.
    """

    condition: ColumnElement[bool]
    rows: Mapping[bool, Select[*tuple[Any, ...]]]
    sizes: Mapping[bool, Select[*tuple[Any, ...]]]


def finding(condition: ColumnElement[bool]) -> Finding:
    """Return the condition with its statements."""
    return Finding(
        condition,
        {with_values: _rows_of(condition, with_values=with_values) for with_values in (False, True)},
        {with_values: _size_of(condition, with_values=with_values) for with_values in (False, True)},
    )


def referring(condition: ColumnElement[bool]) -> Select[str, int]:
    """Select the ids of those that the condition finds whose texts name others, each with its sealed bytes."""
    return _joined(select(SecretRow.id, _OWN_BYTES)).where(condition, _NAMES_OTHERS)


def tags_of(condition: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Select the tags of the secrets that the condition finds, by slug, each with its secret's id as the last."""
    return (
        _joined(select(TAGS, SecretRow.id.label("secret_id")))
        .join(SecretTagRow, SecretTagRow.secret_id == SecretRow.id)
        .join(TAGS, TAGS.c.id == SecretTagRow.tag_id)
        .where(condition)
        .order_by(TAGS.c.slug)
    )


def on_top_of(secret_ids: Sequence[str]) -> Select[*tuple[Any, ...]]:
    """Select the ids of personal secrets on top of those of these that are shared."""
    return (
        select(_OVERRIDE.id)
        .join(
            SecretRow,
            and_(SecretRow.folder_id == _OVERRIDE.folder_id, SecretRow.key == _OVERRIDE.key),
        )
        .where(SecretRow.id.in_(secret_ids), SecretRow.owner == "", _OVERRIDE.owner != "")
    )


def at_locations(
    project_id: ProjectId, locations: Iterable[Location], owner: str
) -> list[ColumnElement[bool]]:
    """Return conditions that together find the secrets at these places: shared ones, or an owner's."""
    keys_of: dict[tuple[EnvironmentSlug, FolderPath], list[str]] = {}
    for location in locations:
        keys_of.setdefault((location.environment, location.path), []).append(location.key)
    places = [(place, chunk) for place, keys in keys_of.items() for chunk in in_chunks(keys, CHUNK)]
    return [
        and_(
            EnvironmentRow.project_id == project_id,
            SecretRow.owner == owner,
            or_(
                *(
                    and_(
                        EnvironmentRow.slug == environment,
                        FolderRow.path == path,
                        SecretRow.key.in_(keys),
                    )
                    for (environment, path), keys in some
                )
            ),
        )
        # In bunches that one statement can name.
        for some in in_runs(places, lambda place: len(place[1]), count_max=CHUNK, weight_max=NAMES_MAX)
    ]


def folders_at(
    project_id: ProjectId, places: Iterable[tuple[EnvironmentSlug, FolderPath]]
) -> list[Select[*tuple[Any, ...]]]:
    """Return statements that together find the folders at these places, as rows of `PLACED`."""
    return [
        folders_where(
            EnvironmentRow.project_id == project_id,
            or_(
                *(
                    and_(EnvironmentRow.slug == environment, FolderRow.path == path)
                    for environment, path in some
                )
            ),
        )
        for some in in_chunks(places, CHUNK)
    ]


def _joined(statement: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return (
        statement.select_from(SecretRow)
        .join(FolderRow, FolderRow.id == SecretRow.folder_id)
        .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    )


_CONTENTS = ("version", "value", "details", "skip_multiline_encoding", "updated_at")
UPDATED = {False: _CONTENTS, True: ("folder_id", "key", *_CONTENTS)}
"""The columns that an update sets, by whether folder or key change."""
# A column that is set is entered into its indexes anew, changed or not. Parameters must be these and no others: of
# many rows, SQLAlchemy sets each column that has a parameter.
UPDATE = {
    is_moved: update(SecretRow)
    .where(SecretRow.id == bindparam("secret_id"))
    .values({name: bindparam(name) for name in names})
    for is_moved, names in UPDATED.items()
}
"""The same as statements on the secret of `secret_id`."""
LISTED = {False: _DIRECTLY, True: _BENEATH}
"""Conditions by whether folders beneath are meant too; `project`, `environment` and `subtree(path)` are bound."""
# By whether values are read. The folder is selected even if it holds none of the secrets: it is checked, too.
ROWS_NAMED = {
    with_values: select(*(_COLUMNS if with_values else _HIDDEN), *PLACED)
    .select_from(FolderRow)
    .join(EnvironmentRow, EnvironmentRow.id == FolderRow.environment_id)
    .join(ProjectRow, ProjectRow.id == EnvironmentRow.project_id)
    .outerjoin(
        SecretRow,
        and_(
            SecretRow.folder_id == FolderRow.id,
            SecretRow.owner == bindparam("owner"),
            SecretRow.key.in_(bindparam("keys", expanding=True)),
        ),
    )
    .where(_AT_PATH)
    for with_values in (False, True)
}
# Both by (recursive, with values).
LISTS = {
    (recursive, with_values): _rows_of(condition, with_values=with_values)
    for recursive, condition in LISTED.items()
    for with_values in (False, True)
}
FOLDERS_LISTED = {
    (recursive, with_values): folders_where(condition, beside=(_HELD_BYTES[with_values],))
    for recursive, condition in ((False, _AT_PATH), (True, _BELOW))
    for with_values in (False, True)
}
"""Folders as rows of `PLACED`, each with the number of sealed bytes that a list of it opens."""


# Built once, for any number of names.
_OF_IDS = SecretRow.id.in_(bindparam("ids", expanding=True))
OF_IDS = finding(_OF_IDS)
PLACES = _joined(select(*_PLACE, *HEADS)).where(_OF_IDS)
"""Where the secrets of `ids` are, in the order of the fields of `ListChange` after its kind, and their heads."""
SIZES: Select[str, int] = select(SecretRow.id, _OWN_BYTES).where(_OF_IDS)
UNTAG = delete(SecretTagRow).where(SecretTagRow.secret_id.in_(bindparam("ids", expanding=True)))
OF_PLACE = finding(NAMED)
REFERRING_NAMED = referring(NAMED)
OVERRIDES = {
    False: finding(and_(_OWNERS, FolderRow.path == bindparam("path"))),
    True: finding(and_(_OWNERS, WITHIN_SUBTREE)),
}
"""Personal secrets of one `owner`, by whether folders beneath are meant too; see `LISTED`."""
_AMONG = SecretRow.folder_id.in_(bindparam("folders", expanding=True))
OF_FOLDERS = {
    False: finding(and_(_AMONG, SecretRow.owner == "")),
    True: finding(and_(_AMONG, SecretRow.owner == "", SecretRow.key == bindparam("key"))),
}
"""Shared secrets of `folders`, by whether only those of one `key` are meant."""
_FOLDERS_AMONG = FolderRow.id.in_(bindparam("folders", expanding=True))
FOLDERS_NAMED = folders_where(_FOLDERS_AMONG)
"""The folders of the ids `folders`, as rows of `PLACED`."""
# By (whether only one key is meant, whether values are read).
FOLDERS_HOLDING = {
    (one_key, with_values): folders_where(_FOLDERS_AMONG, beside=(sizes[with_values],))
    for one_key, sizes in ((False, _HELD_BYTES), (True, _NAMED_BYTES))
    for with_values in (False, True)
}
"""The same, each with the number of sealed bytes that a read of its secrets opens; of one `key`, null for none."""
