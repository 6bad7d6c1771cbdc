"""What the image leaves out, and what it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.rows import each_row
from tools.image.environment import Environment
from tools.image.libraries import MissingLibraryError, shared_libraries
from tools.image.needless import wanted_of_environment, wanted_of_python

_LIBRARY = Path("/usr/lib/python3.11")
_PACKAGES = "lib/python3.11/site-packages"
_LOADED = Path("/opt/keybearer", _PACKAGES, "kubernetes/aio/client/models/v1_status.py")
_ENVIRONMENT = Environment(
    directory=Path("/opt/keybearer"),
    commands=frozenset({"keybearer", "kubectl-keybearer"}),
    loaded=frozenset({_LOADED}),
    standard_library=_LIBRARY,
    version="3.11.2",
)


@each_row(
    ("path", "wanted"),
    [
        ("bin/keybearer", True),
        ("bin/kubectl-keybearer", True),
        ("bin/python3.11", True),
        ("bin/uvicorn", False),
        ("bin/activate", False),
        ("pyvenv.cfg", True),
        (f"{_PACKAGES}/keybearer/cli/main.py", True),
        (f"{_PACKAGES}/keybearer/__pycache__", False),
        (f"{_PACKAGES}/uvloop/loop.pyx", False),
        (f"{_PACKAGES}/greenlet/tests", False),
        (f"{_PACKAGES}/sqlalchemy/testing", True),
        (f"{_PACKAGES}/kubernetes/client/models/v1_pod.py", False),
        (f"{_PACKAGES}/kubernetes/client/api_client.py", True),
        (f"{_PACKAGES}/kubernetes/aio/client/models/v1_status.py", True),
        (f"{_PACKAGES}/kubernetes/aio/client/api/core_v1_api.py", False),
    ],
)
def test_of_the_environment_what_is_loaded_or_started_is_wanted(path: str, wanted: bool) -> None:  # noqa: FBT001 - a column of the table
    assert wanted_of_environment(_ENVIRONMENT)(Path("/opt/keybearer", path)) is wanted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("ssl.py", True),
        ("ensurepip", False),
        ("site-packages", False),
        ("email", True),
        ("email/test", False),
        ("lib-dynload/_ssl.cpython-311-x86_64-linux-gnu.so", True),
        ("lib-dynload/readline.cpython-311-x86_64-linux-gnu.so", False),
        ("lib-dynload/_curses_panel.cpython-311-x86_64-linux-gnu.so", False),
    ],
)
def test_of_python_what_servers_load_is_wanted(path: str, wanted: bool) -> None:  # noqa: FBT001 - a column of the table
    assert wanted_of_python(_LIBRARY)(_LIBRARY / path) is wanted


def test_a_library_that_is_not_there_stops_the_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = tmp_path / "ldd"
    loader.write_text(
        '#!/bin/sh\necho "\tlibz.so.1 => not found"\necho "\tlibc.so.6 => /lib/libc.so.6 (0x7f)"\n'
    )
    loader.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(MissingLibraryError, match=r"libz\.so\.1, libgcc_s\.so\.1"):
        shared_libraries([Path("/bin/true")])
