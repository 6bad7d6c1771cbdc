"""The references behind one value as a tree, for people who ask where it comes from (wire.md section 2.5)."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from keybearer.domain.errors import InvalidError
from keybearer.domain.secrets.references import Redirects, led_to, named_in_order
from keybearer.store.secret_places import ReferenceTarget
from keybearer.wire.limits import REFERENCE_DEPTH_MAX

__all__ = ["ReferenceNode", "reference_tree"]

_MAX_NODES = 10_000


@dataclass(frozen=True, slots=True)
class ReferenceNode:
    """A secret that a value is made of, with its own text as it is stored; None where it doesn't exist."""

    target: ReferenceTarget
    value: str | None = field(repr=False)
    children: tuple[ReferenceNode, ...]


def reference_tree(
    root: ReferenceTarget,
    known: Mapping[ReferenceTarget, str | None],
    literal: AbstractSet[ReferenceTarget],
    redirects: Redirects,
) -> ReferenceNode:
    """Return the tree of what the secret at `root` refers to, directly and through others.

    A circle ends where it would begin anew, and nothing is shown beyond the tenth level. Texts of `literal` refer to
    nothing; names lead where `redirects` says, and those that lead nowhere are shown as missing.

    Raises:
        InvalidError: the tree has too many nodes.
    """
    return _Growth(known, literal, redirects).node(root, ())


class _Growth:
    def __init__(
        self,
        known: Mapping[ReferenceTarget, str | None],
        literal: AbstractSet[ReferenceTarget],
        redirects: Redirects,
    ) -> None:
        self._redirects = redirects
        self._known = known
        self._literal = literal
        self._nodes = 0

    def node(self, target: ReferenceTarget, trail: tuple[ReferenceTarget, ...]) -> ReferenceNode:
        self._count()
        text = self._known.get(target)
        onward = (*trail, target)
        refers = len(trail) < REFERENCE_DEPTH_MAX and target not in self._literal
        children = []
        for child in named_in_order(text or "", target) if refers else []:
            led = led_to(child, target, self._redirects)
            if led is None:
                self._count()
                children.append(ReferenceNode(child, None, ()))
            elif led not in onward:
                children.append(self.node(led, onward))
        return ReferenceNode(target, text, tuple(children))

    def _count(self) -> None:
        self._nodes += 1
        if self._nodes > _MAX_NODES:
            raise InvalidError(f"The reference tree has more than {_MAX_NODES} nodes; look at its parts")
