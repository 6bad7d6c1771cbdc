"""What commands of one kind of thing share: lists, sentences, and how one is found by name or id."""

from __future__ import annotations

from dataclasses import dataclass

import orjson
import pytest

from keybearer.cli.failures import CommandError, ExitStatus
from keybearer.cli.nouns import Noun
from keybearer.cli.output import OutputFormat


@dataclass(frozen=True, slots=True)
class Policy:
    id: str
    name: str


POLICY: Noun[Policy] = Noun("policy", ("NAME", "ID"), lambda one: (one.name, one.id))
WEB, MAIL = Policy("p-1", "web"), Policy("p-2", "mail")


def test_people_get_a_line_for_each_and_programs_all_that_there_is(capfd: pytest.CaptureFixture[str]) -> None:
    POLICY.print_list(OutputFormat.TABLE, [WEB, MAIL])
    assert [line.split() for line in capfd.readouterr().out.splitlines()] == [
        ["NAME", "ID"],
        ["web", "p-1"],
        ["mail", "p-2"],
    ]
    POLICY.print_list(OutputFormat.JSON, [WEB])
    assert orjson.loads(capfd.readouterr().out) == [{"id": "p-1", "name": "web"}]


def test_people_are_told_that_a_list_is_empty_beside_the_answer(capfd: pytest.CaptureFixture[str]) -> None:
    POLICY.print_list(OutputFormat.TABLE, [])
    assert capfd.readouterr() == ("", "Nothing found.\n")


def test_what_became_of_one_is_a_sentence_with_its_name(capfd: pytest.CaptureFixture[str]) -> None:
    POLICY.print_done(OutputFormat.TABLE, WEB, "is deleted")
    POLICY.print_made(OutputFormat.TABLE, WEB)
    assert capfd.readouterr() == ("", "Policy web is deleted.\nPolicy web is made; its id is p-1.\n")
    POLICY.print_done(OutputFormat.JSON, WEB, "is deleted")
    assert orjson.loads(capfd.readouterr().out) == {"id": "p-1", "name": "web"}


@pytest.mark.parametrize("wanted", ["mail", "p-2"])
def test_one_is_found_by_its_name_and_by_its_id(wanted: str) -> None:
    assert POLICY.named(wanted, [WEB, MAIL]) is MAIL


@pytest.mark.parametrize(("name", "command"), [("policy", "policies"), ("tag", "tags")])
def test_one_that_is_not_there_is_told_with_the_command_that_lists_them(name: str, command: str) -> None:
    noun: Noun[Policy] = Noun(name, POLICY.columns, POLICY.row)
    with pytest.raises(CommandError, match=f"there is no {name} chat") as missing:
        noun.named("chat", [WEB, MAIL])
    assert missing.value.status is ExitStatus.NOT_FOUND
    assert missing.value.next_step == f"List them: keybearer {command} list"
