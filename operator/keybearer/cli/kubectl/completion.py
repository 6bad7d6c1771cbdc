"""`kubectl_complete-keybearer`: what the shell offers after `kubectl keybearer`, as kubectl asks for it.

kubectl runs it with the words so far, the last one unfinished, and reads one proposal a line with a `:` and a number
at the end (cobra's ShellCompDirective). Where the cluster can't be asked nothing is offered, and nothing is said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise

from keybearer.cli.kubectl.targets import KINDS, kind_of_word

__all__ = ["complete", "main"]

_NO_FILES, _DEFAULT = 4, 0
_COMMANDS = {
    "status": "how all objects stand",
    "plan": "what would be done",
    "sync": "do it now",
    "explain": "why an object is in its state",
}
_PLACE = ("--namespace", "--kubeconfig", "--context", "--output")
_FLAGS = {
    "status": ("--all-namespaces", "--exit-code", "--watch", *_PLACE),
    "plan": ("--filename", "--field-manager", "--exit-code", *_PLACE),
    "sync": ("--all-namespaces", "--request", "--wait", "--timeout", *_PLACE),
    "explain": _PLACE,
}
_OF_PLACE = {
    "-n": "namespace",
    "--namespace": "namespace",
    "--kubeconfig": "kubeconfig",
    "--context": "context",
}
_CHOICES = {
    "--request": ("sync", "renew", "approve-plan", "release-guard", "remove-foreign"),
    "--output": ("table", "json"),
    "-o": ("table", "json"),
}
_TAKES_VALUE = frozenset({*_OF_PLACE, *_CHOICES, "--filename", "-f", "--field-manager", "--timeout"})
_SECONDS = 3.0
"""For asking the cluster: a shell that waits longer feels broken."""


def main() -> None:
    """Print what may come next."""
    proposals, directive = complete(sys.argv[1:])
    sys.stdout.write("".join(f"{proposal}\n" for proposal in proposals) + f":{directive}\n")


def complete(words: Sequence[str]) -> tuple[list[str], int]:
    """Return what may come next, and what the shell is to do with it.

    Args:
        words: after `kubectl keybearer`, the last one unfinished.
    """
    *before, unfinished = words or [""]
    if not before:
        return [
            f"{name}\t{told}" for name, told in _COMMANDS.items() if name.startswith(unfinished)
        ], _NO_FILES
    command, last = before[0], before[-1]
    if last in _CHOICES:
        return [one for one in _CHOICES[last] if one.startswith(unfinished)], _NO_FILES
    if last in _TAKES_VALUE:
        return [], _DEFAULT if last in ("-f", "--filename", "--kubeconfig") else _NO_FILES
    if unfinished.startswith("-"):
        return [flag for flag in _FLAGS.get(command, ()) if flag.startswith(unfinished)], _NO_FILES
    return [one for one in _things(before, unfinished) if one.startswith(unfinished)], _NO_FILES


def _things(before: Sequence[str], unfinished: str) -> Iterator[str]:
    """Yield kinds, or names where the kind is said."""
    said = list(_arguments(before[1:]))
    word, slash, _ = unfinished.partition("/")
    if slash and (kind := kind_of_word(word)) is not None:
        yield from (f"{word}/{name}" for name in _names(kind, before))
    elif said and (kind := kind_of_word(said[0])) is not None:
        yield from (name for name in _names(kind, before) if name not in said)
    elif not said:
        yield from (words[0] for words in KINDS.values())


def _arguments(words: Sequence[str]) -> Iterator[str]:
    """Yield what is neither a flag nor the value of one."""
    is_value = False
    for word in words:
        if not is_value and not word.startswith("-"):
            yield word
        is_value = not is_value and word in _TAKES_VALUE


def _names(kind: str, before: Sequence[str]) -> list[str]:
    """Return the names of the objects of a kind where the flags lead."""
    import os

    from keybearer.base.errors import KeybearerError
    from keybearer.cli.kubectl.cluster import Cluster, Place, run

    place = {"kubeconfig": os.environ.get("KUBECONFIG") or None}
    for flag, value in pairwise(before):
        if flag in _OF_PLACE:
            place[_OF_PLACE[flag]] = value

    async def look(cluster: Cluster) -> list[str]:
        import asyncio

        from keybearer.base.json_reading import mapping_of, text_of
        from keybearer.controllers.kinds import RESOURCES

        async with asyncio.timeout(_SECONDS):
            listed = cluster.gateway.list(RESOURCES[kind], cluster.namespace, metadata_only=True)
            return [text_of(mapping_of(body.get("metadata")).get("name")) async for body in listed]

    try:
        return run(Place(place.get("kubeconfig"), place.get("context"), place.get("namespace")), look)
    except (KeybearerError, TimeoutError):
        return []  # nobody reads what a completion says
