"""Fixtures live in `tests/support/`, each group in one module; this file registers them."""

from __future__ import annotations

import gc
import importlib.util

from hypothesis import HealthCheck, settings

pytest_plugins = [
    name
    for name in (
        "support.canary",
        "support.order_of_tests",
        "support.tiers",
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
        "support.pictures",
        "support.system_tools",
        "support.real_nodes",
        "support.releases",
        "support.earlier_release",
        "support.released_nodes",
        "support.helm_house",
        "support.proofs",
    )
    if importlib.util.find_spec(name)
]

# What is made while modules are loaded and tests collected stays until the end.
gc.disable()

# How long an example takes, and how long it takes to make one, says something about the machine, not about the code.
# The same examples each time: what a change breaks is told from what a search would have found before it, too.
settings.register_profile(
    "keybearer", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
# The search, by hand: `--hypothesis-profile=thorough --timeout=0 -m hypothesis`.
settings.register_profile("thorough", settings.get_profile("keybearer"), max_examples=2000, derandomize=False)
settings.load_profile("keybearer")


def pytest_collection_finish() -> None:
    """Spare the collector what is there now, as `keybearer` does after its start."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()
