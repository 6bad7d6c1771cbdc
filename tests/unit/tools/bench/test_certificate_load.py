"""What the benchmark of certificates puts into the cluster, and when it takes them for issued."""

from __future__ import annotations

import asyncio

import pytest

from tools.bench.certificate_load import CertificateLoad, CertificateObserver
from tools.bench.errors import NotInTimeError
from tools.bench.pki import Pki
from tools.bench.watching import WatchEvent
from tools.bench.workload import Key

_PKI = Pki("organization", "project", "authority", "policy")


def _load(certificates: int, per_profile: int) -> CertificateLoad:
    return CertificateLoad("load1", certificates, per_profile, _PKI)


def _secret(key: Key, *keys: str) -> WatchEvent:
    return {
        "type": "MODIFIED",
        "object": {
            "metadata": {"namespace": key[0], "name": key[1], "uid": "u", "resourceVersion": "1"},
            "data": dict.fromkeys(keys, ""),
        },
    }


def _profile(key: Key, *, status: str = "True", observed: int = 2) -> WatchEvent:
    return {
        "type": "MODIFIED",
        "object": {
            "metadata": {
                "namespace": key[0],
                "name": key[1],
                "uid": "u",
                "resourceVersion": "1",
                "generation": 2,
            },
            "status": {
                "observedGeneration": observed,
                "conditions": [{"type": "Ready", "status": status, "reason": "Issuing", "message": "soon"}],
            },
        },
    }


@pytest.mark.parametrize(
    ("certificates", "per_profile", "profiles"), [(500, 50, 10), (500, 1, 500), (101, 50, 3), (7, 50, 1)]
)
def test_every_certificate_is_in_one_profile(certificates: int, per_profile: int, profiles: int) -> None:
    listed = list(_load(certificates, per_profile).profiles())

    assert len({key for key, _ in listed}) == len(listed) == profiles
    names = [name for _, of_one in listed for name in of_one]
    assert len(set(names)) == len(names) == certificates
    assert max(len(of_one) for _, of_one in listed) <= per_profile


async def test_all_is_there_when_each_secret_is_whole_and_each_profile_ready_as_it_is_now() -> None:
    load = _load(2, 2)
    ((profile, names),) = load.profiles()
    first, second = ((profile[0], name) for name in names)
    observer = CertificateObserver(load)

    observer.see_secret(_secret(first, "tls.crt", "tls.key", "ca.crt"), 1.0)
    observer.see_secret(_secret(second, "tls.crt"), 2.0)
    observer.see_profile(_profile(profile, observed=1), 3.0)
    assert not observer.ready_at
    observer.see_profile(_profile(profile), 4.0)
    with pytest.raises(NotInTimeError, match=names[1]):
        await observer.until_complete(0.0)
    observer.see_secret(_secret(second, "tls.crt", "tls.key", "ca.crt", "keystore.p12"), 5.0)

    assert await observer.until_complete(1.0) == 5.0


async def test_what_misses_is_told_with_the_reason_of_its_profile() -> None:
    load = _load(1, 1)
    ((profile, _),) = load.profiles()
    observer = CertificateObserver(load)
    observer.see_profile(_profile(profile, status="False"), 1.0)

    with pytest.raises(NotInTimeError, match="Issuing: soon"):
        await asyncio.wait_for(observer.until_complete(0.0), 1)
