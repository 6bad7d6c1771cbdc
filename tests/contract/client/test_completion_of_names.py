"""At Tab the shell is offered the projects and environments of the service, and nothing if it can't be asked."""

from __future__ import annotations

import pytest

from support.command_line import Answer, CommandLine
from support.service_fixtures import Project


def offered(line: CommandLine, words: str, **variables: str) -> list[str]:
    """Return what bash is offered after these words, of which the last is unfinished."""
    answer: Answer = line(
        _KEYBEARER_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split(" ")) - 1),
        **variables,
    )
    assert (answer.status, answer.stderr) == (0, "")
    return answer.stdout.split()


def test_projects_and_their_environments_are_offered(keybearer: CommandLine, project: Project) -> None:
    slug = project.slug
    assert slug in offered(keybearer, "keybearer secrets list --project ")
    assert offered(keybearer, f"keybearer secrets list --project {slug[:-1]}") == [slug]
    found = offered(keybearer, f"keybearer secrets list --project {slug} --env ")
    assert "dev" in found
    assert offered(keybearer, f"keybearer secrets list --project {slug} --env de") == ["dev"]


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        pytest.param("keybearer secrets list --env ", {}, id="no project"),
        pytest.param("keybearer secrets list --project no-such --env ", {}, id="an unknown project"),
        pytest.param(
            "keybearer secrets list --project ", {"KEYBEARER_TOKEN": "cnry-wrong"}, id="a wrong token"
        ),
        pytest.param(
            "keybearer secrets list --project ",
            {"KEYBEARER_URL": "http://127.0.0.1:9"},
            id="no service there",
        ),
        pytest.param(
            "keybearer secrets list --project ",
            {"KEYBEARER_CLIENT_ID": "", "KEYBEARER_CLIENT_SECRET": ""},
            id="nobody is logged in",
        ),
    ],
)
def test_nothing_is_offered_where_the_service_can_not_say(
    keybearer: CommandLine, project: Project, words: str, variables: dict[str, str]
) -> None:
    assert project.slug
    without = {name: text for name, text in keybearer.variables.items() if name != "KEYBEARER_PROJECT"}
    assert offered(CommandLine(keybearer.home, without), words, **variables) == []
