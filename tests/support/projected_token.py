"""ServiceAccount tokens as kubelet projects them into pods, of any lifetime, signed with the cluster's own key.

The TokenRequest API gives none for less than ten minutes.
"""

from __future__ import annotations

import ssl
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import jwt

from tools.controlplane.controlplane import ControlPlane
from tools.local.waiting import PATIENCE_SECONDS

__all__ = ["ProjectedToken"]

_ISSUER = "https://kubernetes.default.svc.cluster.local"
_LEEWAY_SECONDS = 60
"""For which the API server accepts a token after its `exp` (the default of its library of JWTs)."""
_ISSUED_BEFORE_SECONDS = 600


@dataclass(frozen=True, slots=True)
class ProjectedToken:
    """The mounted folder of a ServiceAccount, and who writes its token.

    Attributes:
        directory: holds `token`, `ca.crt` and `namespace`.
    """

    plane: ControlPlane
    directory: Path
    namespace: str
    account: str

    @classmethod
    def mount(cls, plane: ControlPlane, directory: Path, namespace: str, account: str) -> ProjectedToken:
        """Everything but the token is in the directory."""
        directory.mkdir(mode=0o700)
        (directory / "ca.crt").write_bytes(plane.ca_pem)
        (directory / "namespace").write_text(namespace)
        return cls(plane, directory, namespace, account)

    @property
    def server(self) -> str:
        """HOST:PORT of the API server."""
        return urlsplit(self.plane.server_url).netloc

    def refuses(self, token: str) -> bool:
        """Whether the API server doesn't know who comes with this token."""
        trust = ssl.create_default_context(cadata=self.plane.ca_pem.decode())
        answer = httpx.get(
            f"{self.plane.server_url}/api",
            headers={"Authorization": f"Bearer {token}"},
            verify=trust,
            timeout=PATIENCE_SECONDS,
        )
        return answer.status_code == 401

    def rotate(self, *, seconds: float) -> tuple[str, str]:
        """A fresh token takes the place of the last one; return it, and how the audit log names it.

        Args:
            seconds: until the API server refuses it, but for the ten seconds for which it remembers an answer.
        """
        name = str(uuid.uuid4())
        uid = self.plane.kubectl(
            "get",
            "serviceaccount",
            self.account,
            f"--namespace={self.namespace}",
            "--output=jsonpath={.metadata.uid}",
        )
        now = int(time.time())
        token = jwt.encode(
            {
                "iss": _ISSUER,
                "aud": [_ISSUER],
                "sub": f"system:serviceaccount:{self.namespace}:{self.account}",
                "jti": name,
                "iat": now - _ISSUED_BEFORE_SECONDS,
                "nbf": now - _ISSUED_BEFORE_SECONDS,
                "exp": now + int(seconds) - _LEEWAY_SECONDS,
                "kubernetes.io": {
                    "namespace": self.namespace,
                    "serviceaccount": {"name": self.account, "uid": uid.strip()},
                },
            },
            self.plane.service_account_key.read_text(),
            algorithm="ES256",
        )
        # As kubelet does it: whoever reads sees the old one or the new one.
        fresh = self.directory / ".token"
        fresh.write_text(token)
        fresh.chmod(0o600)
        fresh.replace(self.directory / "token")
        return token, f"JTI={name}"
