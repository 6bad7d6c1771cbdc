from __future__ import annotations

import base64
from collections import Counter
from itertools import pairwise

from tools.bench.floor import bodies
from tools.bench.service import values_of
from tools.bench.workload import Dimensions, Source, Workload, encoded


def _workload(syncs: int) -> Workload:
    sources = tuple(Source("p", "dev", f"/{number}", {}) for number in range(10))
    return Workload("w", Dimensions(syncs=syncs), sources, interval="10s")


def test_a_thousand_syncs_want_each_source_a_hundred_times_and_each_in_every_namespace() -> None:
    syncs = list(_workload(1000).syncs())

    assert Counter(sync.source for sync in syncs) == dict.fromkeys(range(10), 100)
    assert set(Counter((sync.namespace, sync.source) for sync in syncs).values()) == {10}
    assert len({(sync.namespace, sync.source) for sync in syncs}) == 100
    assert len({sync.key for sync in syncs}) == 1000


def test_a_manifest_names_its_source_and_interval() -> None:
    workload = _workload(30)
    last = list(workload.syncs())[-1]

    spec = workload.manifest(last)["spec"]

    assert spec == {
        "identityRef": {"name": "service-identity"},
        "source": {"projectId": "p", "environment": "dev", "secretPath": "/2"},
        "refreshInterval": "10s",
    }


def test_every_revision_of_a_source_has_values_of_its_own_of_the_same_length() -> None:
    revisions = [values_of(3, 5, revision) for revision in range(4)]

    assert all(older[key] != newer[key] for older, newer in pairwise(revisions) for key in older)
    assert len({len(value) for values in revisions for value in values.values()}) == 1


def test_data_is_base64_of_utf_8() -> None:
    assert base64.b64decode(encoded({"K": "cnry-ä"})["K"]).decode() == "cnry-ä"


def test_the_floor_writes_the_secret_and_the_status_of_one_object() -> None:
    writes = bodies("n", "x", "uid", keys=5)

    assert writes.secrets_path == "/api/v1/namespaces/n/secrets"
    assert writes.status_path == "/apis/keybearer.dev/v1alpha1/namespaces/n/secretsyncs/x/status"
