"""What a unit changed: noted by the repositories, told once it is committed, and carried in messages."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.ids import EnvironmentSlug, FolderPath, IdentityId, OrganizationId, ProjectId
from keybearer.store.change_bus import (
    MESSAGE_MAX_BYTES,
    LocalBus,
    MessageError,
    read_message,
    write_messages,
)
from keybearer.store.revisions import ChangeKind, Changes, ListChange
from keybearer.wire.limits import ENVIRONMENT_SLUG_MAX, FOLDER_PATH_MAX, SECRET_NAME_MAX

_KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=SECRET_NAME_MAX)
_CHANGES = st.builds(
    ListChange,
    st.sampled_from(ChangeKind),
    st.sampled_from([ProjectId("p" * 36), ProjectId("q" * 36)]),
    st.sampled_from([EnvironmentSlug("dev"), EnvironmentSlug("e" * ENVIRONMENT_SLUG_MAX)]),
    st.sampled_from([FolderPath("/"), FolderPath("/" + "a" * (FOLDER_PATH_MAX - 1))]),
    _KEYS,
    st.sampled_from(["", "o" * 36]),
)


def carried(messages: list[str]) -> Changes:
    read = [read_message(message) for message in messages]
    return Changes(
        identities={item for changes in read for item in changes.identities},
        tokens={item for changes in read for item in changes.tokens},
        organizations={item for changes in read for item in changes.organizations},
        folders=[item for changes in read for item in changes.folders],
        jobs=any(changes.jobs for changes in read),
    )


@given(
    st.lists(_CHANGES, max_size=40),
    st.sets(st.uuids().map(str), max_size=5),
    st.sets(st.uuids().map(str), max_size=300),
    st.booleans(),
)
def test_messages_carry_all_changes_and_fit_into_a_notification(
    folders: list[ListChange],
    identities: set[str],
    tokens: set[str],
    jobs: bool,  # noqa: FBT001 - hypothesis gives it by its place
) -> None:
    changes = Changes(
        identities={IdentityId(item) for item in identities},
        tokens=tokens,
        organizations={OrganizationId("o")},
        folders=folders,
        jobs=jobs,
    )
    messages = write_messages(changes)
    assert all(len(message.encode()) <= MESSAGE_MAX_BYTES < 8000 for message in messages)
    read = carried(messages)
    assert Counter(read.folders) == Counter(folders)
    assert (read.identities, read.tokens, read.organizations, read.jobs) == (
        changes.identities,
        tokens,
        changes.organizations,
        jobs,
    )


def test_the_longest_change_fits() -> None:
    longest = ListChange(
        ChangeKind.CREATED,
        ProjectId("p" * 36),
        EnvironmentSlug("e" * ENVIRONMENT_SLUG_MAX),
        FolderPath("/" + "a" * (FOLDER_PATH_MAX - 1)),
        "\x01" * SECRET_NAME_MAX,
        "o" * 36,
    )
    (message,) = write_messages(Changes(folders=[longest]))
    assert len(message.encode()) <= MESSAGE_MAX_BYTES


def test_what_only_moved_revisions_needs_no_message() -> None:
    assert write_messages(Changes(revisions={"p": 7})) == []


def test_a_thousand_keys_of_a_folder_go_into_few_messages() -> None:
    changes = [
        ListChange(
            ChangeKind.CREATED, ProjectId("p" * 36), EnvironmentSlug("dev"), FolderPath("/app"), f"KEY_{n}"
        )
        for n in range(1000)
    ]
    assert len(write_messages(Changes(folders=changes))) < 5


@pytest.mark.parametrize(
    "message",
    ["", "{", "[]", "5", '{"f": 1}', '{"f": [[1]]}', '{"i": [1]}', '{"f": [["p","e","/","x","",["K"]]]}'],
)
def test_what_no_keybearer_wrote_is_refused(message: str) -> None:
    with pytest.raises(MessageError):
        read_message(message)


def test_news_of_a_later_version_are_left_out() -> None:
    assert read_message('{"z": [1], "t": ["token"]}') == Changes(tokens={"token"})


def test_the_local_bus_tells_every_listener() -> None:
    bus, heard = LocalBus(), list[Changes]()
    bus.subscribe(heard.append)
    bus.subscribe(heard.append)
    changes = Changes()
    bus.committed(changes)
    assert heard == [changes, changes]
