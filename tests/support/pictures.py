"""Pictures of the documentation that tests take; they are written only where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

__all__ = ["TakePicture", "pytest_addoption", "take_picture"]

TakePicture = Callable[[str, bytes], None]

_OPTION = "--write-pictures"
_PICTURES = Path(__file__).resolve().parents[2] / "docs" / "pictures"
_MOST_BYTES = 150_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let a run write what it takes: otherwise each run would change the checkout."""
    parser.addoption(_OPTION, action="store_true", help="write the pictures of docs/pictures that tests take")


@pytest.fixture
def take_picture(request: pytest.FixtureRequest) -> TakePicture:
    """Return a function that takes the name and content of a picture, which is small and in the documentation."""

    def take(name: str, content: bytes) -> None:
        assert len(content) < _MOST_BYTES, f"{name} has {len(content)} bytes"
        if request.config.getoption(_OPTION):
            (_PICTURES / name).write_bytes(content)
        assert (_PICTURES / name).is_file(), f"write {name} with {_OPTION}"

    return take
