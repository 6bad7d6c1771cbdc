"""Somebody at a shell who works with a release of the chart in a cluster, and its first administrator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from keybearer.client import ClientOptions, Keybearer, UniversalAuth
from support.pasted import Shell
from support.pod_logs import PodLogs
from support.secretsync_objects import decoded
from tools.local.kube_api import KubeApi

__all__ = ["FORWARDED", "RELEASE_NAMESPACE", "ReleaseShell"]

RELEASE_NAMESPACE = "keybearer"
FORWARDED = "kubectl -n keybearer port-forward service/keybearer-service 8443:443 &"
"""The quick start's own command."""


@dataclass(frozen=True, slots=True)
class ReleaseShell:
    """A shell in a checkout, for the release `keybearer` in the namespace `keybearer`.

    Attributes:
        api: speaks to the cluster as administrator.
        shell: runs commands of pages.
        logs: of the release's pods.
    """

    api: KubeApi
    shell: Shell
    logs: PodLogs

    def run(self, script: str, *, given: str = "") -> str:
        """Return what commands printed; with what the pods logged, where they fail."""
        try:
            return self.shell.run(script, given=given)
        except Exception as error:
            error.add_note(self.logs.told())
            raise

    @contextmanager
    def forwarding(self) -> Iterator[int]:
        """Yield the port at which the quick start's own command leads to the service; a free one."""
        process = self.shell.start(FORWARDED.removesuffix(" &").replace("8443:443", ":443"))
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.match(r"Forwarding from 127\.0\.0\.1:(\d+) ->", line)
            assert found is not None, line
            yield int(found[1])
        finally:
            process.kill()
            process.communicate()

    @contextmanager
    def administrator(self) -> Iterator[Keybearer]:
        """Yield the service, for its first administrator, by a forwarded port."""
        admin = decoded(self.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-admin"))
        authority = decoded(self.api.get("Secret", RELEASE_NAMESPACE, "keybearer-service-tls"))["ca.crt"]
        login = UniversalAuth(admin["clientId"], admin["clientSecret"])
        options = ClientOptions(ca_pem=authority.encode())
        with (
            self.forwarding() as port,
            Keybearer(f"https://localhost:{port}", login, options=options) as client,
        ):
            yield client
