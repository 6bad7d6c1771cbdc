"""One definition of the methods gives each client its own types: results here, awaitables there.

`assert_type` does nothing when it runs; the type checker is run on this file by the last test.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, assert_type

from keybearer.client import (
    AccessToken,
    AsyncKeybearer,
    CertificateIssuance,
    CertificatePolicy,
    CertificateRequestPage,
    Folder,
    Keybearer,
    NotModified,
    Project,
    Secret,
    SecretListing,
    SubscriberCertificate,
)


def _blocking(client: Keybearer) -> None:
    assert_type(client.secrets.list(project_id="p", environment="e"), list[Secret])
    assert_type(client.secrets.get("n", project_id="p", environment="e"), Secret)
    assert_type(
        client.secrets.list_conditional(project_id="p", environment="e", etag=None),
        SecretListing | NotModified,
    )
    assert_type(client.auth.universal_auth.login("i", "s"), AccessToken)
    assert_type(client.folders.list(project_id="p", environment="e"), list[Folder])
    assert_type(client.certificates.issue("f", csr="c"), CertificateIssuance)
    assert_type(client.certificate_policies.find("n"), CertificatePolicy | None)
    assert_type(client.pki_subscribers.issue_certificate("s", project_id="p"), SubscriberCertificate)
    client.certificates.issue(csr="c")  # type: ignore[call-arg]
    client.secrets.get("n", project="p", environment="e")  # type: ignore[call-arg]
    client.secrets.get(project_id="p", environment="e")  # type: ignore[call-arg]
    client.secrets.create("n", 3, project_id="p", environment="e")  # type: ignore[arg-type]


async def _asynchronous(client: AsyncKeybearer) -> None:
    call = client.secrets.get("n", project_id="p", environment="e")
    await assert_type(call, Coroutine[Any, Any, Secret])
    assert_type(await client.secrets.list(project_id="p", environment="e"), list[Secret])
    assert_type(await client.projects.get_by_slug("s"), Project)
    assert_type(await client.auth.kubernetes.login("i", "j"), AccessToken)
    assert_type(await client.auth.renew(), AccessToken)
    assert_type(await client.certificate_requests.search(limit=1), CertificateRequestPage)
    await client.projects.get_by_slug(3)  # type: ignore[arg-type]
    client.projects.get_by_slug("s")  # type: ignore[unused-coroutine]


async def test_type_checkers_see_the_types_of_both_clients() -> None:
    root = Path(__file__).parents[3]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mypy", "--config-file", str(root / "pyproject.toml"), __file__),
        cwd=root,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()
