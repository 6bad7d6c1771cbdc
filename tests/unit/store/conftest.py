"""What touches a database runs on both."""

from __future__ import annotations

import pytest

from support.databases import on_every_database


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_every_database(metafunc)
