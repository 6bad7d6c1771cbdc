"""Which packages of others are taken, and with what words the others are refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from keybearer.base.errors import ConfigurationError
from keybearer.destinations.app import App
from keybearer.destinations.catalogue import CATALOGUE, Catalogue
from keybearer.destinations.form import UnbuiltDestination
from keybearer.destinations.gitlab import GITLAB
from keybearer.destinations.shipped import Shipped, catalogue_with, extended
from support.rows import each_row
from support.shipped_package import write_installed

_FINE = """
from dataclasses import replace
from keybearer.destinations.gitlab import GITLAB
KIND = replace(GITLAB, name="{0}", title="Theirs", app=replace(GITLAB.app, name="{0}", title="Theirs"))
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder for installed packages; what is imported from there is forgotten after the test."""
    known = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - known:
        del sys.modules[name]


def refusal(*names: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        catalogue_with(names)
    return str(caught.value)


def test_destinations_of_a_package_come_after_our_own(packages: Path) -> None:
    write_installed(packages, "their-store", {"their": "their_store:KIND"}, their_store=_FINE.format("their"))
    catalogue = catalogue_with(["their-store"])
    assert [one.name for one in catalogue.destinations] == [
        *(one.name for one in CATALOGUE.destinations),
        "their",
    ]
    kind = catalogue.kind("their")
    assert kind is not None
    assert catalogue.app("their") is kind.app
    assert {app.name for app in catalogue.apps} == {*(app.name for app in CATALOGUE.apps), "their"}


def test_a_package_may_be_named_in_any_spelling_that_installers_take(packages: Path) -> None:
    write_installed(packages, "Their.Store", {"their": "their_store:KIND"}, their_store=_FINE.format("their"))
    assert catalogue_with(["their-store"]).kind("their") is not None


def test_code_of_a_package_that_is_not_named_is_never_imported(packages: Path) -> None:
    write_installed(packages, "one-store", {"one": "one_store:KIND"}, one_store=_FINE.format("one"))
    write_installed(packages, "other-store", {"other": "other_store:KIND"}, other_store="raise SystemExit")
    assert catalogue_with([]) is CATALOGUE
    assert catalogue_with(["one-store"]).offered("other") is None
    assert "one_store" in sys.modules
    assert "other_store" not in sys.modules


def test_a_package_that_is_not_installed_is_told() -> None:
    assert refusal("no-such-store") == (
        "--destinations-from no-such-store: no package of this name is installed where Keybearer is; install it "
        "there, or correct the name"
    )
    assert refusal("").startswith("--destinations-from : no package of this name")


def test_a_package_that_is_named_twice_is_told(packages: Path) -> None:
    write_installed(packages, "their-store", {"their": "their_store:KIND"}, their_store=_FINE.format("their"))
    assert refusal("their-store", "Their_Store") == (
        "--destinations-from names the package their-store twice; name each once"
    )


def test_a_package_without_destinations_is_told(packages: Path) -> None:
    write_installed(packages, "no-store", {})
    assert refusal("no-store") == (
        "--destinations-from no-store: the package has no entry point of the group keybearer.destinations, so it "
        "ships no destination"
    )


def test_an_entry_that_is_no_destination_is_told(packages: Path) -> None:
    write_installed(packages, "no-store", {"no": "no_store:KIND"}, no_store="KIND = 7")
    assert refusal("no-store") == (
        "--destinations-from no-store: its entry point no leads to no_store:KIND of the type int; it must be a "
        "DestinationKind"
    )


@each_row(
    ("source", "told"),
    [
        ("import there_is_no_such_module", "ModuleNotFoundError: No module named 'there_is_no_such_module'"),
        ("", "AttributeError: module 'bad_store' has no attribute 'KIND'"),
        ("\nraise ValueError('cnry-value')", "ValueError at bad_store.py:2"),
        ("raise SystemExit('cnry-value')", "SystemExit at bad_store.py:1"),
        ("KIND = 'cnry-value", "SyntaxError at bad_store.py:1"),
    ],
)
def test_code_that_fails_is_told_by_its_kind_and_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, told: str
) -> None:
    folder = tmp_path / str(abs(hash(source)))
    folder.mkdir()
    with monkeypatch.context() as patched:
        patched.syspath_prepend(folder)
        write_installed(folder, "bad-store", {"bad": "bad_store:KIND"}, bad_store=source)
        said = refusal("bad-store")
    sys.modules.pop("bad_store", None)
    assert said == (
        f"--destinations-from bad-store: its entry point bad: bad_store:KIND can't be loaded: {told}; does this "
        "version of the package go with this version of Keybearer?"
    )


def kind(name: str, app: App | str = "theirs", **changes: object) -> Shipped:
    """Return a destination as a package ships it, by default with an app of its own."""
    led = replace(GITLAB.app, name=app) if isinstance(app, str) else app
    made = replace(GITLAB, name=name, app=led)
    return Shipped(name, replace(made, **changes))  # type: ignore[arg-type] # fields of the kind


_VERCEL = CATALOGUE.offered("vercel")


def test_one_that_is_offered_without_a_driver_may_be_shipped_as_it_is_told() -> None:
    shipped = kind("vercel", "vercel", title="Vercel", can_import=True)
    catalogue = extended(CATALOGUE, [shipped])
    names = [one.name for one in catalogue.destinations]
    assert names == [one.name for one in CATALOGUE.destinations]
    assert catalogue.kind("vercel") is shipped.kind
    assert isinstance(_VERCEL, UnbuiltDestination)
    assert CATALOGUE.offered("vercel") is _VERCEL  # ours is as it was


@each_row(
    ("app", "change", "told"),
    [
        ("vercel", {"title": "Another"}, "title 'Another', not 'Vercel'"),
        ("vercel", {"can_import": False}, "can_import False, not True"),
        ("vercel", {"can_remove": False}, "can_remove False, not True"),
        ("other", {}, "app 'other', not 'vercel'"),
    ],
)
def test_one_that_is_offered_without_a_driver_is_not_shipped_with_other_terms(
    app: str, change: dict[str, object], told: str
) -> None:
    shipped = kind("vercel", app, **{"title": "Vercel", "can_import": True, **change})
    with pytest.raises(ConfigurationError) as caught:
        extended(CATALOGUE, [shipped])
    assert str(caught.value) == (
        f"vercel: the destination vercel is offered with other terms: this one has {told}; correct that, or take "
        "another name"
    )


def test_two_destinations_may_share_one_app_and_one_of_ours() -> None:
    app = replace(GITLAB.app, name="theirs")
    catalogue = extended(CATALOGUE, [kind("a", app), kind("b", app), kind("c", GITLAB.app)])
    assert [one.name for one in catalogue.kinds[-3:]] == ["a", "b", "c"]
    assert catalogue.app("gitlab") is GITLAB.app


def test_an_app_that_waits_for_its_destination_is_taken_together_with_it_in_any_order() -> None:
    app = replace(GITLAB.app, name="vercel")
    vercel, more = kind("vercel", app, title="Vercel", can_import=True), kind("vercel-teams", app)
    for order in ([vercel, more], [more, vercel]):
        assert extended(CATALOGUE, order).kind("vercel-teams") is more.kind


_CLASHES: dict[str, tuple[list[Shipped], str]] = {
    "a destination of ours": ([kind("gitlab")], "there is a destination gitlab already"),
    "a destination of another package": ([kind("a", GITLAB.app)] * 2, "there is a destination a already"),
    "an app of ours": ([kind("a", "codehost")], "there is an app codehost already"),
    "an app of ours without a destination": ([kind("a", "idp")], "there is an app idp already"),
    "an app of another package": ([kind("a"), kind("b")], "there is an app theirs already"),
    "the app of an offered one": ([kind("a", "vercel")], "there is an app vercel already"),
    "a published destination": ([kind("github")], "github can't be the name of a destination: it means"),
    "a published app": ([kind("a", "aws")], "aws can't be the name of an app: it means"),
    "a path of its own": ([kind("options")], "options can't be the name of a destination: it means"),
    "no word": ([kind("My Store")], "'My Store' can't be the name of a destination: take small letters"),
    "no word for an app": ([kind("a", "A")], "'A' can't be the name of an app: take small letters"),
    "no word for a method": (
        [kind("a", replace(GITLAB.app, name="a", methods={"a/b": GITLAB.app.methods["access-token"]}))],
        "'a/b' can't be the name of a method of the app a: take small letters",
    ),
    "too long": ([kind("a" * 65)], "can't be the name of a destination: take small letters"),
    "no app": (
        [Shipped("a", replace(GITLAB, name="a", app=None))],  # type: ignore[arg-type] # a package may be untyped
        "the app of the destination a is no App",
    ),
}


@each_row(("shipped", "told"), _CLASHES.values(), ids=_CLASHES.keys())
def test_a_name_that_means_something_else_is_refused(shipped: list[Shipped], told: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        extended(CATALOGUE, shipped)
    assert told in str(caught.value)


def test_an_app_of_a_driver_is_taken_even_if_an_offered_destination_waits_for_it() -> None:
    waiting = UnbuiltDestination("gitlab-files", "GitLab files", "gitlab", can_import=False)
    own = Catalogue((GITLAB, waiting))
    assert extended(own, [kind("a", GITLAB.app)]).kind("a") is not None
