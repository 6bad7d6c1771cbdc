"""The provenance of a release: an in-toto Statement with SLSA's predicate, of how and from what it was built.

It says nothing of the run (no time, no machine, no number): built again, it is equal bit by bit. Who built it, and
when, is what a signature adds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tools.release.source import Commit

__all__ = ["BUILDER", "BUILD_TYPE", "Base", "Dependency", "provenance_of"]

BUILD_TYPE = "https://keybearer.dev/provenance/make-release/v1"
"""Names the meaning of the parameters, which docs/releasing.md describes; there is nothing at the address."""
BUILDER = "https://keybearer.dev/provenance/any-machine/v1"
"""The builder is whoever ran `make release`, on a machine of theirs: no service vouches for it."""
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://slsa.dev/provenance/v1"


@dataclass(frozen=True, slots=True)
class Dependency:
    """Something that the build took.

    Attributes:
        name: for people.
        uri: that finds it by its content, not on a certain server; empty where only the digest does.
        digest: by algorithm.
    """

    name: str
    uri: str
    digest: Mapping[str, str]

    def as_json(self) -> dict[str, object]:
        """A ResourceDescriptor of in-toto."""
        return {"name": self.name, **({"uri": self.uri} if self.uri else {}), "digest": dict(self.digest)}


@dataclass(frozen=True, slots=True)
class Base:
    """What the image was built on.

    Attributes:
        kind: `registry` or `debian`.
        name: reference of the image with its digest, or release of Debian and the date of its indexes.
        parts: its image or its packages.
    """

    kind: str
    name: str
    parts: tuple[Dependency, ...] = field(repr=False)


def provenance_of(
    subjects: Mapping[str, str],
    commit: Commit,
    version: str,
    platform: str,
    base: Base,
    programs: Mapping[str, str],
) -> str:
    """The statement as JSON; the same for the same arguments.

    Args:
        subjects: SHA-256 of each file that was built, by its name.
        commit: the source.
        version: of everything.
        platform: that the image is for.
        base: of the image.
        programs: versions of those that wrote bytes, by their names.
    """
    source = Dependency("source", "", {"gitCommit": commit.name})
    statement = {
        "_type": _STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": subjects[name]}} for name in sorted(subjects)],
        "predicateType": _PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {
                    "command": "make release",
                    "base": {"kind": base.kind, "name": base.name},
                    "platform": platform,
                    "version": version,
                },
                "internalParameters": {
                    "programs": dict(sorted(programs.items())),
                    "sourceDateEpoch": commit.seconds,
                },
                "resolvedDependencies": _described([source, *base.parts]),
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }
    return json.dumps(statement, indent=2, ensure_ascii=False) + "\n"


def _described(dependencies: Iterable[Dependency]) -> list[dict[str, object]]:
    return [dependency.as_json() for dependency in dependencies]
