from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import psutil
import pytest

from keybearer.controllers.template.protocol import REQUEST_MAX_BYTES
from keybearer.controllers.template.renderer import (
    RendererUnavailableError,
    TemplateError,
    TemplateFault,
    TemplateRenderer,
)
from tools.local.waiting import PATIENCE, PATIENCE_SECONDS

_ENDLESS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
_SLOW = "{% for a in range(9000) %}{% for b in range(2000) %}{% endfor %}{% endfor %}done"
"""Long enough to be found, looked at and killed on a machine that does other things as well."""
_LONG = PATIENCE
_SHORT = timedelta(milliseconds=300)
_VALUES = {"PASSWORD": b"cnry-password", "STORE": b"cnry-\xff"}


@pytest.fixture
async def renderer() -> AsyncIterator[TemplateRenderer]:
    async with TemplateRenderer() as running:
        yield running


async def _fault(renderer: TemplateRenderer, source: str, *, deadline: timedelta = _LONG) -> TemplateError:
    with pytest.raises(TemplateError) as refusal:
        await renderer.render({"key": source}, _VALUES, deadline=deadline, tenant="team-a")
    return refusal.value


def _sandboxes(parent: int | None = None) -> list[psutil.Process]:
    return [child for child in psutil.Process(parent).children() if _is_sandbox(child)]


def _is_sandbox(child: psutil.Process) -> bool:
    try:
        return any("sandbox_server" in part for part in child.cmdline())
    except psutil.NoSuchProcess:  # it has just died; a zombie counts as such
        return False


def _has_ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it went between the two looks
        return True


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():  # noqa: ASYNC110 - what other processes do raises no event here
            await asyncio.sleep(0.005)


def _environment(pid: int) -> bytes | None:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except PermissionError:
        return None


def _start(program: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)


def _rendering() -> bool:
    try:
        return any(sandbox.children() for sandbox in _sandboxes())
    except psutil.NoSuchProcess:
        return False


async def test_a_template_is_rendered(renderer: TemplateRenderer) -> None:
    templates = {"url": "postgres://u:{{ PASSWORD | urlencode }}@db", "raw": "{{ secrets.PASSWORD }}\n"}

    rendered = await renderer.render(templates, _VALUES, tenant="team-a")

    assert rendered == {"url": b"postgres://u:cnry-password@db", "raw": b"cnry-password\n"}


async def test_fifty_renders_at_once_each_get_their_own_answer(renderer: TemplateRenderer) -> None:
    async def one(number: int) -> dict[str, bytes]:
        return await renderer.render({"key": "{{ N }}"}, {"N": f"cnry-{number}".encode()}, tenant="team-a")

    answers = await asyncio.gather(*map(one, range(50)))

    assert answers == [{"key": f"cnry-{number}".encode()} for number in range(50)]
    assert len(_sandboxes()) == 1


async def test_no_more_children_than_allowed_are_alive_at_once() -> None:
    seen: set[int] = set()
    async with TemplateRenderer(at_once=2) as renderer:
        renders = [asyncio.create_task(_fault(renderer, _ENDLESS, deadline=_SHORT)) for _ in range(5)]
        while not all(render.done() for render in renders):
            seen.add(sum(len(sandbox.children()) for sandbox in _sandboxes()))
            await asyncio.sleep(0.005)

    assert max(seen) == 2
    assert [render.result().reason for render in renders] == [TemplateFault.TOO_SLOW] * 5


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("{{ 'a' * (3 * 10**8) }}", TemplateFault.TOO_MUCH_MEMORY, id="one text of 300 MB"),
        pytest.param(
            "{% set n = namespace(x=['cnry']) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
            TemplateFault.TOO_MUCH_MEMORY,
            id="a list that doubles",
        ),
        pytest.param(
            "{% for i in range(99999) %}{{ PASSWORD * 100 }}{% endfor %}",
            TemplateFault.OUTPUT_TOO_LARGE,
            id="more output than a Secret takes",
        ),
        pytest.param("{% for i in range(10**9) %}{% endfor %}", TemplateFault.UNSAFE, id="a range too long"),
        pytest.param("{{ ''.__class__.__mro__ }}", TemplateFault.UNSAFE, id="a way out by attributes"),
        pytest.param("{% import 'os' as os %}", TemplateFault.FAILED, id="an import"),
        pytest.param("{{ open('/etc/passwd').read() }}", TemplateFault.UNDEFINED_VARIABLE, id="a file"),
        pytest.param("{% if %}", TemplateFault.SYNTAX_ERROR, id="a syntax error"),
        pytest.param("{{" + "(" * 50_000 + ")" * 50_000 + "}}", TemplateFault.FAILED, id="nesting too deep"),
        pytest.param("{{ OTHER }}", TemplateFault.UNDEFINED_VARIABLE, id="an unknown variable"),
    ],
)
async def test_a_template_that_does_harm_or_wrong_is_refused_and_the_next_one_works(
    renderer: TemplateRenderer, source: str, reason: TemplateFault
) -> None:
    refusal = await _fault(renderer, source)

    assert refusal.reason is reason
    assert await renderer.render({"key": "{{ 1 + 1 }}"}, {}, tenant="team-a") == {"key": b"2"}


@pytest.mark.parametrize("source", [_ENDLESS, "{{ 10 ** (10 ** 10) }}"], ids=["a loop", "one operation"])
async def test_what_takes_too_long_is_ended_and_named(renderer: TemplateRenderer, source: str) -> None:
    templates = {"quick": "1", "slow": source, "never": "2"}

    with pytest.raises(TemplateError, match="the template of key slow takes too long") as refusal:
        await renderer.render(templates, _VALUES, deadline=_SHORT, tenant="team-a")

    assert refusal.value.reason is TemplateFault.TOO_SLOW
    assert refusal.value.key == "slow"


async def test_more_input_than_is_handed_over_is_refused_before_that(renderer: TemplateRenderer) -> None:
    with pytest.raises(TemplateError) as refusal:
        await renderer.render({"key": "1"}, {"A": b"c" * REQUEST_MAX_BYTES}, tenant="team-a")

    assert refusal.value.reason is TemplateFault.INPUT_TOO_LARGE
    assert _sandboxes() == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a\nb {{ OTHER }}", "the template of key key, line 2, uses OTHER, which is not defined"),
        ("{{ secrets['other-key'] }}", "line 1, uses other-key, which is not defined; there are "),
        ("{{ PASWORD }}", "line 1, uses PASWORD, which is not defined; there are PASSWORD, STORE"),
        ("{{ secrets[PASSWORD] }}", "line 1, uses a name or an item that is not defined"),
        ("{{ PASSWORD[PASSWORD] }}", "line 1, uses a name or an item that is not defined"),
        ("{{ PASSWORD | b64decode }}", "line 1, gives the filter b64decode what it can't take"),
        ("{{ PASSWORD | fromjson }}", "line 1, gives the filter fromjson what it can't take"),
        ("{{ PASSWORD + 1 }}", "line 1, fails with TypeError in {{ PASSWORD + 1 }}"),
        ("{{ 1 }}{{ PASSWORD + 1 }}", "line 1, fails with TypeError"),
        ("{% for i in 5 %}{% endfor %}", "line 1, fails with TypeError"),
        ("{{ PASSWORD + 1 " + " " * 80 + "}}", "line 1, fails with TypeError in {{ PASSWORD + 1 "),
        # The search for expressions must not take the square of this line's length: it would take an hour.
        ("{{ PASSWORD + 1 }}{# " + "{{" * 500_000 + " #}", "line 1, fails with TypeError"),
        ("{{ {}[[PASSWORD]] }}", "line 1, uses a name or an item that is not defined"),
        ("{{ STORE }}", "line 1, prints bytes, a list or a mapping; use b64encode, tojson or toyaml"),
        ("{{ PASSWORD() }}", "line 1,"),
        ("{{ '%d' | format(PASSWORD) }}", "line 1, fails with TypeError"),
        (
            "{{ PASSWORD | filter_of_mine }}",
            "line 1, uses filter_of_mine, which is no filter or test here; ",
        ),
        ("{{ PASSWORD | b64enc }}", "which is no filter or test here; there are b64encode, "),
        (
            "{{ .PASSWORD }}",
            "line 1, is no valid Jinja2: names have no dot before them; write {{ PASSWORD }}",
        ),
        ("{{- .PASSWORD | quote -}}", "write {{ PASSWORD }}"),
        ("{{ PASSWORD }", "is no valid Jinja2: unexpected }"),
        ("{% if PASSWORD %}x", "is no valid Jinja2: the block if is never closed"),
        ("{{ PASSWORD STORE }}", "is no valid Jinja2: STORE where end of print statement is expected"),
        ("{% fi %}", "is no valid Jinja2: the tag fi is unknown, or closes nothing"),
        (
            "{% if %}x{% endif %}",
            "is no valid Jinja2: end of statement block where an expression is expected",
        ),
        ("{{ (PASSWORD }}", "is no valid Jinja2: } where ) is expected"),
        ("{{ PASSWORD", "is no valid Jinja2: an expression is never closed"),
        ("{# PASSWORD", "is no valid Jinja2: a comment or raw block is never closed"),
        ('{{ index . "PASSWORD" }}', "is no valid Jinja2: a dot without a name after it"),
        ("{{ $PASSWORD }}", "is no valid Jinja2: unexpected $"),
    ],
)
async def test_what_is_wrong_is_said_without_values(
    renderer: TemplateRenderer, source: str, said: str
) -> None:
    refusal = await _fault(renderer, source)

    assert said in str(refusal)
    assert "cnry" not in f"{refusal!r} {refusal} {refusal.__cause__!r} {refusal.__context__!r}"


async def test_a_sandbox_that_is_killed_while_it_renders_is_replaced_and_the_render_repeated(
    renderer: TemplateRenderer,
) -> None:
    render = asyncio.create_task(renderer.render({"key": _SLOW}, _VALUES, deadline=_LONG, tenant="team-a"))
    await _until(_rendering)
    (sandbox,) = _sandboxes()
    (child,) = sandbox.children()

    sandbox.kill()

    assert await render == {"key": b"done"}
    assert sandbox not in _sandboxes()
    await _until(lambda: _has_ended(child))


async def test_a_sandbox_that_dies_between_renders_is_reaped_at_once_and_replaced(
    renderer: TemplateRenderer,
) -> None:
    await renderer.render({"key": "1"}, {}, tenant="team-a")
    (sandbox,) = _sandboxes()

    sandbox.kill()

    await _until(lambda: not psutil.pid_exists(sandbox.pid))
    assert await renderer.render({"key": "2"}, {}, tenant="team-a") == {"key": b"2"}


async def test_a_sandbox_that_keeps_dying_is_not_blamed_on_the_template(renderer: TemplateRenderer) -> None:
    render = asyncio.create_task(renderer.render({"key": _ENDLESS}, {}, deadline=_LONG, tenant="team-a"))

    while not render.done():
        if _rendering():
            for sandbox in _sandboxes():
                with suppress(psutil.NoSuchProcess):  # it was killed before, and is reaped only now
                    sandbox.kill()
        await asyncio.sleep(0.005)

    with pytest.raises(RendererUnavailableError):
        await render


async def test_a_render_that_nobody_waits_for_any_more_is_ended(renderer: TemplateRenderer) -> None:
    render = asyncio.create_task(renderer.render({"key": _ENDLESS}, {}, deadline=_LONG, tenant="team-a"))
    await _until(_rendering)

    render.cancel()

    with pytest.raises(asyncio.CancelledError):
        await render
    await _until(lambda: not _rendering())
    assert len(_sandboxes()) == 1


async def test_closing_ends_the_sandbox_and_whatever_renders() -> None:
    renderer = TemplateRenderer()
    render = asyncio.create_task(renderer.render({"key": _ENDLESS}, {}, deadline=_LONG, tenant="team-a"))
    await _until(_rendering)
    (sandbox,) = _sandboxes()
    children = sandbox.children()

    await renderer.aclose()
    await renderer.aclose()

    with pytest.raises(RendererUnavailableError):
        await render
    assert not any(psutil.pid_exists(process.pid) for process in (sandbox, *children))
    with pytest.raises(RendererUnavailableError, match="closed"):
        await renderer.render({"key": "1"}, {}, tenant="team-a")


async def test_a_sandbox_holds_nothing_of_the_operators_environment(
    renderer: TemplateRenderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYBEARER_TEST_TOKEN", "cnry-environment")
    await renderer.render({"key": "1"}, {}, tenant="team-a")
    (sandbox,) = _sandboxes()

    environment = _environment(sandbox.pid)
    if environment is None:
        pytest.skip("only root may look into the sandbox, which is as it should be")

    assert environment == b""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl, seccomp and RLIMIT_AS are Linux's")
async def test_a_child_is_confined_while_it_renders(renderer: TemplateRenderer) -> None:
    render = asyncio.create_task(renderer.render({"key": _ENDLESS}, {}, deadline=_LONG, tenant="team-a"))
    await _until(lambda: any(_is_confined(child) for one in _sandboxes() for child in one.children()))

    render.cancel()

    with pytest.raises(asyncio.CancelledError):
        await render


def _is_confined(child: psutil.Process) -> bool:
    status = dict(line.split(":\t", 1) for line in _proc(child.pid, "status").splitlines() if ":\t" in line)
    files = [line for line in _proc(child.pid, "limits").splitlines() if line.startswith("Max open files")]
    return (status.get("Seccomp"), status.get("NoNewPrivs")) == ("2", "1") and files[0].split()[3:5] == [
        "0",
        "0",
    ]


def _proc(pid: int, name: str) -> str:
    try:
        return Path(f"/proc/{pid}/{name}").read_text(encoding="ascii")
    except ProcessLookupError:
        return ""


_OPERATOR = f"""
import asyncio
from datetime import timedelta
from keybearer.controllers.template.renderer import TemplateRenderer

async def main():
    async with TemplateRenderer() as renderer:
        await renderer.render({{"key": {_ENDLESS!r}}}, {{}}, deadline=timedelta(minutes=1), tenant="team-a")

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel ends orphans on Linux only")
async def test_a_killed_operator_leaves_no_process_behind() -> None:
    with _start(_OPERATOR) as operator:
        await _until(lambda: any(one.children() for one in _sandboxes(operator.pid)))
        (sandbox,) = _sandboxes(operator.pid)
        left = [sandbox, *sandbox.children()]

        operator.send_signal(signal.SIGKILL)

    await _until(lambda: all(_has_ended(one) for one in left))


async def test_a_child_that_the_machine_never_lets_run_is_ended_all_the_same(
    renderer: TemplateRenderer,
) -> None:
    render = asyncio.create_task(_fault(renderer, _ENDLESS, deadline=_SHORT))
    await _until(_rendering)
    (sandbox,) = _sandboxes()
    for child in sandbox.children():
        child.suspend()

    assert (await render).reason is TemplateFault.TOO_SLOW


def test_the_operator_never_loads_the_template_engine_itself() -> None:
    with _start(
        "import sys, keybearer.controllers.template.renderer; print('jinja2' in sys.modules)"
    ) as operator:
        said, _ = operator.communicate()

    assert said.strip() == "False"
