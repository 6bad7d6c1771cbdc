"""The dashboard in Chromium: each question is answered in two clicks, by keyboard, in the dark and on a phone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from support.dashboard_scene import HIDDEN, OPERATOR, VISIBLE, Scene, furnished_scene, running_dashboard
from support.pictures import TakePicture
from support.system_tools import SystemTool, not_run
from tools.controlplane.errors import BuildError
from tools.dashboard.bundle import PAGE, build
from tools.local.installing import python_environment
from tools.local.marks import find_mark
from tools.local.waiting import PATIENCE_SECONDS, eventually

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.system

DESK, PHONE = (1280, 720), (390, 844)

QUESTIONS = {
    "Not Ready": (f"SecretSync {VISIBLE}/web-session", "kubectl -n shop create secret generic"),
    "Secrets": (f"{VISIBLE}/web-database", "Deployment web: files, which follow a change"),
    "Certificates": (f"{VISIBLE}/web: web", "Serial number"),
    "Pushes": (f"{VISIBLE}/to-aws", "secretPath=/"),
    "Operator": (f"Lease {OPERATOR}/keybearer-operator", "keybearer-operator-7d9c5-x2x4k_1a2b3c4d"),
}
"""A tab, a row of it, and what the details of that row say: the second click."""


_PLAYWRIGHT = Path(__file__).parents[2] / "requirements" / "playwright.txt"


@pytest.fixture(scope="module")
def browser(system_tool: SystemTool, request: pytest.FixtureRequest) -> Iterator[Browser]:
    chromium = system_tool("chromium")
    try:
        home = python_environment("playwright", _PLAYWRIGHT).parents[1]
    except BuildError as error:
        not_run(request.config, "chromium", f"Playwright can't be installed: {error}")
    with pytest.MonkeyPatch.context() as patch:
        (packages,) = home.glob("lib/*/site-packages")
        patch.setattr(sys, "path", [*sys.path, str(packages)])
        yield from _started(chromium, request)


def _started(chromium: str, request: pytest.FixtureRequest) -> Iterator[Browser]:
    from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - in an environment of its own

    with sync_playwright() as driver:
        try:
            # Chromium's own sandbox needs rights that root in a container lacks; the page is ours.
            started = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        except Error as error:
            not_run(request.config, "chromium", f"Chromium doesn't start: {error.message.splitlines()[0]}")
        yield started
        started.close()


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    with furnished_scene() as scene:
        yield scene


@pytest.fixture(scope="module")
def address(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The dashboard of a user who may list the namespaces of the pictures."""
    home = tmp_path_factory.mktemp("home")
    namespaces = ("--namespace", VISIBLE, "--namespace", OPERATOR)
    with running_dashboard(home, scene.plane.admin_kubeconfig, *namespaces) as client:

        def is_listed() -> bool:
            return all(row in client.get(f"view/{name}").text for name, row in _LAST)

        eventually(is_listed, awaited="all objects of the scene")
        yield str(client.base_url)


_LAST = (("attention", "ledger"), ("secrets", "Deployment web"), ("certificates", "web-tls"))


@contextmanager
def page_of(
    browser: Browser, address: str, size: tuple[int, int] = DESK, *, dark: bool = False
) -> Iterator[Page]:
    """Open the page; nothing it asks for is elsewhere, and nothing goes wrong in it."""
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
    )
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(address)
    try:
        yield page
    finally:
        shown = page.content()
        context.close()
    assert all(url.startswith(address) for url in asked), asked
    assert not wrong
    assert find_mark(shown) is None


def by_mouse(page: Page, name: str) -> None:
    page.get_by_text(name, exact=True).first.click()


def by_keyboard(page: Page, name: str) -> None:
    """Reach what has this name by Tab alone, and press Enter."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"Tab never reaches {name}")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("press", [by_mouse, by_keyboard], ids=["mouse", "keyboard"])
def test_each_question_is_answered_in_two_clicks(
    browser: Browser,
    address: str,
    press: Callable[[Page, str], None],
    size: tuple[int, int],
    *,
    dark: bool,
) -> None:
    with page_of(browser, address, size, dark=dark) as page:
        for tab, (row, answer) in QUESTIONS.items():
            press(page, tab)
            page.get_by_text(row, exact=True).first.wait_for()
            press(page, row)
            page.get_by_text(answer).last.wait_for()
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0], (
                "it needs scrolling aside"
            )


def test_the_dark_page_is_dark(browser: Browser, address: str) -> None:
    grounds = {}
    for dark in (False, True):
        with page_of(browser, address, dark=dark) as page:
            grounds[dark] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds == {False: "rgb(255, 255, 255)", True: "rgb(20, 23, 28)"}


def test_a_change_shows_without_a_reload(browser: Browser, address: str, scene: Scene) -> None:
    with page_of(browser, address) as page:
        page.get_by_text(f"SecretSync {VISIBLE}/ledger", exact=True).wait_for()
        page.evaluate("window.isTheSamePage = true")
        scene.sync(VISIBLE, "just-made", "/new")
        scene.tell("SecretSync", VISIBLE, "just-made", scene.told("SourceEmpty", "The folder is empty."))
        page.get_by_text(f"SecretSync {VISIBLE}/just-made", exact=True).wait_for()
        assert page.evaluate("window.isTheSamePage")
        scene.api.delete("SecretSync", VISIBLE, "just-made")
        page.get_by_text(f"SecretSync {VISIBLE}/just-made", exact=True).wait_for(state="detached")


def test_a_search_is_typed(browser: Browser, address: str) -> None:
    with page_of(browser, address) as page:
        page.get_by_label("Search names").fill("ledger")
        page.get_by_text(f"SecretSync {VISIBLE}/web-session", exact=True).wait_for(state="detached")
        assert page.get_by_text(f"SecretSync {VISIBLE}/ledger", exact=True).is_visible()


def test_a_dashboard_that_ended_is_said(browser: Browser, scene: Scene, tmp_path: Path, address: str) -> None:
    assert address
    page = browser.new_context().new_page()
    with running_dashboard(tmp_path, scene.plane.admin_kubeconfig, "--namespace", VISIBLE) as client:
        page.goto(str(client.base_url))
        page.get_by_role("heading", name="What is not Ready").wait_for()
    page.get_by_role("alert").wait_for()
    page.context.close()


def test_the_namespace_of_others_is_on_no_page(browser: Browser, address: str) -> None:
    with page_of(browser, address) as page:
        assert HIDDEN not in page.content()
    assert HIDDEN not in httpx.get(f"{address}view/secrets").text


@pytest.mark.parametrize(
    ("picture", "tab", "row", "size", "dark"),
    [
        pytest.param(
            "dashboard.png", "Not Ready", f"SecretSync {VISIBLE}/web-session", DESK, False, id="desk"
        ),
        pytest.param(
            "dashboard-secrets-dark.png", "Secrets", f"{VISIBLE}/web-database", DESK, True, id="dark"
        ),
        pytest.param("dashboard-phone.png", "Certificates", f"{VISIBLE}/web: web", PHONE, False, id="phone"),
    ],
)
def test_the_pictures_of_the_documentation_are_taken(
    browser: Browser,
    address: str,
    take_picture: TakePicture,
    picture: str,
    tab: str,
    row: str,
    size: tuple[int, int],
    *,
    dark: bool,
) -> None:
    with page_of(browser, address, size, dark=dark) as page:
        by_mouse(page, tab)
        by_mouse(page, row)
        take_picture(picture, page.screenshot(animations="disabled", caret="hide"))


def test_the_committed_page_is_what_its_source_makes(system_tool: SystemTool, tmp_path: Path) -> None:
    system_tool("npm")
    made = tmp_path / "page"
    made.mkdir()
    build(made, tmp_path / "work")
    committed = {path.name: path.read_bytes() for path in PAGE.iterdir()}
    assert {path.name: path.read_bytes() for path in made.iterdir()} == committed
