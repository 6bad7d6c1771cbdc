"""ClusterTrustBundles: what pods trust that talk to who has a certificate of a profile. Pure but for the store.

A profile's authority has one, under the signer's name, so that a pod names the signer and gets whatever it trusts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from keybearer.base.json_reading import mapping_of, text_of
from keybearer.controllers.signers.naming import bundle_name, profile_of_signer, signer_name
from keybearer.controllers.target.desired import MANAGED_LABEL
from keybearer.kube.resources import JsonObject, ObjectKey

__all__ = [
    "OUR_BUNDLES",
    "BundleStore",
    "BundleToWrite",
    "SeenBundle",
    "build_bundle",
    "read_bundle",
]

OUR_BUNDLES: Final = f"{MANAGED_LABEL}=true"
"""Selects the bundles that we wrote."""


@dataclass(frozen=True, slots=True)
class BundleToWrite:
    """A bundle as it is to be."""

    key: ObjectKey
    body: JsonObject = field(repr=False)
    digest: str


@dataclass(frozen=True, slots=True)
class SeenBundle:
    """A bundle as the watch showed it.

    Attributes:
        key: its key.
        uid: its UID.
        profile: whose authority it holds.
        digest: of what it holds.
    """

    key: ObjectKey
    uid: str
    profile: ObjectKey
    digest: str


def build_bundle(profile: ObjectKey, authority: str, anchors: str) -> BundleToWrite:
    """Return the bundle of an authority.

    Args:
        profile: that it signs for.
        authority: its id in the service.
        anchors: what is trusted, as PEM.
    """
    body: JsonObject = {
        "metadata": {"labels": {MANAGED_LABEL: "true"}},
        "spec": {"signerName": signer_name(profile), "trustBundle": anchors},
    }
    return BundleToWrite(ObjectKey("", bundle_name(profile, authority)), body, _digest(anchors))


def read_bundle(body: JsonObject) -> SeenBundle | None:
    """Return a bundle with our label, or None where it is no profile's."""
    meta, spec = mapping_of(body.get("metadata")), mapping_of(body.get("spec"))
    profile = profile_of_signer(text_of(spec.get("signerName")))
    if profile is None:
        return None
    key = ObjectKey("", text_of(meta.get("name")))
    return SeenBundle(key, text_of(meta.get("uid")), profile, _digest(text_of(spec.get("trustBundle"))))


class BundleStore:
    """The bundles that the watch showed, and a receiver of it.

    Args:
        call: called with a profile whose bundles are not as they were left.
    """

    def __init__(self, call: Callable[[ObjectKey], None]) -> None:
        self._call = call
        self._seen: dict[ObjectKey, SeenBundle] = {}
        self._expected: dict[ObjectKey, str] = {}

    def of_profile(self, profile: ObjectKey) -> Mapping[ObjectKey, SeenBundle]:
        """Return the bundles of a profile."""
        return {key: one for key, one in self._seen.items() if one.profile == profile}

    def expect(self, key: ObjectKey, digest: str | None) -> None:
        """Take note of what we are about to write (None: to delete): no news when the watch shows it."""
        if digest is None:
            self._expected.pop(key, None)
        else:
            self._expected[key] = digest

    def is_expected(self, key: ObjectKey, digest: str) -> bool:
        """Tell whether just this was written last, or found as it was to be: what isn't so now, others changed."""
        return self._expected.get(key) == digest

    def existing(self, namespace: str | None) -> set[ObjectKey]:  # noqa: ARG002 - they live in none
        """Return the bundles that are believed to be there."""
        return set(self._seen)

    def listed(self, key: ObjectKey, found: JsonObject) -> None:
        """Take in what a listing found."""
        self.changed(key, found)

    def changed(self, key: ObjectKey, found: JsonObject) -> None:
        """Take in what was created or changed."""
        seen = read_bundle(found)
        if seen is None:
            self.gone(key, found)
            return
        self._seen[key] = seen
        if self._expected.get(key) != seen.digest:
            self._call(seen.profile)

    def gone(self, key: ObjectKey, last: JsonObject | None) -> None:  # noqa: ARG002 - its end is all
        """Take in the end of a bundle, or of its label."""
        seen = self._seen.pop(key, None)
        if seen is not None and key in self._expected:
            self._call(seen.profile)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
