"""What folders of the service must hold before the objects that read them work, and the commands that fill them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from keybearer.migrate.settings import Place

__all__ = ["Contents", "FolderToFill", "folders_to_fill", "printed_secret"]


@dataclass(frozen=True, slots=True)
class Contents:
    """What one object reads from a folder.

    Attributes:
        place: the folder.
        names: of the secrets in it; empty for all that it holds.
        printed_by: a command that prints them as one JSON object of names and values, from a Secret that the other
            operator wrote; empty where none does.
    """

    place: Place
    names: tuple[str, ...] = ()
    printed_by: str = ""


@dataclass(frozen=True, slots=True)
class FolderToFill:
    """A folder, and what all objects together read from it.

    Attributes:
        names: sorted; empty if an object reads all that it holds.
        commands: lines for a shell, quoted; `FILE` stands for a file with the secrets.
    """

    place: Place
    names: tuple[str, ...]
    commands: tuple[str, ...]


def folders_to_fill(contents: Iterable[Contents]) -> tuple[FolderToFill, ...]:
    """Return the folders that are read, in the order of their places."""
    read: dict[Place, list[Contents]] = {}
    for one in contents:
        read.setdefault(one.place, []).append(one)
    return tuple(
        _folder(place, read[place])
        for place in sorted(read, key=lambda one: (one.project_slug, one.environment, one.path))
    )


def _folder(place: Place, read: list[Contents]) -> FolderToFill:
    names = {name for one in read for name in one.names} if all(one.names for one in read) else set[str]()
    return FolderToFill(place, tuple(sorted(names)), tuple(_commands(place, read)))


def _commands(place: Place, read: list[Contents]) -> Iterator[str]:
    where = f"--project {shlex.quote(place.project_slug)} --env {shlex.quote(place.environment)}"
    within = where if place.path == "/" else f"{where} --path {shlex.quote(place.path)}"
    if place.path != "/":
        yield f"keybearer folders create {shlex.quote(place.path)} {where}"
    for printed_by in dict.fromkeys(one.printed_by for one in read):
        if printed_by:
            yield f"{printed_by} | keybearer secrets import - --format json {within}"
        else:
            yield f"keybearer secrets import FILE {within}"


def printed_secret(
    namespace: str, name: str, keys: Mapping[str, str] | None = None, *, without: str = ""
) -> str:
    """Return a command that prints what a Secret of the cluster holds, as one JSON object of names and texts.

    Args:
        namespace: of the Secret; empty for that of the context.
        name: of the Secret.
        keys: the keys that are printed, by the names that they get; None for all, under their own names. One that the
            Secret lacks is left out.
        without: a key that is not printed.
    """
    at = f"-n {shlex.quote(namespace)} " if namespace else ""
    steps = [".data"]
    if keys is not None:
        fields = ", ".join(f"{json.dumps(new)}: .[{json.dumps(key)}]" for new, key in keys.items())
        steps.append(f"{{{fields}}}")
    elif without:
        steps.append(f"del(.[{json.dumps(without)}])")
    steps.append("with_entries(select(.value != null) | .value |= @base64d)")
    return f"kubectl {at}get secret {shlex.quote(name)} -o json | jq {shlex.quote(' | '.join(steps))}"
