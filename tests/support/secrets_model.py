"""What the secrets API should do, as plain dictionaries: the other side of the test that compares the two.

It knows nothing of the service's code. Each operation returns the statuses that the service may answer with, and
what it then shows. A request with several faults may be refused for any of them. Imports and references are not
part of it. In place of ids it hands out serial numbers; the test learns which id belongs to which.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

__all__ = ["MASK", "Outcome", "Place", "SecretsModel", "Shown", "plain_path"]

MASK = "<hidden-by-infisical>"
_LIST_DEPTH = 20
_WHITE = " \t\r\n"
_FOLDER_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")

Shown = dict[str, Any]
"""What an answer shows of one thing: the fields of the wire, but `serial` for its ids."""
Fields = dict[str, Any]
"""Fields of a request in the words of the wire; `tagIds` holds serials, None for one that nobody has."""


class Place(NamedTuple):
    """Where a secret lives. `owner` is the user of a personal one, empty for a shared one."""

    environment: str
    path: str
    key: str
    owner: str = ""


@dataclass(frozen=True)
class Text:
    """What one version of a secret holds."""

    key: str
    value: str
    comment: str = ""
    multiline: bool | None = None
    metadata: tuple[tuple[str, str], ...] = ()
    note: str | None = None
    days: int | None = None


@dataclass
class Held:
    """A secret: all its versions, the first first, and its tags."""

    serial: int
    versions: list[Text]
    tags: frozenset[int]


@dataclass
class FolderHeld:
    """A folder."""

    serial: int
    version: int = 1
    description: str | None = None


@dataclass(frozen=True)
class Outcome:
    """The statuses that are right, and what is shown where it succeeds."""

    statuses: frozenset[int]
    shown: Sequence[Shown] = ()

    @property
    def succeeds(self) -> bool:
        return self.statuses == {200}


def plain_path(text: str) -> str:
    return "/" + "/".join(name for name in text.split("/") if name)


def _inside(path: str, above: str) -> bool:
    return above in (path, "/") or path.startswith(above + "/")


def _depth(path: str) -> int:
    return 0 if path == "/" else path.count("/")


def _trimmed(text: str) -> str:
    return text.strip(_WHITE) + ("\n" if text.endswith("\n") else "")


def _name_faults(name: str) -> set[int]:
    return {422} if not name.strip(_WHITE) or ":" in name or "/" in name else set()


def _value_faults(value: str | None) -> set[int]:
    return {400} if value is not None and value.strip(_WHITE) == MASK else set()


@dataclass
class SecretsModel:
    """One project. Environments are known by slug, tags by serial."""

    users: frozenset[str]
    environments: dict[str, int] = field(default_factory=dict)
    folders: dict[tuple[str, str], FolderHeld] = field(default_factory=dict)
    secrets: dict[Place, Held] = field(default_factory=dict)
    tags: dict[int, str] = field(default_factory=dict)
    last_serial: int = 0

    # Secrets

    def create(
        self, actor: str, environment: str, path: str, items: Sequence[Fields], *, personal: bool
    ) -> Outcome:
        owner, faults = self._owner(actor, personal=personal)
        path = plain_path(path)
        faults |= self._folder_faults(environment, path)
        keys = [item["secretKey"].strip(_WHITE) for item in items]
        if len(set(keys)) < len(keys):
            faults.add(400)
        for item, key in zip(items, keys, strict=True):
            faults |= _name_faults(item["secretKey"]) | _value_faults(item["secretValue"])
            faults |= self._tag_faults(item)
            if owner and Place(environment, path, key) not in self.secrets:
                faults.add(400)
            if Place(environment, path, key, owner) in self.secrets:
                faults.add(400)
        if faults:
            return Outcome(frozenset(faults))
        shown = []
        for item, key in zip(items, keys, strict=True):
            place = Place(environment, path, key, owner)
            shown.append(self._put(place, _changed(Text(key, ""), item), item))
        return Outcome(frozenset({200}), shown)

    def update(
        self,
        actor: str,
        environment: str,
        path: str,
        items: Sequence[Fields],
        *,
        personal: bool,
        mode: str = "failOnNotFound",
    ) -> Outcome:
        """Do one item after the other; the first fault undoes all."""
        owner, faults = self._owner(actor, personal=personal)
        before = copy.deepcopy((self.secrets, self.last_serial))
        shown = []
        for item in items:
            place = Place(
                environment,
                plain_path(item.get("secretPath") or path),
                item["secretKey"].strip(_WHITE),
                owner,
            )
            wrong = self._update_faults(place, item, mode)
            faults |= wrong
            if not wrong and (place in self.secrets or mode == "upsert"):
                shown.append({**self._update(place, item), "secretValue": item.get("secretValue") or ""})
        if faults:
            self.secrets, self.last_serial = before
            return Outcome(frozenset(faults))
        return Outcome(frozenset({200}), shown)

    def delete(
        self, actor: str, environment: str, path: str, keys: Sequence[str], *, personal: bool
    ) -> Outcome:
        owner, faults = self._owner(actor, personal=personal)
        path = plain_path(path)
        faults |= self._folder_faults(environment, path)
        places = [Place(environment, path, key.strip(_WHITE), owner) for key in dict.fromkeys(keys)]
        for key in keys:
            faults |= _name_faults(key)
        if any(place not in self.secrets for place in places):
            faults.add(404)
        if faults:
            return Outcome(frozenset(faults))
        shown = []
        for place in dict.fromkeys(places):
            shown.append(self._shown(place))
            self._remove(place)
        return Outcome(frozenset({200}), shown)

    def move(
        self,
        source: tuple[str, str],
        destination: tuple[str, str],
        serials: Sequence[int | None],
        *,
        overwrite: bool,
    ) -> Outcome:
        faults, places = self._transfer(source, destination, serials, overwrite=overwrite)
        if source == destination:
            faults.add(400)
        if faults:
            return Outcome(frozenset(faults))
        for old in places:
            new = Place(*destination, old.key)
            held = self.secrets[old]
            if new in self.secrets:
                there = self.secrets[new]
                there.versions.append(held.versions[-1])
                there.tags = held.tags
                self._remove(old)
            else:
                held.versions.append(held.versions[-1])
                self._relocate(old, new)
        return Outcome(frozenset({200}))

    def duplicate(
        self,
        source: tuple[str, str],
        destination: tuple[str, str],
        serials: Sequence[int | None],
        *,
        overwrite: bool,
    ) -> Outcome:
        faults, places = self._transfer(source, destination, serials, overwrite=overwrite)
        if faults:
            return Outcome(frozenset(faults))
        shown = []
        for old in places:
            new = Place(*destination, old.key)
            held = self.secrets[old]
            if new in self.secrets:
                self.secrets[new].versions.append(held.versions[-1])
                self.secrets[new].tags = held.tags
            else:
                self.secrets[new] = Held(self._serial(), [held.versions[-1]], held.tags)
            shown.append(self._shown(new))
        return Outcome(frozenset({200}), shown)

    def get(
        self, actor: str, environment: str, path: str, key: str, *, personal: bool, version: int | None
    ) -> Outcome:
        owner = actor if personal else ""
        place = Place(environment, plain_path(path), key.strip(_WHITE), owner)
        if place not in self.secrets or (personal and actor not in self.users):
            return Outcome(frozenset({404}))
        if version is not None and version > len(self.secrets[place].versions):
            return Outcome(frozenset({404}))
        return Outcome(frozenset({200}), [self._shown(place, version)])

    def get_by_serial(self, actor: str, serial: int | None) -> Outcome:
        place = self._visible(actor, serial)
        return Outcome(frozenset({404})) if place is None else Outcome(frozenset({200}), [self._shown(place)])

    def versions(self, actor: str, serial: int | None, *, offset: int, limit: int) -> Outcome:
        place = self._visible(actor, serial)
        if place is None:
            return Outcome(frozenset({404}))
        newest_first = range(len(self.secrets[place].versions), 0, -1)
        chosen = list(newest_first)[offset : offset + limit]
        return Outcome(frozenset({200}), [self._shown(place, version) for version in chosen])

    def listed(
        self,
        actor: str,
        environment: str,
        path: str,
        *,
        recursive: bool = False,
        overrides: bool = False,
        values: bool = True,
        tag_slugs: Sequence[str] = (),
        metadata: Sequence[tuple[str, str]] = (),
    ) -> Outcome:
        """Show what is in the folder. Tags: any of those; metadata: all of those pairs."""
        if environment not in self.environments:
            return Outcome(frozenset({404}))
        path = plain_path(path)
        found = []
        for place, held in self.secrets.items():
            if place.owner or place.environment != environment:
                continue
            if place.path != path and not (recursive and _inside(place.path, path)):
                continue
            if _depth(place.path) - _depth(path) > _LIST_DEPTH:
                continue
            if tag_slugs and not {self.tags[tag] for tag in held.tags} & set(tag_slugs):
                continue
            if not set(metadata) <= set(held.versions[-1].metadata):
                continue
            own = place._replace(owner=actor)
            found.append(own if overrides and own in self.secrets else place)
        found.sort(key=lambda place: (place.key, place.path))
        shown = [self._shown(place) for place in found]
        if not values:
            shown = [{**one, "secretValue": MASK, "secretValueHidden": True} for one in shown]
        return Outcome(frozenset({200}), shown)

    # Folders

    def create_folder(self, environment: str, path: str, name: str, description: str | None) -> Outcome:
        new = plain_path(f"{path}/{name}")
        faults = set() if name and set(name) <= _FOLDER_LETTERS else {422}
        if environment not in self.environments:
            faults.add(404)
        if (environment, new) in self.folders:
            faults.add(400)
        if faults:
            return Outcome(frozenset(faults))
        names = new.strip("/").split("/")
        for count in range(1, len(names) + 1):
            above = "/" + "/".join(names[:count])
            if (environment, above) not in self.folders:
                self.folders[environment, above] = FolderHeld(self._serial())
        self.folders[environment, new].description = description or None  # an empty text counts as absent
        return Outcome(frozenset({200}), [self._shown_folder(environment, new)])

    def rename_folder(self, environment: str, path: str, name: str, description: str | None) -> Outcome:
        faults = set() if name and set(name) <= _FOLDER_LETTERS else {422}
        if (environment, path) not in self.folders:
            faults.add(404)
        if path == "/":
            faults.add(400)
        new = plain_path(f"{path.rpartition('/')[0]}/{name}")
        if new != path and (environment, new) in self.folders:
            faults.add(400)
        if faults:
            return Outcome(frozenset(faults))
        folder = self.folders[environment, path]
        folder.version += 1
        folder.description = folder.description if description is None else description
        self._carry(environment, path, environment, new)
        return Outcome(frozenset({200}), [self._shown_folder(environment, new)])

    def delete_folder(self, environment: str, path: str, *, force: bool) -> Outcome:
        faults = set()
        if (environment, path) not in self.folders:
            faults.add(404)
        if path == "/":
            faults.add(400)
        if not force and self._holds_anything(environment, path):
            faults.add(400)
        if faults:
            return Outcome(frozenset(faults))
        shown = self._shown_folder(environment, path)
        self._drop(environment, path)
        return Outcome(frozenset({200}), [shown])

    def list_folders(self, environment: str, path: str, *, recursive: bool) -> Outcome:
        if environment not in self.environments:
            return Outcome(frozenset({404}))
        path = plain_path(path)
        found = sorted(
            there
            for slug, there in self.folders
            if slug == environment and there not in (path, "/") and _inside(there, path)
            if recursive or _depth(there) == _depth(path) + 1
        )
        if (environment, path) not in self.folders:
            found = []
        return Outcome(frozenset({200}), [self._shown_folder(environment, there) for there in found])

    # Environments and tags

    def create_environment(self, slug: str) -> Outcome:
        if slug in self.environments:
            return Outcome(frozenset({400}))
        self.environments[slug] = self._serial()
        self.folders[slug, "/"] = FolderHeld(self._serial())
        return Outcome(frozenset({200}), [self._shown_environment(slug)])

    def rename_environment(self, old: str, new: str) -> Outcome:
        if old not in self.environments:
            return Outcome(frozenset({404}))
        if new != old and new in self.environments:
            return Outcome(frozenset({400}))
        self.environments[new] = self.environments.pop(old)
        self._carry(old, "/", new, "/")
        return Outcome(frozenset({200}), [self._shown_environment(new)])

    def delete_environment(self, slug: str) -> Outcome:
        if slug not in self.environments:
            return Outcome(frozenset({404}))
        shown = self._shown_environment(slug)
        del self.environments[slug]
        self._drop(slug, "/")
        return Outcome(frozenset({200}), [shown])

    def put_tag(self, serial: int | None, slug: str) -> Outcome:
        """Make a tag, or rename the one of that serial."""
        if any(there == slug and other != serial for other, there in self.tags.items()):
            return Outcome(frozenset({400}))
        serial = self._serial() if serial is None else serial
        self.tags[serial] = slug
        return Outcome(frozenset({200}), [{"serial": serial, "slug": slug}])

    def delete_tag(self, serial: int) -> Outcome:
        for held in self.secrets.values():
            held.tags -= {serial}
        return Outcome(frozenset({200}), [{"serial": serial, "slug": self.tags.pop(serial)}])

    def tag_of(self, slug: str) -> int | None:
        return next((serial for serial, there in self.tags.items() if there == slug), None)

    # What the above is made of

    def _serial(self) -> int:
        self.last_serial += 1
        return self.last_serial

    def _owner(self, actor: str, *, personal: bool) -> tuple[str, set[int]]:
        if not personal:
            return "", set()
        return actor, set() if actor in self.users else {400}

    def _folder_faults(self, environment: str, path: str) -> set[int]:
        return set() if (environment, path) in self.folders else {404}

    def _tag_faults(self, item: Fields) -> set[int]:
        return set() if all(tag in self.tags for tag in item.get("tagIds") or ()) else {404}

    def _update_faults(self, place: Place, item: Fields, mode: str) -> set[int]:
        faults = _name_faults(item["secretKey"]) | self._tag_faults(item)
        faults |= self._folder_faults(place.environment, place.path)
        new_name = item.get("newSecretName")
        if place.owner and new_name not in (None, place.key):
            faults.add(400)
        if place not in self.secrets and mode != "upsert":
            return faults | ({404} if mode == "failOnNotFound" else set())
        faults |= _value_faults(item.get("secretValue"))
        if place not in self.secrets and place.owner and place._replace(owner="") not in self.secrets:
            faults.add(400)
        if new_name is not None:
            faults |= {400} if not new_name.strip(_WHITE) else _name_faults(new_name)
            new = place._replace(key=new_name.strip(_WHITE))
            if new != place and new in self.secrets:
                faults.add(400)
        return faults

    def _update(self, place: Place, item: Fields) -> Shown:
        new_name = item.get("newSecretName")
        new = place if new_name is None else place._replace(key=new_name.strip(_WHITE))
        if place not in self.secrets:
            return self._put(new, _changed(Text(new.key, ""), item), item)
        held = self.secrets[place]
        held.versions.append(replace(_changed(held.versions[-1], item), key=new.key))
        if item.get("tagIds") is not None:
            held.tags = frozenset(item["tagIds"])
        if new != place:
            self._relocate(place, new)
        return self._shown(new)

    def _put(self, place: Place, text: Text, item: Fields) -> Shown:
        self.secrets[place] = Held(self._serial(), [text], frozenset(item.get("tagIds") or ()))
        return self._shown(place)

    def _remove(self, place: Place) -> None:
        """Remove a secret, and with a shared one the personal ones on top of it."""
        for there in list(self.secrets):
            if there == place or (not place.owner and there._replace(owner="") == place):
                del self.secrets[there]

    def _relocate(self, old: Place, new: Place) -> None:
        """Move a shared secret with the personal ones on top of it."""
        self.secrets = {
            new._replace(owner=there.owner) if there._replace(owner="") == old else there: held
            for there, held in self.secrets.items()
        }

    def _carry(self, old_environment: str, old: str, environment: str, new: str) -> None:
        """Give a folder and all in it another path."""

        def moved(slug: str, path: str) -> tuple[str, str]:
            if slug != old_environment or not _inside(path, old):
                return slug, path
            return environment, plain_path(new + "/" + path[len(old) :])

        self.folders = {moved(*there): folder for there, folder in self.folders.items()}
        self.secrets = {
            Place(*moved(place.environment, place.path), place.key, place.owner): held
            for place, held in self.secrets.items()
        }

    def _drop(self, environment: str, path: str) -> None:
        self.folders = {
            there: folder
            for there, folder in self.folders.items()
            if there[0] != environment or not _inside(there[1], path)
        }
        self.secrets = {
            place: held
            for place, held in self.secrets.items()
            if place.environment != environment or not _inside(place.path, path)
        }

    def _holds_anything(self, environment: str, path: str) -> bool:
        below = [there for slug, there in self.folders if slug == environment and there != path]
        here = [place for place in self.secrets if (place.environment, place.path) == (environment, path)]
        return bool(here) or any(_inside(there, path) for there in below)

    def _transfer(
        self,
        source: tuple[str, str],
        destination: tuple[str, str],
        serials: Iterable[int | None],
        *,
        overwrite: bool,
    ) -> tuple[set[int], list[Place]]:
        faults = self._folder_faults(*source) | self._folder_faults(*destination)
        shared = {
            held.serial: place
            for place, held in self.secrets.items()
            if (place.environment, place.path) == source and not place.owner
        }
        wanted = list(dict.fromkeys(serials))
        places = [shared[serial] for serial in wanted if serial in shared]
        if len(places) < len(wanted):
            faults.add(404)
        if not overwrite and any(Place(*destination, place.key) in self.secrets for place in places):
            faults.add(400)
        return faults, places

    def _visible(self, actor: str, serial: int | None) -> Place | None:
        for place, held in self.secrets.items():
            if held.serial == serial and place.owner in ("", actor):
                return place
        return None

    def _shown(self, place: Place, version: int | None = None) -> Shown:
        held = self.secrets[place]
        number = len(held.versions) if version is None else version
        text = held.versions[number - 1]
        return {
            "serial": held.serial,
            "environment": place.environment,
            "secretPath": place.path,
            # A personal secret that followed a rename has no version of it: the text still has the former key.
            "secretKey": place.key if version is None else text.key,
            "secretValue": text.value,
            "secretValueHidden": False,
            "secretComment": text.comment,
            "version": number,
            "type": "personal" if place.owner else "shared",
            "user": place.owner or None,
            "skipMultilineEncoding": text.multiline,
            "secretMetadata": list(text.metadata),
            "secretReminderNote": text.note,
            "secretReminderRepeatDays": text.days,
            "tags": sorted(self.tags[tag] for tag in held.tags),
        }

    def _shown_folder(self, environment: str, path: str) -> Shown:
        folder = self.folders[environment, path]
        name = path.rpartition("/")[2]
        told = {"serial": folder.serial, "name": name, "path": path}
        return {**told, "version": folder.version, "description": folder.description}

    def _shown_environment(self, slug: str) -> Shown:
        return {"serial": self.environments[slug], "slug": slug}


def _changed(text: Text, item: Fields) -> Text:
    """Return the text with what a request gives; null leaves all but a reminder as it is."""
    if item.get("secretValue") is not None:
        text = replace(text, value=_trimmed(item["secretValue"]))
    if item.get("secretComment") is not None:
        text = replace(text, comment=item["secretComment"])
    if item.get("skipMultilineEncoding") is not None:
        text = replace(text, multiline=item["skipMultilineEncoding"])
    if item.get("secretMetadata") is not None:
        text = replace(text, metadata=tuple(item["secretMetadata"]))
    if "secretReminderNote" in item:
        text = replace(text, note=item["secretReminderNote"])
    if "secretReminderRepeatDays" in item:
        text = replace(text, days=item["secretReminderRepeatDays"])
    return text
