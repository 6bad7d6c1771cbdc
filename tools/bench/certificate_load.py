"""CertificateProfiles as they stand in the cluster, and what is seen of them by watching."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from tools.bench.errors import NotInTimeError
from tools.bench.kube import KubeApi, in_parallel, secret_path
from tools.bench.pki import Pki
from tools.bench.watching import MANAGED_SECRETS, SECRETS, Watched, WatchEvent, watching
from tools.bench.workload import IDENTITY_SECRET, Key

__all__ = ["CertificateLoad", "CertificateObserver", "certificates_observed", "populate"]

_PROFILES = "/apis/keybearer.dev/v1alpha1/certificateprofiles"
_KEYS = {"tls.crt", "tls.key", "ca.crt"}
_NAMESPACES = 10
_ALGORITHM = "EC_prime256v1"


@dataclass(frozen=True, slots=True)
class CertificateLoad:
    """So many certificates, so many of them in each profile, spread over ten namespaces.

    Attributes:
        label: starts the names of its namespaces.
    """

    label: str
    certificates: int
    per_profile: int
    pki: Pki

    @property
    def namespaces(self) -> tuple[str, ...]:
        """All namespaces, in order."""
        return tuple(f"{self.label}-{number}" for number in range(_NAMESPACES))

    def profiles(self) -> Iterator[tuple[Key, tuple[str, ...]]]:
        """Yield each profile with the names of its certificates, which their Secrets bear too."""
        for number in range(-(-self.certificates // self.per_profile)):
            first = number * self.per_profile
            last = min(first + self.per_profile, self.certificates)
            names = tuple(f"certificate-{one:05}" for one in range(first, last))
            yield (self.namespaces[number % _NAMESPACES], f"profile-{number:05}"), names

    def manifest(self, profile: Key, names: tuple[str, ...]) -> dict[str, object]:
        """Return the CertificateProfile as a user would write it."""
        namespace, name = profile
        return {
            "apiVersion": "keybearer.dev/v1alpha1",
            "kind": "CertificateProfile",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "identityRef": {"name": IDENTITY_SECRET},
                "projectId": self.pki.project_id,
                "slug": f"{self.label}-{name}",
                "policyRef": {"id": self.pki.policy_id},
                "caRef": {"id": self.pki.ca_id},
                "defaults": {
                    "ttlDays": 30,
                    "keyUsages": ["digital_signature"],
                    "extendedKeyUsages": ["server_auth"],
                },
                "certificates": [
                    {
                        "name": one,
                        "attributes": {"altNames": [{"value": f"{one}.example.com"}]},
                        "privateKey": {"algorithm": _ALGORITHM},
                    }
                    for one in names
                ],
            },
        }


class CertificateObserver:
    """What was seen of one load.

    Attributes:
        secret_at: when each Secret was first seen with certificate, key and authority.
        ready_at: when each profile was first seen Ready in its current generation.
    """

    def __init__(self, load: CertificateLoad) -> None:
        profiles = list(load.profiles())
        self._profiles = {profile for profile, _ in profiles}
        self._secrets = {(profile[0], name) for profile, names in profiles for name in names}
        self._reasons: dict[Key, str] = {}
        self._complete = asyncio.Event()
        self.secret_at: dict[Key, float] = {}
        self.ready_at: dict[Key, float] = {}

    async def until_complete(self, within_seconds: float) -> float:
        """Return when the last awaited event was read (`time.monotonic`).

        Raises:
            NotInTimeError: naming profiles that aren't Ready, and why, or Secrets that miss.
        """
        try:
            async with asyncio.timeout(within_seconds):
                await self._complete.wait()
        except TimeoutError as error:
            raise NotInTimeError("all certificates", within_seconds, self._missing()) from error
        return max(*self.secret_at.values(), *self.ready_at.values())

    def see_secret(self, event: WatchEvent, at: float) -> None:
        """Note one watch event of a Secret."""
        metadata = event["object"]["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        if key in self._secrets and event["object"].get("data", {}).keys() >= _KEYS:
            self.secret_at.setdefault(key, at)
            self._look()

    def see_profile(self, event: WatchEvent, at: float) -> None:
        """Note one watch event of a CertificateProfile."""
        metadata, status = event["object"]["metadata"], event["object"].get("status", {})
        key = (metadata.get("namespace", ""), metadata["name"])
        if key not in self._profiles:
            return
        for condition in status.get("conditions", ()):
            if condition["type"] != "Ready":
                continue
            self._reasons[key] = f"{condition.get('reason')}: {condition.get('message')}"
            is_present = status.get("observedGeneration") == metadata.get("generation")
            if condition["status"] == "True" and is_present:
                self.ready_at.setdefault(key, at)
        self._look()

    def _look(self) -> None:
        if len(self.secret_at) == len(self._secrets) and len(self.ready_at) == len(self._profiles):
            self._complete.set()

    def _missing(self) -> list[str]:
        profiles = [
            f"CertificateProfile {namespace}/{name} ({self._reasons.get((namespace, name), 'no condition yet')})"
            for namespace, name in sorted(self._profiles - self.ready_at.keys())
        ]
        return profiles or [
            "/".join(("Secret", *key)) for key in sorted(self._secrets - self.secret_at.keys())
        ]


async def populate(api: KubeApi, load: CertificateLoad, identity: dict[str, str]) -> None:
    """Namespaces, an identity Secret in each, and all CertificateProfiles exist, in this order."""

    async def create_namespace(name: str) -> None:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        await api.send("POST", "/api/v1/namespaces", namespace)
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": IDENTITY_SECRET, "namespace": name},
            "stringData": identity,
        }
        await api.send("POST", secret_path(name), secret)

    async def create_profile(given: tuple[Key, tuple[str, ...]]) -> None:
        (namespace, _), _ = given
        path = f"/apis/keybearer.dev/v1alpha1/namespaces/{namespace}/certificateprofiles"
        await api.send("POST", path, load.manifest(*given))

    await in_parallel(load.namespaces, create_namespace)
    await in_parallel(load.profiles(), create_profile)


@contextlib.asynccontextmanager
async def certificates_observed(api: KubeApi, load: CertificateLoad) -> AsyncIterator[CertificateObserver]:
    """While the block runs, all changes after its start are seen; an error in a stream ends it."""
    observer = CertificateObserver(load)
    secrets = Watched(SECRETS, observer.see_secret, MANAGED_SECRETS)
    async with watching(api, secrets, Watched(_PROFILES, observer.see_profile)):
        yield observer
