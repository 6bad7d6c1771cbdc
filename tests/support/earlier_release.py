"""The release of an earlier commit, which upgrades begin from: built once, and kept in the cache."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from support.releases import Release, build_release, git
from support.system_tools import not_run
from tools.chart.rendering import ROOT
from tools.controlplane.cache import exclusive
from tools.controlplane.environment import cache_root
from tools.release.present import present_release

__all__ = ["EARLIER_COMMIT", "earlier_release"]

EARLIER_COMMIT = "07abd2eec783"
"""The first whose `make release` makes what today's makes. Take a later one where the database was migrated since:
a service doesn't go back behind that, which the test of the rollback would show."""


@pytest.fixture(scope="session")
def earlier_release(request: pytest.FixtureRequest) -> Release:
    """Return the release of the earlier commit."""
    try:
        commit = git(ROOT, "rev-parse", "--verify", f"{EARLIER_COMMIT}^{{commit}}").strip()
    except subprocess.CalledProcessError:
        not_run(
            request.config,
            "an upgrade from an earlier release",
            f"the repository has no commit {EARLIER_COMMIT}: git fetch --unshallow brings it",
        )
    kept = cache_root() / "earlier-release" / commit
    with exclusive(kept):
        if not (kept / "dist").exists():
            # Asked for only now: a release that is there needs no base.
            assert request.getfixturevalue("base_of_images").exists()
            clone = kept / "clone"
            if clone.exists():
                shutil.rmtree(clone)  # of a run that was killed
            git(ROOT, "clone", "--quiet", "--no-checkout", ROOT.as_uri(), str(clone))
            git(clone, "checkout", "--quiet", "--detach", commit)
            # As a whole or not at all: both are on one file system.
            build_release(clone).dist.rename(kept / "dist")
            shutil.rmtree(clone)
    found = present_release(kept / "dist")
    return Release(found.dist, found.commit, found.version)
