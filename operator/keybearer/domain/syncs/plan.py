"""What one run changes at a destination: a pure function of source, remote, ledger and options (wire.md 3.4).

A destination is compared in one of two ways. If it was just listed, the listing decides, and the ledger only where
values can't be read back. If the ledger is trusted, it alone decides: names that it doesn't have are not there.
In both cases only names of the ledger are removed: what a sync neither wrote nor imported is foreign, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keybearer.base.errors import KeybearerError
from keybearer.destinations.protocol import Change, Outgoing, Present, Traits
from keybearer.store.pushes import Push
from keybearer.wire.key_schema import KeyNaming, may_be_of

__all__ = [
    "Ledger",
    "Names",
    "Plan",
    "PlanRefusedError",
    "Settings",
    "Wanted",
    "naming_of",
    "plan",
    "removal",
    "wanted_names",
    "with_versions",
]

Ledger = Mapping[str, Push]
"""What this sync wrote last, by name."""


_NO_NAME = (
    "the secret makes no name that the key schema recognizes: with a schema that holds a slash a key must not hold "
    "one; rename the secret, or change the key schema"
)


class PlanRefusedError(KeybearerError):
    """The destination can't hold what the source has; the message says why, without values."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A secret of the source as it is pushed; metadata only if it is pushed too."""

    key: str
    value: str = field(repr=False)
    metadata: tuple[tuple[str, str], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class Names:
    """What the keys of a source become at a destination, by name.

    Attributes:
        wanted: what it should hold.
        refused: why it can't hold these names; no reason contains a value.
        keys: of both; the first one if several make the same name.
    """

    wanted: dict[str, Outgoing] = field(repr=False)
    refused: dict[str, str]
    keys: dict[str, str]

    @property
    def held(self) -> frozenset[str]:
        """All names: a refused one keeps its older version, so it is neither removed nor foreign."""
        return frozenset(self.keys)

    def keys_of(self, names: Iterable[str]) -> frozenset[str]:
        """Return the keys of the given names, as far as the source has them."""
        return frozenset(self.keys[name] for name in names if name in self.keys)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a plan.

    Attributes:
        naming: as `naming_of` returns it.
        removes_nothing: whether nothing is removed (`disableSecretDeletion`).
        removes_foreign: whether foreign names that match the key schema are removed too, as requested once.
        shared: names that other syncs wrote to the same place: they are never removed.
        digest: keyed, of what is written and of the setup that decides how.
        extras_of: what the destination should hold with a value, such as tags; None if that isn't compared.
    """

    traits: Traits
    naming: KeyNaming
    removes_nothing: bool
    digest: Callable[[Outgoing], bytes]
    extras_of: Callable[[Outgoing], Mapping[str, str] | None] = lambda _: None
    removes_foreign: bool = False
    shared: Collection[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Plan:
    """A change, and updates of the ledger.

    Attributes:
        digests: of all that the destination should hold, by name.
        learnt: what is in place, but not in the ledger.
        forgotten: names of the ledger that are not wanted and not there, or now belong to another sync.
        foreign: foreign names that match the key schema and stay; empty without a listing.
        refused: why names of the source can't be written; what an earlier run wrote under them stays.
    """

    change: Change
    digests: Mapping[str, bytes] = field(repr=False)
    learnt: tuple[Push, ...] = ()
    forgotten: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the destination stays as it is."""
        return not self.change.put and not self.change.delete


def naming_of(traits: Traits, naming: KeyNaming) -> KeyNaming:
    """Return how keys are named within the destination; a single object holds them under their own names."""
    if traits.is_one_object:
        return KeyNaming("", "")
    if traits.folds_case:
        return KeyNaming(naming.prefix.upper(), naming.suffix.upper())
    return naming


def wanted_names(source: Iterable[Wanted], traits: Traits, naming: KeyNaming) -> Names:
    """Return what the destination should hold, and which names it can't hold.

    A key is refused if it makes no valid name of the schema, if another key makes the same name, or if it breaks a
    rule of the destination. All other keys are written.

    Raises:
        PlanRefusedError: there are too many.
    """
    by_name: dict[str, list[tuple[str, Wanted]]] = {}
    for secret in source:
        if traits.skips_empty and not secret.value:
            continue
        key = secret.key.upper() if traits.folds_case else secret.key
        by_name.setdefault(naming.name_of(key), []).append((key, secret))
    names = Names({}, {}, {name: made[0][1].key for name, made in by_name.items()})
    for name, made in by_name.items():
        key, secret = made[0]
        reason = (
            _same_name([one.key for _, one in made])
            or (_NO_NAME if naming.key_of(name) != key else None)
            or traits.rules.refusal(name, secret.value)
        )
        if reason is None:
            names.wanted[name] = Outgoing(name, secret.value, secret.metadata)
        else:
            names.refused[name] = reason
    if traits.names_max is not None and len(names.wanted) > traits.names_max:
        raise PlanRefusedError(
            f"The destination takes {traits.names_max} secrets at most, and the source has {len(names.wanted)}; "
            "remove some, or sync several folders to several places"
        )
    return names


def _same_name(keys: list[str]) -> str | None:
    if len(keys) == 1:
        return None
    named = " and ".join(f"'{key}'" for key in keys)
    return (
        f"the secrets {named} would have the same name at the destination, which takes upper and lower case for "
        "the same; rename one of them"
    )


def plan(
    source: Iterable[Wanted], listing: Mapping[str, Present] | None, ledger: Ledger, settings: Settings
) -> Plan:
    """Return the change after which the destination holds what the source has.

    Args:
        source: each key once.
        listing: what the destination holds; None if the ledger is trusted.
        ledger: what was written before.
        settings: of the plan.

    Raises:
        PlanRefusedError: the destination can't hold it.
    """
    names = wanted_names(source, settings.traits, settings.naming)
    wanted, held = names.wanted, names.held
    digests = {name: settings.digest(outgoing) for name, outgoing in wanted.items()}
    unwanted = _removable(ledger.keys() - held, names, settings.naming)
    let_go = unwanted & set(settings.shared)
    if listing is None:
        stale = tuple(sorted(unwanted - let_go))
        put = [one for name, one in wanted.items() if not _is_noted(ledger.get(name), digests[name])]
        change = _changed(put, () if settings.removes_nothing else stale, names, settings)
        return Plan(change, digests, forgotten=tuple(sorted(let_go)), refused=names.refused)
    same = {
        name
        for name, one in wanted.items()
        if _is_same(one, listing.get(name), ledger.get(name), digests[name], settings.extras_of(one))
    }
    put = [one for name, one in wanted.items() if name not in same]
    learnt = [Push(name, digests[name], listing[name].version) for name in wanted if name in same]
    stale = _still_there(unwanted - let_go, listing, settings.naming)
    others = listing.keys() - held - ledger.keys() - set(settings.shared)
    foreign = tuple(sorted(name for name in others if settings.naming.key_of(name) is not None))
    if settings.removes_nothing:
        delete: tuple[str, ...] = ()
    elif settings.removes_foreign:
        delete, foreign = tuple(sorted({*stale, *foreign})), ()
    else:
        delete = stale
    return Plan(
        _changed(put, delete, names, settings),
        digests,
        tuple(push for push in learnt if ledger.get(push.name) != push),
        tuple(sorted(unwanted - set(stale))),
        foreign,
        names.refused,
    )


def _changed(put: Sequence[Outgoing], delete: tuple[str, ...], names: Names, settings: Settings) -> Change:
    keys = {one.name: names.keys[one.name] for one in put}
    former = _former(delete, settings.naming)
    return Change(tuple(put), delete, names.held, keys, former, settings.removes_foreign)


def _removable(unwanted: Collection[str], names: Names, naming: KeyNaming) -> set[str]:
    """Return which names may go: a former one of a secret that a rule refuses stays, which may be nowhere else."""
    keys = names.keys_of(names.refused)
    former = _former(unwanted, naming)
    return {name for name in unwanted if name not in former or not may_be_of(name, keys)}


def _former(names: Iterable[str], naming: KeyNaming) -> frozenset[str]:
    """Return which names the present key schema doesn't make."""
    return frozenset(name for name in names if naming.key_of(name) is None)


def removal(
    listing: Mapping[str, Present], ledger: Ledger, naming: KeyNaming, shared: Collection[str] = ()
) -> Change:
    """Return the change that removes what this sync wrote or imported, and no other sync wrote."""
    return Change((), _still_there(ledger.keys() - set(shared), listing, naming))


def with_versions(pushes: Iterable[Push], listing: Mapping[str, Present]) -> list[Push]:
    """Return the given pushes with the versions that the remote shows now."""
    return [
        replace(push, remote_version=listing[push.name].version) for push in pushes if push.name in listing
    ]


def _still_there(ours: Collection[str], listing: Mapping[str, Present], naming: KeyNaming) -> tuple[str, ...]:
    """Return which names may be there: a listing for this key schema need not have names of a former one."""
    former = _former(ours, naming)
    return tuple(sorted(name for name in ours if name in listing or name in former))


def _is_noted(push: Push | None, digest: bytes) -> bool:
    return push is not None and push.digest == digest


def _is_same(
    outgoing: Outgoing,
    present: Present | None,
    push: Push | None,
    digest: bytes,
    extras: Mapping[str, str] | None,
) -> bool:
    """Return whether the remote holds this already."""
    if present is None or (extras is not None and present.extras != extras):
        return False
    if present.value is not None:
        return present.value == outgoing.value
    if push is None or push.digest != digest:
        return False
    # An interrupted run could not note versions; that is no reason to write everything again.
    return push.remote_version in (None, present.version)
