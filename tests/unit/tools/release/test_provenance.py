"""The provenance is a statement of in-toto with SLSA's predicate that names the source, the base and each file."""

from __future__ import annotations

import json

from tools.release.provenance import BUILD_TYPE, BUILDER, Base, Dependency, provenance_of
from tools.release.source import Commit

COMMIT = Commit("c" * 40, 1_700_000_000)
PYTHON = Dependency("python3 3.11.2-1", "pkg:deb/debian/python3@3.11.2-1?arch=amd64", {"sha256": "d" * 64})
BASE = Base("debian", "debian bookworm, indexes of Sat, 17 May 2025 09:23:09 UTC", (PYTHON,))
SUBJECTS = {"b.whl": "2" * 64, "a.tgz": "1" * 64}


def written(programs: dict[str, str]) -> str:
    return provenance_of(SUBJECTS, COMMIT, "1.2.3", "linux/amd64", BASE, programs)


def test_it_names_every_file_by_its_digest_and_all_that_they_were_built_from() -> None:
    statement = json.loads(written({"helm": "v3", "buildah": "1.28.2"}))
    assert statement == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": "a.tgz", "digest": {"sha256": "1" * 64}},
            {"name": "b.whl", "digest": {"sha256": "2" * 64}},
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "command": "make release",
                    "base": {"kind": "debian", "name": BASE.name},
                    "platform": "linux/amd64",
                    "version": "1.2.3",
                },
                "internalParameters": {
                    "programs": {"buildah": "1.28.2", "helm": "v3"},
                    "sourceDateEpoch": 1_700_000_000,
                },
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": "c" * 40}},
                    {"name": PYTHON.name, "uri": PYTHON.uri, "digest": {"sha256": "d" * 64}},
                ],
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }


def test_it_is_equal_for_equal_builds() -> None:
    assert written({"helm": "v3", "buildah": "1.28.2"}) == written({"buildah": "1.28.2", "helm": "v3"})
