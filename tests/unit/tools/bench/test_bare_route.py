from __future__ import annotations

import httpx

from tools.bench.bare_route import bare_app


async def test_the_floor_answers_the_bytes_it_was_given_and_304() -> None:
    transport = httpx.ASGITransport(bare_app(b'{"secrets":[]}', 'W/"tag"'))

    async with httpx.AsyncClient(transport=transport, base_url="http://floor") as client:
        listed, unchanged = await client.get("/list"), await client.get("/unchanged")

    assert (listed.status_code, listed.content, listed.headers["etag"]) == (200, b'{"secrets":[]}', 'W/"tag"')
    assert (unchanged.status_code, unchanged.content) == (304, b"")
