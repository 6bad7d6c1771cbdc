from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from keybearer.destinations.protocol import Outgoing
from keybearer.domain.syncs.digests import Digests
from keybearer.domain.syncs.plan import Wanted
from keybearer.store.secret_syncs import SyncRecord
from support.sync_scene import blank_record

pytestmark = pytest.mark.every_database

KEY = b"k" * 32
RECORD = replace(
    blank_record("project", "folder", "connection", "one", datetime(2026, 3, 1, tzinfo=UTC)),
    id="sync",
    sync_options={"initialSyncBehavior": "overwrite-destination", "keySchema": "a-{{secretKey}}"},
)
ONE = Outgoing("A", "cnry-1")
ALL = [Wanted("A", "cnry-1"), Wanted("B", "cnry-2")]


@pytest.mark.parametrize(
    "other",
    [
        replace(RECORD, id="another"),
        replace(RECORD, connection_id="another"),
        replace(RECORD, destination_config={"place": "two"}),
        replace(RECORD, sync_options={**RECORD.sync_options, "keySchema": "b-{{secretKey}}"}),
    ],
    ids=["another sync", "another connection", "another place", "another naming"],
)
def test_what_was_written_under_another_setup_is_not_the_same(other: SyncRecord) -> None:
    assert Digests(KEY, RECORD).of(ONE) != Digests(KEY, other).of(ONE)
    assert Digests(KEY, RECORD).of_source(ALL) != Digests(KEY, other).of_source(ALL)


def test_options_that_change_nothing_that_is_written_make_no_difference() -> None:
    options = {
        **RECORD.sync_options,
        "disableSecretDeletion": True,
        "initialSyncBehavior": "import-prioritize-source",
    }
    other = Digests(KEY, replace(RECORD, sync_options=options))
    assert Digests(KEY, RECORD).of(ONE) == other.of(ONE)
    assert Digests(KEY, RECORD).of_source(ALL) == other.of_source(reversed(ALL))


@pytest.mark.parametrize(
    "other", [Outgoing("B", "cnry-1"), Outgoing("A", "cnry-2"), Outgoing("A", "cnry-1", (("tag", "x"),))]
)
def test_every_part_of_what_is_written_counts(other: Outgoing) -> None:
    assert Digests(KEY, RECORD).of(ONE) != Digests(KEY, RECORD).of(other)


def test_where_one_part_ends_and_the_next_begins_counts() -> None:
    digests = Digests(KEY, RECORD)
    assert digests.of_source([Wanted("A", "BC")]) != digests.of_source([Wanted("AB", "C")])
    assert digests.of_source([]) != digests.of_source([Wanted("A", "")])


def test_without_the_key_no_digest_can_be_made() -> None:
    assert Digests(KEY, RECORD).of(ONE) != Digests(b"x" * 32, RECORD).of(ONE)
    # Digests of one and of all are not to be mistaken for each other.
    assert Digests(KEY, RECORD).of(ONE) != Digests(KEY, RECORD).of_source([Wanted("A", "cnry-1")])
