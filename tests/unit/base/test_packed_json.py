from __future__ import annotations

import tracemalloc

from keybearer.base.packed_json import packed_json


def test_json_that_is_kept_takes_little_more_memory_than_it_has_bytes() -> None:
    value = {"name": "web", "list": [1, None, True]}
    tracemalloc.start()
    try:
        kept = [packed_json(value) for _ in range(100)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept[0] == b'{"name":"web","list":[1,null,true]}'
    assert taken < 100 * 256
