from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keybearer.base.ids import EnvironmentSlug, FolderPath
from keybearer.domain.secrets.references import (
    Expander,
    Expansion,
    ExpansionLimitError,
    ExpansionStepsError,
    Steps,
    builds_references,
    follow_moves,
    has_references,
    led_to,
    named_targets,
    on_one_line,
)
from keybearer.store.reference_bindings import ANY_NAME, NamedEnvironment
from keybearer.store.secret_places import Location, ReferenceTarget
from support.rows import each_row


def at(key: str, environment: str = "dev", path: str = "/", project: str = "") -> ReferenceTarget:
    return ReferenceTarget(project, Location(EnvironmentSlug(environment), FolderPath(path), key))


def expansion_of(
    text: str, known: dict[ReferenceTarget, str | None], steps: Steps | None = None
) -> Expansion:
    running = Expander(known, steps or Steps()).expand(text, at("SELF"))
    while True:
        try:
            next(running)
        except StopIteration as done:
            result: Expansion = done.value
            return result


def expand(text: str, known: dict[ReferenceTarget, str | None]) -> str:
    expansion = expansion_of(text, known)
    assert expansion.unknown == frozenset()
    return expansion.text


HOST = {at("HOST"): "cnry-host"}

EXPANSIONS = [
    pytest.param("plain", {}, "plain", id="a text without references stays"),
    pytest.param("a ${HOST} b", HOST, "a cnry-host b", id="a key of the same folder"),
    pytest.param("${prod.HOST}", {at("HOST", "prod"): "cnry-p"}, "cnry-p", id="a key of another root"),
    pytest.param(
        "${prod.a.b.HOST}", {at("HOST", "prod", "/a/b"): "cnry-ab"}, "cnry-ab", id="a key of a folder"
    ),
    pytest.param(
        "${@other.prod.a.HOST}",
        {at("HOST", "prod", "/a", "other"): "cnry-other"},
        "cnry-other",
        id="a key of another project",
    ),
    pytest.param("${GONE} ${HOST}", {**HOST, at("GONE"): None}, "${GONE} cnry-host", id="missing stays"),
    pytest.param("[${EMPTY}]", {at("EMPTY"): ""}, "[]", id="an empty secret gives nothing"),
    pytest.param("${}", {}, "${}", id="an empty name is text"),
    pytest.param("${A B}", {}, "${A B}", id="a space makes it text"),
    pytest.param("$HOST {HOST}", HOST, "$HOST {HOST}", id="other brackets are text"),
    pytest.param("${A}", {at("A"): "${HOST}", **HOST}, "cnry-host", id="references are followed"),
    pytest.param(
        "${prod.A}",
        {at("A", "prod"): "${B}", at("B", "prod"): "cnry-in-prod"},
        "cnry-in-prod",
        id="a short reference is looked up beside the text that holds it",
    ),
    pytest.param(
        "${@other.dev.A}",
        {at("A", project="other"): "${dev.B}", at("B", project="other"): "cnry-there"},
        "cnry-there",
        id="a reference of another project stays in that project",
    ),
    pytest.param("${SELF}", {at("SELF"): "${SELF}"}, "${SELF}", id="itself stays"),
    pytest.param(
        "<${B}>",
        {at("B"): "b${C}", at("C"): "c${B}"},
        "<bc${B}>",
        id="a circle is not followed a second time",
    ),
    pytest.param("${A}-${A}", {at("A"): "${HOST}", **HOST}, "cnry-host-cnry-host", id="twice is no circle"),
    pytest.param(
        "${dev.common.${VENDOR}.KEY}",
        {at("VENDOR"): "acme", at("KEY", "dev", "/common/acme"): "cnry-built"},
        "cnry-built",
        id="a reference built from another one",
    ),
    pytest.param(
        "${OLD}{prod.DB}",
        {at("OLD"): "hunter2$", at("DB", "prod"): "cnry-db"},
        "hunter2${prod.DB}",
        id="no value begins a reference of the text around it",
    ),
    pytest.param(
        "${prod.DB${OLD}",
        {at("OLD"): "}", at("DB", "prod"): "cnry-db"},
        "${prod.DB}",
        id="no value ends one",
    ),
    pytest.param(
        "${A}${B}",
        {at("A"): "${prod.", at("B"): "DB}", at("DB", "prod"): "cnry-db"},
        "${prod.DB}",
        id="two values make none",
    ),
    pytest.param(
        "${dev.${A}.KEY}",
        {at("A"): "x}${HOST", **HOST, at("KEY", "dev", "/x"): "cnry-wrong"},
        "${dev.x}${HOST.KEY}",
        id="a value is no more than a name within one",
    ),
    pytest.param("${${A}}", {at("A"): "dev.HOST", **HOST}, "cnry-host", id="the whole name is built"),
    pytest.param("${${A}}", {at("A"): ""}, "${}", id="of an empty value no name is built"),
    pytest.param(
        "a\0${HOST}\0b ${x\0}", HOST, "a\0cnry-host\0b ${x\0}", id="what marks values in a text is text"
    ),
    pytest.param(
        "${prod.B}",
        {at("B", "prod"): "${MISSING}", at("MISSING", "prod"): None, at("MISSING"): "cnry-wrong"},
        "${MISSING}",
        id="what is missing there is not looked for here",
    ),
]


@each_row(("text", "known", "result"), EXPANSIONS)
def test_references_are_replaced(text: str, known: dict[ReferenceTarget, str | None], result: str) -> None:
    assert expand(text, known) == result


def test_a_literal_text_holds_no_reference() -> None:
    known: dict[ReferenceTarget, str | None] = {at("A"): "<${HOST}>", at("HOST"): "cnry-host"}
    running = Expander(known, Steps(), {at("A")}).expand("${A} ${HOST}", at("SELF"))
    with pytest.raises(StopIteration) as done:
        next(running)
    assert done.value.value.text == "<${HOST}> cnry-host"


PROD, LIVE = at("X", "prod").location.environment, at("X", "live").location.environment
LED = [
    pytest.param(at("A", "prod"), {("", PROD): ("", LIVE)}, at("A", "live"), id="to the new name"),
    pytest.param(at("A", "prod"), {("", PROD): None}, None, id="nowhere"),
    pytest.param(
        at("A", "prod"), {("o", PROD): None}, at("A", "prod"), id="another project's name is another"
    ),
    pytest.param(
        at("A", "prod", project="o"), {("o", PROD): ("n", LIVE)}, at("A", "live", project="n"), id="elsewhere"
    ),
    pytest.param(at("A", "prod"), {ANY_NAME: None}, None, id="nowhere, of an earlier version"),
    pytest.param(at("A"), {ANY_NAME: None}, at("A"), id="its own environment, of an earlier version"),
    pytest.param(
        at("A", "prod"), {ANY_NAME: None, ("", PROD): ("", PROD)}, at("A", "prod"), id="what is known of it"
    ),
]


@each_row(("target", "names", "led"), LED)
def test_a_name_leads_to_what_it_meant(
    target: ReferenceTarget,
    names: dict[NamedEnvironment, NamedEnvironment | None],
    led: ReferenceTarget | None,
) -> None:
    assert led_to(target, at("SELF"), {at("SELF"): names}) == led
    assert led_to(target, at("OTHER"), {at("SELF"): names}) == target


def test_the_texts_of_another_project_mean_their_own_environments() -> None:
    redirects = {at("SELF", project="o"): {("", PROD): ("", LIVE)}}
    assert led_to(at("A", "prod", project="o"), at("SELF", project="o"), redirects) == at(
        "A", "live", project="o"
    )


def chain(length: int) -> dict[ReferenceTarget, str | None]:
    links: dict[ReferenceTarget, str | None] = {
        at(f"K{link}"): f"${{K{link + 1}}}" for link in range(1, length)
    }
    return {**links, at(f"K{length}"): "cnry-end"}


def test_ten_levels_are_followed() -> None:
    assert expand("${K1}", chain(10)) == "cnry-end"


def test_the_eleventh_level_stays_as_it_is_written() -> None:
    assert expand("${K1}", chain(11)) == "${K11}"


def test_ten_passes_build_references_and_the_eleventh_does_not() -> None:
    # Each pass resolves the innermost reference, whose result completes the next one outwards.
    def nested(depth: int) -> str:
        return "${K" * depth + "0" + "}" * depth

    known: dict[ReferenceTarget, str | None] = {at(f"K{n}"): str(n + 1) for n in range(20)}
    assert expand(nested(10), known) == "10"
    assert expand(nested(11), known) == "${K10}"


def test_what_is_not_known_is_reported_and_stays_for_now() -> None:
    expansion = expansion_of("${A} ${prod.B}", {})
    assert expansion.text == "${A} ${prod.B}"
    assert expansion.unknown == {at("A"), at("B", "prod")}


def test_a_value_that_would_grow_without_bounds_is_refused() -> None:
    known: dict[ReferenceTarget, str | None] = {
        at(f"K{level}"): f"${{K{level + 1}}}" * 10 for level in range(9)
    }
    known[at("K9")] = "x" * 1000
    with pytest.raises(ExpansionLimitError):
        expansion_of("${K0}", known)


def tree(leaves: int) -> dict[ReferenceTarget, str | None]:
    """Return what `${K0}` refers to: a hundred texts of so many references each."""
    return {at("K0"): "${K1}" * 100, at("K1"): "${K2}" * leaves, at("K2"): "x"}


def test_a_list_of_trees_is_refused_though_each_of_them_is_small_enough() -> None:
    known, steps = tree(90), Steps()

    def expand_many() -> int:
        for number in range(1000):
            try:
                assert expansion_of("${K0}", known, steps).text == "x" * 9000
            except ExpansionStepsError:
                return number
        return 1000

    assert 10 < expand_many() < 100


WORK = [
    pytest.param("${K0}", tree(90), id="references that are followed"),
    pytest.param("${GONE}" * 20_000, {at("GONE"): None}, id="references that name nothing"),
    pytest.param("${A}" * 1000, {at("A"): "x" * 1000}, id="references to long texts"),
]


@pytest.mark.parametrize(("text", "known"), WORK)
def test_an_expansion_pauses_again_and_again(text: str, known: dict[ReferenceTarget, str | None]) -> None:
    pauses = sum(1 for _ in Expander(known, Steps()).expand(text, at("SELF")))
    assert pauses > 1


def test_what_names_nothing_counts_too() -> None:
    known: dict[ReferenceTarget, str | None] = {at("GONE"): None}
    steps = Steps()
    with pytest.raises(ExpansionStepsError):  # noqa: PT012 - it is their sum that is refused
        for _ in range(100):
            expansion_of("${GONE}" * 10_000, known, steps)


@given(text=st.text(alphabet="${}ABab.@-_ \n", max_size=60))
def test_expansion_of_any_text_ends_and_without_references_changes_nothing(text: str) -> None:
    known: dict[ReferenceTarget, str | None] = dict.fromkeys(named_targets(text, at("SELF")))
    assert expand(text, known) == text
    assert has_references(text) == bool(known)


names = st.text(alphabet="ABC", min_size=1, max_size=2)


@given(
    values=st.dictionaries(
        names,
        st.lists(st.one_of(st.text("xy${}.", max_size=3), names.map(lambda n: f"${{{n}}}")), max_size=4),
    ),
    start=names,
)
def test_expansion_ends_for_any_web_of_references(values: dict[str, list[str]], start: str) -> None:
    known: dict[ReferenceTarget, str | None] = {at(key): "".join(parts) for key, parts in values.items()}
    expansion = expansion_of(f"${{{start}}}", known)
    assert all(target not in known for target in expansion.unknown)


@given(values=st.dictionaries(names, st.text("xyz", max_size=5), min_size=1))
def test_expansion_without_nesting_is_plain_substitution(values: dict[str, str]) -> None:
    known: dict[ReferenceTarget, str | None] = {at(key): value for key, value in values.items()}
    text = "|".join(f"${{{key}}}" for key in values)
    assert expand(text, known) == "|".join(values.values())


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("${OLD}", "${NEW}", id="in the same folder"),
        pytest.param("${dev.OLD}", "${dev.NEW}", id="by environment"),
        pytest.param("${prod.OLD}", "${prod.OLD}", id="another environment's stays"),
        pytest.param("${OLDER} OLD", "${OLDER} OLD", id="other names and plain text stay"),
        pytest.param("a${OLD}b${OLD}", "a${NEW}b${NEW}", id="every occurrence"),
    ],
)
def test_a_rename_follows_the_secret(text: str, result: str) -> None:
    def renamed(place: Location) -> Location:
        return at("NEW").location if place == at("OLD").location else place

    here = at("USER").location
    assert follow_moves(text, here, here, project_slug="own-slug", moved=renamed) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("cnry-one", "cnry-one", id="one line stays"),
        pytest.param("cnry-one\ntwo\n", '"cnry-one\\ntwo\\n"', id="more lines become one in quotes"),
    ],
)
def test_several_lines_are_written_as_one(text: str, result: str) -> None:
    assert on_one_line(text) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("${KEY}", "${KEY}", id="beside the text: both move"),
        pytest.param("${dev.old.KEY}", "${dev.new.KEY}", id="by its path"),
        pytest.param("${dev.old.deep.KEY}", "${dev.new.deep.KEY}", id="beneath the folder"),
        pytest.param("${@own.dev.old.KEY}", "${@own.dev.new.KEY}", id="by the project's slug"),
        pytest.param("${@other.dev.old.KEY}", "${@other.dev.old.KEY}", id="another project's"),
        pytest.param("${dev.older.KEY}", "${dev.older.KEY}", id="a name that begins alike"),
        pytest.param("${prod.old.KEY}", "${prod.old.KEY}", id="another environment's"),
    ],
)
def test_a_renamed_folder_is_followed_by_what_lies_in_it(text: str, result: str) -> None:
    def moved(place: Location) -> Location:
        parts = place.path.split("/")
        if place.environment != "dev" or parts[1] != "old":
            return place
        return Location(place.environment, FolderPath("/".join(["", "new", *parts[2:]])), place.key)

    here = Location(EnvironmentSlug("dev"), FolderPath("/old"), "USER")
    assert follow_moves(text, here, moved(here), project_slug="own", moved=moved) == result


@pytest.mark.parametrize(
    ("text", "result"),
    [
        pytest.param("${KEY}", "${prod.there.KEY}", id="the near one is far now"),
        pytest.param("${dev.KEY}", "${prod.there.KEY}", id="the far one elsewhere"),
    ],
)
def test_a_moved_secret_is_named_by_its_whole_path(text: str, result: str) -> None:
    def moved(place: Location) -> Location:
        return Location(EnvironmentSlug("prod"), FolderPath("/there"), place.key)

    here = at("USER").location
    assert follow_moves(text, here, here, project_slug="own", moved=moved) == result


def test_what_no_reference_can_name_is_not_followed() -> None:
    def moved(place: Location) -> Location:
        return Location(place.environment, place.path, "A.B")

    here = at("USER").location
    assert follow_moves("${KEY}", here, here, project_slug="own", moved=moved) == "${KEY}"


@pytest.mark.parametrize(
    ("text", "builds"),
    [
        pytest.param("plain", False, id="no reference"),
        pytest.param("${KEY} and ${dev.a.KEY}", False, id="whole references"),
        pytest.param("${FOO:-bar} $x", False, id="what a shell would read"),
        pytest.param("${dev.${A}.KEY}", True, id="a reference within one"),
        pytest.param("${a.${b.${C}}}", True, id="several within each other"),
        pytest.param("${dev.", False, id="the begin of one: nobody else ends it"),
        pytest.param("x$", False, id="the very begin of one"),
        pytest.param("$${A}", False, id="a begin before another's text"),
        pytest.param("${A}{KEY}", False, id="an end after another's text"),
        pytest.param(".KEY}", False, id="the end of one: nobody else begins it"),
    ],
)
def test_texts_that_build_references_are_told_from_those_that_name_them(text: str, *, builds: bool) -> None:
    assert builds_references(text) is builds
