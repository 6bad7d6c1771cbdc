"""Names for what passes through the proxies, which are the same in each run of a scenario.

A moment is a write, a call of the service that changes something, or an event of a watch. Runs differ in the order of
what happens at the same time, so a moment is called by what it is and by its number among its equals:
`write PATCH secrets/web#2` is the second patch of that Secret.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

import orjson

__all__ = ["KubeAsk", "Naming", "call_moment", "event_moment", "read_kube_ask"]

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TAG = re.compile(r"(?<![0-9a-z])[0-9a-f]{8}(?![0-9a-z])")
"""The part of a UID in the name of a backup or of a sync, and the mark of an attempt."""
_WRITES = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_BESIDE = frozenset({"events", "leases", "selfsubjectaccessreviews", "tokenreviews"})
"""What is written beside the work, or only asked by a POST."""
_ASKED_BY_POST = re.compile(r"/(login|search|subscribe/[^/]+|revoke|preview)$")
"""Ends of paths of the service that are sent by POST and change nothing in a project."""


@dataclass(frozen=True, slots=True)
class Naming:
    """How the names of one run are made, and read again: each run has names that no other has.

    Attributes:
        serial: of the run.
        namespace: where it takes place.
    """

    serial: int
    namespace: str

    def name(self, stem: str) -> str:
        """Return the name that an object has in this run."""
        return f"{stem}-x{self.serial}"

    def plain(self, text: str) -> str:
        """Return a text without what is this run's alone."""
        text = text.replace(f"-x{self.serial}", "").replace(self.namespace, "{namespace}")
        return _TAG.sub("{tag}", _UUID.sub("{id}", text))

    def is_ours(self, name: str) -> bool:
        """Tell whether an object is of this run."""
        return name == self.namespace or re.search(rf"-x{self.serial}(?!\d)", name) is not None


@dataclass(frozen=True, slots=True)
class KubeAsk:
    """A request to the API server.

    Attributes:
        resource: plural, with the subresource after a slash.
        namespace: empty for what has none, or is asked of all.
        name: empty for a collection; of a creation, the name in the body.
        selected: whether labels or fields choose among the objects.
    """

    method: str
    resource: str
    namespace: str
    name: str
    is_watch: bool
    is_dry_run: bool
    selected: str

    @property
    def is_write(self) -> bool:
        """Tell whether it is a write of the operator's work; a dry run counts as one."""
        return self.method in _WRITES and self.resource.partition("/")[0] not in _BESIDE

    def moment(self, naming: Naming) -> str:
        """Return what it is called, without its number."""
        method = f"{self.method}?" if self.is_dry_run else self.method
        return f"write {method} {self.resource}/{naming.plain(self.name)}"


def read_kube_ask(method: str, target: str, body: bytes) -> KubeAsk:
    """Return what a request to the API server asks.

    Args:
        method: in upper case.
        target: path and query as they were sent.
        body: of the request.
    """
    url = urlsplit(target)
    query = parse_qs(url.query)
    parts = [unquote(part) for part in url.path.split("/") if part]
    rest = parts[2:] if parts[:1] == ["api"] else parts[3:]
    namespace = ""
    if rest[:1] == ["namespaces"] and len(rest) > 2:
        namespace, rest = rest[1], rest[2:]
    elif rest[:1] == ["namespaces"] and len(rest) == 2:
        namespace = rest[1]
    resource = "/".join((*rest[:1], *rest[2:]))
    name = rest[1] if len(rest) > 1 else ""
    if method == "POST" and not name:
        name = _name_in(body)
    return KubeAsk(
        method,
        resource,
        namespace,
        name,
        is_watch=query.get("watch", ["0"])[0] in ("1", "true"),
        is_dry_run="dryRun" in query,
        selected="labels" if "labelSelector" in query else "fields" if "fieldSelector" in query else "",
    )


def _name_in(body: bytes) -> str:
    try:
        metadata = orjson.loads(body).get("metadata", {})
    except (orjson.JSONDecodeError, AttributeError):
        return ""
    return str(metadata.get("name", metadata.get("generateName", "")))


def event_moment(ask: KubeAsk, line: bytes, naming: Naming) -> str | None:
    """Return what an event of a watch is called, without its number; None for one that is not of this run.

    Args:
        ask: what asked for the watch.
        line: one event, in JSON.
        naming: of the run.
    """
    try:
        event = orjson.loads(line)
        kind, name = event["type"], event["object"]["metadata"]["name"]
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
    if kind == "BOOKMARK" or not naming.is_ours(name):
        return None
    of = f"{ask.resource}({ask.selected})" if ask.selected else ask.resource
    return f"event {kind} {of}/{naming.plain(name)}"


def call_moment(method: str, target: str, naming: Naming) -> str | None:
    """Return what a call of the service is called, without its number; None for one that changes nothing there."""
    path = urlsplit(target).path
    if method not in _WRITES or _ASKED_BY_POST.search(path):
        return None
    return f"call {method} {naming.plain(unquote(path))}"
