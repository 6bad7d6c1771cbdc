"""Fixtures of the tests of `keybearer backup`."""

from __future__ import annotations

from support.backup_files import data as data  # noqa: PLC0414 - a fixture
from support.backup_files import line as line  # noqa: PLC0414 - a fixture
from support.backup_files import migrated as migrated  # noqa: PLC0414 - a fixture
from support.backup_files import saved as saved  # noqa: PLC0414 - a fixture
