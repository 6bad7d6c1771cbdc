"""The linter finds each sentence that was rewritten, and nothing in the sentence that took its place."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support.rows import every_row
from tools.prose import __main__ as program
from tools.prose import vale
from tools.prose.vale import ROOT, Finding, ProseError, findings, pages

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## How we write\n")[2]
PAIRS = [
    (before, after)
    for before, after in re.findall(r"^\| (.+?) \| (.+?) \|$", GUIDE.partition("\n## ")[0], re.MULTILINE)
    if before != "before"
]
REWRITTEN = (
    "On a machine with Python ≥ 3.11, make and a way to package indexes, nothing else",
    "Both `web-planned` are in `mode: Plan`: one waits for approval, the policy stands against the other",
    "it alone lets go of them",
    "with which all objects of these kinds go in all namespaces",
    (
        "What changes in the service is in the cluster, and in other stores, at once by events, by polling where "
        "there are none, and on request."
    ),
    "Where it must not, name the namespaces, which have to exist, and tell this cluster from others",
    "What opens a new door is off by itself and comes with a value",
    (
        "Who applies a rendered chart and has `operator.leaderElection` off deletes the Deployment "
        "`keybearer-operator` before"
    ),
    "Give it what it had before: with `clusterId` empty, an operator that could read it took the UID of kube-system.",
    "Which symptom leads where stands in troubleshooting",
    "Nothing of you is needed",
    "It is looked at again at leisure",
    "What its conditions mean stands with the reasons.",
    (
        "those of `destinationConfig` beyond the cloud's and `codehost`'s stand below, and what is none of them is "
        "named in the condition"
    ),
    "A word that is none is told by an Event",
    "keeps everything in SQLite in its data directory, and is alone",
    "A restore that was never tried is none",
    "so that two things are to be seen to",
    "are the programs of the house",
    "What Keybearer is made of, what happens to a change, and what it keeps where",
    "How the parts are built stands in architecture, why so in the decisions",
    "Taints that the pods bear",
    "Nothing of ours in any namespace.",
    "'secret' is none of our kinds",
    "--no-bootstrap-token says something of --bootstrap api only",
    "comes upon faults of its own",
)
"""Sentences of earlier pages, messages and alerts that readers had to read twice."""
AT_MOST = (
    "The operator reads the folder, compares it with the Secret, writes the keys that differ, and says in its status "
    "what it did with each."
)
"""Twenty-five words."""
PLAIN = (
    AT_MOST,
    "What is it? Who may read it?",
    "The operator tells the two apart by their names.",
    "You don't have to do anything.",
    "`what it had` and `by itself` are code.",
    "The condition says what is wrong, and who must act.",
    "It asks for a secret. What happens then? The service answers.",
    "A policy allows fewer names. **What to do:** name the others in it.",
)
"""Sentences that a careless rule would find."""


def lint(sentences: Sequence[str], folder: Path) -> Mapping[str, list[Finding]]:
    """Return the findings of each sentence, which is the only one of a page of its own."""
    named = {Path(f"{number}.md"): sentence for number, sentence in enumerate(sentences)}
    for page, sentence in named.items():
        (folder / page).write_text(f"# A page\n\n{sentence}\n", encoding="utf-8")
    found = findings(list(named), folder)
    return {sentence: [one for one in found if one.page == page] for page, sentence in named.items()}


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, list[Finding]]:
    texts = [text for pair in PAIRS for text in pair]
    return lint(list(dict.fromkeys([*texts, *REWRITTEN, *PLAIN])), tmp_path_factory.mktemp("prose"))


def test_the_guide_has_twenty_pairs() -> None:
    assert len(PAIRS) == 20


def test_each_sentence_that_was_rewritten_is_found(linted: Mapping[str, list[Finding]]) -> None:
    with every_row() as row:
        for sentence in dict.fromkeys([*(before for before, _ in PAIRS), *REWRITTEN]):
            with row(sentence):
                assert linted[sentence]


def test_nothing_is_found_in_plain_sentences(linted: Mapping[str, list[Finding]]) -> None:
    with every_row() as row:
        for sentence in dict.fromkeys([*(after for _, after in PAIRS), *PLAIN]):
            with row(sentence):
                assert linted[sentence] == []


def test_a_sentence_has_twenty_five_words_at_most(tmp_path: Path) -> None:
    assert len(AT_MOST.split()) == 25
    longer = AT_MOST.replace("each", "each key")
    (found,) = lint([longer], tmp_path)[longer]
    assert found.rule == "Keybearer.SentenceLength"


def test_a_finding_names_its_place_and_what_to_write(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("# A page\n\nThe limit\nhas to be larger.\n")
    (found,) = findings([Path("page.md")], tmp_path)
    assert str(found) == "page.md:4:1: Write 'must' instead of 'has to'. [Keybearer.Words]"


@pytest.mark.parametrize(
    "text",
    [
        "- The limit has to be larger.\n",
        "1. One.\n\n   The limit has to be larger.\n",
        "| a |\n|---|\n| The limit has to be larger. |\n",
        "> The limit has to be larger.\n",
        "## The limit has to be larger\n",
        f"- {'word ' * 26}\n",
        "The limit has\nto be larger.\n",
        "The *limit* **has** [to](page.md) be larger.\n",
    ],
)
def test_lists_tables_quotes_and_headings_are_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.md").write_text(f"# A page\n\n{text}")
    assert len(findings([Path("page.md")], tmp_path)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "    the limit has to be larger\n",
        "```text\nthe limit has to be larger\n```\n",
        "`the limit has to be larger`\n",
        (
            "<!-- places: written by `make reference` from the code; edit that instead -->\n\n"
            "| a |\n|---|\n| has to |\n\n<!-- end of places -->\n"
        ),
        "<!-- bench service: begin -->\n\nThe limit has to be larger.\n\n<!-- bench service: end -->\n",
        "<!-- vale off -->\n\nThe limit has to be larger.\n\n<!-- vale on -->\n",
    ],
)
def test_code_and_generated_tables_are_not_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.md").write_text(f"# A page\n\n{text}")
    assert findings([Path("page.md")], tmp_path) == []


def test_the_list_of_pages_names_pages_that_there_are() -> None:
    listed = pages()
    assert Path("README.md") in listed
    assert Path("docs/how-to/gitops.md") in listed
    assert len(listed) == len(set(listed))


def test_a_page_that_is_gone_is_an_error() -> None:
    with pytest.raises(ProseError, match=r"there is no page gone\.md"):
        findings([Path("gone.md")], ROOT)


def test_a_rule_that_is_broken_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tools" / "prose" / "styles", tmp_path / "styles")
    shutil.copy(ROOT / "tools" / "prose" / ".vale.ini", tmp_path)
    (tmp_path / "styles" / "Keybearer" / "Broken.yml").write_text("extends: nothing\n")
    monkeypatch.setattr(vale, "_CONFIGURATION", tmp_path / ".vale.ini")
    with pytest.raises(ProseError, match=r"(?s)Vale can't lint the pages: .*Broken\.yml"):
        findings([Path("README.md")], ROOT)


def test_findings_end_the_program_and_say_how_to_read_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = Finding(Path("page.md"), 4, 1, "Keybearer.Words", "Write 'must' instead of 'has to'.")
    monkeypatch.setattr(program, "findings", lambda *_: [finding])
    monkeypatch.setattr("sys.argv", ["prose"])
    assert program.main() == 1
    shown = capsys.readouterr()
    assert shown.out == f"{finding}\n"
    assert "1 finding. Each line is PAGE:LINE:COLUMN" in shown.err
    assert "How we write" in shown.err
