from __future__ import annotations

import re
import uuid

from keybearer.base.ids import new_request_id, new_uuid


def test_a_fresh_uuid_is_a_random_one_in_its_usual_spelling() -> None:
    fresh = new_uuid()

    assert str(uuid.UUID(fresh)) == fresh
    assert uuid.UUID(fresh).version == 4
    assert new_uuid() != fresh


def test_a_request_id_is_short_safe_in_a_header_and_fresh() -> None:
    fresh = new_request_id()

    assert re.fullmatch(r"req-[A-Za-z0-9_-]{14}", fresh)
    assert new_request_id() != fresh
