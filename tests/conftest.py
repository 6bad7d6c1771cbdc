"""Fixtures live in `tests/support/`, each group in one module; this file registers them."""

from __future__ import annotations

import importlib.util

from hypothesis import settings

pytest_plugins = [
    name
    for name in (
        "support.canary",
        "support.order_of_tests",
        "support.timeout_of_tests",
        "support.logging_state",
        "support.cluster_fixtures",
        "support.postgres",
        "support.databases",
        "support.service_fixtures",
        "support.shared_service",
        "support.quiet_service",
        "support.operator_fixtures",
        "support.remotes.moto",
        "support.remotes.other_service",
        "support.remotes.vault",
        "support.sdks.published",
        "support.system_tools",
    )
    if importlib.util.find_spec(name)
]

# How long an example takes says something about the machine, not about the code.
settings.register_profile("keybearer", deadline=None)
# By hand: `--hypothesis-profile thorough --timeout 0`.
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("keybearer")
