"""Lists of any length in pages whose bytes are bounded, whatever size the objects have."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from urllib.parse import urlencode

from keybearer.kube.connection import Request
from keybearer.kube.documents import METADATA_LIST, PLAIN, parse_object
from keybearer.kube.errors import AnswerTooLargeError
from keybearer.kube.exchange import Exchange
from keybearer.kube.resources import JsonObject, Resource

__all__ = ["ListQuery", "Page", "pages"]

_PAGE_BYTES = 16 * 1024 * 1024
_PAGE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What is listed: a resource in one namespace, or in all (None), by labels and by fields."""

    resource: Resource
    namespace: str | None = None
    label_selector: str = ""
    metadata_only: bool = False
    page_size: int = 500
    field_selector: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Some objects, and the state of the cluster that all pages of one list show."""

    items: list[JsonObject]
    resource_version: str


async def pages(exchange: Exchange, query: ListQuery) -> AsyncGenerator[Page, None]:
    """Iterate over the pages of a list. A page that is too long is asked for again with half the objects.

    Raises:
        GoneError: it took longer than the API server keeps that state; begin again.
        AnswerTooLargeError: a single object is longer than a page may be.
        KubeError: any other of its kinds.
    """
    selectors = {"labelSelector": query.label_selector, "fieldSelector": query.field_selector}
    selector = {name: text for name, text in selectors.items() if text}
    path = query.resource.collection_path(query.namespace)
    limit, following = query.page_size, ""
    while True:
        more = {"continue": following} if following else {}
        request = Request(
            "GET",
            f"{path}?{urlencode({'limit': limit, **selector, **more})}",
            METADATA_LIST if query.metadata_only else PLAIN,
            timeout_seconds=_PAGE_SECONDS,
            max_bytes=_PAGE_BYTES,
        )
        try:
            answer = await exchange.ask(f"list {query.resource.plural}", request)
        except AnswerTooLargeError:
            if limit == 1:
                raise
            limit //= 2
            continue
        parsed = parse_object(answer.body)
        following = _metadata(parsed, "continue")
        yield Page(_items(parsed), _metadata(parsed, "resourceVersion"))
        if not following:
            return


def _items(parsed: JsonObject) -> list[JsonObject]:
    items = parsed.get("items")
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []


def _metadata(parsed: JsonObject, name: str) -> str:
    metadata = parsed.get("metadata")
    value = metadata.get(name) if isinstance(metadata, dict) else None
    return value if isinstance(value, str) else ""
